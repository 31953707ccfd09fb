// Package sketch tells whether the text of one page is contained in that of
// another, from two kilobytes kept of each. A canonical target may be a
// duplicate or a superset of its source (RFC 6596 section 3), so the measure is
// containment, which similarity hashes cannot express.
//
// A sketch holds the smallest hashes of all runs of four words (bottom-k). It
// depends on the text alone: no seed, no clock.
//
// It is pure. Of ours it imports canonical (the outcome's words) and headscan.
package sketch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"html"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
)

// Bounds of the comparison.
const (
	Size          = 256  // hashes kept
	shingle       = 4    // words of one run
	MatchFrom     = 0.80 // contained share from which texts match
	MismatchTo    = 0.30 // contained share up to which they do not, if both have words enough
	MismatchWords = 200
	minSample     = 16 // hashes that must be comparable
	maxWords      = 200_000
)

// Sketch is what is kept of a text. The zero value is that of no text.
type Sketch struct {
	Hashes []uint64 // ascending, at most Size
	Words  int
}

// OfHTML sketches the text that readers see: that of main or article elements
// where there is enough of it, else all but navigation, header, footer and aside.
func OfHTML(doc []byte) Sketch {
	var all, main collector
	var open []string // main, article, nav, ... that are open
	headscan.Scan(doc, headscan.Limits{Total: canonical.MaxBody}, headscan.Visitor{
		Element: func(e *headscan.Element) {
			if name := area(e.Other); name != "" && !e.SelfClosed && len(open) < 64 {
				open = append(open, name)
			}
		},
		EndTag: func(name []byte) {
			if n := area(name); n != "" {
				if i := lastIndex(open, n); i >= 0 {
					open = open[:i]
				}
			}
		},
		Text: func(t []byte, at int) {
			if slices.ContainsFunc(open, func(n string) bool { return n != "main" && n != "article" }) {
				return
			}
			all.add(t)
			if len(open) > 0 {
				main.add(t)
			}
		},
	})
	if main.words >= 50 {
		return main.sketch()
	}
	return all.sketch()
}

// OfText sketches plain text.
func OfText(text []byte) Sketch {
	var c collector
	c.add(text)
	return c.sketch()
}

// area gives the lower-case name of an element that sets text apart, "" for others.
func area(name []byte) string {
	for _, n := range []string{"main", "article", "nav", "header", "footer", "aside", "form"} {
		if len(n) == len(name) && bytes.EqualFold(name, []byte(n)) {
			return n
		}
	}
	return ""
}

func lastIndex(list []string, s string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// collector hashes words as they come and keeps the hashes of their runs.
type collector struct {
	window [shingle]uint64
	words  int
	hashes map[uint64]struct{}
}

func (c *collector) add(text []byte) {
	if bytes.IndexByte(text, '&') >= 0 {
		text = []byte(html.UnescapeString(string(text)))
	}
	for len(text) > 0 && c.words < maxWords {
		r, n := utf8.DecodeRune(text)
		if !wordRune(r) {
			text = text[n:]
			continue
		}
		h := uint64(14695981039346656037)
		for len(text) > 0 {
			r, n = utf8.DecodeRune(text)
			if !wordRune(r) {
				break
			}
			h = (h ^ uint64(unicode.ToLower(r))) * 1099511628211
			text = text[n:]
		}
		c.word(h)
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (c *collector) word(h uint64) {
	copy(c.window[:], c.window[1:])
	c.window[shingle-1] = h
	if c.words++; c.words < shingle {
		return
	}
	var run uint64
	for _, w := range c.window {
		run = mix(run ^ w)
	}
	if c.hashes == nil {
		c.hashes = map[uint64]struct{}{}
	}
	c.hashes[run] = struct{}{}
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func (c *collector) sketch() Sketch {
	s := Sketch{Words: c.words}
	for h := range c.hashes {
		s.Hashes = append(s.Hashes, h)
	}
	slices.Sort(s.Hashes)
	s.Hashes = slices.Clip(s.Hashes[:min(len(s.Hashes), Size)])
	return s
}

// Containment estimates the share of the source's text that the target holds.
// It is false where too little can be compared.
func Containment(source, target Sketch) (share float64, ok bool) {
	limit := uint64(math.MaxUint64)
	for _, s := range []Sketch{source, target} {
		if len(s.Hashes) == Size { // only hashes below the greatest kept one are known to be all
			limit = min(limit, s.Hashes[Size-1])
		}
	}
	sample, held := 0, 0
	for _, h := range source.Hashes {
		if h > limit {
			break
		}
		sample++
		if _, found := slices.BinarySearch(target.Hashes, h); found {
			held++
		}
	}
	if sample < minSample {
		return 0, false
	}
	return float64(held) / float64(sample), true
}

// Compare judges whether the target's text can stand for the source's.
func Compare(source, target Sketch) canonical.Compared {
	share, ok := Containment(source, target)
	switch {
	case !ok:
		return canonical.ComparedUnknown
	case share >= MatchFrom:
		return canonical.ComparedMatch
	case share <= MismatchTo && source.Words >= MismatchWords && target.Words >= MismatchWords:
		return canonical.ComparedMismatch
	case share > MismatchTo:
		return canonical.ComparedNear
	}
	return canonical.ComparedUnknown
}

// SoftNotFound says whether a page is the one that its host answers to a
// random path: each text holds the other's.
func SoftNotFound(page, random Sketch) bool {
	a, ok := Containment(page, random)
	b, ok2 := Containment(random, page)
	return ok && ok2 && a >= 0.95 && b >= 0.95
}

// MarshalBinary writes the sketch in 4 bytes and 8 a hash.
func (s Sketch) MarshalBinary() ([]byte, error) {
	out := binary.BigEndian.AppendUint32(nil, uint32(min(s.Words, math.MaxUint32)))
	for _, h := range s.Hashes {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out, nil
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (s *Sketch) UnmarshalBinary(b []byte) error {
	if len(b) < 4 || (len(b)-4)%8 != 0 || len(b) > 4+8*Size {
		return fmt.Errorf("sketch of %d bytes: want 4 and up to %d times 8", len(b), Size)
	}
	s.Words, s.Hashes = int(binary.BigEndian.Uint32(b)), nil
	for b = b[4:]; len(b) > 0; b = b[8:] {
		s.Hashes = append(s.Hashes, binary.BigEndian.Uint64(b))
	}
	return nil
}
