package sitemap

import (
	"strconv"
	"unicode/utf8"
)

// Severity ranks a finding.
type Severity string

// The severities. An error cost something (a field, an entry, the document); a warning breaks a rule and was understood
// all the same; an info is worth knowing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one thing that is not as it should be, with its place.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Line     int      `json:"line,omitempty"`   // from 1; 0 when it is about the document as a whole
	Offset   int64    `json:"offset,omitempty"` // bytes into the inflated document in its UTF-8 form
	Text     string   `json:"text"`
	Rule     string   `json:"rule,omitempty"`  // where the rule is written
	Count    int      `json:"count,omitempty"` // on the first finding of a code: how often it was met, when more than kept
}

// place is a position in the document.
type place struct {
	line   int
	offset int64
}

// findings collects the findings of one document.
type findings struct {
	list  []Finding
	count [numCodes]int32
	first [numCodes]int32 // index into list, from 1
	max   int32
}

func (f *findings) reset(max int) {
	*f = findings{max: int32(max)}
}

// full counts an occurrence and tells whether it is beyond those that are kept.
func (f *findings) full(c code) bool {
	f.count[c]++
	return f.count[c] > f.max
}

func (f *findings) has(c code) bool { return f.count[c] > 0 }

// add keeps an occurrence that full has counted.
func (f *findings) add(c code, at place, excerpt []byte) {
	rule := &catalogue[c]
	text := rule.Meaning
	if len(excerpt) > 0 {
		text += ": " + quote(excerpt)
	}
	f.list = append(f.list, Finding{
		Code: rule.Code, Severity: rule.Severity, Line: at.line, Offset: at.offset, Text: text, Rule: rule.Source,
	})
	if f.first[c] == 0 {
		f.first[c] = int32(len(f.list))
	}
}

// finish gives the list, with totals.
func (f *findings) finish() []Finding {
	for c, n := range f.count {
		if n > f.max && f.first[c] > 0 {
			f.list[f.first[c]-1].Count = int(n)
		}
	}
	return f.list
}

// quote shows published text in a finding: at most 160 bytes, quoted, nothing unprintable.
func quote(b []byte) string {
	const most = 160
	cut := ""
	if len(b) > most {
		for b = b[:most]; len(b) > most-utf8.UTFMax && !utf8.Valid(b); {
			b = b[:len(b)-1]
		}
		cut = " ..."
	}
	return strconv.Quote(string(b)) + cut
}

// report notes a finding about the bytes at index pos of the window.
func (r *Reader) report(c code, pos int, excerpt []byte) {
	if r.found.full(c) {
		return
	}
	r.found.add(c, r.win.place(pos), excerpt)
}

// reportJunk notes output before or behind the document: once, with the beginning of it all, as it comes in many tokens.
func (r *Reader) reportJunk(c code, pos int) {
	if r.found.has(c) {
		return
	}
	w := &r.win
	excerpt := w.buf[pos:min(pos+200, w.w)]
	if i := markupStart(excerpt); i > 0 && c == codeOutputBefore {
		excerpt = excerpt[:i]
	}
	r.report(c, pos, trim(excerpt))
}

// reportAt notes a finding about a place that has left the window.
func (r *Reader) reportAt(c code, at place, excerpt []byte) {
	if r.found.full(c) {
		return
	}
	r.found.add(c, at, excerpt)
}

// reportDoc notes a finding about the document as a whole.
func (r *Reader) reportDoc(c code, excerpt string) {
	if r.found.full(c) {
		return
	}
	r.found.add(c, place{}, []byte(excerpt))
}
