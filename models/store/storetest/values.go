package storetest

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func identity(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	const host = "https://example.com/"
	long := strings.Repeat("x", 8192-len(host)-1)
	pairs := [][2]string{
		{"A", "a"}, {"b", "b "}, {"é", "e"}, {"ß", "ss"}, {"a\u200b", "a-"}, {"😀", "😁"}, {"a%2Fb", "a/b"}, {"\u00e9t\u00e9", "e\u0301te\u0301"},
		{"c", "c/"}, {"?a=1&b=2", "?b=2&a=1"}, {"d", "d\x00"}, {"æ", "ae"}, {"I", "ı"}, {"f", "f\t"}, {"%C3", "\xc3"},
		{long + "1", long + "2"}, {strings.Repeat("y", 768) + "1", strings.Repeat("y", 768) + "2"},
	}
	var all []string
	for _, p := range pairs {
		all = append(all, host+p[0], host+p[1])
	}
	all = append(all, "http://example.com/A", "https://example.com:8443/A", "https://EXAMPLE.com/A")
	var rows []models.Declaration
	for _, url := range all {
		rows = append(rows, Page(url, ""))
	}
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, rows)
	f.Finish(run)
	if got := f.Pages(models.PageFilter{}); len(got) != len(all) {
		t.Errorf("%d pages of %d are distinct", len(got), len(all))
	}
	for _, url := range all {
		got := f.Pages(models.PageFilter{Key: new(KeyOf(url))})
		if len(got) != 1 || got[0].URL != url {
			t.Errorf("%.40q (%d bytes) is found as %d pages", url, len(url), len(got))
		}
		if !strings.ContainsAny(url, "\x00\xc3") { // no person searches for these
			n := 0
			for _, other := range all {
				if strings.HasPrefix(other, url) {
					n++
				}
			}
			if got := f.Pages(models.PageFilter{Prefix: url}); len(got) != n {
				t.Errorf("%.40q begins %d pages, want %d", url, len(got), n)
			}
		}
	}
}

// times is also run in other time zones of the process, by the test that calls the suite.
func times(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	rng := rand.New(rand.NewPCG(1, 14))
	moments := []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Unix(0, 0), time.Date(2038, 1, 19, 3, 14, 8, 0, time.UTC),
		time.Date(2026, 11, 1, 5, 30, 0, 0, time.UTC), time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC), // both 01:30 in New York
		time.Date(2026, 3, 8, 7, 0, 0, 0, time.UTC), time.Date(2026, 4, 4, 15, 15, 0, 0, time.UTC), // Lord Howe turns by half an hour
		time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
	}
	zones := []*time.Location{time.UTC, time.Local, time.FixedZone("far", 14*3600), time.FixedZone("odd", -(3*3600 + 30*60))}
	for len(moments) < 10_000 {
		at := time.Unix(rng.Int64N(8_000_000_000)-4_000_000_000, rng.Int64N(1_000_000_000)) // 1843 to 2096
		moments = append(moments, at.In(zones[rng.IntN(len(zones))]))
	}
	rows := make([]models.Declaration, len(moments))
	keys := make([]models.Key, len(moments))
	want := map[models.Key]time.Time{}
	for i, at := range moments {
		rows[i] = Page("https://example.com/"+at.Format(time.RFC3339Nano)+zones[i%len(zones)].String(), "")
		rows[i].Lastmod = &models.Lastmod{Raw: at.Format(time.RFC3339Nano), Instant: at, Precision: models.PrecisionFraction, Zone: i%2 == 0}
		keys[i] = rows[i].Key
		want[rows[i].Key] = at.UTC().Truncate(time.Microsecond)
	}
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	f.Stage(run, 1, nil, rows)
	f.Finish(run)
	stored, err := f.Store.Rows(t.Context(), f.Site.ID, 1, keys)
	if err != nil || len(stored) < 9000 {
		t.Fatalf("%d rows, %v", len(stored), err)
	}
	wrong := 0
	for i := range stored {
		if got := stored[i].Lastmod.Instant; !got.Equal(want[stored[i].Key]) || got.Location() != time.UTC {
			if wrong++; wrong < 5 {
				t.Errorf("%s came back as %s", stored[i].Lastmod.Raw, got)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d moments are wrong", wrong, len(stored))
	}
	for _, year := range []int{0, -1, 10_000, 292_000_000} { // rubbish that sitemaps contain: the text is kept, the moment is not
		d := Page("https://example.com/rubbish", "")
		d.Lastmod = &models.Lastmod{Raw: "rubbish", Instant: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
		run := f.Begin()
		f.SaveDocument(run, 2, models.VerdictComplete)
		f.Stage(run, 2, []models.Key{d.Key}, []models.Declaration{d})
		f.Finish(run)
		got, err := f.Store.Rows(t.Context(), f.Site.ID, 2, []models.Key{d.Key})
		if err != nil || len(got) != 1 || got[0].Lastmod.Raw != "rubbish" || !got[0].Lastmod.Instant.IsZero() {
			t.Errorf("the year %d: %+v, %v", year, got, err)
		}
	}
}

func findings(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	run := f.Begin()
	one := models.Finding{Code: "loc-missing", Severity: models.SeverityError, Document: f.DocumentURL(1), Page: pageA, Line: 7, Offset: 1 << 40, Text: "ü", Rule: "r"}
	two := models.Finding{Code: "lastmod-in-future", Severity: models.SeverityWarning}
	f.SaveDocument(run, 1, models.VerdictComplete, one, two)
	f.SaveDocument(run, 2, models.VerdictComplete, two)
	whole := models.Finding{Code: "walk-cut", Severity: models.SeverityInfo}
	f.must(s.SaveRunFindings(ctx, f.Lease, f.Site.ID, run.ID, []models.Finding{whole}))
	f.Finish(run)
	run = f.Begin()
	var many []models.Finding
	for range 450 { // more than two statements
		many = append(many, models.Finding{Code: "many", Severity: models.SeverityInfo})
	}
	f.SaveDocument(run, 2, models.VerdictComplete, many...)
	get := func(filter models.FindingFilter) []models.Finding {
		t.Helper()
		got, err := s.Findings(ctx, f.Site.ID, filter)
		f.must(err)
		return got
	}
	one.FromRun, two.FromRun, whole.FromRun = 1, 1, 1
	same(t, "while the second run is under way", []models.Finding{whole, one, two, two}, get(models.FindingFilter{}))
	f.Finish(run)
	same(t, "run 1", []models.Finding{whole, one, two, two}, get(models.FindingFilter{Run: 1}))
	if _, err := f.Store.Findings(t.Context(), f.Site.ID, models.FindingFilter{Run: 99}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("findings of a run that never was: %v", err)
	}
	if got := get(models.FindingFilter{}); len(got) != 452 || got[0] != one || got[2].Code != "many" {
		t.Errorf("run 2: %d findings", len(got))
	}
	same(t, "by document and severity", []models.Finding{two}, get(models.FindingFilter{Document: 1, Severity: models.SeverityWarning}))
	if got := get(models.FindingFilter{Code: "many", Limit: 10}); len(got) != 10 {
		t.Errorf("ten of many: %d", len(got))
	}
	record, err := s.Run(ctx, f.Site.ID, 1)
	f.must(err)
	same(t, "what a run found", []models.Finding{whole, one, two, two}, record.Findings)
	record, err = s.Run(ctx, f.Site.ID, 2)
	f.must(err)
	same(t, "not more than a person reads", 100, len(record.Findings))
}
