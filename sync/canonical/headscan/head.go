package headscan

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Place is where in the document an element stands.
type Place string

// The places. Only an element in PlaceHead speaks for the page as a canonical
// declaration; the others are told apart so that the author can be told why not.
const (
	PlaceHead     Place = "head"
	PlaceBody     Place = "body"
	PlaceNoscript Place = "noscript" // no element at all where scripts run
	PlaceTemplate Place = "template" // inert until a script copies it
	PlaceSVG      Place = "svg"      // in svg or math: not an HTML element
)

// Element is one start tag and where it stands. Attrs and Content point into
// the document and are valid only during the call that handed the element over.
type Element struct {
	Name       string // lower case, "" for elements without a rule
	Place      Place
	Attrs      []Attr
	Start, End int    // of the start tag; with the content for raw text elements
	Content    []byte // of raw text elements
	ContentAt  int
	// Sensitive says that without scripting the head would have ended at a
	// noscript before this element.
	Sensitive bool
	// Void and SelfClosed say that no end tag will follow.
	Void, SelfClosed bool
	// Other is the name as written where Name is "".
	Other []byte
}

// Attr finds the first attribute of that lower-case name: of repeated
// attributes HTML keeps the first.
func (e *Element) Attr(name string) (Attr, bool) {
	for _, a := range e.Attrs {
		if equalFold(a.Name, name) {
			return a, true
		}
	}
	return Attr{}, false
}

// Visitor receives what a scan meets, in document order.
type Visitor struct {
	Element func(*Element)
	// EndTag, if not nil, gets every end tag; the name as written.
	EndTag func(name []byte)
	// Text, if not nil, gets every piece of text outside of raw text elements
	// and templates, with the place of its first byte.
	Text func(text []byte, at int)
}

// Limits bound a scan; zero means no bound.
type Limits struct {
	Total int // bytes of the document looked at
	After int // bytes looked at after the head's end; negative: none
}

// Result says how the head ended.
type Result struct {
	Ended  bool   // the end of the head lies within what was read
	By     string // what ended it: a tag name, "/body", "/html", "text" or a character as "U+FEFF"; "" at the document's end
	Closed bool   // an </head> came first
	Offset int    // where the head ended, or where reading stopped
	// Broken says that something that may not stand in a head ended it while it was open.
	Broken bool
	// Unclosed names the raw text element that ran to the end of the document, or "comment".
	Unclosed   string
	UnclosedAt int
	// Cut says that the document ended within a tag.
	Cut bool
	// NoscriptSensitive says that the head would have ended at a noscript, were scripts off.
	NoscriptSensitive bool
	Read              int // bytes looked at
}

// Scan reads doc and hands every element to v. It never fails: whatever the
// bytes are, some document comes out of them, as in a browser.
func Scan(doc []byte, lim Limits, v Visitor) Result {
	if lim.Total > 0 && len(doc) > lim.Total {
		doc = doc[:lim.Total]
	}
	h := &head{s: NewScanner(doc), doc: doc, v: v}
	stop := len(doc)
	for h.s.Next() {
		h.token(h.s.Token())
		if h.r.Ended && lim.After != 0 {
			stop = h.r.Offset + max(lim.After, 0)
		}
		if h.s.pos >= stop {
			break
		}
	}
	h.r.Cut, h.r.Read = h.s.Cut(), h.s.pos
	if !h.r.Ended {
		h.r.Offset = len(doc)
	}
	return h.r
}

// head is the state of one scan: the insertion modes "in head", "after head"
// and everything later, and the open template, svg and math elements.
type head struct {
	s         *Scanner
	doc       []byte
	v         Visitor
	r         Result
	templates []int  // height of foreign at each open template
	foreign   []byte // 's' svg, 'm' math, 'f' and 'd' HTML within svg (foreignObject; desc, title)
	el        Element
}

func (h *head) token(t *Token) {
	switch t.Kind {
	case TokenText:
		if len(h.templates) > 0 {
			break
		}
		if !h.r.Ended {
			h.text(t)
		}
		if h.v.Text != nil {
			h.v.Text(h.doc[t.Start:t.End], t.Start)
		}
	case TokenComment:
		if !t.Closed {
			h.r.Unclosed, h.r.UnclosedAt = "comment", t.Start
		}
	case TokenEnd:
		h.endTag(t)
	case TokenStart:
		h.startTag(t)
	}
	h.s.foreign = h.inForeign()
}

// text ends the head unless it is white space.
func (h *head) text(t *Token) {
	b := h.doc[t.Start:t.End]
	rest := bytes.TrimLeft(b, " \n\t\r\f")
	if len(rest) == 0 {
		return
	}
	if by := textName(rest); by != "" {
		h.end(by, t.Start+len(b)-len(rest), true)
	}
}

// textName says which character of b, which starts with none of white space,
// ended the head; "" if all of it is white space written as character references.
func textName(b []byte) string {
	if b[0] != '&' {
		return runeName(b)
	}
	dec := strings.TrimLeft(html.UnescapeString(string(b)), " \n\t\r\f")
	if dec == "" {
		return ""
	}
	return runeName([]byte(dec))
}

// runeName names invisible and non-ASCII first characters by code point, for
// nobody sees them in an editor; any other is "text".
func runeName(b []byte) string {
	r, size := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && size <= 1 && len(b) > 0:
		return fmt.Sprintf("byte 0x%02X", b[0])
	case r < 0x20 || r == 0x7F || r == 0xA0 || r == 0xAD || r >= 0x200B && r <= 0x200F || r >= 0x2028 && r <= 0x202F ||
		r >= 0x2060 && r <= 0x206F || r == 0xFEFF || r == 0xFFFD:
		return fmt.Sprintf("U+%04X", r)
	}
	return "text"
}

