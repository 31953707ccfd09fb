package syncer

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// A targeted run answers a hook with a handful of requests: the roots, the document that lists the named page, and those
// where it may appear. It states only what it saw; full runs remain the truth.

const (
	targetPages     = 20 // more named pages than this are a full run's work
	targetDocuments = 8  // a site with no more documents is read whole as cheaply
)

// aim decides whether this run can be targeted, and at which documents. Every trigger must name its pages; listed are the
// documents that list each of them.
func (r *run) aim(triggers []models.Trigger, listed map[models.Key][]int32) map[int32]bool {
	if r.record.Baseline || r.request.Full || r.request.Confirm || len(r.documents) <= targetDocuments || len(r.expected) == 0 || len(r.expected) > targetPages {
		return nil
	}
	for _, t := range triggers {
		if len(t.Hints) == 0 {
			return nil
		}
		for _, h := range t.Hints {
			if _, ok := r.ownKey(h.URL); !ok || h.Expect == "" {
				return nil // a settings change, a bulk edit, a foreign page: look at everything
			}
		}
	}
	if r.searched() {
		return nil
	}
	target := map[int32]bool{}
	for i := range r.expected {
		e := &r.expected[i]
		for _, key := range []models.Key{e.Key, e.PreviousKey} {
			for _, number := range listed[key] {
				target[number] = true
				if r.vouched[key] == "" {
					continue
				}
				for _, d := range r.around(r.byNumber(number)) {
					target[d.Number] = true
				}
			}
		}
		if e.Kind == models.ExpectGone {
			continue
		}
		for _, d := range r.ends(postTypes(triggers, e)) {
			target[d.Number] = true
		}
	}
	return target
}

// retries tells whether all that is asked for is another look at the documents that could not be read. A targeted walk that
// aims at nothing reads the indexes, these, and what it has never seen.
func (r *run) retries(triggers []models.Trigger) bool {
	if r.record.Cause != models.CauseManual || r.record.Baseline || r.request.Full || r.request.Confirm || len(triggers) == 0 {
		return false
	}
	return !slices.ContainsFunc(triggers, func(t models.Trigger) bool {
		return t.Kind != models.CauseManual || len(t.Hints) != 1 || t.Hints[0].Event != models.EventRetry
	})
}

// unlistedNamed ends the listings of pages that messages say are gone in documents that the index, read whole, lists no more:
// the last file of a series goes when the number of pages falls. Nobody can read such a document, and until a full run drops
// it, it would keep the page. What else it listed is for that run.
func (r *run) unlistedNamed(ctx context.Context) error {
	if r.verdict() != models.VerdictComplete || len(r.vouched) == 0 {
		return nil
	}
	keys := make([]models.Key, 0, len(r.vouched))
	for key := range r.vouched {
		keys = append(keys, key)
	}
	for _, d := range sortedByNumber(r.documents) {
		if !r.target[d.Number] || d.visited || d.Verdict == models.VerdictGone {
			continue
		}
		if err := r.undo(ctx, d); err != nil { // an earlier walk of this run found the same, or the document
			return fmt.Errorf("document %s: %w", d.URL, err)
		}
		rows, err := r.o.Store.Rows(ctx, r.site.ID, d.Number, sortKeys(keys))
		if err != nil {
			return fmt.Errorf("read named pages of document %d: %w", d.Number, err)
		}
		var closing []models.Key
		for _, row := range rows {
			switch {
			case row.Role != models.RoleDeclaration:
				closing = append(closing, row.Key)
			case r.undecided[row.Key] == nil:
				d.diff.left = append(d.diff.left, models.Listing{Key: row.Key, Document: d.Number, FromRun: row.FromRun, FirstRun: row.FirstRun,
					Role: row.Role, Fingerprint: row.Fingerprint})
			}
		}
		if len(rows) == 0 {
			continue
		}
		// The index may have been an old copy: should it list the document again, equal bytes must not hide what ended here.
		if err := r.unsettle(ctx, d); err != nil {
			return fmt.Errorf("document %s: %w", d.URL, err)
		}
		if len(closing) == 0 {
			continue
		}
		r.traceEnded(closing)
		d.staged = true // for a wider walk to undo
		if err := r.o.Store.StageDocument(ctx, r.lease, r.site.ID, r.record.ID, d.Number, sortKeys(closing), nil); err != nil {
			return fmt.Errorf("close duplicates of document %d: %w", d.Number, err)
		}
	}
	return nil
}

// unlistedChildren makes the next run read those indexes whole that list no more what is stored under them. A targeted run
// leaves such a document to the next full one; should the index answer that one by 304, it would still be a child.
func (r *run) unlistedChildren(ctx context.Context) error {
	listed := map[int32]map[models.Key]bool{}
	for _, d := range r.order {
		if d.children == nil || d.failed || d.alias {
			continue
		}
		keys := make(map[models.Key]bool, len(d.children))
		for _, c := range d.children {
			keys[models.Key(weburl.KeyOf(c.id))] = true
		}
		listed[d.Number] = keys
	}
	lacking := map[int32]bool{}
	for _, d := range r.documents {
		if keys, read := listed[d.Parent]; read && d.known && d.Verdict != models.VerdictGone && !keys[d.Key] {
			lacking[d.Parent] = true
		}
	}
	for _, d := range r.order {
		if !lacking[d.Number] {
			continue
		}
		if err := r.unsettle(ctx, d); err != nil {
			return fmt.Errorf("document %s: %w", d.URL, err)
		}
	}
	return nil
}

