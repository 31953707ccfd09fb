package handlers_test

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sitemapd/sitemapd/models"
)

// inventory is a store of n pages with a working cursor.
func inventory(f *fixture, n int, seen *[]models.PageFilter) {
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		if seen != nil {
			*seen = append(*seen, filter)
		}
		sent := 0
		for i := range n {
			cursor := fmt.Sprintf("%06d", i)
			if cursor <= filter.After && filter.After != "" {
				continue
			}
			if filter.Limit > 0 && sent == filter.Limit {
				return nil
			}
			sent++
			if err := fn(&models.Page{URL: "https://example.com/" + cursor, State: models.StateLive, Cursor: cursor}); err != nil {
				return err
			}
		}
		return nil
	}
}

type pageBody struct {
	Items []models.Page
	Next  string `json:"next_page_token"`
	Run   int64
}

func TestLists_PagesMeetEveryRowOnceAtOneRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n, size := rapid.IntRange(0, 60).Draw(rt, "rows"), rapid.IntRange(1, 20).Draw(rt, "page size")
		var filters []models.PageFilter
		f := newFixture(t)
		inventory(f, n, &filters)
		site := exampleSite
		f.store.FindSiteFunc = func(string) (models.Site, error) { return site, nil }
		token, got := "", []string{}
		for {
			r := f.get(fmt.Sprintf("/api/v1/sites/1/urls?contains=e&page_size=%d&page_token=%s", size, token))
			wantStatus(t, r, 200)
			page := decode[pageBody](t, r)
			for _, p := range page.Items {
				got = append(got, p.URL)
			}
			if link := r.Header.Get("Link"); (link != "") != (page.Next != "") || page.Next != "" && !strings.Contains(link, url.QueryEscape(page.Next)) {
				rt.Fatalf("link %q, token %q", link, page.Next)
			}
			if token = page.Next; token == "" {
				break
			}
			site.CurrentRun++ // runs end while somebody turns pages
		}
		for i, link := range got {
			if link != fmt.Sprintf("https://example.com/%06d", i) {
				rt.Fatalf("row %d is %s", i, link)
			}
		}
		if len(got) != n {
			rt.Fatalf("%d rows of %d", len(got), n)
		}
		for _, filter := range filters {
			if filter.AsOf.Run != exampleSite.CurrentRun {
				rt.Fatalf("page read at run %d", filter.AsOf.Run)
			}
		}
	})
}

func TestLists_TokenBelongsToItsFilter(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	inventory(f, 5, nil)
	token := decode[pageBody](t, f.get("/api/v1/sites/1/urls?state=live&page_size=2")).Next
	if token == "" {
		t.Fatal("no token")
	}
	wantStatus(t, f.get("/api/v1/sites/1/urls?state=live&page_size=3&include=total&page_token="+token), 200) // how many are live stands with the site
	wantStatus(t, f.get("/api/v1/sites/1/urls?state=live&contains=a&include=total"), 500)                    // no count in this store
	wantStatus(t, f.get("/api/v1/sites/1/urls?state=live&page_size=3&page_token="+token), 200)
	for _, query := range []string{"state=stale", "state=live&contains=a", "", "state=live&as_of=3"} {
		wantStatus(t, f.get("/api/v1/sites/1/urls?"+query+"&page_token="+token), 422)
	}
	wantStatus(t, f.get("/api/v1/sites/1/runs?page_token="+token), 422)
}

func TestLists_EveryFilterReachesTheStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var filters []models.PageFilter
	inventory(f, 0, &filters)
	f.store.RunAtFunc = func(_ int64, at time.Time) (int64, error) {
		if at.Before(now.Add(-time.Hour)) {
			return 0, models.ErrNotFound
		}
		return 4, nil
	}
	query := "state=removed&as_of=2026-11-30T11:30:00%2B00:00&url=https://example.com/a/&contains=%C3%A9&prefix=https://&document=3" +
		"&lastmod_from=2026-01-31&lastmod_to=2026-02-01T00:00:00Z&language=de-AT&extension=news&first_from=2026-03-01"
	wantStatus(t, f.get("/api/v1/sites/1/urls?"+query), 200)
	key, _ := keyFor("https://example.com/a/")
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	got := filters[0]
	if got.State != models.StateRemoved || got.AsOf.Run != 4 || *got.Key != key || got.URL != "https://example.com/a/" || got.Contains != "é" ||
		got.Prefix != "https://" || got.Document != 3 || !got.LastmodFrom.Equal(day(2026, 1, 31)) || !got.LastmodTo.Equal(day(2026, 2, 1)) ||
		got.Language != "de-AT" || got.Extension != "news" || !got.FirstFrom.Equal(day(2026, 3, 1)) || got.Limit != 101 {
		t.Errorf("%+v", got)
	}
	wantStatus(t, f.get("/api/v1/sites/1/urls?as_of=2020-01-01"), 422)
}

