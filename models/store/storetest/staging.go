package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func repeated(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	run := f.Begin()
	var pictures []picture
	for range 3 {
		f.SaveDocument(run, 1, models.VerdictComplete, models.Finding{Code: "again", Severity: models.SeverityInfo})
		f.Stage(run, 1, []models.Key{KeyOf(pageA)}, []models.Declaration{Page(pageA, "2"), Page(pageD, "1")})
		f.SaveRemovals(run, Case(run, 1, pageB, models.StageHeld))
		f.must(f.Store.SaveRunFindings(t.Context(), f.Lease, f.Site.ID, run.ID, []models.Finding{{Code: "whole", Severity: models.SeverityInfo}}))
		pictures = append(pictures, dump(f, run.ID))
	}
	same(t, "staged twice", pictures[0], pictures[1])
	same(t, "staged thrice", pictures[0], pictures[2])
	f.Finish(run)
	same(t, "states", []string{"live " + pageA, "held " + pageB, "pending " + pageC, "live " + pageD}, f.States(models.AsOf{}))
	same(t, "states before", []string{"live " + pageA, "live " + pageB, "pending " + pageC}, f.States(models.AsOf{Run: 2}))
}

func restaged(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	run := f.Begin()
	f.Stage(run, 1, []models.Key{KeyOf(pageA)}, []models.Declaration{Page(pageA, "2"), Page(pageD, "1")})
	f.Stage(run, 1, []models.Key{KeyOf(pageA), KeyOf(pageD)}, []models.Declaration{Page(pageA, "3")})
	f.Finish(run)
	history, err := f.Store.PageHistory(t.Context(), f.Site.ID, KeyOf(pageA))
	if err != nil || len(history) != 2 || history[0].Changefreq != "1" || history[1].Changefreq != "3" {
		t.Errorf("a page staged twice in one run has two states: %+v, %v", history, err)
	}
	if history, err := f.Store.PageHistory(t.Context(), f.Site.ID, KeyOf(pageD)); err != nil || len(history) != 0 {
		t.Errorf("a page that was staged and taken back was never there: %+v, %v", history, err)
	}
}

func concurrent(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	run := f.Begin()
	const documents, rows = 8, 300
	numbers := make([]int32, documents)
	var wg sync.WaitGroup
	for i := range documents {
		wg.Go(func() {
			d := models.Document{URL: fmt.Sprint("https://example.com/numbered-by-the-store-", i), Key: KeyOf(fmt.Sprint(i))}
			d.Verdict, d.FetchedAt = models.VerdictComplete, f.At(run.ID)
			if err := f.Store.SaveDocument(t.Context(), f.Lease, f.Site.ID, run.ID, &d, nil); err != nil {
				t.Error(err)
				return
			}
			numbers[i] = d.Number
			var add []models.Declaration
			for j := range rows {
				add = append(add, Page(fmt.Sprintf("https://example.com/%d/%d", i, j), "1"))
			}
			// The same page in every document: their index entries are neighbours.
			add = append(add, Page("https://example.com/shared", "1"))
			f.Stage(run, d.Number, nil, add[:100])
			f.Stage(run, d.Number, []models.Key{add[0].Key}, add[100:])
		})
	}
	wg.Wait()
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	same(t, "numbers are given without gap or twin", []int32{1, 2, 3, 4, 5, 6, 7, 8}, sorted)
	f.Finish(run)
	for _, n := range numbers {
		if got := len(f.Listed(n)); got != rows {
			t.Errorf("document %d has %d rows, want %d", n, got, rows)
		}
	}
}

func large(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	const rows = 5321 // several portions of every kind, none of them full
	var add []models.Declaration
	for i := range rows {
		d := Page(fmt.Sprintf("https://example.com/%d", i), "1")
		if i%500 == 0 {
			d.Extensions = []byte(`{"images":[{"loc":"https://example.com/` + strings.Repeat("x", 300_000) + `"}]}`)
		}
		add = append(add, d)
	}
	f.Stage(run, 1, nil, add)
	f.Finish(run)
	if got := len(f.Listed(1)); got != rows {
		t.Fatalf("%d rows staged, want %d", got, rows)
	}
	keys := make([]models.Key, 0, rows)
	for i := range add {
		keys = append(keys, add[i].Key)
	}
	stored, err := f.Store.Rows(t.Context(), f.Site.ID, 1, keys)
	if err != nil || len(stored) != rows {
		t.Fatalf("Rows() = %d, %v", len(stored), err)
	}
	for i := range stored {
		want := add[i]
		want.Document, want.FromRun, want.ToRun, want.FirstRun = 1, 1, models.Open, 1
		if i%97 == 0 || len(want.Extensions) > 0 {
			same(t, "a row as stored", want, stored[i])
		}
	}
	run = f.Begin()
	for i := range add {
		add[i] = Page(add[i].URL, "2")
	}
	f.Stage(run, 1, keys, add[:4000]) // all end, most are changed
	f.Finish(run)
	counts := map[string]int{}
	for _, c := range f.Changes(models.ChangeFilter{Run: 2}) {
		counts[c.Kind]++
	}
	same(t, "changes", map[string]int{models.KindChanged: 4000, models.KindRemoved: rows - 4000}, counts)
	for run, want := range map[int64]int{1: rows, 2: 4000} {
		if got := len(f.Pages(models.PageFilter{AsOf: models.AsOf{Run: run}})); got != want {
			t.Errorf("%d pages at run %d, want %d", got, run, want)
		}
	}
}

