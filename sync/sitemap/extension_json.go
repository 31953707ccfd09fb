package sitemap

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// AppendExtensions writes a declaration's extension blocks as one JSON object with the contract's key names, always in
// the same order; nothing when there is none. The result equals json.Marshal of the same Extensions.
func AppendExtensions(dst []byte, d *Declaration) []byte {
	if !d.HasExtensions() {
		return dst
	}
	out, err := json.Marshal(&Extensions{
		Alternates: d.Alternates, Images: d.Images, Videos: d.Videos, News: d.News, Mobile: d.Mobile, PageMap: d.PageMap,
	})
	if err != nil { // no type of ours fails to marshal
		return dst
	}
	return append(dst, out...)
}

// ParseExtensions reads what AppendExtensions wrote, also after a database has ordered its keys in another way. Empty
// input gives no extensions.
func ParseExtensions(b []byte) (Extensions, error) {
	var e Extensions
	if len(b) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("read extensions: %w", err)
	}
	return e, nil
}

// appendString writes a JSON string.
func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				i++
				start = i
				continue
			}
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// AppendJSON writes a lastmod as the contract shows it.
func (l *Lastmod) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"raw":`...)
	dst = appendString(dst, l.Raw)
	if l.State == Valid {
		dst = append(dst, `,"instant":"`...)
		dst = l.Time().AppendFormat(dst, "2006-01-02T15:04:05.999999Z")
		dst = append(dst, `","precision":"`...)
		dst = append(dst, l.Precision.String()...)
		dst = append(dst, `","zone":`...)
		dst = strconv.AppendBool(dst, l.Zone)
	}
	return append(dst, '}')
}
