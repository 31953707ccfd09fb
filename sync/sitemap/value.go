package sitemap

import (
	"bytes"
	"html"
	"unicode/utf8"
)

// readValue reads the character data of the leaf element whose start tag was consumed, up to and with its end tag. The
// result aliases the window or a scratch buffer until the next fill. Raw text may still hold references; cooked text
// does not.
func (r *Reader) readValue(name []byte) (text []byte, cooked bool) {
	r.entry.unexpanded, r.entry.overlong = false, false
	w := &r.win
	if i := bytes.IndexByte(w.buf[w.r:w.w], '<'); i >= 0 {
		n := i + 3 + len(name)
		b := w.buf[w.r:w.w]
		if len(b) >= n && b[i+1] == '/' && b[n-1] == '>' && string(b[i+2:n-1]) == string(name) {
			w.r += n
			return trim(b[:i]), false
		}
	}
	return r.gather(name), true
}

// text reads a leaf's text: decoded, in UTF-8, trimmed, runs of white space folded into one blank.
func (r *Reader) readText(name []byte) []byte {
	text, cooked := r.readValue(name)
	if !cooked {
		text = r.cook(text)
	}
	return fold(trim(text))
}

func trim(b []byte) []byte {
	for len(b) > 0 && kind[b[0]]&isBlank != 0 {
		b = b[1:]
	}
	for len(b) > 0 && kind[b[len(b)-1]]&isBlank != 0 {
		b = b[:len(b)-1]
	}
	return b
}

// fold replaces runs of white space by one blank; in place where there is anything to do, on memory that is ours.
func fold(b []byte) []byte {
	for i, c := range b {
		if kind[c]&isBlank != 0 && (c != ' ' || kind[b[i+1]]&isBlank != 0) { // b ends in no blank
			out := append([]byte(nil), b[:i]...)
			for _, c := range b[i:] {
				if kind[c]&isBlank == 0 {
					out = append(out, c)
				} else if n := len(out); n > 0 && out[n-1] != ' ' {
					out = append(out, ' ')
				}
			}
			return out
		}
	}
	return b
}

// gather is the long way of readValue: CDATA, comments, references, markup that does not belong there, missing end
// tags, and values that do not fit into the window. Name must not alias the window.
func (r *Reader) gather(name []byte) []byte {
	w := &r.win
	r.value = r.value[:0]
	for {
		i := w.index(0, '<')
		if i < 0 {
			if w.eof {
				w.r = w.w
				r.entry.cut = true
				return nil
			}
			r.report(codeTokenLimit, w.r, w.buf[w.r:min(w.r+60, w.w)])
			w.r = w.w
			r.entry.overlong = true
			continue
		}
		if i > 0 {
			r.appendCooked(w.buf[w.r : w.r+i])
			w.r += i
		}
		w.need(9)
		rest := w.buf[w.r:w.w]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			w.r += 4
			w.skipPast("-->")
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			r.appendCDATA()
		case len(rest) > 1 && rest[1] == '?':
			w.skipPast("?>")
		case len(rest) > 1 && rest[1] == '/':
			if r.endsValue(name) {
				return r.gathered()
			}
		case len(rest) > 1 && kind[rest[1]]&startsTag != 0:
			if r.interruptsValue() {
				return r.gathered()
			}
		default:
			r.report(codeTagMalformed, w.r, rest[:min(len(rest), 20)])
			r.appendValue([]byte{'<'})
			w.r++
		}
	}
}

func (r *Reader) gathered() []byte {
	if r.entry.overlong {
		return nil
	}
	return trim(r.value)
}

// appendValue adds to the value, up to the limit of a token.
func (r *Reader) appendValue(b []byte) {
	if len(r.value)+len(b) > r.opt.MaxToken {
		r.entry.overlong = true
		return
	}
	r.value = append(r.value, b...)
}

// appendCDATA adds a CDATA section, which holds no references.
func (r *Reader) appendCDATA() {
	w := &r.win
	w.r += 9
	for {
		b := w.buf[w.r:w.w]
		if i := bytes.Index(b, []byte("]]>")); i >= 0 {
			r.appendClean(b[:i])
			w.r += i + 3
			return
		}
		if keep := len(b) - 2; keep > 0 && len(b) >= r.opt.MaxToken/2 {
			for keep > 0 && !utf8.RuneStart(b[keep]) {
				keep--
			}
			r.appendClean(b[:keep])
			w.r += keep
		}
		if !w.fill() {
			w.r = w.w
			return
		}
	}
}

// endsValue deals with an end tag inside a value; true means that the value ends here.
func (r *Reader) endsValue(name []byte) bool {
	w := &r.win
	got, size := r.endTag()
	switch {
	case size == 0:
		w.r = w.w
		r.entry.cut = true
		return true
	case bytes.Equal(got, name):
		w.r += size
		return true
	case bytes.EqualFold(got, name):
		r.report(codeTagCase, w.r, got)
		w.r += size
		return true
	}
	for i, end := len(r.stack)-1, len(r.names); i >= 0; i-- {
		if open := r.names[r.stack[i].name:end]; bytes.EqualFold(open, got) {
			r.report(codeTagMismatch, w.r, w.buf[w.r:w.r+size])
			return true // the element that encloses the leaf is closed by the caller
		}
		end = r.stack[i].name
	}
	if len(got) > 0 && coreElement(bytes.ToLower(got)) != elUnknown { // "<loc>...</lastmod>": a slip of the pen
		r.report(codeTagMismatch, w.r, w.buf[w.r:w.r+size])
		w.r += size
		return true
	}
	r.report(codeMarkupInValue, w.r, w.buf[w.r:w.r+size])
	w.r += size
	return false
}

