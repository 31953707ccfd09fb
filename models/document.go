package models

import "time"

// Verdict says how completely a document or a walk was read.
type Verdict string

// Verdicts. Only complete and unchanged scopes may remove pages. Gone is the
// verdict of a document that a completely read index no longer lists.
const (
	VerdictComplete    Verdict = "complete"
	VerdictPartial     Verdict = "partial"
	VerdictUnavailable Verdict = "unavailable"
	VerdictNotSitemap  Verdict = "not_a_sitemap"
	VerdictUnchanged   Verdict = "unchanged"
	VerdictGone        Verdict = "gone"
)

// Read reports whether the whole document was read, so that what it does not list it does not list.
func (v Verdict) Read() bool { return v == VerdictComplete || v == VerdictUnchanged }

// Document is one sitemap file of a site, urlset or index, with the version that is visible.
// Its number is unique within the site and never used again.
type Document struct {
	SiteID     int64  `json:"-"`
	Number     int32  `json:"id"`
	URL        string `json:"url"`
	Key        Key    `json:"-"`
	Parent     int32  `json:"parent,omitempty"` // number of the index that lists it, 0 for a root
	Depth      int    `json:"depth"`
	Discovery  string `json:"discovery_method"` // robots_txt, direct_URL, sitemap_index, linked_reference, search_engine_submission
	FirstRun   int64  `json:"first_run"`
	ObjectType string `json:"object_type,omitempty"` // post, page, category ... as far as the address tells, see ObjectType
	Freshness  string `json:"freshness,omitempty"`   // current_unknown, fresh, stale, changed, unavailable; reason and stale_since say why

	DocumentVersion
}

// FreshnessAt compares what is known of a document with a run, without believing any declared lastmod.
func (d *Document) FreshnessAt(run int64) string {
	switch {
	case d.FetchedAt.IsZero():
		return "current_unknown"
	case d.Verdict == VerdictUnavailable, d.Verdict == VerdictGone:
		return "unavailable"
	case !d.Good():
		return "stale"
	case d.FromRun == run && d.FirstRun < run:
		return "changed"
	}
	return "fresh"
}

// DocumentVersion is what one or more runs in a row found at a document. Versions are kept:
// a version is superseded (to_run set), never overwritten, except for its validators.
type DocumentVersion struct {
	FromRun int64 `json:"from_run"`
	ToRun   int64 `json:"to_run,omitempty"`

	Verdict  Verdict `json:"verdict"`
	Reason   string  `json:"reason,omitempty"`
	Type     string  `json:"type"` // urlset, sitemapindex, text, feed, none
	Status   int     `json:"status,omitempty"`
	FinalURL string  `json:"final_url,omitempty"`

	ContentType   string     `json:"content_type,omitempty"`
	Encoding      string     `json:"encoding,omitempty"`
	Compression   string     `json:"compression,omitempty"`
	Bytes         int64      `json:"bytes"`
	BytesInflated int64      `json:"bytes_inflated"`
	Entries       int64      `json:"entries"`    // <url> entries read
	Children      int64      `json:"children"`   // <sitemap> references read
	Foreign       int64      `json:"foreign"`    // entries on other hosts, kept apart
	Duplicates    int64      `json:"duplicates"` // entries listed before in the same document
	Generator     string     `json:"generator,omitempty"`
	Namespaces    []string   `json:"namespaces,omitempty"`
	FetchedAt     time.Time  `json:"fetched_at"`
	ObservedAt    time.Time  `json:"observed_at"`       // Date minus Age: when an origin really said it
	Lastmod       *Lastmod   `json:"lastmod,omitempty"` // what the parent index declared
	StaleSince    *time.Time `json:"stale_since,omitempty"`

	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// ByteHash and SemanticHash describe the content that the stored rows came from:
	// an unavailable version carries those of the last good one, a partial one has none.
	ByteHash     []byte `json:"-"`
	SemanticHash []byte `json:"-"`
	FirstKey     Key    `json:"-"` // first and last entry in document order, to recognise page shifts
	LastKey      Key    `json:"-"`
	// LastmodRecord is the JSON track record of the document's lastmod values, LastmodTrust the score from it (0.1 to 1,
	// 0 when there is nothing to judge). LastmodShift, in microseconds, is set when every lastmod moved by one time
	// zone's offset in the version's first run: one event, not as many changes.
	LastmodRecord []byte  `json:"-"`
	LastmodTrust  float64 `json:"lastmod_trust,omitempty"`
	LastmodShift  int64   `json:"lastmod_shift,omitempty"`
	// FindingsHash is over the findings' code, line and text: other findings make another version.
	FindingsHash []byte `json:"-"`
	Validation   []byte `json:"-"` // JSON of the validation object
}

// Good reports whether the stored rows say what the document said when it was last asked.
func (v *DocumentVersion) Good() bool { return v.Verdict.Read() }
