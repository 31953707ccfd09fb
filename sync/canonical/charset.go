package canonical

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded is a document whose markup is ASCII, with the way to read the rest.
type decoded struct {
	doc      []byte
	name     string            // of the encoding, lower case
	from     string            // bom, header, meta, content, default
	enc      encoding.Encoding // nil for UTF-8
	conflict string            // another encoding that was declared and lost
	bom      int               // bytes of byte order mark cut off doc
}

// decode finds the document's encoding: byte order mark, then the header's
// charset, then meta, then its content. Content that is valid UTF-8 beyond
// ASCII wins over a guess, however far down its first such byte is.
func decode(body []byte, contentType string) decoded {
	d := decoded{doc: body, name: "utf-8", from: "default"}
	label := ""
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		label = params["charset"]
	}
	headerName := encodingName(label)
	metaName := ""
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		d.doc, d.from, d.bom = body[3:], "bom", 3
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		d.name, d.from = "utf-16be", "bom"
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		d.name, d.from = "utf-16le", "bom"
	case headerName != "":
		d.name, d.from = headerName, "header"
		metaName = metaCharset(body)
	default:
		if metaName = metaCharset(body); metaName != "" {
			d.name, d.from = metaName, "meta"
		} else if i := firstHigh(body); i >= 0 {
			d.from = "content"
			if !validPrefix(body) {
				d.name = "windows-1252"
			}
		}
	}
	for _, other := range []string{headerName, metaName} {
		if other != "" && other != d.name {
			d.conflict = other
		}
	}
	if d.name == "utf-8" {
		return d
	}
	e, err := htmlindex.Get(d.name)
	if err != nil {
		return d
	}
	d.enc = e
	switch d.name {
	case "utf-16be", "utf-16le", "iso-2022-jp":
		if d.name == "utf-16be" {
			e = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
		} else if d.name == "utf-16le" {
			e = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		}
		if out, _, err := transform.Bytes(e.NewDecoder(), body); err == nil || len(out) > 0 {
			d.doc, d.enc = out, nil
		}
	}
	return d
}

// garbled says of a decoded document that it was decoded in the wrong way: every second byte of UTF-16 that nothing tells is
// NUL, three of four in UTF-32, which no browser reads.
func garbled(doc []byte) bool {
	head := doc[:min(len(doc), 512)]
	return bytes.Count(head, []byte{0}) > len(head)/8+1
}

// text decodes a piece of the document to UTF-8.
func (d *decoded) text(b []byte) string {
	if firstHigh(b) < 0 {
		return string(b)
	}
	if d.enc == nil {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	out, err := d.enc.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	return string(out)
}

// queryCharset names the encoding for a link's query, "" for UTF-8 (and, by the
// standard, for UTF-16).
func (d *decoded) queryCharset() string {
	if d.enc == nil {
		return ""
	}
	return d.name
}

// encodingName gives the standard's name of the encoding with that label, "" if there is none.
func encodingName(label string) string {
	if equalFold(label, "utf-8") {
		return "utf-8"
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

// metaCharset reads the encoding that a meta element in the first kilobyte states.
func metaCharset(body []byte) string {
	name := ""
	lim := headscan.Limits{Total: 1024}
	headscan.Scan(body, lim, headscan.Visitor{Element: func(e *headscan.Element) {
		if name != "" || e.Name != "meta" {
			return
		}
		label := ""
		if a, ok := e.Attr("charset"); ok {
			label = string(a.Value)
		} else if a, ok := e.Attr("http-equiv"); ok && equalFold(string(a.Value), "content-type") {
			c, _ := e.Attr("content")
			if _, params, err := mime.ParseMediaType(string(c.Value)); err == nil {
				label = params["charset"]
			}
		}
		name = encodingName(strings.TrimSpace(label))
	}})
	if strings.HasPrefix(name, "utf-16") {
		return "utf-8" // a meta that can be read as ASCII is no UTF-16 (WHATWG HTML 13.2.3.2)
	}
	return name
}

func firstHigh(b []byte) int {
	for i, c := range b {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// validPrefix is utf8.Valid that forgives a character cut off at the end.
func validPrefix(b []byte) bool {
	for n := 0; n < utf8.UTFMax; n++ {
		if n <= len(b) && utf8.Valid(b[:len(b)-n]) {
			return true
		}
	}
	return false
}

// encodeQuery percent-encodes the query's non-ASCII characters in the named
// encoding, as browsers do for links of a document in it; path and fragment
// stay for the caller, who encodes them as UTF-8.
func encodeQuery(s, charsetName string) string {
	if charsetName == "" {
		return s
	}
	q := strings.IndexByte(s, '?')
	if q < 0 || firstHigh([]byte(s[q:])) < 0 {
		return s
	}
	end := len(s)
	if f := strings.IndexByte(s[q:], '#'); f >= 0 {
		end = q + f
	}
	e, err := htmlindex.Get(charsetName)
	if err != nil {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:q])
	for _, r := range s[q:end] {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		enc, err := e.NewEncoder().String(string(r))
		if err != nil {
			fmt.Fprintf(&b, "%%26%%23%d%%3B", r)
			continue
		}
		for i := 0; i < len(enc); i++ {
			fmt.Fprintf(&b, "%%%02X", enc[i])
		}
	}
	b.WriteString(s[end:])
	return b.String()
}
