package sitemap

import (
	"bytes"
	"io"
)

const windowSize = 64 << 10

// window is the sliding buffer that the scanner looks through. Indexes into buf are valid until the next fill.
type window struct {
	src    io.Reader
	buf    []byte
	r, w   int   // unread bytes are buf[r:w]
	base   int64 // offset of buf[0] in the document
	max    int   // largest size of buf
	eof    bool
	lines  int // line ends before buf[lineAt]
	lineAt int
	noLine int // no line end in buf[lineAt:noLine]
}

func (s *window) reset(src io.Reader, max int) {
	if s.buf == nil || len(s.buf) > windowSize {
		s.buf = make([]byte, windowSize)
	}
	*s = window{src: src, buf: s.buf, max: max}
}

// fill makes more of the document visible behind buf[r:w], moving it to the front of the buffer. False means that
// there is nothing more (eof), or that no more fits because the token that begins at r is over the limit (not eof).
// It fills the buffer to its end, so that what is scanned again after a fill is a small part of what was read.
func (s *window) fill() bool {
	if s.eof {
		return false
	}
	s.noLine = 0
	if s.r > 0 {
		s.countLines(s.r)
		s.lineAt = 0
		s.base += int64(s.r)
		s.w = copy(s.buf, s.buf[s.r:s.w])
		s.r = 0
	}
	if s.w == len(s.buf) {
		if len(s.buf) >= s.max {
			return false
		}
		larger := make([]byte, min(2*len(s.buf), s.max))
		copy(larger, s.buf[:s.w])
		s.buf = larger
	}
	before := s.w
	for empty := 0; s.w < len(s.buf); {
		n, err := s.src.Read(s.buf[s.w:])
		s.w += n
		if err != nil {
			s.eof = true
			break
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty > 100 {
			s.eof = true
			break
		}
	}
	return s.w > before
}

// need makes at least n unread bytes visible if the document has them.
func (s *window) need(n int) bool {
	for s.w-s.r < n {
		if !s.fill() {
			return false
		}
	}
	return true
}

// index finds c in the unread bytes from r+from on, filling as needed. The result is relative to r; -1 means that the
// document ends, or that the limit is reached, before it comes.
func (s *window) index(from int, c byte) int {
	for {
		if i := bytes.IndexByte(s.buf[s.r+from:s.w], c); i >= 0 {
			return from + i
		}
		from = s.w - s.r
		if !s.fill() {
			return -1
		}
	}
}

// skipPast drops everything up to and with the text end; false means that the document ended first.
func (s *window) skipPast(end string) bool {
	for {
		if i := bytes.Index(s.buf[s.r:s.w], []byte(end)); i >= 0 {
			s.r += i + len(end)
			return true
		}
		if keep := len(end) - 1; s.w-s.r > keep {
			s.r = s.w - keep
		}
		if !s.fill() {
			s.r = s.w
			return false
		}
	}
}

// hasPrefix tells whether the unread bytes begin with text.
func (s *window) hasPrefix(text string) bool {
	return s.need(len(text)) && string(s.buf[s.r:s.r+len(text)]) == text
}

func (s *window) countLines(pos int) {
	s.lines += bytes.Count(s.buf[s.lineAt:pos], []byte{'\n'})
	s.lineAt = pos
}

// place gives line and offset of an index into buf.
func (s *window) place(pos int) place {
	if pos >= s.lineAt {
		if pos > s.noLine {
			before := s.lines
			if s.countLines(pos); s.lines-before < 2 { // lines are long: look ahead for the next end
				s.noLine = s.w
				if i := bytes.IndexByte(s.buf[pos:s.w], '\n'); i >= 0 {
					s.noLine = pos + i
				}
			}
		}
		s.lineAt = pos
		return place{s.lines + 1, s.base + int64(pos)}
	}
	return place{s.lines - bytes.Count(s.buf[pos:s.lineAt], []byte{'\n'}) + 1, s.base + int64(pos)}
}

// offset gives the place of the next unread byte in the document; at is its inverse, as far as the window still shows
// that place.
func (s *window) offset() int64 { return s.base + int64(s.r) }

func (s *window) at(offset int64) int { return int(max(0, offset-s.base)) }
