package weburl

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// build writes the identity key and, where the published text cannot serve, the wire form.
func (p *Parser) build(base *URL, raw []byte, s *parts) (URL, Problem) {
	var u URL
	id := p.identity
	scheme := "http"
	switch {
	case len(s.scheme) == 5, len(s.scheme) == 0 && base != nil && len(base.Scheme) == 5,
		len(s.scheme) == 0 && base == nil:
		scheme = "https"
	}
	if len(s.scheme) > 0 && string(s.scheme) != scheme {
		u.Notes |= NoteCase
	}
	id = append(append(id, scheme...), "://"...)
	hostAt := len(id)
	var hostEnd, portAt int
	if s.inherit == inheritNothing {
		host, notes, ok := p.normalHost(s.host)
		u.Notes |= notes
		if !ok {
			return u, BadHost
		}
		if s.hasUser {
			id = appendEncoded(id, s.user, rawPath, &u.Notes)
			id = append(id, '@')
		}
		hostAt = len(id)
		id = append(id, host...)
		hostEnd, portAt = len(id), len(id)
		port, problem := normalPort(s.port, scheme)
		if problem != None {
			return u, problem
		}
		if port > 0 {
			id = append(id, ':')
			portAt = len(id)
			id = strconv.AppendUint(id, uint64(port), 10)
		}
	} else {
		id = append(id, base.Host...)
		hostEnd, portAt = len(id), len(id)
		if len(base.Port) > 0 {
			id = append(id, ':')
			portAt = len(id)
			id = append(id, base.Port...)
		}
	}
	portEnd := len(id)
	id = appendPath(id, base, s, &u.Notes)
	pathEnd := len(id)
	query, hasQuery := s.query, s.hasQuery
	if s.inherit == inheritQuery {
		query, hasQuery = base.Query, base.HasQuery
	}
	if hasQuery {
		id = append(id, '?')
		id = appendEncoded(id, query, rawQuery, &u.Notes)
	}
	p.identity = id
	u.Identity = id
	u.Scheme = id[:len(scheme):len(scheme)]
	u.Host, u.Port = id[hostAt:hostEnd:hostEnd], id[portAt:portEnd:portEnd]
	u.Path = id[portEnd:pathEnd:pathEnd]
	if u.HasQuery = hasQuery; hasQuery {
		u.Query = id[pathEnd+1:]
	}
	p.wireForm(&u, raw, s)
	if len(u.Identity) > MaxLength || len(u.Wire) > MaxLength {
		return u, TooLong
	}
	return u, None
}

// wireForm keeps the published text when it is an absolute, valid URI, and writes a repaired one otherwise.
func (p *Parser) wireForm(u *URL, raw []byte, s *parts) {
	if s.inherit == inheritNothing && len(s.scheme) > 0 && s.notes&NoteSlashes == 0 && validURI(raw) {
		u.Wire = raw
		return
	}
	w := append(p.wire, u.Identity[:len(u.Identity)-len(u.Path)]...)
	if u.HasQuery {
		w = append(p.wire, u.Identity[:len(u.Identity)-len(u.Path)-1-len(u.Query)]...)
	}
	var ignored Note
	if s.inherit == inheritNothing { // the path as published, with its spelling of triplets, but encoded
		if len(s.path) == 0 {
			w = append(w, '/')
		}
		for _, c := range s.path {
			w = appendWire(w, c, rawPath)
		}
		if s.hasQuery {
			w = append(w, '?')
			for _, c := range s.query {
				w = appendWire(w, c, rawQuery)
			}
		}
	} else {
		w = append(w, u.Path...)
		if u.HasQuery {
			w = append(append(w, '?'), u.Query...)
		}
	}
	if s.hasFrag {
		w = append(w, '#')
		w = appendEncoded(w, s.frag, rawQuery, &ignored)
	}
	p.wire = w
	u.Wire = w
}

