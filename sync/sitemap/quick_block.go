package sitemap

import (
	"github.com/zeebo/xxh3"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// swift is what quick knows of the extension prefixes, as long as no binding changes.
type swift struct {
	version      uint32
	image, xhtml bool
	misses       int
	sawLink      bool // the document's extensions name them
	sawImage     bool
	seeds        [16]languageSeed
}

// quickMisses is how many entries may turn out not to be plain behind their first block, and be read anew, before quick
// leaves all entries with blocks to the long way.
const quickMisses = 16

// quickBlock reads a block of an entry that is read the long way, if it is one of those that quick knows; it then does
// not stay where it is.
func (r *Reader) quickBlock(b []byte) bool {
	if r.stack[len(r.stack)-1].ctx != inEntry {
		return false
	}
	blocks := &r.entry.blocks
	n := 0
	switch {
	case b[1] == 'x' && r.usualPrefix(famXHTML) && string(b[:12]) == "<xhtml:link ":
		if n = r.quickAlternate(b); n > 0 {
			a := &blocks.alternates[len(blocks.alternates)-1]
			a.Hreflang, a.Href = r.memory.keep(a.Hreflang), r.memory.keep(a.Href)
		}
	case b[1] == 'i' && r.usualPrefix(famImage) && string(b[:13]) == "<image:image>":
		if n = r.quickImage(b); n > 0 {
			m := &blocks.images[len(blocks.images)-1]
			m.Loc = r.memory.keep(m.Loc)
		}
	}
	r.win.r += n
	return n > 0
}

// quickBlocks tells whether blocks of a family are read the quick way: their prefix means what it usually does.
func (r *Reader) quickBlocks(fam family) bool {
	return r.swift.misses <= quickMisses && r.usualPrefix(fam)
}

func (r *Reader) usualPrefix(fam family) bool {
	s := &r.swift
	if s.version != r.ns.version {
		image, _ := r.ns.lookup([]byte("image"))
		xhtml, _ := r.ns.lookup([]byte("xhtml"))
		s.version, s.image, s.xhtml = r.ns.version, image == famImage, xhtml == famXHTML
	}
	return fam == famImage && s.image || fam == famXHTML && s.xhtml
}

// quickMiss gives an entry back to the long way, from its start.
func (r *Reader) quickMiss() (int, bool) {
	r.swift.misses++
	r.dropBlocks()
	return 0, false
}

// quickAlternate reads the xhtml:link at the start of b and returns its size; 0 when it is not of the usual kind:
// rel="alternate", hreflang and href, each once, closed by a slash.
func (r *Reader) quickAlternate(b []byte) int {
	const usual = `<xhtml:link rel="alternate" hreflang="`
	if len(b) > len(usual)+64 && string(b[:len(usual)]) == usual { // in the usual order, too
		i := len(usual) + 2
		if b[i] != '"' {
			i += languageLength(b[i:])
		}
		lang := b[len(usual):i:i]
		if string(b[i:i+8]) == `" href="` {
			i += 8
			if n, _ := weburl.PlainLength(r.origin, b[i:]); n > 0 && len(b)-i-n > 4 && b[i+n] == '"' {
				href := b[i : i+n : i+n]
				i += n + 1
				if b[i] == ' ' {
					i++
				}
				if b[i] == '/' && b[i+1] == '>' {
					return r.quickLink(lang, href, i+2)
				}
			}
		}
	}
	return r.quickAttributes(b)
}

// languageLength returns how many bytes at the start of b may belong to a language tag.
func languageLength(b []byte) int {
	n := 0
	for n < len(b) && (isLetter(b[n]) || b[n] == '-' || b[n]-'0' <= 9) {
		n++
	}
	return n
}

// quickAttributes is quickAlternate for attributes in any order.
func (r *Reader) quickAttributes(b []byte) int {
	var lang, href []byte
	rel := false
	i := len("<xhtml:link ")
	for {
		i = skipBlank(b, i)
		rest := b[i:]
		if len(rest) < 18 {
			return 0
		}
		switch {
		case !rel && string(rest[:15]) == `rel="alternate"`:
			rel = true
			i += 15
		case lang == nil && string(rest[:10]) == `hreflang="`:
			n := 10 + languageLength(rest[10:])
			if n == len(rest) || rest[n] != '"' || n == 10 {
				return 0
			}
			lang = rest[10:n:n]
			i += n + 1
		case href == nil && string(rest[:6]) == `href="`:
			n, _ := weburl.PlainLength(r.origin, rest[6:])
			if n == 0 || 6+n == len(rest) || rest[6+n] != '"' {
				return 0
			}
			href = rest[6 : 6+n : 6+n]
			i += 6 + n + 1
		case !rel || lang == nil || href == nil:
			return 0
		case string(rest[:2]) == "/>":
			return r.quickLink(lang, href, i+2)
		case string(rest[:14]) == "></xhtml:link>":
			return r.quickLink(lang, href, i+14)
		default:
			return 0
		}
	}
}

// quickLink keeps an alternate.
func (r *Reader) quickLink(lang, href []byte, size int) int {
	blocks := &r.entry.blocks
	n := len(blocks.alternates)
	seed, ok := r.swift.seed(lang, n)
	if !ok || n >= r.opt.MaxAlternates {
		return 0
	}
	if n == 0 && !r.swift.sawLink {
		r.swift.sawLink = true
		r.extension(extXHTML)
	}
	if n < cap(blocks.alternates) {
		blocks.alternates = blocks.alternates[:n+1]
		a := &blocks.alternates[n]
		a.Hreflang, a.Href = lang, href
	} else {
		blocks.alternates = append(blocks.alternates, Alternate{Hreflang: lang, Href: href})
	}
	r.d.Alternates = blocks.alternates
	if !r.opt.SkipHashes {
		blocks.sum.addSeeded(seed, href)
	}
	return size
}

// languageSeed remembers the seed of alternates in one language.
type languageSeed struct {
	lang uint64 // as eight bytes; zero when it is longer
	seed uint64
}

// seed gives the seed of an alternate that has nothing but hreflang and href; false when that is no language tag. As
// entries name their languages in the same order, the place in the entry finds what was found out before.
func (s *swift) seed(lang []byte, place int) (uint64, bool) {
	known := &s.seeds[place%len(s.seeds)]
	key := uint64(0)
	if len(lang) <= 8 {
		for _, c := range lang {
			key = key<<8 | uint64(c)
		}
		if known.lang == key && key != 0 {
			return known.seed, true
		}
	}
	if !languageTag(lang) {
		return 0, false
	}
	var fields [64]byte // a language tag has at most 35 bytes
	c := append(appendLower(append(fields[:0], 'a'), lang), 0, 0, 0, 0)
	*known = languageSeed{key, xxh3.Hash(c)}
	return known.seed, true
}

// quickImage reads the image:image at the start of b, which must hold a loc and nothing else, and returns its size.
func (r *Reader) quickImage(b []byte) int {
	i := skipBlank(b, len("<image:image>"))
	rest := b[i:]
	if len(rest) < 12 || string(rest[:11]) != "<image:loc>" {
		return 0
	}
	i = skipBlank(b, i+11)
	n, _ := weburl.PlainLength(r.origin, b[i:])
	if n == 0 {
		return 0
	}
	loc := b[i : i+n : i+n]
	i = skipBlank(b, i+n)
	if rest = b[i:]; len(rest) < 12 || string(rest[:12]) != "</image:loc>" {
		return 0
	}
	i = skipBlank(b, i+12)
	blocks := &r.entry.blocks
	if rest = b[i:]; len(rest) < 14 || string(rest[:14]) != "</image:image>" || len(blocks.images) >= r.opt.MaxImages {
		return 0
	}
	k := len(blocks.images)
	if k == 0 && !r.swift.sawImage {
		r.swift.sawImage = true
		r.extension(extImage)
	}
	if k < cap(blocks.images) {
		blocks.images = blocks.images[:k+1]
		blocks.images[k].Loc = loc
	} else {
		blocks.images = append(blocks.images, Image{Loc: loc})
	}
	r.d.Images = blocks.images
	if !r.opt.SkipHashes {
		blocks.sum.addSeeded(bareImage, loc)
	}
	return i + 14
}
