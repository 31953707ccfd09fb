package weburl

import (
	"bytes"
)

// slow reads any text: it cleans it, finds its parts as the WHATWG URL standard does for http and https, and writes
// identity and wire form into the parser's buffers.
func (p *Parser) slow(base *URL, raw []byte) (URL, Problem) {
	raw, notes := p.cleanUp(raw)
	switch {
	case len(raw) == 0:
		return URL{}, Empty
	case len(raw) > MaxLength:
		return URL{}, TooLong
	case raw[0] == '<':
		return URL{}, BadContent
	}
	parts, problem := split(base, raw)
	if problem != None {
		return URL{}, problem
	}
	notes |= parts.notes
	p.identity, p.wire = p.identity[:0], p.wire[:0]
	u, problem := p.build(base, raw, &parts)
	u.Notes |= notes
	return u, problem
}

// cleanUp removes what a browser removes before it looks at the text: white space and control characters around it,
// tabs and line ends inside; and the invisible characters that editors leave (zero width space, byte order mark,
// no-break space) at its ends.
func (p *Parser) cleanUp(raw []byte) ([]byte, Note) {
	for {
		n := len(raw)
		raw = bytes.TrimFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f })
		for _, invisible := range []string{"\u200b", "\ufeff", "\u00a0", "\u200e", "\u200f", "\u2060", "\u3000"} {
			raw = bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte(invisible)), []byte(invisible))
		}
		if len(raw) == n {
			break
		}
	}
	var notes Note
	if bytes.Contains(raw, []byte(`:\/\/`)) { // escaped as if for JSON
		p.clean = append(p.clean[:0], bytes.ReplaceAll(raw, []byte(`\/`), []byte("/"))...)
		raw, notes = p.clean, NoteSlashes
	}
	dirty := false
	for _, c := range raw {
		if c < ' ' || c == 0x7f {
			dirty = true
			break
		}
	}
	if !dirty {
		return raw, notes
	}
	clean := p.clean[:0] // never longer than what was read of it
	for _, c := range raw {
		if c >= ' ' && c != 0x7f {
			clean = append(clean, c)
		}
	}
	p.clean = clean
	return clean, notes | NoteTrimmed
}

// parts are the pieces of a text before normalisation.
type parts struct {
	scheme            []byte // as published; empty when the base's scheme holds
	user, host, port  []byte
	hasUser           bool
	path, query, frag []byte
	hasQuery, hasFrag bool
	inherit           int // how much of the base a relative text takes: see the constants
	notes             Note
}

const (
	inheritNothing = iota
	inheritOrigin  // "/path"
	inheritFolder  // "page"
	inheritPath    // "?query"
	inheritQuery   // "#fragment" or nothing
)

// split finds the pieces of an absolute, scheme-less or relative text.
func split(base *URL, raw []byte) (parts, Problem) {
	var s parts
	rest := raw
	if n := schemeLength(raw); n > 0 && !startsWithHost(base, raw) {
		s.scheme, rest = raw[:n], raw[n+1:]
		if !bytes.EqualFold(s.scheme, []byte("http")) && !bytes.EqualFold(s.scheme, []byte("https")) {
			return s, BadScheme
		}
		slashes := countSlashes(rest)
		if slashes != 2 || bytes.IndexByte(rest[:slashes], '\\') >= 0 {
			s.notes |= NoteSlashes
		}
		return s, s.authority(rest[slashes:])
	}
	if bytes.ContainsAny(raw, " <{") { // prose, markup, a template that was not filled in
		return s, BadContent
	}
	if base == nil || len(base.Host) == 0 {
		if looksLikeHost(raw) { // "www.example.org/page" in a text without a base
			s.notes |= NoteSchemeMissing
			return s, s.authority(raw)
		}
		return s, NoHost
	}
	switch slashes := countSlashes(raw); {
	case slashes >= 2:
		s.notes |= NoteSchemeMissing
		if slashes > 2 || bytes.IndexByte(raw[:slashes], '\\') >= 0 {
			s.notes |= NoteSlashes
		}
		return s, s.authority(raw[slashes:])
	case startsWithHost(base, raw):
		s.notes |= NoteSchemeMissing
		return s, s.authority(raw)
	case slashes == 1:
		s.inherit = inheritOrigin
	case raw[0] == '?':
		s.inherit = inheritPath
	case raw[0] == '#':
		s.inherit = inheritQuery
	default:
		s.inherit = inheritFolder
	}
	s.notes |= NoteRelative
	s.tail(raw)
	return s, None
}

