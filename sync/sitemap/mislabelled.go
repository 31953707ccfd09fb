package sitemap

import (
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// western gives the code page of an encoding whose label is often put on UTF-8, nil for all others: in Western text no letter is
// followed by one that would make the two a UTF-8 sequence (the second one has to be a sign from 0x80 to 0xBF), while Thai, Greek
// or Persian words have such pairs.
func western(enc encoding.Encoding) *charmap.Charmap {
	switch enc {
	case charmap.Windows1252, charmap.ISO8859_15:
		return enc.(*charmap.Charmap)
	}
	return nil
}

// mislabelled decodes a document that declares a Western encoding. UTF-8 sequences in it stand for themselves, each alone,
// so that what one entry reads as does not hang on the others.
type mislabelled struct {
	transform.NopResetter
	page *charmap.Charmap
	seen func() // called for each sequence
}

func (m *mislabelled) reader(src io.Reader) io.Reader { return transform.NewReader(src, m) }

// Transform implements transform.Transformer.
func (m *mislabelled) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		c, size := rune(src[nSrc]), 1
		if c >= utf8.RuneSelf {
			if !atEOF && !utf8.FullRune(src[nSrc:]) {
				return nDst, nSrc, transform.ErrShortSrc
			}
			if r, n := utf8.DecodeRune(src[nSrc:]); n > 1 {
				m.seen()
				c, size = r, n
			} else {
				c = m.page.DecodeByte(src[nSrc])
			}
		}
		if nDst+utf8.RuneLen(c) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], c)
		nSrc += size
	}
	return nDst, nSrc, nil
}
