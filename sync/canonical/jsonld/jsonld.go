// Package jsonld finds the URLs that a JSON-LD script states of the things on a
// page, in one walk over the text: no context is expanded, nothing is fetched.
//
// It believes nothing of a script that is no JSON (RFC 8259), once the wrappers
// that generators put round JSON in HTML are cut off. Nesting and the number of
// statements are bounded. It is pure and imports only the standard library.
package jsonld

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of what is read.
const (
	MaxDepth = 64  // nesting
	MaxNodes = 512 // statements
)

// Node is one statement: that a thing has a URL.
type Node struct {
	Types    []string // without the schema.org prefix
	ID       string
	Property string // url, mainEntityOfPage, dateModified, datePublished
	Value    string
	Top      bool // the thing stands at the top, in a @graph, or is mainEntity of one that does
}

// Read lists the url, mainEntityOfPage, dateModified and datePublished
// statements of a script, in order.
// Invalid says that the text is no JSON, with the offset of the fault.
func Read(src []byte) (nodes []Node, invalid bool, at int) {
	text, start := Unwrap(src)
	p := reader{b: text}
	p.space()
	if p.i == len(p.b) {
		return nil, false, 0
	}
	if !p.value(0, true, &p.root) {
		return nil, true, start + p.i
	}
	p.space()
	if p.i < len(p.b) && string(bytes.TrimRight(p.b[p.i:], "; \t\r\n")) != "" {
		return nil, true, start + p.i
	}
	return p.out, false, 0
}

// Unwrap cuts off what generators wrap round JSON in HTML: a byte order
// mark, an HTML comment, a CDATA section, and the comment signs before those; it says where the rest begins.
func Unwrap(b []byte) ([]byte, int) {
	const blank = " \t\r\n"
	start := 0
	cut := func(prefix string) bool {
		rest := bytes.TrimLeft(b[start:], blank)
		if !bytes.HasPrefix(rest, []byte(prefix)) {
			return false
		}
		start = len(b) - len(rest) + len(prefix)
		return true
	}
	for cut("\ufeff") || cut("<!--") || cut("//<![CDATA[") || cut("// <![CDATA[") || cut("/*<![CDATA[*/") || cut("/* <![CDATA[ */") || cut("<![CDATA[") {
	}
	out := bytes.TrimRight(b[start:], blank)
	for {
		n := len(out)
		for _, suffix := range []string{"-->", "/*]]>*/", "/* ]]> */", "]]>", "//", "\ufeff"} {
			if start > 0 || suffix == "\ufeff" {
				out = bytes.TrimRight(bytes.TrimSuffix(out, []byte(suffix)), blank)
			}
		}
		if len(out) == n {
			return out, start
		}
	}
}

// reader walks JSON text once, keeping only what node statements need.
type reader struct {
	b    []byte
	i    int
	out  []Node
	root object
}

// object collects one object.
type object struct {
	types []string
	id    string
	// url of an object that stands as a value: its @id, else its url.
	url   string
	top   bool
	first int // index in out where its own statements begin
}

func (p *reader) space() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\n' || p.b[p.i] == '\t' || p.b[p.i] == '\r') {
		p.i++
	}
}

// value reads any value. Top says whether an object here describes the page's
// own things; node receives what an object said.
func (p *reader) value(depth int, top bool, node *object) bool {
	p.space()
	if p.i >= len(p.b) || depth > MaxDepth {
		return false
	}
	switch c := p.b[p.i]; c {
	case '{':
		return p.readObject(depth, top, node)
	case '[':
		return p.array(depth, top, nil, "")
	case '"':
		_, ok := p.str(false)
		return ok
	case 't':
		return p.word("true")
	case 'f':
		return p.word("false")
	case 'n':
		return p.word("null")
	default:
		return p.number()
	}
}

func (p *reader) word(w string) bool {
	if !bytes.HasPrefix(p.b[p.i:], []byte(w)) {
		return false
	}
	p.i += len(w)
	return true
}

func (p *reader) digits() bool {
	n := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i > n
}

func (p *reader) number() bool {
	if p.b[p.i] == '-' {
		p.i++
	}
	if p.i < len(p.b) && p.b[p.i] == '0' {
		p.i++
	} else if !p.digits() {
		return false
	}
	if p.i < len(p.b) && p.b[p.i] == '.' {
		p.i++
		if !p.digits() {
			return false
		}
	}
	if p.i < len(p.b) && p.b[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.b) && (p.b[p.i] == '+' || p.b[p.i] == '-') {
			p.i++
		}
		return p.digits()
	}
	return true
}

// array reads a list. Where it is the value of a property of node, its strings
// and objects are statements like a single value.
func (p *reader) array(depth int, top bool, node *object, key string) bool {
	p.i++
	for first := true; ; first = false {
		p.space()
		if p.i < len(p.b) && p.b[p.i] == ']' && first {
			p.i++
			return true
		}
		if node != nil {
			if !p.member(depth+1, node, key) {
				return false
			}
		} else if !p.value(depth+1, top, &object{}) {
			return false
		}
		p.space()
		if p.i >= len(p.b) {
			return false
		}
		p.i++
		switch p.b[p.i-1] {
		case ',':
		case ']':
			return true
		default:
			p.i--
			return false
		}
	}
}

