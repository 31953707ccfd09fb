package sitemap

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// fingerprint computes an entry's fingerprint; docs/semantic-hash.md describes the form. Kind is 'u' for a page and
// 's' for a reference, which has no declaration.
func (r *Reader) fingerprint(kind byte, identity []byte, l *Lastmod, d *Declaration) [16]byte {
	c := append(r.canon[:0], kind)
	c = append(append(c, identity...), 0)
	if l.State == Valid {
		c = append(c, 'L', l.Precision.class())
		c = binary.BigEndian.AppendUint64(c, uint64(l.Instant))
	}
	if d != nil {
		if d.Changefreq != ChangefreqNone {
			c = append(c, 'C', byte(d.Changefreq))
		}
		if d.Priority.Set {
			c = binary.BigEndian.AppendUint32(append(c, 'P'), uint32(d.Priority.Micros))
		}
		if d.HasExtensions() {
			r.canon = c
			sum := r.extensionSum(d)
			c = append(append(r.canon[:len(c)], 'X'), sum[:]...)
		}
	}
	r.canon = c
	return xxh3.Hash128(c).Bytes()
}

// extensionSum adds up the hashes of an entry's extension blocks, modulo 2^128, so that their order does not matter.
func (r *Reader) extensionSum(d *Declaration) [16]byte {
	var s blockSum
	s.r, s.start = r, len(r.canon)
	for i := range d.Alternates {
		a := &d.Alternates[i]
		s.begin('a')
		s.text(bytes.ToLower(a.Hreflang))
		s.url(a.Href)
		s.text(a.Media)
		s.text(a.Rel)
		s.text(a.Type)
		s.end()
	}
	for i := range d.Images {
		m := &d.Images[i]
		s.begin('i')
		s.url(m.Loc)
		s.text(m.Title)
		s.text(m.Caption)
		s.text(m.GeoLocation)
		s.text(m.License)
		s.end()
	}
	for i := range d.Videos {
		s.video(&d.Videos[i])
	}
	if n := d.News; n != nil {
		s.begin('n')
		for _, t := range [...]Text{
			n.Publication.Name, n.Publication.Language, n.PublicationDate, n.Title, n.Keywords, n.Genres, n.Access,
			n.StockTickers, n.GeoLocations,
		} {
			s.text(t)
		}
		s.end()
	}
	if d.Mobile != nil {
		s.begin('m')
		s.text(d.Mobile.Type)
		s.end()
	}
	for i := range d.PageMap {
		o := &d.PageMap[i]
		s.begin('p')
		s.text(o.Type)
		s.text(o.ID)
		for _, a := range o.Attributes {
			s.text(a.Name)
			s.text(a.Value)
		}
		s.end()
	}
	var sum [16]byte
	binary.BigEndian.PutUint64(sum[:8], s.hi)
	binary.BigEndian.PutUint64(sum[8:], s.lo)
	return sum
}

// blockSum builds blocks behind the canonical form of their entry and adds up their hashes.
type blockSum struct {
	r      *Reader
	start  int
	hi, lo uint64
}

func (s *blockSum) begin(kind byte) { s.r.canon = append(s.r.canon[:s.start], kind) }

func (s *blockSum) text(t []byte) { s.r.canon = append(append(s.r.canon, t...), 0) }

// url adds an address by its identity key, so that spellings of one address are one.
func (s *blockSum) url(t []byte) {
	if _, problem := s.r.urls.Fast(nil, t); len(t) == 0 || problem == weburl.None {
		s.text(t)
		return
	}
	if u, problem := s.r.urls.Parse(nil, t); problem == weburl.None {
		s.text(u.Identity)
		return
	}
	s.text(t)
}

func (s *blockSum) end() {
	h := xxh3.Hash128(s.r.canon[s.start:])
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, h.Lo, 0)
	s.hi, _ = bits.Add64(s.hi, h.Hi, carry)
}

