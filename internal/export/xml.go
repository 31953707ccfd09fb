package export

import "unicode/utf8"

// appendText writes character data: markup escaped, and what XML 1.0 forbids (control characters, U+FFFE, U+FFFF, bytes
// that are no UTF-8) as U+FFFD, so that a loss is seen.
func appendText[T string | []byte](dst []byte, s T) []byte { return appendXML(dst, s, false) }

// appendAttribute writes the value of an attribute in double quotes. White space is written as references, which
// parsers keep.
func appendAttribute[T string | []byte](dst []byte, s T) []byte { return appendXML(dst, s, true) }

func appendXML[T string | []byte](dst []byte, s T, attribute bool) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		size, replacement := 1, ""
		switch {
		case c == '&':
			replacement = "&amp;"
		case c == '<':
			replacement = "&lt;"
		case c == '>':
			replacement = "&gt;"
		case c == '"':
			replacement = "&quot;"
		case c == '\'':
			replacement = "&apos;"
		case c == '\r': // a parser would make a line feed of it
			replacement = "&#13;"
		case attribute && c == '\t':
			replacement = "&#9;"
		case attribute && c == '\n':
			replacement = "&#10;"
		case c < ' ' && c != '\t' && c != '\n':
			replacement = "\ufffd"
		case c >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
			if r == utf8.RuneError && size == 1 || r == 0xfffe || r == 0xffff {
				replacement = "\ufffd"
			}
		}
		if replacement != "" {
			dst = append(append(dst, s[start:i]...), replacement...)
			start = i + size
		}
		i += size
	}
	return append(dst, s[start:]...)
}
