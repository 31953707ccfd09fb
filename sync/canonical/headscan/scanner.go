package headscan

import "bytes"

// TokenKind says what a token is.
type TokenKind uint8

// The kinds of token. A comment covers doctypes, processing instructions and
// every other form that produces no element.
const (
	TokenText TokenKind = iota + 1
	TokenStart
	TokenEnd
	TokenComment
)

// Attr is one attribute as written: the name in its own case, the value
// without its quotes, character references not yet decoded.
type Attr struct {
	Name, Value []byte
	Offset      int // of the name
}

// Token is one piece of the document. Its slices point into the document and
// its Attrs are reused by the next call of Next.
type Token struct {
	Kind       TokenKind
	Name       string // lower case, "" for names that no rule of this package knows
	RawName    []byte // as written
	Start, End int
	Attrs      []Attr // start tags only, at most maxAttrs, duplicates included
	SelfClosed bool
	// Content is the range of a raw text element's content (script, style,
	// title, noscript ...), whose end tag, if any, belongs to this token.
	ContentStart, ContentEnd int
	RawText                  bool
	Closed                   bool // the end tag of the raw text, or of the comment, was found
}

// maxAttrs bounds the attributes kept of one tag; the rest are read over.
const maxAttrs = 64

// Scanner cuts a document into tokens. The zero value is not usable; see NewScanner.
type Scanner struct {
	doc []byte
	pos int
	tok Token
	// cut is set when the document ended within a tag.
	cut bool
	// noscriptText treats noscript as raw text, as with scripting on.
	noscriptText bool
	// foreign is set by the caller while it is inside svg or math, where
	// no element's content is raw text.
	foreign bool
}

// NewScanner reads doc from its first byte, with scripting on.
func NewScanner(doc []byte) *Scanner {
	return &Scanner{doc: doc, noscriptText: true}
}

// Cut says that the document ended inside a tag, so that its last element is unknown.
func (s *Scanner) Cut() bool { return s.cut }

// Next moves to the next token, false at the end of the document.
func (s *Scanner) Next() bool {
	if s.pos >= len(s.doc) {
		return false
	}
	s.tok = Token{Start: s.pos, Attrs: s.tok.Attrs[:0]}
	if s.doc[s.pos] != '<' || !s.markup() {
		s.text()
		return true
	}
	if s.cut {
		s.pos = len(s.doc)
		return false
	}
	return true
}

// Token is the current token, valid until the next call of Next.
func (s *Scanner) Token() *Token { return &s.tok }

// text reads up to the next '<' that opens markup.
func (s *Scanner) text() {
	p := s.pos
	for {
		i := bytes.IndexByte(s.doc[p+1:], '<')
		if i < 0 {
			p = len(s.doc)
			break
		}
		p += 1 + i
		if opensMarkup(s.doc[p:]) {
			break
		}
	}
	s.tok.Kind, s.tok.End, s.pos = TokenText, p, p
}

// opensMarkup says whether a '<' starts a tag or comment rather than text.
func opensMarkup(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	switch c := b[1]; {
	case isLetter(c), c == '!', c == '?':
		return true
	case c == '/':
		return len(b) > 2
	}
	return false
}

// markup reads a tag or comment at s.pos, false if the '<' there is text.
func (s *Scanner) markup() bool {
	b := s.doc[s.pos:]
	if !opensMarkup(b) {
		return false
	}
	switch {
	case b[1] == '!' && bytes.HasPrefix(b, []byte("<!--")):
		s.comment()
	case s.foreign && bytes.HasPrefix(b, []byte("<![CDATA[")):
		s.cdata()
	case b[1] == '!' || b[1] == '?':
		s.bogus(2)
	case b[1] != '/':
		s.startTag()
	case b[2] == '>':
		s.tok.Kind, s.tok.End, s.tok.Closed = TokenComment, s.pos+3, true
		s.pos += 3
	case isLetter(b[2]):
		s.endTag()
	default:
		s.bogus(2)
	}
	return true
}

// bogus reads a comment that lasts to the next '>'.
func (s *Scanner) bogus(skip int) {
	s.tok.Kind = TokenComment
	i := bytes.IndexByte(s.doc[s.pos+skip:], '>')
	if i < 0 {
		s.tok.End = len(s.doc)
	} else {
		s.tok.End, s.tok.Closed = s.pos+skip+i+1, true
	}
	s.pos = s.tok.End
}

// cdata reads a CDATA section, which svg and math may hold; it is passed over like a comment.
func (s *Scanner) cdata() {
	s.tok.Kind = TokenComment
	i := bytes.Index(s.doc[s.pos:], []byte("]]>"))
	if i < 0 {
		s.tok.End = len(s.doc)
	} else {
		s.tok.End, s.tok.Closed = s.pos+i+3, true
	}
	s.pos = s.tok.End
}

// comment reads "<!-- ... -->", which "--!>" and an early ">" or "->" end as well.
func (s *Scanner) comment() {
	s.tok.Kind = TokenComment
	b := s.doc[s.pos+4:]
	end := -1
	switch {
	case bytes.HasPrefix(b, []byte(">")):
		end = 1
	case bytes.HasPrefix(b, []byte("->")):
		end = 2
	default:
		for p := 0; ; {
			i := bytes.Index(b[p:], []byte("--"))
			if i < 0 {
				break
			}
			p += i
			if rest := b[p+2:]; bytes.HasPrefix(rest, []byte(">")) {
				end = p + 3
				break
			} else if bytes.HasPrefix(rest, []byte("!>")) {
				end = p + 4
				break
			}
			p++
		}
	}
	if end < 0 {
		s.tok.End = len(s.doc)
	} else {
		s.tok.End, s.tok.Closed = s.pos+4+end, true
	}
	s.pos = s.tok.End
}