func TestLists_NDJSONAndCSVAreWholeAndUnlimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	inventory(f, 2500, nil)
	lines := strings.Split(strings.TrimSpace(text(t, f.get("/api/v1/sites/1/urls", "Accept", "application/x-ndjson"))), "\n")
	var last models.Page
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 2500 || last.URL != "https://example.com/002499" {
		t.Errorf("%d lines, last %+v, %v", len(lines), last, err)
	}
	r := f.get("/api/v1/sites/1/urls?format=csv")
	if ct := r.Header.Get("Content-Type"); ct != "text/csv; charset=utf-8" {
		t.Errorf("content type %q", ct)
	}
	records, err := csv.NewReader(r.Body).ReadAll()
	if err != nil || len(records) != 2501 || records[0][0] != "url" || records[2500][0] != last.URL {
		t.Errorf("%d records, %v", len(records), err)
	}
	if got := text(t, f.get("/api/v1/sites/1/urls?format=ndjson&page_size=3")); strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
}

func TestLists_EveryListHasAllForms(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	for _, path := range []string{"/sites", "/sites/1/urls", "/sites/1/history?url=https://example.com/a/", "/sites/1/changes", "/sites/1/documents", "/sites/1/findings", "/sites/1/runs", "/sites/1/held"} {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		body := text(t, f.get("/api/v1"+path+mark+"format=ndjson"))
		for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
			if !json.Valid([]byte(line)) || !strings.HasPrefix(line, "{") {
				t.Errorf("%s: line %q", path, line)
			}
		}
		records, err := csv.NewReader(f.get("/api/v1" + path + mark + "format=csv").Body).ReadAll()
		if err != nil || len(records) < 2 {
			t.Errorf("%s: %d records, %v", path, len(records), err)
		}
	}
}

func TestLists_EmptyFormsAreEmptyAndNotErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if got := text(t, f.get("/api/v1/sites/1/urls?format=ndjson")); got != "" {
		t.Errorf("%q", got)
	}
	if got := text(t, f.get("/api/v1/sites/1/runs?format=csv")); !strings.HasPrefix(got, "id,cause,") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	if got := text(t, f.get("/api/v1/sites/1/urls")); !strings.Contains(got, `"items":[]`) {
		t.Errorf("%q", got)
	}
}

func TestLists_FailureIsAProblemBeforeTheFirstRowAndACutAfterIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	rows := 0
	f.store.PagesFunc = func(_ int64, _ models.PageFilter, fn func(*models.Page) error) error {
		for range rows {
			if err := fn(&models.Page{URL: "https://example.com/"}); err != nil {
				return err
			}
		}
		return errors.New("disk I/O error in /var/lib/secret.db")
	}
	r := f.get("/api/v1/sites/1/urls?format=ndjson")
	if body := text(t, r); r.StatusCode != 500 || strings.Contains(body, "secret") || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	rows = 3000
	base, _ := f.serve(t)
	r, err := http.Get(base + "/api/v1/sites/1/urls?format=ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := io.ReadAll(r.Body); err == nil {
		t.Error("half a list looked like a whole one")
	}
}

// formulas are cells by which spreadsheets were made to run things.
var formulas = []string{
	"=1+1", "=cmd|' /C calc'!A0", "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(1+1)", "\t=1+1", "\r=1+1", "  =1+1", "\u00a0=1+1", "\ufeff=1", "|calc", "%0A=1",
	"＝1+1", "＋1", "－1", "＠A1", "\n=1", "-", "+", "=", "@", "-1.2.3", "+49 30 123", "\tplain",
}

