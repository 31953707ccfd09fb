package sitemap

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// AppendExtensions writes a declaration's extension blocks as one JSON object with the contract's key names, always in
// the same order; nothing when there is none.
func AppendExtensions(dst []byte, d *Declaration) []byte {
	if !d.HasExtensions() {
		return dst
	}
	return append(appendBlocks(append(dst, '{'), d), '}')
}

// AppendJSON writes the extensions as AppendExtensions does.
func (e *Extensions) AppendJSON(dst []byte) []byte {
	d := Declaration{
		Alternates: e.Alternates, Images: e.Images, Videos: e.Videos, News: e.News, Mobile: e.Mobile, PageMap: e.PageMap,
	}
	return AppendExtensions(dst, &d)
}

// appendBlocks writes the members of the object.
func appendBlocks(dst []byte, d *Declaration) []byte {
	o := object{dst, true}
	o.openList("alternates", len(d.Alternates))
	for i := range d.Alternates {
		o.openItem(i)
		a := &d.Alternates[i]
		o.text("hreflang", a.Hreflang)
		o.text("href", a.Href)
		o.text("media", a.Media)
		o.text("rel", a.Rel)
		o.text("type", a.Type)
		o.closeItem()
	}
	o.closeList(len(d.Alternates))
	o.openList("images", len(d.Images))
	for i := range d.Images {
		o.openItem(i)
		m := &d.Images[i]
		o.text("loc", m.Loc)
		o.text("title", m.Title)
		o.text("caption", m.Caption)
		o.text("geo_location", m.GeoLocation)
		o.text("license", m.License)
		o.closeItem()
	}
	o.closeList(len(d.Images))
	o.openList("videos", len(d.Videos))
	for i := range d.Videos {
		o.openItem(i)
		o.video(&d.Videos[i])
		o.closeItem()
	}
	o.closeList(len(d.Videos))
	if d.News != nil {
		o.open("news")
		o.news(d.News)
		o.close()
	}
	if d.Mobile != nil {
		o.open("mobile")
		o.text("type", d.Mobile.Type)
		o.close()
	}
	o.openList("pagemap", len(d.PageMap))
	for i := range d.PageMap {
		o.openItem(i)
		p := &d.PageMap[i]
		o.text("type", p.Type)
		o.text("id", p.ID)
		o.openList("attributes", len(p.Attributes))
		for j := range p.Attributes {
			o.openItem(j)
			o.text("name", p.Attributes[j].Name)
			o.text("value", p.Attributes[j].Value)
			o.closeItem()
		}
		o.closeList(len(p.Attributes))
		o.closeItem()
	}
	o.closeList(len(d.PageMap))
	return o.out
}

// object writes the members of JSON objects; members that were not declared are left out.
type object struct {
	out   []byte
	first bool
}

func (o *object) key(name string) {
	if !o.first {
		o.out = append(o.out, ',')
	}
	o.first = false
	o.out = append(append(append(o.out, '"'), name...), '"', ':')
}

func (o *object) open(name string) {
	o.key(name)
	o.out = append(o.out, '{')
	o.first = true
}

func (o *object) close() {
	o.out = append(o.out, '}')
	o.first = false
}

func (o *object) text(name string, t Text) {
	if len(t) > 0 {
		o.key(name)
		o.out = appendString(o.out, t)
	}
}

func (o *object) number(name string, n Number) {
	if len(n) > 0 {
		o.key(name)
		o.out = append(o.out, n...)
	}
}

func (o *object) flag(name string, f Flag) {
	if f != Unset {
		o.key(name)
		o.out = strconv.AppendBool(o.out, f == Yes)
	}
}

// openList, openItem, closeItem and closeList write an array of objects; nothing when it has no items.
func (o *object) openList(name string, items int) {
	if items > 0 {
		o.key(name)
		o.out = append(o.out, '[')
	}
}