func (s *Scanner) startTag() {
	s.tok.Kind = TokenStart
	s.pos++
	s.tagName()
	s.attributes(true)
	if s.cut {
		return
	}
	s.tok.End = s.pos
	if !s.foreign && isRawText(s.tok.Name, s.noscriptText) {
		s.rawText()
	}
}

func (s *Scanner) endTag() {
	s.tok.Kind = TokenEnd
	s.pos += 2
	s.tagName()
	s.attributes(false)
	s.tok.End = s.pos
}

func (s *Scanner) tagName() {
	start := s.pos
	for s.pos < len(s.doc) && !isSpace(s.doc[s.pos]) && s.doc[s.pos] != '/' && s.doc[s.pos] != '>' {
		s.pos++
	}
	s.tok.RawName = s.doc[start:s.pos]
	s.tok.Name = knownName(s.tok.RawName)
}

// attributes reads to the '>' of the tag. A document that ends first has no such tag.
func (s *Scanner) attributes(keep bool) {
	d := s.doc
	for {
		for s.pos < len(d) && (isSpace(d[s.pos]) || d[s.pos] == '/') {
			if d[s.pos] == '/' && s.pos+1 < len(d) && d[s.pos+1] == '>' {
				s.tok.SelfClosed = true
			}
			s.pos++
		}
		if s.pos >= len(d) {
			s.cut = true
			return
		}
		if d[s.pos] == '>' {
			s.pos++
			return
		}
		if !s.attribute(keep) {
			s.cut = true
			return
		}
	}
}

// attribute reads one attribute, false if the document ends within it.
func (s *Scanner) attribute(keep bool) bool {
	d, start := s.doc, s.pos
	s.pos++ // a leading '=' is part of the name
	for s.pos < len(d) && !isSpace(d[s.pos]) && d[s.pos] != '/' && d[s.pos] != '>' && d[s.pos] != '=' {
		s.pos++
	}
	a := Attr{Name: d[start:s.pos], Offset: start}
	for s.pos < len(d) && isSpace(d[s.pos]) {
		s.pos++
	}
	if s.pos >= len(d) {
		return false
	}
	if d[s.pos] == '=' {
		s.pos++
		for s.pos < len(d) && isSpace(d[s.pos]) {
			s.pos++
		}
		if s.pos >= len(d) {
			return false
		}
		switch q := d[s.pos]; q {
		case '"', '\'':
			i := bytes.IndexByte(d[s.pos+1:], q)
			if i < 0 {
				return false
			}
			a.Value = d[s.pos+1 : s.pos+1+i]
			s.pos += i + 2
		case '>':
		default:
			v := s.pos
			for s.pos < len(d) && !isSpace(d[s.pos]) && d[s.pos] != '>' {
				s.pos++
			}
			if s.pos >= len(d) {
				return false
			}
			a.Value = d[v:s.pos]
		}
	}
	if keep && len(s.tok.Attrs) < maxAttrs {
		s.tok.Attrs = append(s.tok.Attrs, a)
	}
	return true
}

// rawText reads an element's content up to and including its end tag.
func (s *Scanner) rawText() {
	s.tok.RawText, s.tok.ContentStart = true, s.pos
	var end int
	switch s.tok.Name {
	case "plaintext":
		end = -1
	case "script":
		end = scriptEnd(s.doc, s.pos)
	default:
		end = indexEndTag(s.doc, s.pos, s.tok.Name)
	}
	if end < 0 {
		s.tok.ContentEnd, s.pos = len(s.doc), len(s.doc)
	} else {
		s.tok.ContentEnd, s.pos = end, end+2+len(s.tok.Name)
		s.attributes(false)
		// An end tag that the document cuts off leaves the element open but known.
		s.tok.Closed, s.cut = !s.cut, false
	}
	s.tok.End = s.pos
}

// indexEndTag finds "</name" followed by white space, '/' or '>', from pos on; -1 if there is none.
func indexEndTag(d []byte, pos int, name string) int {
	for {
		i := bytes.Index(d[pos:], []byte("</"))
		if i < 0 {
			return -1
		}
		pos += i
		if isTagNamed(d[pos+2:], name) {
			return pos
		}
		pos += 2
	}
}

// isTagNamed says whether b starts with a complete tag name equal to name.
func isTagNamed(b []byte, name string) bool {
	if len(b) <= len(name) || !equalFold(b[:len(name)], name) {
		return false
	}
	c := b[len(name)]
	return isSpace(c) || c == '/' || c == '>'
}

// scriptEnd finds the "</script" that ends script data, -1 if there is none. Within
// "<!-- <script" an end tag only ends that inner script (script data double escaped state).
func scriptEnd(d []byte, pos int) int {
	escaped, double := false, false
	for {
		i := bytes.IndexAny(d[pos:], "<-")
		if i < 0 {
			return -1
		}
		pos += i
		b := d[pos:]
		switch {
		case b[0] == '-':
			if escaped && bytes.HasPrefix(b, []byte("-->")) {
				escaped, double = false, false
			}
			pos++
		case bytes.HasPrefix(b, []byte("</")) && isTagNamed(b[2:], "script"):
			if !double {
				return pos
			}
			double = false
			pos += 2
		case !escaped && bytes.HasPrefix(b, []byte("<!--")):
			escaped = true
			pos += 2 // its own dashes may be the first two of "-->"
		case escaped && !double && isTagNamed(b[1:], "script"):
			double = true
			pos++
		default:
			pos++
		}
	}
}