func TestCSV_CellsNeverBecomeFormulas(t *testing.T) {
	t.Parallel()
	for _, bad := range formulas {
		f := newFixture(t)
		f.store.PagesFunc = func(_ int64, _ models.PageFilter, fn func(*models.Page) error) error {
			return fn(&models.Page{URL: bad, Changefreq: bad, Reason: bad, Document: bad, Listings: []string{bad}, Alternates: json.RawMessage(`"` + bad)})
		}
		records, err := csv.NewReader(f.get("/api/v1/sites/1/urls?format=csv").Body).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, cell := range records[1] {
			if records[0][i] == "alternates" || cell == "" {
				continue
			}
			if strings.ContainsRune("=+-@|%\t\r\n ＝＋－＠\u00a0\ufeff", []rune(cell)[0]) {
				t.Errorf("%q came out as %q in %s", bad, cell, records[0][i])
			}
		}
	}
}

func TestCSV_NumbersStayNumbers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store.RunsFunc = func(_, before int64, _ int) ([]models.Run, error) {
		if before != 0 {
			return nil, nil
		}
		return []models.Run{{ID: 1, Reason: "-5", Cause: "+3.5", Error: "https://example.com/"}}, nil
	}
	got := text(t, f.get("/api/v1/sites/1/runs?format=csv"))
	if !strings.Contains(got, "1,+3.5,,-5,") || !strings.Contains(got, ",https://example.com/\n") {
		t.Errorf("%q", got)
	}
}

func TestETag_SameBytesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	title := "a"
	f.store.PagesFunc = func(_ int64, _ models.PageFilter, fn func(*models.Page) error) error {
		return fn(&models.Page{URL: "https://example.com/" + title})
	}
	first := f.get("/api/v1/sites/1/urls")
	tag := first.Header.Get("ETag")
	if tag == "" || strings.HasPrefix(tag, "W/") || first.Header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%v", first.Header)
	}
	for _, have := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		r := f.get("/api/v1/sites/1/urls", "If-None-Match", have)
		if body := text(t, r); r.StatusCode != 304 || body != "" || r.Header.Get("ETag") != tag {
			t.Errorf("%s: %d %q", have, r.StatusCode, body)
		}
	}
	title = "b" // the same run: somebody decided something meanwhile
	r := f.get("/api/v1/sites/1/urls", "If-None-Match", tag)
	if r.StatusCode != 200 || r.Header.Get("ETag") == tag {
		t.Errorf("%d", r.StatusCode)
	}
	if r := f.get("/api/v1/sites/9", "If-None-Match", "*"); r.StatusCode != 404 || r.Header.Get("ETag") != "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

func TestRuns_IdempotencyKeyStartsOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	type answer struct {
		Trigger   int64
		Duplicate bool
		Progress  string
	}
	start := func(key string) answer {
		header := []string{}
		if key != "" {
			header = []string{"Idempotency-Key", key}
		}
		r := f.post("/api/v1/sites/1/runs", "", header...)
		wantStatus(t, r, 202)
		return decode[answer](t, r)
	}
	a, b := start("deploy-1"), start("deploy-1")
	if a.Trigger != b.Trigger || a.Duplicate || !b.Duplicate || a.Progress != "/api/v1/sites/1/progress" {
		t.Errorf("%+v %+v", a, b)
	}
	start("deploy-2")
	start("")
	start("")
	if len(f.triggers) != 4 || len(f.woken) != 4 || f.woken[0] != models.CauseManual {
		t.Errorf("%d stored, woken %v", len(f.triggers), f.woken)
	}
}

func TestExpectations_PagesMeetEveryOneOfLargeTriggers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		sizes, pageSize := rapid.SliceOfN(rapid.IntRange(1, 9), 0, 6).Draw(rt, "sizes"), rapid.IntRange(1, 7).Draw(rt, "page size")
		var all []models.Expectation
		for i := len(sizes); i > 0; i-- {
			for n := range sizes[i-1] {
				all = append(all, models.Expectation{Trigger: int64(i), Checks: n})
			}
		}
		f := newFixture(t, rich)
		f.store.ExpectationHistoryFunc = func(_, before int64, limit int) ([]models.Expectation, error) {
			var out []models.Expectation
			for _, e := range all {
				if (before == 0 || e.Trigger < before) && len(out) < limit {
					out = append(out, e)
				}
			}
			return out, nil
		}
		var got []models.Expectation
		for token := ""; ; {
			r := f.get(fmt.Sprintf("/api/v1/sites/1/expectations?page_size=%d&page_token=%s", pageSize, token))
			page := decode[struct {
				Items []models.Expectation
				Next  string `json:"next_page_token"`
			}](t, r)
			for _, e := range page.Items {
				got = append(got, models.Expectation{Trigger: e.Trigger, Checks: e.Checks})
			}
			if token = page.Next; token == "" {
				break
			}
		}
		if len(got) != len(all) {
			rt.Fatalf("%d of %d", len(got), len(all))
		}
		for i := range all {
			if got[i] != all[i] {
				rt.Fatalf("row %d: %+v, want %+v", i, got[i], all[i])
			}
		}
	})
}