func (p *reader) readObject(depth int, top bool, node *object) bool {
	p.i++
	*node = object{top: top, first: len(p.out)}
	for first := true; ; first = false {
		p.space()
		if p.i < len(p.b) && p.b[p.i] == '}' && first {
			p.i++
			return true
		}
		if p.i >= len(p.b) || p.b[p.i] != '"' {
			return false
		}
		key, ok := p.str(true)
		if !ok {
			return false
		}
		p.space()
		if p.i >= len(p.b) || p.b[p.i] != ':' {
			return false
		}
		p.i++
		if !p.member(depth+1, node, key) {
			return false
		}
		p.space()
		if p.i >= len(p.b) {
			return false
		}
		p.i++
		switch p.b[p.i-1] {
		case ',':
		case '}':
			p.label(node)
			return true
		default:
			p.i--
			return false
		}
	}
}

// label gives the object's statements its types and id, which may stand after them.
func (p *reader) label(node *object) {
	for i := node.first; i < len(p.out); i++ {
		if p.out[i].Types == nil && p.out[i].ID == "" {
			p.out[i].Types, p.out[i].ID = node.types, node.id
			if p.out[i].Types == nil {
				p.out[i].Types = []string{}
			}
		}
	}
}

// member reads the value of one property.
func (p *reader) member(depth int, node *object, key string) bool {
	p.space()
	if p.i >= len(p.b) || depth > MaxDepth {
		return false
	}
	kind := p.b[p.i]
	switch strings.TrimPrefix(strings.TrimPrefix(key, "https://schema.org/"), "http://schema.org/") {
	case "@type":
		if kind == '"' {
			s, ok := p.str(true)
			if ok && len(node.types) < 8 {
				node.types = append(node.types, ShortType(s))
			}
			return ok
		}
	case "@id":
		if kind == '"' {
			s, ok := p.str(true)
			node.id = s
			if node.url == "" {
				node.url = s
			}
			return ok
		}
	case "@graph", "mainEntity":
		if kind == '[' {
			return p.array(depth, node.top, nil, "")
		}
		return p.value(depth, node.top, &object{})
	case "url", "mainEntityOfPage", "dateModified", "datePublished":
		return p.statement(depth, node, key, kind)
	}
	if kind == '[' && key == "@type" {
		return p.array(depth, false, node, key)
	}
	return p.value(depth, false, &object{})
}

// statement reads a value that names a URL: text, an object with @id or url, or a list of them.
func (p *reader) statement(depth int, node *object, key string, kind byte) bool {
	var value string
	switch kind {
	case '[':
		return p.array(depth, false, node, key)
	case '"':
		s, ok := p.str(true)
		if !ok {
			return false
		}
		value = s
	case '{':
		var child object
		if !p.readObject(depth, false, &child) {
			return false
		}
		value = child.url
	default:
		return p.value(depth, false, &object{})
	}
	if value != "" && len(p.out) < MaxNodes {
		name := key[strings.LastIndexByte(key, '/')+1:]
		p.out = append(p.out, Node{Property: name, Value: value, Top: node.top})
		if name == "url" {
			node.url = value
		}
	}
	return true
}

// ShortType cuts the schema.org prefix off a type.
func ShortType(s string) string {
	for _, prefix := range []string{"https://schema.org/", "http://schema.org/", "schema:"} {
		s = strings.TrimPrefix(s, prefix)
	}
	return s[:min(len(s), 80)]
}

// str reads a string; its text is made only where keep is set.
func (p *reader) str(keep bool) (string, bool) {
	p.i++
	start := p.i
	for p.i < len(p.b) {
		switch c := p.b[p.i]; {
		case c == '"':
			p.i++
			return string(p.b[start : p.i-1][:boolLen(keep, p.i-1-start)]), true
		case c == '\\':
			return p.escaped(start, keep)
		case c < ' ':
			return "", false
		}
		p.i++
	}
	return "", false
}

func boolLen(keep bool, n int) int {
	if keep {
		return n
	}
	return 0
}

// escaped reads the rest of a string that has a backslash at p.i.
func (p *reader) escaped(start int, keep bool) (string, bool) {
	buf := append([]byte(nil), p.b[start:p.i]...)
	for p.i < len(p.b) {
		c := p.b[p.i]
		p.i++
		switch {
		case c == '"':
			return string(buf[:boolLen(keep, len(buf))]), true
		case c < ' ':
			p.i--
			return "", false
		case c != '\\':
			buf = append(buf, c)
			continue
		}
		if p.i >= len(p.b) {
			return "", false
		}
		e := p.b[p.i]
		p.i++
		switch e {
		case '"', '\\', '/':
			buf = append(buf, e)
		case 'b', 'f', 'n', 'r', 't':
			buf = append(buf, "\b\f\n\r\t"[strings.IndexByte("bfnrt", e)])
		case 'u':
			r, ok := p.hex4()
			if !ok {
				return "", false
			}
			if utf16.IsSurrogate(r) && bytes.HasPrefix(p.b[p.i:], []byte(`\u`)) {
				save := p.i
				p.i += 2
				low, ok := p.hex4()
				if !ok {
					return "", false
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					p.i = save
				}
			}
			buf = utf8.AppendRune(buf, r)
		default:
			p.i--
			return "", false
		}
	}
	return "", false
}

func (p *reader) hex4() (r rune, ok bool) {
	if p.i+4 > len(p.b) {
		return 0, false
	}
	for _, c := range p.b[p.i : p.i+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
		p.i++
	}
	return r, true
}