// end moves to the body. Open says that a head without end tag was cut short by it.
func (h *head) end(by string, at int, foreign bool) {
	h.r.Ended, h.r.By, h.r.Offset = true, by, at
	h.r.Broken = foreign && !h.r.Closed
}

func (h *head) endTag(t *Token) {
	if h.v.EndTag != nil {
		h.v.EndTag(t.RawName)
	}
	if h.closeForeign(t) {
		return
	}
	if len(h.templates) > 0 {
		if t.Name == "template" {
			n := len(h.templates) - 1
			h.foreign, h.templates = h.foreign[:h.templates[n]], h.templates[:n]
		}
		return
	}
	if h.r.Ended {
		return
	}
	switch t.Name {
	case "head":
		h.r.Closed = true
	case "body", "html":
		h.end("/"+t.Name, t.Start, false)
	case "br":
		h.end("/br", t.Start, true)
	}
}

func (h *head) startTag(t *Token) {
	outside := !h.r.Ended && len(h.templates) == 0
	if outside && (!keepsHead(t.Name) || t.Name == "noscript" && h.r.Closed) {
		name := t.Name
		if name == "" {
			name = string(bytes.ToLower(t.RawName[:min(len(t.RawName), 40)]))
		}
		h.end(name, t.Start, name != "body" && name != "frameset")
	}
	h.leaveForeign(t)
	place := h.place()
	inForeign := h.inForeign()
	if t.RawText && !t.Closed && t.Name != "plaintext" {
		h.r.Unclosed, h.r.UnclosedAt = t.Name, t.Start
	}
	if t.RawText && t.Name == "noscript" {
		h.noscript(t, place == PlaceHead)
		return
	}
	h.emit(t, place)
	switch {
	case t.Name == "template" && !inForeign:
		if len(h.templates) < 512 {
			h.templates = append(h.templates, len(h.foreign))
		}
	case (t.Name == "svg" || t.Name == "math") && !t.SelfClosed:
		h.push(t.Name[0])
	case inForeign && t.Name == "template" && !t.SelfClosed:
		h.push('T') // an element of svg or math that only has that name
	case inForeign && h.foreign[len(h.foreign)-1] == 's' && !t.SelfClosed:
		switch t.Name {
		case "foreignobject":
			h.push('f')
		case "desc", "title":
			h.push(t.Name[0])
		}
	}
}

func (h *head) push(kind byte) {
	if len(h.foreign) < 512 {
		h.foreign = append(h.foreign, kind)
	}
}

// base is the number of foreign elements outside the innermost template.
func (h *head) base() int {
	if n := len(h.templates); n > 0 {
		return h.templates[n-1]
	}
	return 0
}

func (h *head) inForeign() bool {
	n := len(h.foreign)
	return n > h.base() && (h.foreign[n-1] == 's' || h.foreign[n-1] == 'm' || h.foreign[n-1] == 'T')
}

// leaveForeign closes svg and math at a start tag that may not stand in them.
func (h *head) leaveForeign(t *Token) {
	if !h.inForeign() || !leavesForeign[string(bytes.ToLower(t.RawName[:min(len(t.RawName), 12)]))] {
		return
	}
	for h.inForeign() {
		h.foreign = h.foreign[:len(h.foreign)-1]
	}
}

// closeForeign closes the innermost svg, math or HTML part of svg that the end
// tag names, and says whether there was one.
func (h *head) closeForeign(t *Token) bool {
	var kind byte
	switch t.Name {
	case "svg", "math", "desc", "title":
		kind = t.Name[0]
	case "foreignobject":
		kind = 'f'
	case "template":
		kind = 'T'
	default:
		return false
	}
	for i := len(h.foreign) - 1; i >= h.base(); i-- {
		if h.foreign[i] == kind {
			h.foreign = h.foreign[:i]
			return true
		}
	}
	return false
}

func (h *head) place() Place {
	switch {
	case len(h.templates) > 0:
		return PlaceTemplate
	case h.inForeign():
		return PlaceSVG
	case h.r.Ended:
		return PlaceBody
	}
	return PlaceHead
}

// noscript hands over what would stand there, were scripts off.
func (h *head) noscript(t *Token, inHead bool) {
	in := NewScanner(h.doc[:t.ContentEnd])
	in.pos, in.noscriptText = t.ContentStart, false
	for in.Next() {
		n := in.Token()
		switch n.Kind {
		case TokenText:
			if inHead && len(bytes.TrimLeft(h.doc[n.Start:n.End], " \n\t\r\f")) > 0 {
				h.r.NoscriptSensitive = true
			}
		case TokenStart:
			if inHead && (!keepsHead(n.Name) || n.Name == "template") {
				h.r.NoscriptSensitive = true
			}
			place := PlaceNoscript
			if len(h.templates) > 0 {
				place = PlaceTemplate
			}
			h.emit(n, place)
		}
	}
}

func (h *head) emit(t *Token, place Place) {
	if h.v.Element == nil {
		return
	}
	h.el = Element{Name: t.Name, Place: place, Attrs: t.Attrs, Start: t.Start, End: t.End, SelfClosed: t.SelfClosed,
		Void: isVoid(t.Name), Sensitive: place == PlaceHead && h.r.NoscriptSensitive}
	if t.Name == "" {
		h.el.Other = t.RawName
	}
	if t.RawText {
		h.el.Content, h.el.ContentAt = h.doc[t.ContentStart:t.ContentEnd], t.ContentStart
	}
	h.v.Element(&h.el)
}

// Ended says whether the prefix already holds the whole head, and how many
// bytes of it that took: what a fetcher asks to know when to stop reading.
func Ended(prefix []byte) (offset int, ended bool) {
	r := Scan(prefix, Limits{After: -1}, Visitor{})
	return r.Offset, r.Ended
}
