package headscan

import "strings"

// names are the elements that a rule of this package, or a reader of its
// elements, treats by name. Others have no name in a token, only their bytes.
var names = []string{
	"base", "basefont", "bgsound", "body", "br", "frame", "frameset", "head", "html", "iframe", "link", "math",
	"meta", "noembed", "noframes", "noscript", "plaintext", "script", "style", "svg", "template", "textarea",
	"title", "xmp", "a", "area", "audio", "embed", "img", "object", "source", "track", "video", "data", "meter", "time",
	"foreignobject", "desc", "col", "hr", "input", "param", "wbr", "p", "div", "span",
}

// byFirst finds the names of one first letter.
var byFirst = func() (t [26][]string) {
	for _, n := range names {
		t[n[0]-'a'] = append(t[n[0]-'a'], n)
	}
	return t
}()

// knownName gives the lower-case name of a known element, "" for any other.
func knownName(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	c := b[0] | 0x20
	if c < 'a' || c > 'z' {
		return ""
	}
	for _, n := range byFirst[c-'a'] {
		if len(n) == len(b) && equalFold(b, n) {
			return n
		}
	}
	return ""
}

// isRawText says whether the content of the element is text up to its end tag.
func isRawText(name string, scripting bool) bool {
	switch name {
	case "script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp", "plaintext":
		return true
	case "noscript":
		return scripting
	}
	return false
}

// isVoid says whether the element never has content (WHATWG HTML 13.1.2).
func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
		"basefont", "bgsound", "frame":
		return true
	}
	return false
}

// keepsHead says whether a start tag leaves the head open (13.2.6.4.4, in head).
func keepsHead(name string) bool {
	switch name {
	case "base", "basefont", "bgsound", "link", "meta", "title", "style", "script", "noframes", "noscript", "template",
		"html", "head":
		return true
	}
	return false
}

// leavesForeign are the start tags that close svg and math around them
// (13.2.6.5); font is left out, it does so only with some attributes.
var leavesForeign = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6
		head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`) {
		m[n] = true
	}
	return m
}()

func isLetter(c byte) bool { c |= 0x20; return 'a' <= c && c <= 'z' }

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// equalFold compares with a lower-case ASCII name, without regard to ASCII case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
