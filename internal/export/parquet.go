package export

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/sitemapd/sitemapd/models"
)

// A row group is in memory until it is complete, so it is complete after so many pages or bytes.
const (
	groupRows  = 50_000
	groupBytes = 32 << 20
	batchRows  = 64 // handed to the writer at once
)

// parquetRow has the columns of the other flat formats, with their types. What was not declared is null.
type parquetRow struct {
	URL                  string          `parquet:"url"`
	State                string          `parquet:"state,dict"`
	Document             string          `parquet:"document,dict"`
	LastmodRaw           string          `parquet:"lastmod_raw,optional"`
	LastmodInstant       *time.Time      `parquet:"lastmod_instant,optional,timestamp(microsecond)"`
	LastmodPrecision     string          `parquet:"lastmod_precision,optional,dict"`
	LastmodZone          *bool           `parquet:"lastmod_zone,optional"`
	Changefreq           string          `parquet:"changefreq,optional,dict"`
	Priority             *float64        `parquet:"priority,optional"`
	AlternatesCount      int32           `parquet:"alternates_count"`
	ImagesCount          int32           `parquet:"images_count"`
	VideosCount          int32           `parquet:"videos_count"`
	FirstImage           string          `parquet:"first_image,optional"`
	NewsTitle            string          `parquet:"news_title,optional"`
	NewsPublicationDate  string          `parquet:"news_publication_date,optional"`
	FirstSeen            *time.Time      `parquet:"first_seen,optional,timestamp(microsecond)"`
	LastSeen             *time.Time      `parquet:"last_seen,optional,timestamp(microsecond)"`
	RemovedAt            *time.Time      `parquet:"removed_at,optional,timestamp(microsecond)"`
	FromRun              int64           `parquet:"from_run"`
	ToRun                *int64          `parquet:"to_run,optional"`
	Freshness            string          `parquet:"freshness,optional,dict"`
	ConfidenceListing    float64         `parquet:"confidence_listing"`
	ConfidenceLastmod    *float64        `parquet:"confidence_lastmod,optional"`
	ConfidenceMembership float64         `parquet:"confidence_membership"`
	ConfidenceIdentity   float64         `parquet:"confidence_identity"`
	Reason               string          `parquet:"reason,optional"`
	MovedTo              string          `parquet:"moved_to,optional"`
	Listings             []string        `parquet:"listings,list"`
	Alternates           json.RawMessage `parquet:"alternates,optional,json"`
	Images               json.RawMessage `parquet:"images,optional,json"`
	Videos               json.RawMessage `parquet:"videos,optional,json"`
	News                 json.RawMessage `parquet:"news,optional,json"`
	Mobile               json.RawMessage `parquet:"mobile,optional,json"`
	PageMap              json.RawMessage `parquet:"pagemap,optional,json"`
}

// parquetEncoder writes row groups, compressed with Zstandard.
type parquetEncoder struct {
	w     *parquet.GenericWriter[parquetRow]
	row   row
	batch []parquetRow
	rows  int // of the open group
	bytes int
}

func newParquet(w io.Writer, _ Options) (Encoder, error) {
	return &parquetEncoder{batch: make([]parquetRow, 0, batchRows), w: parquet.NewGenericWriter[parquetRow](w,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault, Concurrency: 1}),
		parquet.CreatedBy("sitemapd", "1", "0"), // no build's name: the same pages give the same bytes
		parquet.MaxRowsPerRowGroup(groupRows))}, nil
}

func (e *parquetEncoder) Write(p *models.Page) error {
	if err := e.row.read(p); err != nil {
		return err
	}
	e.batch = append(e.batch, e.parquetRow(p))
	e.rows++
	e.bytes += len(p.URL) + len(p.Alternates) + len(p.Images) + len(p.Videos) + len(p.News) + len(p.PageMap) + 200
	full := e.rows >= groupRows || e.bytes >= groupBytes
	if len(e.batch) < batchRows && !full {
		return nil
	}
	if err := e.flush(); err != nil || !full {
		return err
	}
	e.rows, e.bytes = 0, 0
	if err := e.w.Flush(); err != nil {
		return fmt.Errorf("write row group: %w", err)
	}
	return nil
}

func (e *parquetEncoder) flush() error {
	_, err := e.w.Write(e.batch)
	clear(e.batch)
	e.batch = e.batch[:0]
	if err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	return nil
}

func (e *parquetEncoder) Close() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.w.Close()
}

func (e *parquetEncoder) parquetRow(p *models.Page) parquetRow {
	x := &e.row.ext
	r := parquetRow{
		URL: p.URL, State: string(p.State), Document: p.Document, Changefreq: p.Changefreq, Priority: p.Priority,
		AlternatesCount: int32(len(x.Alternates)), ImagesCount: int32(len(x.Images)), VideosCount: int32(len(x.Videos)),
		FirstSeen: instant(p.FirstSeen), LastSeen: instant(p.LastSeen), FromRun: p.FromRun, ToRun: p.ToRun,
		Freshness: p.Freshness, ConfidenceListing: p.Confidence.Listing, ConfidenceMembership: p.Confidence.Membership,
		ConfidenceIdentity: p.Confidence.Identity, Reason: p.Reason, MovedTo: p.MovedTo, Listings: p.Listings,
		Alternates: e.json(p.Alternates), Images: e.json(p.Images), Videos: e.json(p.Videos), News: e.json(p.News),
		Mobile: e.json(p.Mobile), PageMap: e.json(p.PageMap),
	}
	if l := p.Lastmod; l != nil {
		zone, confidence := l.Zone, p.Confidence.Lastmod
		r.LastmodRaw, r.LastmodInstant, r.LastmodPrecision = l.Raw, instant(l.Instant), l.Precision.String()
		r.LastmodZone, r.ConfidenceLastmod = &zone, &confidence
	}
	if p.RemovedAt != nil {
		r.RemovedAt = instant(*p.RemovedAt)
	}
	if len(x.Images) > 0 {
		r.FirstImage = x.Images[0].Loc.String()
	}
	if x.News != nil {
		r.NewsTitle, r.NewsPublicationDate = x.News.Title.String(), x.News.PublicationDate.String()
	}
	return r
}

// json gives a block without white space. As a string or a pointer to one it would be lost: of optional JSON the library
// (v0.32.0) writes this type alone.
func (e *parquetEncoder) json(block json.RawMessage) json.RawMessage {
	if len(block) == 0 {
		return nil
	}
	return e.row.appendJSON(nil, block)
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