// schemeLength returns the length of the scheme at the start of raw, or 0.
func schemeLength(raw []byte) int {
	for i, c := range raw {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':' && i > 0:
			return i
		default:
			return 0
		}
	}
	return 0
}

func countSlashes(b []byte) int {
	n := 0
	for n < len(b) && (b[n] == '/' || b[n] == '\\') {
		n++
	}
	return n
}

// startsWithHost tells whether a text without a scheme begins with a host rather than with a path: the base's own host
// (with or without "www."), or any host that begins with "www.".
func startsWithHost(base *URL, raw []byte) bool {
	first := raw
	if i := bytes.IndexAny(raw, "/?#\\"); i >= 0 {
		first = raw[:i]
	}
	if base != nil && len(base.Host) > 0 {
		own, text := trimWWW(base.Authority()), trimWWW(first)
		if bytes.EqualFold(own, text) || bytes.EqualFold(trimWWW(base.Host), text) {
			return true
		}
	}
	return len(first) > 6 && bytes.EqualFold(first[:4], []byte("www.")) && bytes.IndexByte(first[4:], '.') > 0 &&
		span(bytes.ToLower(first), inHost) == len(first)
}

// looksLikeHost tells whether the first segment has the shape of a host name with a dot.
func looksLikeHost(raw []byte) bool {
	first := raw
	if i := bytes.IndexAny(raw, "/?#"); i >= 0 {
		first = raw[:i]
	}
	first = bytes.ToLower(first)
	return bytes.IndexByte(first, '.') > 0 && span(first, inHost) == len(first) && nameLabel(first)
}

func trimWWW(host []byte) []byte {
	if len(host) > 4 && bytes.EqualFold(host[:4], []byte("www.")) {
		return host[4:]
	}
	return host
}

// authority splits what stands after "//".
func (s *parts) authority(rest []byte) Problem {
	end := bytes.IndexAny(rest, "/\\?#")
	if end < 0 {
		end = len(rest)
	}
	auth := rest[:end]
	s.tail(rest[end:])
	if i := bytes.LastIndexByte(auth, '@'); i >= 0 {
		s.user, s.hasUser, auth = auth[:i], true, auth[i+1:]
		s.notes |= NoteUserinfo
	}
	if i := bytes.LastIndexByte(auth, ':'); i >= 0 && bytes.IndexByte(auth[i:], ']') < 0 {
		s.port, auth = auth[i+1:], auth[:i]
	}
	s.host = auth
	if len(auth) == 0 {
		return NoHost
	}
	return None
}

// tail splits path, query and fragment.
func (s *parts) tail(rest []byte) {
	if i := bytes.IndexByte(rest, '#'); i >= 0 {
		s.frag, s.hasFrag, rest = rest[i+1:], true, rest[:i]
		s.notes |= NoteFragment
	}
	if i := bytes.IndexByte(rest, '?'); i >= 0 {
		s.query, s.hasQuery, rest = rest[i+1:], true, rest[:i]
	}
	s.path = rest
}

// validURI tells whether a text holds only characters that a URI may hold, "%" included only before two hex digits.
func validURI(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if class[c]&(rawPath|rawQuery) == 0 && c != '%' && c != '#' && c != '[' && c != ']' && c != '\'' {
			return false
		}
		if c == '%' && (i+2 >= len(raw) || !isHex(raw[i+1]) || !isHex(raw[i+2])) {
			return false
		}
	}
	return true
}
