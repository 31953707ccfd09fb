package sitemap

import "bytes"

// looksLikeList tells whether a text is a list of URLs: its first line that is not blank is one, or most lines are.
func looksLikeList(head []byte) bool {
	good, bad := 0, 0
	for len(head) > 0 && good+bad < 200 {
		line := head
		if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		line = trim(line)
		switch {
		case len(line) == 0:
		case urlLine(line):
			if good++; bad == 0 {
				return true
			}
		default:
			bad++
		}
	}
	return good > bad
}

// urlLine tells whether a line begins like a URL and is one word.
func urlLine(line []byte) bool {
	lower := bytes.ToLower(line[:min(len(line), 8)])
	if !bytes.HasPrefix(lower, []byte("http://")) && !bytes.HasPrefix(lower, []byte("https://")) {
		return false
	}
	return !bytes.ContainsAny(line, " \t<>\"")
}

// list reads a list of URLs, one a line.
func (r *Reader) list() {
	w := &r.win
	r.root, r.rootEnd = true, true
	r.doc.Type, r.doc.Root = TextList, ""
	for r.err == nil && !r.stopped {
		i := bytes.IndexByte(w.buf[w.r:w.w], '\n')
		if j := bytes.IndexByte(w.buf[w.r:w.w], '\r'); j >= 0 && (j < i || i < 0) {
			i = j
		}
		if i < 0 {
			if w.fill() {
				continue
			}
			if !w.eof {
				r.report(codeTokenLimit, w.r, w.buf[w.r:w.r+60])
				r.stopped = true
				return
			}
			i = w.w - w.r
		}
		r.listLine(trim(w.buf[w.r:w.r+i]), w.r)
		if w.r += i; w.r < w.w {
			w.r++
		} else if w.eof {
			return
		}
		if r.tokens++; r.tokens > r.opt.MaxTokens {
			r.report(codeTagLimit, w.r, nil)
			r.stopped = true
		}
	}
}

// listLine reads one line of a list.
func (r *Reader) listLine(line []byte, pos int) {
	if len(line) == 0 {
		return
	}
	if lower := bytes.ToLower(line[:min(len(line), 8)]); !bytes.HasPrefix(lower, []byte("http://")) &&
		!bytes.HasPrefix(lower, []byte("https://")) {
		r.report(codeTextLine, pos, line)
		r.doc.Refused++
		return
	}
	r.begin(pos)
	r.entry.hasLoc = true
	r.value = r.value[:0]
	r.appendClean(line)
	r.takeLoc(r.value, pos)
	r.finishEntry()
}