// interruptsValue deals with a start tag inside a value; true means that it begins the next element, and the value
// was never closed.
func (r *Reader) interruptsValue() bool {
	w := &r.win
	if !r.readTag() {
		w.r = w.w
		r.entry.cut = true
		return true
	}
	if el := coreElement(bytes.ToLower(r.tag.local())); el != elUnknown || r.tag.colon > 0 {
		r.report(codeTagMismatch, w.r, w.buf[w.r:w.r+r.tag.size])
		return true
	}
	r.report(codeMarkupInValue, w.r, w.buf[w.r:w.r+r.tag.size])
	w.r += r.tag.size
	return false
}

// cook decodes a text that may hold references; without any it is returned as it is.
func (r *Reader) cook(raw []byte) []byte {
	for _, c := range raw {
		if kind[c]&notPlain != 0 {
			r.value = r.value[:0]
			r.appendCooked(raw)
			return r.value
		}
	}
	return raw
}

// appendCooked adds text with its references decoded, in UTF-8, without characters that XML forbids.
func (r *Reader) appendCooked(raw []byte) {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			r.appendClean(raw)
			return
		}
		r.appendClean(raw[:i])
		raw = raw[i:]
		n := r.appendReference(raw)
		raw = raw[n:]
	}
}

// appendClean adds text without references.
func (r *Reader) appendClean(b []byte) {
	plain := true
	for _, c := range b {
		if kind[c]&notPlain != 0 && c != '&' {
			plain = false
			break
		}
	}
	if plain {
		r.appendValue(b)
		return
	}
	b = r.repair(b)
	start := 0
	for i, c := range b {
		if c < ' ' && kind[c]&isBlank == 0 {
			r.report(codeControlCharacter, r.win.r, b[max(0, i-20):min(len(b), i+20)])
			r.appendValue(b[start:i])
			start = i + 1
		}
	}
	r.appendValue(b[start:])
}

// appendReference decodes the reference at the start of b, exactly once, and returns its length; an & that begins none
// stays an &.
func (r *Reader) appendReference(b []byte) int {
	const longest = 33 // of the names that HTML knows
	end := bytes.IndexByte(b[:min(len(b), longest+2)], ';')
	if end < 2 {
		r.report(codeBareAmpersand, r.win.r, b[:min(len(b), 20)])
		r.appendValue(b[:1])
		return 1
	}
	name := b[1:end]
	switch string(name) {
	case "amp":
		r.appendValue([]byte{'&'})
		return end + 1
	case "lt":
		r.appendValue([]byte{'<'})
		return end + 1
	case "gt":
		r.appendValue([]byte{'>'})
		return end + 1
	case "quot":
		r.appendValue([]byte{'"'})
		return end + 1
	case "apos":
		r.appendValue([]byte{'\''})
		return end + 1
	}
	if name[0] == '#' {
		if c, ok := numeric(name[1:]); ok {
			r.appendValue(utf8.AppendRune(nil, c))
			return end + 1
		}
		r.report(codeControlCharacter, r.win.r, b[:end+1])
		return end + 1
	}
	for _, c := range name {
		if c|0x20 < 'a' && (c < '0' || c > '9') || c|0x20 > 'z' {
			r.report(codeBareAmpersand, r.win.r, b[:end+1])
			r.appendValue(b[:1])
			return 1
		}
	}
	return r.appendNamed(b[:end+1])
}

// appendNamed decodes a named reference that XML does not know.
func (r *Reader) appendNamed(ref []byte) int {
	switch text := html.UnescapeString(string(ref)); {
	case r.declared:
		r.report(codeEntityNotExpanded, r.win.r, ref)
		r.entry.unexpanded = true
		r.appendValue(ref)
	case len(text) < len(ref) && text[len(text)-1] != ';' && text[0] != '&' || string(ref) == "&semi;":
		r.report(codeHTMLEntity, r.win.r, ref)
		r.appendValue([]byte(text))
	default:
		r.report(codeEntityUnknown, r.win.r, ref)
		r.appendValue(ref)
	}
	return len(ref)
}

// numeric decodes the number of a character reference; false for characters that XML forbids.
func numeric(b []byte) (rune, bool) {
	base := rune(10)
	if len(b) > 1 && b[0]|0x20 == 'x' {
		b, base = b[1:], 16
	}
	if len(b) == 0 {
		return 0, false
	}
	var n rune
	for _, c := range b {
		d := rune(99)
		switch {
		case c >= '0' && c <= '9':
			d = rune(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = rune(c|0x20-'a') + 10
		}
		if d >= base {
			return 0, false
		}
		if n = n*base + d; n > utf8.MaxRune {
			return 0, false
		}
	}
	if n < ' ' && n != '\t' && n != '\n' && n != '\r' || n >= 0xd800 && n <= 0xdfff || n == 0xfffe || n == 0xffff {
		return 0, false
	}
	return n, true
}
