package sitemap

import (
	"encoding/binary"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// A fingerprint is XXH3-64 of the identity, then XXH3-64 of everything else that was declared, in the canonical form
// that docs/semantic-hash.md describes.

// Fingerprint computes the fingerprint of a page entry from its stored parts; the reader computes the same while it
// reads. Extensions may be nil.
func Fingerprint(identity []byte, l Lastmod, f Changefreq, p Priority, e *Extensions) (print [16]byte) {
	c := appendHints(appendClaims([]byte{'u'}, &l), f, p)
	if e != nil {
		var sum blockSum
		var urls weburl.Parser
		n := sum.extensions(e, &urls)
		if n > 0 {
			c = sum.appendTo(append(c, 'X'))
		}
	}
	sealPrint(&print, identity, c)
	return print
}

// ChildFingerprint computes the fingerprint of a reference to another document.
func ChildFingerprint(identity []byte, l Lastmod) (print [16]byte) {
	sealPrint(&print, identity, appendClaims([]byte{'s'}, &l))
	return print
}

// appendClaims adds a lastmod to a canonical form.
func appendClaims(c []byte, l *Lastmod) []byte {
	if l.State != Valid {
		return c
	}
	return binary.BigEndian.AppendUint64(append(c, 'L', l.Precision.class()), uint64(l.Instant))
}

func appendHints(c []byte, f Changefreq, p Priority) []byte {
	if f != ChangefreqNone {
		c = append(c, 'C', byte(f))
	}
	if p.Set {
		c = binary.BigEndian.AppendUint32(append(c, 'P'), uint32(p.Micros))
	}
	return c
}

// sealPrint computes a fingerprint from an identity key and the canonical form of the rest.
func sealPrint(f *[16]byte, identity, claims []byte) {
	binary.BigEndian.PutUint64(f[:8], xxh3.Hash(identity))
	binary.BigEndian.PutUint64(f[8:], xxh3.Hash(claims))
}

// blockSum adds up the hashes of an entry's extension blocks, modulo 2^64, so that their order does not matter.
type blockSum uint64

// add adds a block: its address, hashed with the hash of its other fields as the seed.
func (s *blockSum) add(fields, address []byte) { s.addSeeded(xxh3.Hash(fields), address) }

func (s *blockSum) addSeeded(seed uint64, address []byte) {
	*s += blockSum(xxh3.HashSeed(address, seed))
}

// bareImage is the seed of an image that has nothing but a loc.
var bareImage = xxh3.Hash(appendImage(nil, &Image{}))

func (s *blockSum) appendTo(c []byte) []byte { return binary.BigEndian.AppendUint64(c, uint64(*s)) }

// extensions adds every block and returns their number.
func (s *blockSum) extensions(e *Extensions, urls *weburl.Parser) int {
	for i := range e.Alternates {
		s.add(appendAlternate(nil, &e.Alternates[i]), identityOf(e.Alternates[i].Href, urls))
	}
	for i := range e.Images {
		s.add(appendImage(nil, &e.Images[i]), identityOf(e.Images[i].Loc, urls))
	}
	for i := range e.Videos {
		s.add(appendVideo(nil, &e.Videos[i], urls), nil)
	}
	n := len(e.Alternates) + len(e.Images) + len(e.Videos) + len(e.PageMap)
	if e.News != nil {
		s.add(appendNews(nil, e.News), nil)
		n++
	}
	if e.Mobile != nil {
		s.add(appendMobile(nil, e.Mobile), nil)
		n++
	}
	for i := range e.PageMap {
		s.add(appendObject(nil, &e.PageMap[i]), nil)
	}
	return n
}

// identityOf gives the identity key of an absolute address, or the text itself when it is none.
func identityOf(wire []byte, urls *weburl.Parser) []byte {
	if len(wire) == 0 {
		return wire
	}
	if u, problem := urls.Parse(nil, wire); problem == weburl.None {
		return u.Identity
	}
	return wire
}

func appendField(c, t []byte) []byte { return append(append(c, t...), 0) }

// appendDate adds a date of an extension block: what can be read is its precision class and its instant, so that another
// spelling of the same moment is none.
func appendDate(c []byte, t Text) []byte {
	l := ParseDate(t)
	if l.State != Valid {
		return appendField(c, t)
	}
	c = strconv.AppendUint(append(c, 'L'), uint64(l.Precision.class()), 10)
	return append(strconv.AppendInt(append(c, ' '), l.Instant, 10), 0)
}

func appendAlternate(c []byte, a *Alternate) []byte {
	c = append(appendLower(append(c, 'a'), a.Hreflang), 0)
	return appendField(appendField(appendField(c, a.Media), a.Rel), a.Type)
}

func appendImage(c []byte, m *Image) []byte {
	c = appendField(append(c, 'i'), m.Title)
	return appendField(appendField(appendField(c, m.Caption), m.GeoLocation), m.License)
}

func appendNews(c []byte, n *News) []byte {
	c = appendField(appendField(append(c, 'n'), n.Publication.Name), n.Publication.Language)
	c = appendDate(c, n.PublicationDate)
	for _, t := range [...]Text{n.Title, n.Keywords, n.Genres, n.Access, n.StockTickers, n.GeoLocations} {
		c = appendField(c, t)
	}
	return c
}

func appendMobile(c []byte, m *Mobile) []byte { return appendField(append(c, 'm'), m.Type) }

func appendObject(c []byte, o *DataObject) []byte {
	c = appendField(appendField(append(c, 'p'), o.Type), o.ID)
	for _, a := range o.Attributes {
		c = appendField(appendField(c, a.Name), a.Value)
	}
	return c
}

func appendVideo(c []byte, v *Video, urls *weburl.Parser) []byte {
	c = appendField(append(c, 'v'), identityOf(v.ThumbnailLoc, urls))
	c = appendField(appendField(c, v.Title), v.Description)
	c = appendField(c, identityOf(v.ContentLoc, urls))
	c = appendField(c, identityOf(v.PlayerLoc, urls))
	for _, t := range [...][]byte{
		[]byte(v.PlayerAllowEmbed.String()), v.PlayerAutoplay, v.Duration,
	} {
		c = appendField(c, t)
	}
	c = appendField(appendField(appendDate(c, v.ExpirationDate), v.Rating), v.ViewCount)
	c = appendDate(c, v.PublicationDate)
	for _, t := range [...][]byte{
		[]byte(v.FamilyFriendly.String()), []byte(v.RequiresSubscription.String()),
		[]byte(v.Live.String()), v.Restriction.Relationship, v.Restriction.Value, v.Platform.Relationship,
		v.Platform.Value, v.Uploader.Name, v.Uploader.Info, v.Gallery.Loc, v.Gallery.Title, v.Category,
		v.TVShow.ShowTitle, v.TVShow.VideoType, v.TVShow.EpisodeTitle, v.TVShow.SeasonNumber, v.TVShow.EpisodeNumber,
	} {
		c = appendField(c, t)
	}
	c = appendDate(c, v.TVShow.PremierDate)
	for _, t := range v.Tags {
		c = appendField(append(c, 't'), t)
	}
	for _, p := range v.Prices {
		c = append(c, '$')
		for _, t := range [...]Text{p.Currency, p.Type, p.Resolution, p.Value} {
			c = appendField(c, t)
		}
	}
	for _, g := range v.Segments {
		c = appendField(append(c, 's'), identityOf(g.Loc, urls))
		c = appendField(c, g.Duration)
	}
	for _, id := range v.IDs {
		c = appendField(appendField(append(c, '#'), id.Type), id.Value)
	}
	return c
}
