package export

import (
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// The vocabulary of a sitemap, each namespace as its specification spells it.
const (
	documentHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	urlsetHead   = documentHead + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"` +
		` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"` +
		` xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"` +
		` xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"` +
		` xmlns:xhtml="http://www.w3.org/1999/xhtml"` +
		` xmlns:mobile="http://www.google.com/schemas/sitemap-mobile/1.0">` + "\n"
	urlsetTail  = "</urlset>\n"
	indexHead   = documentHead + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
	indexTail   = "</sitemapindex>\n"
	pageMapHead = `<PageMap xmlns="http://www.google.com/schemas/sitemap-pagemap/1.0">`
)

// markup appends XML. Elements stand in the order of their schemas.
type markup struct{ b []byte }

// attribute is one attribute of an element, left out when its value is empty.
type attribute struct {
	name  string
	value []byte
}

func (m *markup) raw(s string) { m.b = append(m.b, s...) }

// leaf writes an element with a text, or nothing when neither text nor attributes are there.
func (m *markup) leaf(name string, value []byte, attributes ...attribute) {
	declared := len(value) > 0
	for _, a := range attributes {
		declared = declared || len(a.value) > 0
	}
	if !declared {
		return
	}
	m.b = append(append(m.b, '<'), name...)
	m.attributes(attributes...)
	m.b = appendText(append(m.b, '>'), value)
	m.b = append(append(append(m.b, '<', '/'), name...), '>')
}

func (m *markup) attributes(list ...attribute) {
	for _, a := range list {
		if len(a.value) > 0 {
			m.b = append(append(append(m.b, ' '), a.name...), '=', '"')
			m.b = append(appendAttribute(m.b, a.value), '"')
		}
	}
}

func (m *markup) flag(name string, f sitemap.Flag) { m.leaf(name, flagText(f)) }

func flagText(f sitemap.Flag) []byte {
	if f == sitemap.Unset {
		return nil
	}
	return []byte(f.String())
}

// page writes the entry of one page.
func (m *markup) page(p *models.Page, x *sitemap.Extensions) {
	m.raw("<url><loc>")
	m.b = appendText(m.b, p.URL)
	m.raw("</loc>")
	if p.Lastmod != nil {
		m.raw("<lastmod>")
		m.b = appendLastmod(m.b, p.Lastmod)
		m.raw("</lastmod>")
	}
	if p.Changefreq != "" {
		m.raw("<changefreq>")
		m.b = appendText(m.b, p.Changefreq)
		m.raw("</changefreq>")
	}
	if p.Priority != nil {
		m.raw("<priority>")
		m.b = appendDecimal(m.b, *p.Priority)
		m.raw("</priority>")
	}
	m.extensions(x)
	m.raw("</url>\n")
}

func (m *markup) extensions(x *sitemap.Extensions) {
	for i := range x.Alternates {
		m.alternate(&x.Alternates[i])
	}
	for i := range x.Images {
		m.image(&x.Images[i])
	}
	for i := range x.Videos {
		m.video(&x.Videos[i])
	}
	if x.News != nil {
		m.news(x.News)
	}
	if x.Mobile != nil {
		m.raw("<mobile:mobile")
		m.attributes(attribute{"type", x.Mobile.Type})
		m.raw("/>")
	}
	if len(x.PageMap) > 0 {
		m.pageMap(x.PageMap)
	}
}

func (m *markup) alternate(a *sitemap.Alternate) {
	rel := a.Rel
	if len(rel) == 0 {
		rel = sitemap.Text("alternate")
	}
	m.raw("<xhtml:link")
	m.attributes(attribute{"rel", rel}, attribute{"hreflang", a.Hreflang}, attribute{"media", a.Media},
		attribute{"type", a.Type}, attribute{"href", a.Href})
	m.raw("/>")
}

func (m *markup) image(i *sitemap.Image) {
	m.raw("<image:image>")
	m.leaf("image:loc", i.Loc)
	m.leaf("image:caption", i.Caption)
	m.leaf("image:geo_location", i.GeoLocation)
	m.leaf("image:title", i.Title)
	m.leaf("image:license", i.License)
	m.raw("</image:image>")
}

func (m *markup) video(v *sitemap.Video) {
	m.raw("<video:video>")
	m.leaf("video:thumbnail_loc", v.ThumbnailLoc)
	m.leaf("video:title", v.Title)
	m.leaf("video:description", v.Description)
	m.leaf("video:content_loc", v.ContentLoc)
	m.leaf("video:player_loc", v.PlayerLoc, attribute{"allow_embed", flagText(v.PlayerAllowEmbed)}, attribute{"autoplay", v.PlayerAutoplay})
	m.leaf("video:duration", v.Duration)
	m.leaf("video:expiration_date", v.ExpirationDate)
	m.leaf("video:rating", v.Rating)
	for i := range v.Segments {
		m.leaf("video:content_segment_loc", v.Segments[i].Loc, attribute{"duration", v.Segments[i].Duration})
	}
	m.leaf("video:view_count", v.ViewCount)
	m.leaf("video:publication_date", v.PublicationDate)
	for _, tag := range v.Tags {
		m.leaf("video:tag", tag)
	}
	m.leaf("video:category", v.Category)
	m.flag("video:family_friendly", v.FamilyFriendly)
	m.leaf("video:restriction", v.Restriction.Value, attribute{"relationship", v.Restriction.Relationship})
	m.leaf("video:gallery_loc", v.Gallery.Loc, attribute{"title", v.Gallery.Title})
	for i := range v.Prices {
		m.price(&v.Prices[i])
	}
	m.flag("video:requires_subscription", v.RequiresSubscription)
	m.leaf("video:uploader", v.Uploader.Name, attribute{"info", v.Uploader.Info})
	m.show(&v.TVShow)
	m.leaf("video:platform", v.Platform.Value, attribute{"relationship", v.Platform.Relationship})
	m.flag("video:live", v.Live)
	for i := range v.IDs {
		m.leaf("video:id", v.IDs[i].Value, attribute{"type", v.IDs[i].Type})
	}
	m.raw("</video:video>")
}

func (m *markup) price(p *sitemap.Price) {
	if len(p.Value)+len(p.Currency)+len(p.Type)+len(p.Resolution) == 0 {
		m.raw("<video:price></video:price>") // was declared, and says as much
		return
	}
	m.leaf("video:price", p.Value, attribute{"currency", p.Currency}, attribute{"type", p.Type}, attribute{"resolution", p.Resolution})
}

func (m *markup) show(t *sitemap.TVShow) {
	if t.IsZero() {
		return
	}
	m.raw("<video:tvshow>")
	m.leaf("video:show_title", t.ShowTitle)
	m.leaf("video:video_type", t.VideoType)
	m.leaf("video:episode_title", t.EpisodeTitle)
	m.leaf("video:season_number", t.SeasonNumber)
	m.leaf("video:episode_number", t.EpisodeNumber)
	m.leaf("video:premier_date", t.PremierDate)
	m.raw("</video:tvshow>")
}

func (m *markup) news(n *sitemap.News) {
	m.raw("<news:news>")
	if !n.Publication.IsZero() {
		m.raw("<news:publication>")
		m.leaf("news:name", n.Publication.Name)
		m.leaf("news:language", n.Publication.Language)
		m.raw("</news:publication>")
	}
	m.leaf("news:access", n.Access)
	m.leaf("news:genres", n.Genres)
	m.leaf("news:publication_date", n.PublicationDate)
	m.leaf("news:title", n.Title)
	m.leaf("news:geo_locations", n.GeoLocations)
	m.leaf("news:keywords", n.Keywords)
	m.leaf("news:stock_tickers", n.StockTickers)
	m.raw("</news:news>")
}

func (m *markup) pageMap(objects []sitemap.DataObject) {
	m.raw(pageMapHead)
	for i := range objects {
		o := &objects[i]
		m.raw("<DataObject")
		m.attributes(attribute{"type", o.Type}, attribute{"id", o.ID})
		m.raw(">")
		for j := range o.Attributes {
			a := &o.Attributes[j]
			if len(a.Name)+len(a.Value) == 0 {
				m.raw("<Attribute></Attribute>")
				continue
			}
			m.leaf("Attribute", a.Value, attribute{"name", a.Name})
		}
		m.raw("</DataObject>")
	}
	m.raw("</PageMap>")
}
