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
