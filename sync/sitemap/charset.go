package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decode finds the document's character encoding and returns its text in UTF-8: a byte order mark decides, then the
// pattern of the first bytes, then the XML declaration, then the Content-Type. Bytes that are no UTF-8 in a document
// that should be are dealt with value by value.
func (r *Reader) decode(src *bufio.Reader, m Meta) io.Reader {
	head, _ := src.Peek(1024)
	doc := r.doc
	enc, name, mark := byMark(head)
	if enc == nil && mark == 0 {
		enc, name = byPattern(head)
	}
	if mark > 0 {
		_, _ = src.Discard(mark)
		r.reportDoc(codeBOM, "")
	}
	declared := ""
	if enc == nil {
		declared = declaredLabel(head)
	} else {
		wide := head[mark:]
		plain, _ := enc.NewDecoder().Bytes(wide[:len(wide)-len(wide)%4])
		declared = declaredLabel(plain)
	}
	doc.Declared = declared
	doc.Encoding = "UTF-8"
	switch {
	case enc != nil:
		if declared != "" && !sameFamily(declared, name) {
			r.reportDoc(codeCharsetConflict, declared)
		}
	case mark > 0: // a UTF-8 mark beats every label
		if declared != "" && !sameFamily(declared, "utf-8") {
			r.reportDoc(codeCharsetConflict, declared)
		}
	case declared != "":
		enc, name = r.byLabel(declared)
	default:
		if _, params, err := mime.ParseMediaType(m.ContentType); err == nil && params["charset"] != "" {
			// A server's default label is often wrong for this one encoding, and values that are no UTF-8 are read
			// as windows-1252 anyway.
			if enc, name = byHeader(params["charset"]); name == "windows-1252" {
				enc = nil
			}
		}
	}
	if enc == nil {
		return src
	}
	doc.Encoding = canonicalName(name)
	r.reportDoc(codeCharsetNotUTF8, doc.Encoding)
	doc.Transformations = append(doc.Transformations, "charset:"+doc.Encoding)
	if page := western(enc); page != nil {
		m := &mislabelled{page: page, seen: func() {
			if !r.found.has(codeCharsetConflict) {
				r.reportDoc(codeCharsetConflict, declared)
			}
		}}
		return m.reader(src)
	}
	return enc.NewDecoder().Reader(src)
}

// byMark recognises a byte order mark; enc is nil for UTF-8 and when there is none.
func byMark(b []byte) (enc encoding.Encoding, name string, length int) {
	switch {
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		return nil, "utf-8", 3
	case bytes.HasPrefix(b, []byte{0xff, 0xfe, 0, 0}):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32le", 4
	case bytes.HasPrefix(b, []byte{0, 0, 0xfe, 0xff}):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "utf-32be", 4
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le", 2
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be", 2
	}
	return nil, "", 0
}

// byPattern recognises wide encodings by the zeros around the first character, which is ASCII in every sitemap.
func byPattern(b []byte) (encoding.Encoding, string) {
	if len(b) < 4 {
		return nil, ""
	}
	switch {
	case b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] != 0 && len(b) >= 8 && b[4] == 0 && b[5] == 0 && b[6] == 0:
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "utf-32be"
	case b[0] != 0 && b[1] == 0 && b[2] == 0 && b[3] == 0 && len(b) >= 8 && b[5] == 0 && b[6] == 0 && b[7] == 0:
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "utf-32le"
	case b[0] == 0 && b[1] != 0 && b[2] == 0 && b[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be"
	case b[0] != 0 && b[1] == 0 && b[2] != 0 && b[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le"
	}
	return nil, ""
}

// declaredLabel returns the label in the XML declaration, wherever in the head that stands.
func declaredLabel(head []byte) string {
	i := bytes.Index(head, []byte("<?xml"))
	if i < 0 || len(head) < i+6 || kind[head[i+5]]&isBlank == 0 {
		return ""
	}
	decl := head[i:]
	if end := bytes.IndexByte(decl, '>'); end >= 0 {
		decl = decl[:end]
	}
	i = bytes.Index(decl, []byte("encoding"))
	if i < 0 {
		return ""
	}
	value := bytes.TrimLeft(decl[i+len("encoding"):], " \t\r\n")
	if len(value) == 0 || value[0] != '=' || kind[decl[i-1]]&isBlank == 0 {
		return ""
	}
	value = bytes.TrimLeft(value[1:], " \t\r\n\"'")
	if end := bytes.IndexAny(value, " \t\r\n\"'?"); end >= 0 {
		value = value[:end]
	}
	if len(value) > 40 {
		value = value[:40]
	}
	return string(value)
}

// byLabel finds the encoding that the XML declaration names; nil means UTF-8.
func (r *Reader) byLabel(label string) (encoding.Encoding, string) {
	enc, name := byHeader(label)
	switch {
	case name == "":
		r.reportDoc(codeCharsetUnknown, label)
		return nil, ""
	case strings.HasPrefix(name, "utf-16"), strings.HasPrefix(label, "UTF-32"), name == "replacement":
		// The declaration was readable as ASCII, so it is wrong.
		r.reportDoc(codeCharsetConflict, label)
		return nil, ""
	}
	return enc, name
}

// byHeader finds an encoding by a WHATWG label; nil with a name means UTF-8, without one an unknown label.
func byHeader(label string) (encoding.Encoding, string) {
	label = strings.ToLower(strings.Trim(label, " \t\"'"))
	switch label {
	case "utf8mb4", "utf-8mb4", "utf_8", "utf 8", "utf8", "utf-8", "unicode", "us-ascii", "ascii":
		return nil, "utf-8"
	case "utf-32", "utf-32le", "utf-32be", "ucs-4":
		return nil, "utf-16"
	case "latin-1", "iso8859", "iso-8859":
		return charmap.Windows1252, "windows-1252"
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, ""
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return nil, ""
	}
	if name == "utf-8" {
		return nil, name
	}
	return enc, name
}

// sameFamily tells whether a label may stand in a document of the named encoding.
func sameFamily(label, name string) bool {
	label = strings.ToLower(label)
	_, canonical := byHeader(label)
	return canonical == name || strings.HasPrefix(name, "utf-16") && strings.HasPrefix(label, "utf-16") ||
		strings.HasPrefix(name, "utf-32") && strings.HasPrefix(label, "utf-32")
}

func canonicalName(name string) string {
	if strings.HasPrefix(name, "utf-") {
		return strings.ToUpper(name)
	}
	return name
}

// repair returns b in UTF-8, reading it as windows-1252 when it is not.
func (r *Reader) repair(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	r.report(codeInvalidUTF8, r.win.r, b)
	out, err := charmap.Windows1252.NewDecoder().Bytes(b)
	if err != nil {
		return bytes.ToValidUTF8(b, nil)
	}
	return out
}