func (o *object) openItem(i int) {
	if i > 0 {
		o.out = append(o.out, ',')
	}
	o.out = append(o.out, '{')
	o.first = true
}

func (o *object) closeItem() { o.out = append(o.out, '}') }

func (o *object) closeList(items int) {
	if items > 0 {
		o.out = append(o.out, ']')
		o.first = false
	}
}

func (o *object) video(v *Video) {
	o.text("thumbnail_loc", v.ThumbnailLoc)
	o.text("title", v.Title)
	o.text("description", v.Description)
	o.text("content_loc", v.ContentLoc)
	o.text("player_loc", v.PlayerLoc)
	o.flag("player_allow_embed", v.PlayerAllowEmbed)
	o.text("player_autoplay", v.PlayerAutoplay)
	o.number("duration", v.Duration)
	o.text("expiration_date", v.ExpirationDate)
	o.number("rating", v.Rating)
	o.number("view_count", v.ViewCount)
	o.text("publication_date", v.PublicationDate)
	o.flag("family_friendly", v.FamilyFriendly)
	o.flag("requires_subscription", v.RequiresSubscription)
	o.flag("live", v.Live)
	o.scoped("restriction", &v.Restriction)
	o.scoped("platform", &v.Platform)
	if !v.Uploader.IsZero() {
		o.open("uploader")
		o.text("name", v.Uploader.Name)
		o.text("info", v.Uploader.Info)
		o.close()
	}
	if !v.Gallery.IsZero() {
		o.open("gallery")
		o.text("loc", v.Gallery.Loc)
		o.text("title", v.Gallery.Title)
		o.close()
	}
	o.text("category", v.Category)
	if len(v.Tags) > 0 {
		o.key("tags")
		for i, t := range v.Tags {
			o.out = appendString(append(o.out, "[,"[min(i, 1)]), t)
		}
		o.out = append(o.out, ']')
	}
	o.openList("prices", len(v.Prices))
	for i := range v.Prices {
		o.openItem(i)
		p := &v.Prices[i]
		o.text("currency", p.Currency)
		o.text("type", p.Type)
		o.text("resolution", p.Resolution)
		o.text("value", p.Value)
		o.closeItem()
	}
	o.closeList(len(v.Prices))
	o.openList("content_segments", len(v.Segments))
	for i := range v.Segments {
		o.openItem(i)
		o.text("loc", v.Segments[i].Loc)
		o.number("duration", v.Segments[i].Duration)
		o.closeItem()
	}
	o.closeList(len(v.Segments))
	o.openList("ids", len(v.IDs))
	for i := range v.IDs {
		o.openItem(i)
		o.text("type", v.IDs[i].Type)
		o.text("value", v.IDs[i].Value)
		o.closeItem()
	}
	o.closeList(len(v.IDs))
	if t := &v.TVShow; !t.IsZero() {
		o.open("tvshow")
		o.text("show_title", t.ShowTitle)
		o.text("video_type", t.VideoType)
		o.text("episode_title", t.EpisodeTitle)
		o.number("season_number", t.SeasonNumber)
		o.number("episode_number", t.EpisodeNumber)
		o.text("premier_date", t.PremierDate)
		o.close()
	}
}

func (o *object) scoped(name string, s *Scoped) {
	if s.IsZero() {
		return
	}
	o.open(name)
	o.text("relationship", s.Relationship)
	o.text("value", s.Value)
	o.close()
}

func (o *object) news(n *News) {
	if !n.Publication.IsZero() {
		o.open("publication")
		o.text("name", n.Publication.Name)
		o.text("language", n.Publication.Language)
		o.close()
	}
	o.text("publication_date", n.PublicationDate)
	o.text("title", n.Title)
	o.text("keywords", n.Keywords)
	o.text("genres", n.Genres)
	o.text("access", n.Access)
	o.text("stock_tickers", n.StockTickers)
	o.text("geo_locations", n.GeoLocations)
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