func (s *blockSum) video(v *Video) {
	s.begin('v')
	s.url(v.ThumbnailLoc)
	s.text(v.Title)
	s.text(v.Description)
	s.url(v.ContentLoc)
	s.url(v.PlayerLoc)
	for _, t := range [...][]byte{
		[]byte(v.PlayerAllowEmbed.String()), v.PlayerAutoplay, v.Duration, v.ExpirationDate, v.Rating, v.ViewCount,
		v.PublicationDate, []byte(v.FamilyFriendly.String()), []byte(v.RequiresSubscription.String()),
		[]byte(v.Live.String()), v.Restriction.Relationship, v.Restriction.Value, v.Platform.Relationship,
		v.Platform.Value, v.Uploader.Name, v.Uploader.Info, v.Gallery.Loc, v.Gallery.Title, v.Category,
		v.TVShow.ShowTitle, v.TVShow.VideoType, v.TVShow.EpisodeTitle, v.TVShow.SeasonNumber, v.TVShow.EpisodeNumber,
		v.TVShow.PremierDate,
	} {
		s.text(t)
	}
	for _, t := range v.Tags {
		s.text(append([]byte{'t'}, t...))
	}
	for _, p := range v.Prices {
		s.text([]byte{'$'})
		for _, t := range [...]Text{p.Currency, p.Type, p.Resolution, p.Value} {
			s.text(t)
		}
	}
	for _, g := range v.Segments {
		s.text([]byte{'s'})
		s.url(g.Loc)
		s.text(g.Duration)
	}
	for _, id := range v.IDs {
		s.text([]byte{'#'})
		s.text(id.Type)
		s.text(id.Value)
	}
	s.end()
}

// fingerprints keeps those of one document until its end.
type fingerprints struct {
	list    [][16]byte
	scratch [][16]byte
}

func (f *fingerprints) reset() { f.list = f.list[:0] }

func (f *fingerprints) add(p [16]byte) { f.list = append(f.list, p) }

// semanticHash is SHA-256 over the type and the fingerprints, each once, in ascending order.
func (f *fingerprints) semanticHash(t Type) [32]byte {
	f.sort()
	h := sha256.New()
	h.Write([]byte("sitemapd semantic 1\n" + t.String() + "\n"))
	list := slices.Compact(f.list)
	for len(list) > 0 { // in pieces, as a plain concatenation would copy them all
		var chunk [64 * 16]byte
		n := 0
		for n < 64 && n < len(list) {
			copy(chunk[n*16:], list[n][:])
			n++
		}
		h.Write(chunk[:n*16])
		list = list[n:]
	}
	return [32]byte(h.Sum(nil))
}

// sort orders the fingerprints: by radix on the first eight bytes, then what is equal there by comparison. Time is
// linear even for fingerprints that were made to collide in part.
func (f *fingerprints) sort() {
	compare := func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }
	n := len(f.list)
	if n < 512 {
		slices.SortFunc(f.list, compare)
		return
	}
	if cap(f.scratch) < n {
		f.scratch = make([][16]byte, n)
	}
	a, b := f.list, f.scratch[:n]
	for digit := 7; digit >= 0; digit-- {
		var count [257]int
		for i := range a {
			count[int(a[i][digit])+1]++
		}
		for i := 1; i < 257; i++ {
			count[i] += count[i-1]
		}
		for i := range a {
			d := a[i][digit]
			b[count[d]] = a[i]
			count[d]++
		}
		a, b = b, a
	}
	for i := 1; i < n; { // eight passes: the result is in f.list again
		j := i
		for j < n && string(a[j][:8]) == string(a[i-1][:8]) {
			j++
		}
		if j > i {
			slices.SortFunc(a[i-1:j], compare)
		}
		i = j + 1
	}
}

// seenSet tells which pages were listed before, by a seeded hash of the identity.
type seenSet struct {
	slots []uint64
	n     int
	seed  uint64
}

func (s *seenSet) reset() {
	if s.seed == 0 {
		s.seed = rand.Uint64() | 1
	}
	if len(s.slots) > 1<<16 && s.n < len(s.slots)/8 {
		s.slots = nil // a giant came before; do not clear its table for every small document
	}
	clear(s.slots)
	s.n = 0
}

// add adds a page and tells whether it was there.
func (s *seenSet) add(identity []byte) bool {
	if 4*(s.n+1) > 3*len(s.slots) {
		s.grow()
	}
	h := xxh3.HashSeed(identity, s.seed) | 1 // zero marks a free slot
	mask := uint64(len(s.slots) - 1)
	for i := h >> 1 & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return true
		case 0:
			s.slots[i] = h
			s.n++
			return false
		}
	}
}

func (s *seenSet) grow() {
	old := s.slots
	s.slots = make([]uint64, max(1024, 2*len(old)))
	mask := uint64(len(s.slots) - 1)
	for _, h := range old {
		if h == 0 {
			continue
		}
		i := h >> 1 & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = h
	}
}
