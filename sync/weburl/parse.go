package weburl

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Parser parses many URLs into one scratch buffer: what it returned is valid until its next call.
// The zero value is ready. It must not be used by two goroutines at a time.
type Parser struct {
	identity []byte
	wire     []byte
	clean    []byte
	host     []byte
}

// Parse reads one published text. Base, which may be nil, is the URL of the document that holds it. The result aliases
// raw where that is possible and own memory elsewhere.
func Parse(base *URL, raw []byte) (URL, Problem) {
	var p Parser
	return p.Parse(base, raw)
}

// ParseString is Parse for a string; the result never aliases it.
func ParseString(base *URL, raw string) (URL, Problem) { return Parse(base, []byte(raw)) }

// Fast parses a text whose wire form is its own identity key and needs nothing done: an absolute URL in the characters
// that a URI may hold. Everything else is refused with BadContent, whatever Parse would say of it. It never allocates.
func (p *Parser) Fast(base *URL, raw []byte) (URL, Problem) {
	if u, ok := fast(base, raw); ok {
		return u, None
	}
	return URL{}, BadContent
}

// Parse reads one published text; see the function of the same name. The result is valid until the next call.
func (p *Parser) Parse(base *URL, raw []byte) (URL, Problem) {
	if u, ok := fast(base, raw); ok {
		return u, None
	}
	if u, ok := p.triplets(base, raw); ok {
		return u, None
	}
	return p.slow(base, raw)
}

// Character classes of the fast path and of percent-encoding.
const (
	inPath     = 1 << iota // may stand in a path as it is, and needs no look at its neighbours
	inQuery                // the same for a query
	inHost                 // lower-case letter, digit, hyphen, dot: needs nothing done in a host
	isUnres                // unreserved in RFC 3986
	rawPath                // need not be percent-encoded in a path
	rawQuery               // need not be percent-encoded in a query
	plainPath              // inPath, and nothing to XML either
	plainQuery             // inQuery, and nothing to XML either
)

var class = func() (t [256]byte) {
	for c := byte(0x21); c < 0x7f; c++ {
		lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
		if lower || upper || digit || bytes.IndexByte([]byte("-._~"), c) >= 0 {
			t[c] |= isUnres
		}
		if lower || digit || c == '-' || c == '.' || c == '_' {
			t[c] |= inHost
		}
		if t[c]&isUnres != 0 || bytes.IndexByte([]byte("!$&'()*+,;=:@/"), c) >= 0 {
			t[c] |= rawPath | inPath
		}
		if t[c]&rawPath != 0 && c != '\'' || c == '?' {
			t[c] |= rawQuery | inQuery
		}
	}
	t['.'] &^= inPath // a dot after a slash may be a dot segment
	for c := range t {
		if t[c]&inPath != 0 && c != '&' {
			t[c] |= plainPath
		}
		if t[c]&inQuery != 0 && c != '&' {
			t[c] |= plainQuery
		}
	}
	return t
}()

// span returns how many bytes at the start of b are of the class.
func span(b []byte, mask byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		if class[byte(v)]&class[byte(v>>8)]&class[byte(v>>16)]&class[byte(v>>24)]&
			class[byte(v>>32)]&class[byte(v>>40)]&class[byte(v>>48)]&class[byte(v>>56)]&mask == 0 {
			break
		}
	}
	for i < len(b) && class[b[i]]&mask != 0 {
		i++
	}
	return i
}

// pathSpan returns the length of the path at the start of b, up to the first byte that is not plainPath, or that is a dot
// behind a slash and so may be a dot segment.
//
// It looks at eight bytes at once for the letters, digits, hyphens, slashes and colons that nearly all paths are made of:
// for bytes below 0x80, adding 0x80-lo sets the high bit of those from lo on, and adding 0x7f-hi that of those beyond hi.
func pathSpan(b []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	i := 0
	for i+8 <= len(b) {
		v := binary.LittleEndian.Uint64(b[i:])
		low := v &^ high
		folded := low | 0x20*ones
		letters := (folded + (0x80-'a')*ones) &^ (folded + (0x7f-'z')*ones)
		others := (low + (0x80-'-')*ones) &^ (low + (0x7f-':')*ones)
		dots := low ^ '.'*ones
		odd := (^(letters | others) | v | (dots-ones)&^dots) & high
		if odd == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(odd) >> 3
		if c := b[i]; class[c]&plainPath == 0 && (c != '.' || i == 0 || b[i-1] == '/') {
			return i
		}
		i++
	}
	for i < len(b) && (class[b[i]]&plainPath != 0 || b[i] == '.' && i > 0 && b[i-1] != '/') {
		i++
	}
	return i
}

