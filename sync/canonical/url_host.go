package canonical

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// looksLikeHost says whether a text begins with what is likely a host whose scheme was forgotten: an address, "localhost" or
// a name below a public suffix before a slash, a name that begins with "www.", or any name with a port. Most of them are
// relative by the URL standard; a name with a port that begins with a letter is read as a scheme there.
func looksLikeHost(s string) bool {
	first, tail := s, ""
	if i := strings.IndexAny(s, "/\\?#"); i >= 0 {
		first, tail = s[:i], s[i:]
	}
	host, hasPort := cutPort(strings.ToLower(first))
	dots := strings.Count(host, ".")
	if strings.HasPrefix(host, "www.") && dots > 1 {
		return true
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && a.Is6() == strings.HasPrefix(host, "[") {
		return a.Is6() || hasPort || tail != ""
	}
	if host == "" || strings.ContainsAny(host, "%:@ []<>|^`{}\"") {
		return false
	}
	if hasPort { // "a:1" alone is too little; "12:30/x" and "v1.2:3/x" are times and versions
		last := host[strings.LastIndexByte(host, '.')+1:]
		return host == "localhost" || dots > 0 && !isDigits(last) || dots == 0 && tail != "" && schemeOf(s) != ""
	}
	if host == "localhost" {
		return tail != ""
	}
	// "feed.xml/" may be a folder; a name that ends with the text or at its query may be a file.
	if !strings.HasPrefix(tail, "/") {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(strings.TrimSuffix(host, "."))
	return icann && dots > 0 && suffix != host
}

// cutPort takes a port of digits from an authority.
func cutPort(authority string) (host string, hasPort bool) {
	i := strings.LastIndexByte(authority, ':')
	if i <= 0 || i < strings.LastIndexByte(authority, ']') {
		return authority, false
	}
	if i == len(authority)-1 { // an empty one is the scheme's own
		return authority[:i], false
	}
	if port, err := strconv.ParseUint(authority[i+1:], 10, 16); err != nil || port == 0 {
		return authority, false
	}
	return authority[:i], true
}

// placeholders stand for an address in templates and programs that should have put it there.
var placeholders = []string{"{{", "{%", "<?", "<%", "${", "#{", "[[", "%postname%", "%post_id%", "%pagename%", "%category%", "%slug%", "%title%", "%url%", "%permalink%", "%canonical%"}

// isPlaceholder says whether a text is a template that was not filled in, or what programs print of a value that is not there.
func isPlaceholder(text string) bool {
	lower := strings.ToLower(text)
	switch lower {
	case "undefined", "null", "nil", "nan", "none", "(none)", "false", "true", "[object object]":
		return true
	}
	for _, p := range placeholders {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}

// embedsURL says whether a text that is no URL holds one: behind a quote or a character that nobody sees, or after a
// scheme that stands twice. A path that has a URL in it, as those of archives and proxies, is none.
func embedsURL(text, scheme string) bool {
	lower := strings.ToLower(text)
	for _, s := range []string{"http", "https"} {
		if scheme == "http" || scheme == "https" {
			if rest := strings.TrimLeft(lower[len(scheme)+1:], "/\\"); strings.HasPrefix(rest, s+"//") || strings.HasPrefix(rest, s+"://") {
				return true
			}
			continue
		}
		if i := strings.Index(lower, s+"://"); scheme == "" && i > 0 && !strings.ContainsAny(lower[:i], "/\\?#") {
			return true
		}
	}
	return false
}

// misspelt says whether a link type was meant to be "canonical".
func misspelt(rel string) bool {
	if len(rel) < 7 || !strings.ContainsAny(rel, "cC") {
		return false
	}
	for _, t := range strings.Fields(strings.ToLower(rel)) {
		if len(t) >= 7 && len(t) <= 11 && distance(t, "canonical") <= 2 {
			return true
		}
	}
	return false
}

// distance counts the letters that are to be put in, taken out or changed to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
