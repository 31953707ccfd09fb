package linkheader

import "strings"

// Bounds of what is read; the rest is dropped and counted.
const (
	MaxLinks  = 256       // links of one response
	MaxParams = 32        // parameters of one link
	MaxBytes  = 128 << 10 // of all header values together
)

// Problem says what is wrong with a link-value.
type Problem string

// The problems. A link with one has no usable target.
const (
	NoBracket    Problem = "no_bracket"   // does not begin with "<"
	Unterminated Problem = "unterminated" // "<" without ">"
)

// Param is one parameter. A name without "=" has HasValue false.
type Param struct {
	Name     string // lower case
	Value    string // without quotes and backslash escapes
	HasValue bool
	Quoted   bool
}

// Link is one link-value.
type Link struct {
	Target  string // between the angle brackets, as sent
	Params  []Param
	Field   int // which of the header values, from 0
	Offset  int // of the link-value in that header value
	Raw     string
	Problem Problem
}

// Param returns the first parameter of that lower-case name: RFC 8288 section
// 3.3 has later ones ignored for rel, and 3.4 says the same of the others.
func (l Link) Param(name string) (Param, bool) {
	for _, p := range l.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// HasRel says whether the link's relation types, a list without regard to case, hold rel.
func (l Link) HasRel(rel string) bool {
	p, _ := l.Param("rel")
	for _, r := range strings.Fields(p.Value) {
		if strings.EqualFold(r, rel) {
			return true
		}
	}
	return false
}

// Parse reads all values of a response's Link fields, in order. Dropped is the
// number of links and values beyond the package's bounds.
func Parse(values []string) (links []Link, dropped int) {
	total := 0
	for field, v := range values {
		if total += len(v); total > MaxBytes {
			return links, dropped + len(values) - field
		}
		p := parser{s: v}
		for p.skip(" \t,"); p.i < len(p.s); p.skip(" \t,") {
			l := p.link()
			l.Field = field
			if len(links) < MaxLinks {
				links = append(links, l)
			} else {
				dropped++
			}
		}
	}
	return links, dropped
}

type parser struct {
	s string
	i int
}

func (p *parser) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

// until reads up to the first byte of the set or the end.
func (p *parser) until(set string) string {
	n := strings.IndexAny(p.s[p.i:], set)
	if n < 0 {
		n = len(p.s) - p.i
	}
	v := p.s[p.i : p.i+n]
	p.i += n
	return v
}

func (p *parser) link() (l Link) {
	start := p.i
	l.Offset = start
	defer func() { l.Raw = strings.TrimRight(p.s[start:p.i], " \t") }()
	if p.s[p.i] != '<' {
		l.Problem = NoBracket
		p.restOfValue()
		return l
	}
	end := strings.IndexByte(p.s[p.i:], '>')
	if end < 0 {
		l.Problem = Unterminated
		p.i = len(p.s)
		return l
	}
	l.Target = p.s[p.i+1 : p.i+end]
	p.i += end + 1
	for p.skip(" \t"); p.i < len(p.s) && p.s[p.i] == ';'; p.skip(" \t") {
		p.i++
		p.skip(" \t")
		if prm := p.param(); prm.Name != "" && len(l.Params) < MaxParams {
			l.Params = append(l.Params, prm)
		}
	}
	p.restOfValue()
	return l
}

func (p *parser) param() (prm Param) {
	prm.Name = strings.ToLower(p.until(" \t=;,"))
	p.skip(" \t")
	if p.i >= len(p.s) || p.s[p.i] != '=' {
		return prm
	}
	p.i++
	p.skip(" \t")
	prm.HasValue = true
	if p.i < len(p.s) && p.s[p.i] == '"' {
		prm.Value, prm.Quoted = p.quoted(), true
		return prm
	}
	prm.Value = strings.TrimRight(p.until(";,"), " \t")
	return prm
}

// quoted reads a quoted-string; one without end lasts to the end of the field.
func (p *parser) quoted() string {
	p.i++
	start := p.i
	n := strings.IndexAny(p.s[p.i:], `"\`)
	if n >= 0 && p.s[p.i+n] == '"' {
		p.i += n + 1
		return p.s[start : start+n]
	}
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		p.i++
		if c == '"' {
			break
		}
		if c == '\\' && p.i < len(p.s) {
			c = p.s[p.i]
			p.i++
		}
		b.WriteByte(c)
	}
	return b.String()
}

// restOfValue goes to the next comma outside of quotes and angle brackets.
func (p *parser) restOfValue() {
	for p.i < len(p.s) && p.s[p.i] != ',' {
		switch p.s[p.i] {
		case '"':
			p.quoted()
		case '<':
			n := strings.IndexByte(p.s[p.i:], '>')
			if n < 0 { // no further link can follow
				n = len(p.s) - p.i - 1
			}
			p.i += n + 1
		default:
			p.i++
		}
	}
}