func unstage(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	run := f.Begin()
	before := dump(f, run.ID)
	f.SaveDocument(run, 1, models.VerdictPartial, models.Finding{Code: "x", Severity: models.SeverityInfo})
	f.Stage(run, 1, []models.Key{KeyOf(pageA)}, []models.Declaration{Page(pageA, "2"), Page(pageD, "1")})
	f.must(f.Store.Unstage(t.Context(), f.Lease, f.Site.ID, run.ID, 1))
	same(t, "after Unstage", before, dump(f, run.ID))
	f.SaveDocument(run, 3, models.VerdictComplete)
	f.Stage(run, 3, nil, []models.Declaration{Page(pageD, "1")})
	f.must(f.Store.Unstage(t.Context(), f.Lease, f.Site.ID, run.ID, 3))
	f.SaveDocument(run, 3, models.VerdictComplete) // the same number again
	f.Finish(run)
	same(t, "a run whose documents were taken back", []string{"live " + pageA, "live " + pageB, "pending " + pageC}, f.States(models.AsOf{}))
}

func documents(t *testing.T, open func() *store.Store) {
	f := settled(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin()
	since := f.At(2)
	d := models.Document{Number: 1, URL: f.DocumentURL(1), Key: KeyOf(f.DocumentURL(1)), Parent: 2, Depth: 2, Discovery: "robots_txt", FirstRun: 1,
		DocumentVersion: models.DocumentVersion{Verdict: models.VerdictPartial, Reason: "cut", Type: "urlset", Status: 206, FinalURL: "https://example.com/final",
			ContentType: "text/xml", Encoding: "UTF-8", Compression: "gzip", Bytes: 1, BytesInflated: 2, Entries: 3, Children: 4, Foreign: 5, Duplicates: 6,
			Generator: "core", Namespaces: []string{"http://www.sitemaps.org/schemas/sitemap/0.9"}, FetchedAt: f.At(3), ObservedAt: f.At(1),
			Lastmod: &models.Lastmod{Raw: "2026-01", Instant: f.clock, Precision: models.PrecisionMonth}, StaleSince: &since, ETag: `"e"`, LastModified: "x",
			ByteHash: []byte{1}, SemanticHash: []byte{2}, FirstKey: KeyOf("first"), LastKey: KeyOf("last"), FindingsHash: []byte{3}, Validation: []byte(`{}`),
			LastmodRecord: []byte(`{"n":1}`), LastmodTrust: 0.25, LastmodShift: -7_200_000_000}}
	saved := d
	f.must(s.SaveDocument(ctx, f.Lease, f.Site.ID, run.ID, &saved, nil))
	if before, err := s.Documents(ctx, f.Site.ID); err != nil || len(before) != 2 || before[0].Verdict != models.VerdictComplete || before[0].ToRun != 0 {
		t.Errorf("staged versions are seen: %+v, %v", before, err)
	}
	f.Finish(run)
	d.SiteID, d.FromRun = f.Site.ID, 3
	now, err := s.Documents(ctx, f.Site.ID)
	if err != nil || len(now) != 2 {
		t.Fatalf("Documents() = %d, %v", len(now), err)
	}
	same(t, "a document as read", d, now[0])
	f.must(s.SaveValidators(ctx, f.Lease, f.Site.ID, []models.Validators{{Document: 1, ETag: `"f"`, LastModified: "y"}}))
	history, err := s.DocumentHistory(ctx, f.Site.ID, 1)
	if err != nil || len(history) != 2 || history[0].FromRun != 1 || history[0].ToRun != 3 || history[1].ToRun != 0 || history[1].ETag != `"f"` || history[0].ETag != "" {
		t.Errorf("two versions, the validators of the last one changed: %+v, %v", history, err)
	}
	var all []models.Validators // document 3 does not exist
	for n := range int32(250) {
		all = append(all, models.Validators{Document: n + 2, ETag: fmt.Sprintf(`"%d"`, n), LastModified: fmt.Sprint("at ", n)})
	}
	f.must(s.SaveValidators(ctx, f.Lease, f.Site.ID, all))
	now, err = s.Documents(ctx, f.Site.ID)
	if err != nil || len(now) != 2 || now[0].ETag != `"f"` || now[0].LastModified != "y" || now[1].ETag != `"0"` || now[1].LastModified != "at 0" {
		t.Errorf("validators of many documents: %+v, %v", now, err)
	}
	at, err := s.DocumentsAt(ctx, f.Site.ID, models.AsOf{Run: 2})
	if err != nil || len(at) != 2 || at[0].Verdict != models.VerdictComplete {
		t.Errorf("as of run 2: %+v, %v", at, err)
	}
}
