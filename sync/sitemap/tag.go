package sitemap

import "bytes"

// attribute is one attribute of a start tag; its slices alias the window until the next fill.
type attribute struct {
	name, value []byte
}

// tag is a start tag; its slices alias the window until the next fill.
type tag struct {
	name      []byte
	colon     int // index of the colon in name, -1 without a prefix
	attrs     []attribute
	selfClose bool
	size      int // bytes of the tag
	bad       bool
	tooMany   bool
}

func (t *tag) prefix() []byte {
	if t.colon < 0 {
		return nil
	}
	return t.name[:t.colon]
}

func (t *tag) local() []byte { return t.name[t.colon+1:] }

const (
	isBlank   = 1 << iota // white space of XML
	endsName              // ends a tag's or attribute's name
	notPlain              // in a value: needs a look (reference, control character, not ASCII)
	startsTag             // may begin a name
)

var kind = func() (t [256]uint8) {
	for _, c := range " \t\r\n" {
		t[c] |= isBlank | endsName
	}
	for _, c := range "/>=<\"'" {
		t[c] |= endsName
	}
	for c := range 256 {
		b := byte(c)
		if b == '&' || b >= 0x80 || b < ' ' && t[b]&isBlank == 0 {
			t[b] |= notPlain
		}
		if b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b == ':' || b >= 0x80 {
			t[b] |= startsTag
		}
	}
	return t
}()

// readTag parses the start tag at the window's r without consuming it. False means that the document ends inside it,
// or that it is longer than the reader looks.
func (r *Reader) readTag() bool {
	for {
		if r.parseTag(r.win.buf[r.win.r:r.win.w], r.win.base+int64(r.win.r)) {
			return true
		}
		if !r.win.fill() {
			return false
		}
	}
}

// parseTag parses the tag at the start of b; false means that b ends before the tag does. At is b's offset.
func (r *Reader) parseTag(b []byte, at int64) bool {
	t := &r.tag
	t.attrs, t.selfClose, t.bad, t.tooMany = t.attrs[:0], false, false, false
	t.colon = -1
	i := 1
	for i < len(b) && kind[b[i]]&endsName == 0 {
		if b[i] == ':' && t.colon < 0 {
			t.colon = i - 1
		}
		i++
	}
	if i == len(b) {
		return false
	}
	t.name = b[1:i]
	if b[i] == '>' {
		t.size = i + 1
		return true
	}
	for {
		for i < len(b) && kind[b[i]]&isBlank != 0 {
			i++
		}
		if i == len(b) {
			return false
		}
		switch c := b[i]; c {
		case '>':
			t.size = i + 1
			return true
		case '<': // the tag was never closed
			t.bad = true
			t.size = i
			return true
		case '/':
			if i+1 == len(b) {
				return false
			}
			if b[i+1] == '>' {
				t.selfClose = true
				t.size = i + 2
				return true
			}
			t.bad = true
			i++
		case '=', '"', '\'':
			t.bad = true
			i++
		default:
			n, ok := r.parseAttribute(b, i, at)
			if !ok {
				return false
			}
			i = n
		}
	}
}

// parseAttribute parses the attribute at b[i] and returns the index behind it; false means that b ends first.
func (r *Reader) parseAttribute(b []byte, i int, at int64) (int, bool) {
	t := &r.tag
	start := i
	for i < len(b) && kind[b[i]]&endsName == 0 {
		i++
	}
	name := b[start:i]
	for i < len(b) && kind[b[i]]&isBlank != 0 {
		i++
	}
	if i == len(b) {
		return 0, false
	}
	if b[i] != '=' { // a name without a value
		t.bad = true
		return i, true
	}
	for i++; i < len(b) && kind[b[i]]&isBlank != 0; {
		i++
	}
	if i == len(b) {
		return 0, false
	}
	var value []byte
	quoted := b[i] == '"' || b[i] == '\''
	if quoted {
		n := r.closingQuote(b, i, at)
		if n == 0 {
			return 0, false
		}
		if n > 0 {
			value = b[i+1 : n]
			i = n + 1
		} else { // no closing quotation mark: the value ends where an unquoted one would
			quoted = false
			i++
		}
	}
	if !quoted {
		t.bad = true
		start = i
		for i < len(b) && kind[b[i]]&isBlank == 0 && b[i] != '>' && b[i] != '<' {
			i++
		}
		if i == len(b) {
			return 0, false
		}
		value = b[start:i]
	}
	if len(t.attrs) >= r.opt.MaxAttributes {
		t.tooMany = true
		return i, true
	}
	t.attrs = append(t.attrs, attribute{name, value})
	return i, true
}

// closingQuote finds the mark that closes the one at b[i]: its index, 0 when b ends first, -1 when there is none before
// the next tag. What it learns about the absence of marks it keeps, so that no byte is searched again and again.
func (r *Reader) closingQuote(b []byte, i int, at int64) int {
	which := 0
	if b[i] == '\'' {
		which = 1
	}
	rest := b[i+1:]
	if r.noQuote[which] > at+int64(i) {
		return -1
	}
	n := bytes.IndexByte(rest, b[i])
	if n < 0 {
		if bytes.IndexByte(rest, '<') >= 0 && len(rest) > 4096 || r.win.eof || len(b) >= r.opt.MaxToken {
			r.noQuote[which] = at + int64(len(b))
			return -1
		}
		return 0
	}
	if bytes.IndexByte(rest[:n], '<') >= 0 {
		return -1
	}
	return i + 1 + n
}

// endTag is the name in the end tag at the window's r and the tag's size; size 0 means that the document ends first.
func (r *Reader) endTag() (name []byte, size int) {
	w := &r.win
	n := w.index(2, '>')
	if n < 0 {
		return nil, 0
	}
	name = w.buf[w.r+2 : w.r+n]
	size = n + 1
	if i := bytes.IndexByte(name, '<'); i >= 0 { // never closed
		name, size = name[:i], i+2
		r.report(codeTagMalformed, w.r, w.buf[w.r:w.r+size])
	}
	return bytes.TrimRight(name, " \t\r\n"), size
}
