package headscan

import "bytes"

// Swallowed finds link elements with the word canonical that exist as bytes
// but not as elements: inside a comment, a script's string, an unclosed title
// and the like. It returns the name of what holds each ("comment", "script",
// "title" ...) and its offset, at most four of them.
func Swallowed(doc []byte, lim Limits) []Swallow {
	if lim.Total > 0 && len(doc) > lim.Total {
		doc = doc[:lim.Total]
	}
	if indexFold(doc, "canonical") < 0 {
		return nil
	}
	var found []Swallow
	s := NewScanner(doc)
	for s.Next() && len(found) < 4 {
		t := s.Token()
		var body []byte
		name, at := "comment", t.Start
		switch {
		case t.Kind == TokenComment:
			body = doc[t.Start+1 : t.End] // the comment's own '<' is none of its content
		case t.RawText && t.Name != "noscript":
			body, name, at = doc[t.ContentStart:t.ContentEnd], t.Name, t.ContentStart
		default:
			continue
		}
		c := indexFold(body, "canonical")
		if c < 0 {
			continue
		}
		if l := indexFold(body, "link"); l >= 0 && indexFold(body, "href") >= 0 {
			found = append(found, Swallow{In: name, Offset: at + l})
		}
	}
	return found
}

// Swallow is a canonical link that is no element.
type Swallow struct {
	In     string
	Offset int
}

// indexFold finds a lower-case ASCII word without regard to case, -1 if it is not there.
// The next place of either case of its first letter is kept, so that it stays linear.
func indexFold(b []byte, word string) int {
	lower, upper := -2, -2
	for p := 0; p+len(word) <= len(b); p++ {
		lower, upper = next(b, word[0], p, lower), next(b, word[0]&^0x20, p, upper)
		switch {
		case lower < 0 && upper < 0:
			return -1
		case upper < 0 || lower >= 0 && lower < upper:
			p = lower
		default:
			p = upper
		}
		if p+len(word) <= len(b) && equalFold(b[p:p+len(word)], word) {
			return p
		}
	}
	return -1
}

// next gives the first c at or after p, given the last answer: -1 is none left, -2 not yet asked.
func next(b []byte, c byte, p, last int) int {
	if last == -1 || last >= p {
		return last
	}
	i := bytes.IndexByte(b[p:], c)
	if i < 0 {
		return -1
	}
	return p + i
}