// authorityEnd finds where the path begins in a text whose scheme and authority need nothing done, and sets these parts
// of u; false for all others.
func authorityEnd(base *URL, raw []byte, u *URL) (slash int, ok bool) {
	if len(raw) > MaxLength {
		return 0, false
	}
	if base != nil && len(base.Host) > 0 && sameOrigin(base, raw) {
		u.Scheme, u.Host, u.Port = base.Scheme, base.Host, base.Port
		slash = len(base.Scheme) + 3 + len(base.Host)
		if len(base.Port) > 0 {
			slash += 1 + len(base.Port)
		}
		return slash, true
	}
	scheme := 5
	if len(raw) <= 8 || string(raw[:8]) != "https://" {
		if scheme = 4; len(raw) <= 8 || string(raw[:7]) != "http://" {
			return 0, false
		}
	}
	start := scheme + 3
	slash = start + span(raw[start:], inHost)
	// A last label that begins with a digit may be an IPv4 address in disguise.
	if slash == start || slash == len(raw) || raw[slash] != '/' || !nameLabel(raw[start:slash]) {
		return 0, false
	}
	u.Scheme, u.Host = raw[:scheme:scheme], raw[start:slash:slash]
	return slash, true
}

// fast accepts a text whose wire form is its own identity key, and nothing else.
func fast(base *URL, raw []byte) (URL, bool) {
	var u URL
	slash, ok := authorityEnd(base, raw, &u)
	if !ok {
		return u, false
	}
	i := slash
	for {
		i += span(raw[i:], inPath)
		if i == len(raw) || raw[i] != '.' || raw[i-1] == '/' {
			break
		}
		i++
	}
	u.Path = raw[slash:i:i]
	if i < len(raw) {
		if raw[i] != '?' {
			return URL{}, false
		}
		if n := i + 1 + span(raw[i+1:], inQuery); n != len(raw) {
			return URL{}, false
		}
		u.Query, u.HasQuery = raw[i+1:], true
	}
	u.Wire, u.Identity = raw, raw
	return u, true
}

// triplets accepts a text that needs nothing done but for its percent triplets, as addresses in other scripts do.
func (p *Parser) triplets(base *URL, raw []byte) (URL, bool) {
	var u URL
	slash, ok := authorityEnd(base, raw, &u)
	if !ok {
		return u, false
	}
	id := append(p.identity[:0], raw[:slash]...)
	pathEnd := -1
	mask := byte(inPath)
	for i := slash; i < len(raw); i++ {
		n := span(raw[i:], mask)
		id = append(id, raw[i:i+n]...)
		if i += n; i == len(raw) {
			break
		}
		switch c := raw[i]; {
		case c == '%' && i+2 < len(raw) && isHex(raw[i+1]) && isHex(raw[i+2]):
			v := unhex(raw[i+1])<<4 | unhex(raw[i+2])
			switch {
			case v == '.': // may make a dot segment
				return u, false
			case class[v]&isUnres != 0:
				id = append(id, v)
			default:
				id = append(id, '%', upperHex[v>>4], upperHex[v&15])
			}
			i += 2
		case pathEnd < 0 && c == '.' && raw[i-1] != '/':
			id = append(id, c)
		case pathEnd < 0 && c == '?':
			pathEnd, mask = len(id), inQuery
			id = append(id, c)
		default:
			return u, false
		}
	}
	p.identity = id
	u.Wire, u.Identity = raw, id
	if pathEnd < 0 {
		u.Path = id[slash:]
	} else {
		u.Path, u.Query, u.HasQuery = id[slash:pathEnd:pathEnd], id[pathEnd+1:], true
	}
	return u, true
}

// sameOrigin tells whether raw begins with the base's origin, as its identity spells it, and a slash.
func sameOrigin(base *URL, raw []byte) bool {
	n := len(base.Scheme) + 3 + len(base.Host)
	if len(base.Port) > 0 {
		n += 1 + len(base.Port)
	}
	return len(raw) > n && raw[n] == '/' && len(base.Identity) >= n && string(raw[:n]) == string(base.Identity[:n])
}

// nameLabel tells whether the last label of a lower-case ASCII host is a name: not empty and not beginning with a digit.
func nameLabel(host []byte) bool {
	label := host[bytes.LastIndexByte(host, '.')+1:]
	return len(label) > 0 && (label[0] < '0' || label[0] > '9')
}

// PlainLength returns the length of the URL at the start of b that needs nothing done: it is its own wire form and
// identity key, and holds neither "&" nor anything else that XML might mean in another way. Zero when there is none.
// What follows it in b is for the caller to judge. Own tells whether it begins with prefix, which is an Origin with a
// slash at its end, or empty.
func PlainLength(prefix, b []byte) (n int, own bool) {
	i := len(prefix) - 1
	if i > 0 && len(b) >= len(prefix) && string(b[:len(prefix)]) == string(prefix) {
		own = true
	} else {
		start := 8
		if len(b) <= 8 || string(b[:8]) != "https://" {
			if start = 7; len(b) <= 8 || string(b[:7]) != "http://" {
				return 0, false
			}
		}
		i = start + span(b[start:], inHost)
		if i == len(b) || b[i] != '/' || !nameLabel(b[start:i]) {
			return 0, false
		}
	}
	i += pathSpan(b[i:])
	if i < len(b) && b[i] == '?' {
		i++
		i += span(b[i:], plainQuery)
	}
	if i > MaxLength {
		return 0, false
	}
	return i, own
}