// searched tells whether some page is to be looked for everywhere. What was published may appear anywhere: an old draft or
// a restored post goes to the middle of a list by ID. So the second look reads every document, and so does the last,
// before anybody is told that the page is not declared. The looks between wait for caches and stay cheap.
func (r *run) searched() bool {
	return slices.ContainsFunc(r.expected, func(e models.Expectation) bool {
		return e.Outcome == models.OutcomeOpen && e.Kind != models.ExpectGone && (e.Checks == 1 || e.Checks > 1 && nextCheck(e, r.o.Now()) == nil)
	})
}

func postTypes(triggers []models.Trigger, e *models.Expectation) string {
	for _, t := range triggers {
		if t.ID != e.Trigger {
			continue
		}
		for _, h := range t.Hints {
			if h.URL == e.URL {
				return h.PostType
			}
		}
	}
	return ""
}

// ends gives the first and last document of each series that may list pages of a type: WordPress core appends by ID,
// plugins sort by date, so a page appears at one of the two ends. Without a match by name all series count.
func (r *run) ends(postType string) []*document {
	series := r.series()
	names := make([]string, 0, len(series))
	for name := range series {
		names = append(names, name)
	}
	slices.Sort(names)
	if matching := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !ofType(name, postType) }); postType != "" && len(matching) > 0 {
		names = matching
	}
	var out []*document
	for _, name := range names {
		s := series[name]
		out = append(out, s[0])
		if len(s) > 1 {
			out = append(out, s[len(s)-1])
		}
	}
	return out
}

// series gives the site's documents that list pages, see inSeries.
func (r *run) series() map[string][]*document {
	return inSeries(maps.Values(r.documents), func(*document) bool { return true })
}

// inSeries gives the wanted documents that list pages, by the name that numbered files have in common, in the order of
// their numbers.
func inSeries(documents iter.Seq[*document], wanted func(*document) bool) map[string][]*document {
	out := map[string][]*document{}
	for d := range documents {
		if d.Type == "urlset" && d.Verdict != models.VerdictGone && wanted(d) {
			name, _ := seriesOf(d.URL)
			out[name] = append(out[name], d)
		}
	}
	for _, files := range out {
		slices.SortFunc(files, func(a, b *document) int {
			_, x := seriesOf(a.URL)
			_, y := seriesOf(b.URL)
			return x - y
		})
	}
	return out
}

// seriesOf splits the number off a file's name: post-sitemap2.xml is the second of post-sitemap.xml.
func seriesOf(raw string) (name string, number int) {
	u, err := url.Parse(raw)
	if err != nil {
		return raw, 0
	}
	text := u.Path
	if u.RawQuery != "" {
		text += "?" + u.RawQuery
	}
	end := strings.LastIndexAny(text, "0123456789")
	if end < 0 {
		return text, 1
	}
	start := end
	for start > 0 && text[start-1] >= '0' && text[start-1] <= '9' {
		start--
	}
	n, err := strconv.Atoi(text[start : end+1])
	if err != nil {
		return text, 1
	}
	return strings.TrimSuffix(text[:start], "-") + text[end+1:], n
}

// ofType tells whether a series' name is that of a post type, in core's, Yoast's and Rank Math's ways.
func ofType(series, postType string) bool {
	return strings.Contains(series, "-posts-"+postType+".") || strings.Contains(series, "/"+postType+"-sitemap") ||
		strings.Contains(series, "sitemap-subtype="+postType+"&")
}

// likely gives the documents that should say what an expectation says.
func (r *run) likely(e *models.Expectation, page *models.Page) []*document {
	var out []*document
	for _, d := range r.order {
		if page != nil && d.URL == page.Document && d.Type == "urlset" {
			out = append(out, d)
		}
	}
	if len(out) == 0 && e.Kind != models.ExpectGone {
		out = r.ends("")
	}
	return out[:min(len(out), 2)]
}

// pastCaches adds a parameter that makes a URL new to every cache on the way; sitemaps ignore it.
func pastCaches(raw string, run int64, check int) string {
	separator := "?"
	if strings.Contains(raw, "?") {
		separator = "&"
	}
	return raw + separator + "_sd=" + strconv.FormatInt(run, 36) + "-" + strconv.Itoa(check)
}

// has tells whether a document lists a page; index must have run.
func (c *collection) has(key models.Key) bool {
	_, found := slices.BinarySearchFunc(c.order, key, func(o ordered, k models.Key) int {
		return bytes.Compare(c.entries[o.entry].key[:], k[:])
	})
	return found
}
