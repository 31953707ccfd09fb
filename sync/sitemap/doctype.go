package sitemap

import "bytes"

// doctype skips a DOCTYPE with its internal subset, byte by byte, expanding and fetching nothing. It keeps that
// entities were declared, so that values which use them are refused rather than taken for text.
func (r *Reader) doctype() bool {
	w := &r.win
	w.need(64)
	head := w.buf[w.r:min(w.r+64, w.w)]
	if r.context() == inProlog && !r.root {
		name := bytes.TrimLeft(head[9:], " \t\r\n")
		if len(name) >= 4 && bytes.EqualFold(name[:4], []byte("html")) {
			r.notASitemap(codeBodyHTML, w.r)
			return false
		}
	}
	r.report(codeDoctype, w.r, upTo(head, ">["))
	w.r += 9
	depth := 0 // of square brackets
	quote := byte(0)
	for {
		for w.r < w.w {
			c := w.buf[w.r]
			switch {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '[':
				depth++
			case c == ']':
				depth--
			case c == '>' && depth <= 0:
				w.r++
				return true
			case c == '<' && depth > 0:
				switch {
				case w.hasPrefix("<!--"):
					w.r += 4
					if !w.skipPast("-->") {
						return r.cutInProlog()
					}
					continue
				case w.hasPrefix("<!ENTITY"):
					r.declared = true
					text := w.buf[w.r:min(w.r+60, w.w)]
					r.report(codeDoctypeEntities, w.r, upTo(text, ">"))
				}
			}
			w.r++
		}
		if !w.fill() {
			return r.cutInProlog()
		}
	}
}

// cutInProlog notes that the document ended inside markup; inside the root, scan does so.
func (r *Reader) cutInProlog() bool {
	if len(r.stack) == 0 && !r.root {
		r.report(codeXMLTruncated, r.win.r, nil)
	}
	return false
}

// upTo returns b up to and with the first of the characters, all of b without one.
func upTo(b []byte, chars string) []byte {
	if i := bytes.IndexAny(b, chars); i >= 0 {
		return b[:i+1]
	}
	return b
}