// appendWire writes one published byte, percent-encoded when no URI may hold it; triplets stay as they are.
func appendWire(dst []byte, c, mask byte) []byte {
	switch {
	case c == '\\' && mask == rawPath:
		return append(dst, '/')
	case class[c]&mask != 0 || c == '%' || c == '\'' || c == '[' || c == ']':
		return append(dst, c)
	}
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// appendPath writes the normalised path, the base's folder first where the text is relative, without dot segments.
func appendPath(dst []byte, base *URL, s *parts, notes *Note) []byte {
	start := len(dst)
	switch s.inherit {
	case inheritPath, inheritQuery:
		return append(dst, base.Path...)
	case inheritFolder:
		dst = append(dst, base.Path[:bytes.LastIndexByte(base.Path, '/')+1]...)
	default:
		if len(s.path) == 0 || s.path[0] != '/' && s.path[0] != '\\' {
			dst = append(dst, '/')
		}
	}
	if bytes.IndexByte(s.path, '\\') >= 0 {
		*notes |= NoteSlashes
	}
	dst = appendEncoded(dst, s.path, rawPath, notes)
	return removeDots(dst, start, notes)
}

// removeDots resolves "." and ".." segments of the path that begins at start, in place.
func removeDots(b []byte, start int, notes *Note) []byte {
	if !bytes.Contains(b[start:], []byte("/.")) {
		return b
	}
	w := start // everything before w is final; b[start] is a slash
	for r := start; r < len(b); {
		end := bytes.IndexByte(b[r+1:], '/')
		if end < 0 {
			end = len(b)
		} else {
			end += r + 1
		}
		segment := b[r+1 : end]
		switch {
		case string(segment) == ".":
			*notes |= NoteDots
			if end == len(b) {
				b[w] = '/'
				w++
			}
		case string(segment) == "..":
			*notes |= NoteDots
			if i := bytes.LastIndexByte(b[start:w], '/'); i >= 0 {
				w = start + i
			}
			if end == len(b) {
				b[w] = '/'
				w++
			}
		default:
			w += copy(b[w:], b[r:end])
		}
		r = end
	}
	return b[:w]
}

// appendEncoded writes one component: triplets normalised, characters outside mask percent-encoded as UTF-8.
func appendEncoded(dst, src []byte, mask byte, notes *Note) []byte {
	for i := 0; i < len(src); {
		if n := span(src[i:], mask); n > 0 {
			dst = append(dst, src[i:i+n]...)
			i += n
			continue
		}
		c := src[i]
		switch {
		case c == '%' && i+2 < len(src) && isHex(src[i+1]) && isHex(src[i+2]):
			if v := unhex(src[i+1])<<4 | unhex(src[i+2]); class[v]&isUnres != 0 && !completes(dst, v) {
				dst = append(dst, v)
			} else {
				dst = append(dst, '%', upperHex[v>>4], upperHex[v&15])
			}
			i += 3
			continue
		case c == '%':
			*notes |= NoteBadPercent
			dst = append(dst, '%')
		case c == '\\' && mask == rawPath:
			dst = append(dst, '/')
		default:
			if c != '\'' && c != '[' && c != ']' {
				*notes |= NoteEscaped
			}
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
		i++
	}
	return dst
}

// completes tells whether a decoded character would turn a stray percent sign before it into a triplet that nobody
// wrote ("%9%65" is not "%9e"). Triplets are written whole, so a percent sign this near to the end is always a stray one.
func completes(dst []byte, v byte) bool {
	n := len(dst)
	return isHex(v) && n > 0 && (dst[n-1] == '%' || n > 1 && dst[n-2] == '%' && isHex(dst[n-1]))
}

func normalPort(port []byte, scheme string) (int, Problem) {
	n := 0
	for _, c := range port {
		if c < '0' || c > '9' {
			return 0, BadPort
		}
		if n = n*10 + int(c-'0'); n > 65535 {
			return 0, BadPort
		}
	}
	if n == 80 && scheme == "http" || n == 443 && scheme == "https" {
		n = 0
	}
	return n, None
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func hasNonASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}
