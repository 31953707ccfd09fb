package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// kind is what a column holds; a value that was not declared is an empty cell in each.
type kind uint8

const (
	text kind = iota
	number
	document // JSON
)

// column is one column of the flat formats. A value is appended as text.
type column struct {
	name  string
	kind  kind
	width int // of the sheet's column, in characters
	value func(dst []byte, r *row) []byte
}

// row is a page with its extension blocks decoded.
type row struct {
	page *models.Page
	ext  sitemap.Extensions
	json bytes.Buffer
}

// read decodes a page's blocks. A block that cannot be read is damage of ours, not of the site: the reader wrote it.
func (r *row) read(p *models.Page) error {
	r.page, r.ext = p, sitemap.Extensions{}
	for _, block := range [...]struct {
		name string
		text json.RawMessage
		into any
	}{
		{"alternates", p.Alternates, &r.ext.Alternates}, {"images", p.Images, &r.ext.Images}, {"videos", p.Videos, &r.ext.Videos},
		{"news", p.News, &r.ext.News}, {"mobile", p.Mobile, &r.ext.Mobile}, {"pagemap", p.PageMap, &r.ext.PageMap},
	} {
		if len(block.text) == 0 {
			continue
		}
		if err := json.Unmarshal(block.text, block.into); err != nil {
			return fmt.Errorf("read %s of %s: %w", block.name, p.URL, err)
		}
	}
	return nil
}

// columns of CSV and XLSX, and in the same order of Parquet. Scripts go by their names.
var columns = []column{
	{"url", text, 60, func(b []byte, r *row) []byte { return append(b, r.page.URL...) }},
	{"state", text, 9, func(b []byte, r *row) []byte { return append(b, r.page.State...) }},
	{"document", text, 40, func(b []byte, r *row) []byte { return append(b, r.page.Document...) }},
	{"lastmod_raw", text, 26, func(b []byte, r *row) []byte {
		return ofLastmod(b, r, func(b []byte, l *models.Lastmod) []byte { return append(b, l.Raw...) })
	}},
	{"lastmod_instant", text, 22, func(b []byte, r *row) []byte {
		return ofLastmod(b, r, func(b []byte, l *models.Lastmod) []byte { return appendInstant(b, l.Instant) })
	}},
	{"lastmod_precision", text, 10, func(b []byte, r *row) []byte {
		return ofLastmod(b, r, func(b []byte, l *models.Lastmod) []byte { return append(b, l.Precision.String()...) })
	}},
	{"lastmod_zone", text, 8, func(b []byte, r *row) []byte {
		return ofLastmod(b, r, func(b []byte, l *models.Lastmod) []byte { return strconv.AppendBool(b, l.Zone) })
	}},
	{"changefreq", text, 10, func(b []byte, r *row) []byte { return append(b, r.page.Changefreq...) }},
	{"priority", number, 8, func(b []byte, r *row) []byte {
		if r.page.Priority == nil {
			return b
		}
		return appendDecimal(b, *r.page.Priority)
	}},
	{"alternates_count", number, 8, func(b []byte, r *row) []byte { return appendCount(b, len(r.ext.Alternates)) }},
	{"images_count", number, 8, func(b []byte, r *row) []byte { return appendCount(b, len(r.ext.Images)) }},
	{"videos_count", number, 8, func(b []byte, r *row) []byte { return appendCount(b, len(r.ext.Videos)) }},
	{"first_image", text, 40, func(b []byte, r *row) []byte {
		if len(r.ext.Images) == 0 {
			return b
		}
		return append(b, r.ext.Images[0].Loc...)
	}},
	{"news_title", text, 40, func(b []byte, r *row) []byte {
		if r.ext.News == nil {
			return b
		}
		return append(b, r.ext.News.Title...)
	}},
	{"news_publication_date", text, 26, func(b []byte, r *row) []byte {
		if r.ext.News == nil {
			return b
		}
		return append(b, r.ext.News.PublicationDate...)
	}},
	{"first_seen", text, 22, func(b []byte, r *row) []byte { return appendInstant(b, r.page.FirstSeen) }},
	{"last_seen", text, 22, func(b []byte, r *row) []byte { return appendInstant(b, r.page.LastSeen) }},
	{"removed_at", text, 22, func(b []byte, r *row) []byte {
		if r.page.RemovedAt == nil {
			return b
		}
		return appendInstant(b, *r.page.RemovedAt)
	}},
	{"from_run", number, 8, func(b []byte, r *row) []byte { return strconv.AppendInt(b, r.page.FromRun, 10) }},
	{"to_run", number, 8, func(b []byte, r *row) []byte {
		if r.page.ToRun == nil {
			return b
		}
		return strconv.AppendInt(b, *r.page.ToRun, 10)
	}},
	{"freshness", text, 15, func(b []byte, r *row) []byte { return append(b, r.page.Freshness...) }},
	{"confidence_listing", number, 8, func(b []byte, r *row) []byte { return appendDecimal(b, r.page.Confidence.Listing) }},
	{"confidence_lastmod", number, 8, func(b []byte, r *row) []byte {
		if r.page.Lastmod == nil {
			return b
		}
		return appendDecimal(b, r.page.Confidence.Lastmod)
	}},
	{"confidence_membership", number, 8, func(b []byte, r *row) []byte { return appendDecimal(b, r.page.Confidence.Membership) }},
	{"confidence_identity", number, 8, func(b []byte, r *row) []byte { return appendDecimal(b, r.page.Confidence.Identity) }},
	{"reason", text, 30, func(b []byte, r *row) []byte { return append(b, r.page.Reason...) }},
	{"moved_to", text, 40, func(b []byte, r *row) []byte { return append(b, r.page.MovedTo...) }},
	{"listings", document, 30, func(b []byte, r *row) []byte { return appendListings(b, r.page.Listings) }},
	{"alternates", document, 30, func(b []byte, r *row) []byte { return r.appendJSON(b, r.page.Alternates) }},
	{"images", document, 30, func(b []byte, r *row) []byte { return r.appendJSON(b, r.page.Images) }},
	{"videos", document, 30, func(b []byte, r *row) []byte { return r.appendJSON(b, r.page.Videos) }},
	{"news", document, 30, func(b []byte, r *row) []byte { return r.appendJSON(b, r.page.News) }},
	{"mobile", document, 12, func(b []byte, r *row) []byte { return r.appendJSON(b, r.page.Mobile) }},
	{"pagemap", document, 30, func(b []byte, r *row) []byte { return r.appendJSON(b, r.page.PageMap) }},
}

// Columns names the columns of the flat formats, in order.
func Columns() []string {
	var names []string
	for i := range columns {
		names = append(names, columns[i].name)
	}
	return names
}

func ofLastmod(b []byte, r *row, part func(b []byte, l *models.Lastmod) []byte) []byte {
	if r.page.Lastmod == nil {
		return b
	}
	return part(b, r.page.Lastmod)
}

func appendInstant(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return t.UTC().AppendFormat(b, time.RFC3339Nano)
}

func appendDecimal(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }

func appendCount(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

func appendListings(b []byte, urls []string) []byte {
	if len(urls) == 0 {
		return b
	}
	text, _ := json.Marshal(urls) // strings alone: there is nothing to go wrong
	return append(b, text...)
}

// appendJSON writes a block without white space, whatever the database made of it; read has seen that it is JSON.
func (r *row) appendJSON(b []byte, block json.RawMessage) []byte {
	if len(block) == 0 {
		return b
	}
	r.json.Reset()
	if json.Compact(&r.json, block) != nil {
		return b
	}
	return append(b, r.json.Bytes()...)
}