func TestDeliveries_PagesMeetEveryOneOfBothLists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		stored, others := rapid.IntRange(0, 12).Draw(rt, "stored"), rapid.SliceOfN(rapid.SampledFrom([]string{"duplicate", "rejected"}), 0, 12).Draw(rt, "others")
		size, result := rapid.IntRange(1, 6).Draw(rt, "page size"), rapid.SampledFrom([]string{"", "accepted", "rejected"}).Draw(rt, "result")
		minute := rapid.IntRange(0, 3)
		f := newFixture(t, func(f *fixture) { f.deps.Deliveries = f.store })
		var triggers []models.Trigger
		at := now
		for i := stored; i > 0; i-- {
			at = at.Add(-time.Duration(minute.Draw(rt, "gap")) * time.Minute)
			triggers = append(triggers, models.Trigger{ID: int64(i), ReceivedAt: at})
		}
		var rejected []models.Delivery
		at = now
		for i := len(others); i > 0; i-- {
			at = at.Add(-time.Duration(minute.Draw(rt, "gap")) * time.Minute)
			rejected = append(rejected, models.Delivery{ID: int64(i), At: at, Result: others[i-1]})
		}
		f.store.TriggersFunc = func(_, before int64, limit int) ([]models.Trigger, error) {
			return below(triggers, func(t models.Trigger) int64 { return t.ID }, before, limit), nil
		}
		f.store.DeliveriesFunc = func(_, before int64, limit int) ([]models.Delivery, error) {
			return below(rejected, func(d models.Delivery) int64 { return d.ID }, before, limit), nil
		}
		want := 0
		if result != "rejected" {
			want += stored
		}
		for _, r := range others {
			if result == "" || result == r {
				want++
			}
		}
		seen := map[string]bool{}
		last := now.Add(time.Hour)
		for token := ""; ; {
			page := decode[struct {
				Items []models.Delivery
				Next  string `json:"next_page_token"`
			}](t, f.get(fmt.Sprintf("/api/v1/sites/1/deliveries?page_size=%d&result=%s&page_token=%s", size, result, token)))
			for _, d := range page.Items {
				name := fmt.Sprint(d.Result == "accepted", d.ID)
				if seen[name] || d.At.After(last) || result != "" && d.Result != result {
					rt.Fatalf("%+v out of place", d)
				}
				seen[name], last = true, d.At
			}
			if token = page.Next; token == "" {
				break
			}
		}
		if len(seen) != want {
			rt.Fatalf("%d of %d", len(seen), want)
		}
	})
}

// below is a store's way to read a list, newest first.
func below[T any](all []T, id func(T) int64, before int64, limit int) []T {
	var out []T
	for _, row := range all {
		if (before == 0 || id(row) < before) && len(out) < limit {
			out = append(out, row)
		}
	}
	return out
}

func TestCompression_ShrinksListsAndKeepsTheirTags(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	inventory(f, 500, nil)
	for _, format := range []string{"json", "ndjson", "csv"} {
		target := "/api/v1/sites/1/urls?format=" + format
		plain := text(t, f.get(target))
		r := f.get(target, "Accept-Encoding", "gzip")
		if r.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(strings.Join(r.Header.Values("Vary"), ","), "Accept-Encoding") {
			t.Fatalf("%s: %v", format, r.Header)
		}
		packed := text(t, r)
		reader, err := gzip.NewReader(strings.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(reader)
		if err != nil || string(unpacked) != plain || len(packed)*4 > len(plain) {
			t.Errorf("%s: %d bytes for %d, %v", format, len(packed), len(plain), err)
		}
		if tag := r.Header.Get("ETag"); tag != "" {
			wantStatus(t, f.get(target, "Accept-Encoding", "gzip", "If-None-Match", tag), 304)
		} else if format == "json" {
			t.Error("no tag")
		}
	}
	r := f.get("/api/v1/sites/9", "Accept-Encoding", "gzip")
	if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, "no such site") {
		t.Errorf("%d %q", r.StatusCode, body)
	}
}
