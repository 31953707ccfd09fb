package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

func TestLists_GoOnWhereTheirTimeEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var after []string
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, _ func(*models.Page) error) error {
		after = append(after, filter.After)
		return nil
	}
	f.store.PagesLeft = "d.7.x"
	first := decode[pageBody](t, f.get("/api/v1/sites/1/urls?contains=rare"))
	if len(first.Items) != 0 || first.Next == "" {
		t.Fatalf("an empty page that is not the end: %+v", first)
	}
	page := text(t, f.get("/sites/1/urls?contains=rare"))
	if !strings.Contains(page, "No page that matches so far.") || !strings.Contains(page, "page_token=") || strings.Contains(page, "No page matches.") {
		t.Errorf("the page says that there is nothing, or not how to look on: %.3000s", page)
	}
	f.store.PagesLeft = ""
	if next := decode[pageBody](t, f.get("/api/v1/sites/1/urls?contains=rare&page_token="+first.Next)); next.Next != "" {
		t.Errorf("no end: %+v", next)
	}
	if len(after) != 3 || after[2] != "d.7.x" {
		t.Errorf("read behind %q", after)
	}
}

func TestChanges_GoOnWhereTheirTimeEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	f.store.ChangesFunc = func(int64, models.ChangeFilter, func(*models.Change) error) error { return nil }
	f.store.ChangesLeft = "5.1.2.00000000000000000000000000000000"
	got := decode[struct {
		Items  []models.Change
		Cursor string
		More   bool
	}](t, f.get("/api/v1/sites/1/changes?kind=removed"))
	if got.Cursor != f.store.ChangesLeft || !got.More {
		t.Errorf("%+v", got)
	}
	page := text(t, f.get("/sites/1/runs/7?kind=removed"))
	if !strings.Contains(page, "after="+url.QueryEscape(f.store.ChangesLeft)) || strings.Contains(page, "Nothing changed.") {
		t.Errorf("the page does not go on: %.3000s", page)
	}
}

func TestHeld_IsReadPageByPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	f.store.RemovalsFunc = func(int64) ([]models.Removal, error) {
		var all []models.Removal
		for _, name := range []string{"a", "b", "c"} {
			all = append(all, models.Removal{URL: "https://example.com/" + name, Stage: models.StageHeld})
		}
		return append(all, models.Removal{URL: "https://example.com/d", Stage: models.StageApproved}), nil
	}
	type page struct {
		Items []struct{ URL string }
		Next  string `json:"next_page_token"`
	}
	first := decode[page](t, f.get("/api/v1/sites/1/held?page_size=2"))
	second := decode[page](t, f.get("/api/v1/sites/1/held?page_size=2&page_token="+first.Next))
	if len(first.Items) != 2 || len(second.Items) != 1 || second.Items[0].URL != "https://example.com/c" || second.Next != "" {
		t.Errorf("%+v, %+v", first, second)
	}
	if lines := strings.Count(text(t, f.get("/api/v1/sites/1/held?format=ndjson")), "\n"); lines != 3 {
		t.Errorf("%d lines", lines)
	}
	if page := text(t, f.get("/sites/1/held")); !strings.Contains(page, "Approve all 3 removals") {
		t.Errorf("%.3000s", page)
	}
}
