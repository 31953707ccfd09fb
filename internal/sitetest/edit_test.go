package sitetest_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// change tells what an edit did to the inventory.
func change(s *sitetest.Site, edit func()) (added, removed, changed []string) {
	before := s.Inventory()
	edit()
	after := s.Inventory()
	for url, stamp := range after {
		if was, ok := before[url]; !ok {
			added = append(added, url)
		} else if was != stamp {
			changed = append(changed, url)
		}
	}
	for url := range before {
		if _, ok := after[url]; !ok {
			removed = append(removed, url)
		}
	}
	return added, removed, changed
}

func TestEdits_ChangeWhatWordPressChanges(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 40, Pages: 2, PerFile: 10, Seed: 2})
	home := s.URL() + "/"
	var e sitetest.Event
	step := func(name string, edit func(), added, removed, changed []string) {
		t.Helper()
		a, r, c := change(s, edit)
		for _, pair := range []struct {
			what      string
			got, want []string
		}{{"added", a, added}, {"removed", r, removed}, {"changed", c, changed}} {
			for i, url := range pair.want {
				switch url {
				case "NEW":
					pair.want[i] = e.URL
				case "OLD":
					pair.want[i] = e.PreviousURL
				}
			}
			slices.Sort(pair.got)
			slices.Sort(pair.want)
			if diff := cmp.Diff(pair.want, pair.got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, pair.what, diff)
			}
		}
	}
	url := s.PostURL(7)
	step("edit", func() { e = s.Edit(7) }, nil, nil, []string{url})
	step("edit of a latest post", func() { e = s.Edit(40) }, nil, nil, []string{s.PostURL(40), home})
	step("slug", func() { e = s.ChangeSlug(7, "other") }, []string{"NEW"}, []string{"OLD"}, nil)
	step("unpublish", func() { e = s.Unpublish(7) }, nil, []string{"NEW"}, nil)
	step("restore", func() { e = s.Restore(7) }, []string{"NEW"}, nil, nil)
	step("trash", func() { e = s.Trash(7) }, nil, []string{"NEW"}, nil)
	step("edit in the trash", func() { e = s.Edit(7) }, nil, nil, nil)
	step("delete", func() { e = s.Delete(7) }, nil, nil, nil)
	step("restore after delete", func() { e = s.Restore(7) }, nil, nil, nil)
	step("draft", func() { e = s.Publish(sitetest.Spec{Draft: true}) }, nil, nil, nil)
	step("publish draft", func() { e = s.Restore(e.ID) }, []string{"NEW"}, nil, []string{home})
	step("back-dated", func() { e = s.Publish(sitetest.Spec{Date: noon.AddDate(-9, 0, 0)}) }, []string{"NEW"}, nil, nil)
	step("page", func() { e = s.Publish(sitetest.Spec{Page: true}) }, []string{"NEW"}, nil, nil)
	step("delete a page", func() { e = s.Delete(e.ID) }, nil, []string{"NEW"}, nil)
	step("reorder", s.Reorder, nil, nil, nil)
	step("plugin", func() { s.SwitchLayout(sitetest.Yoast) }, nil, nil, nil)
}

func TestEdits_FirstPostOfACategoryAddsThreeURLs(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 3, Categories: 1, Users: 1})
	var e sitetest.Event
	added, _, changed := change(s, func() { e = s.Publish(sitetest.Spec{Category: 2}) })
	slices.Sort(added)
	want := []string{s.URL() + "/category/topic-2/", e.URL}
	slices.Sort(want)
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{s.URL() + "/"}, changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

func TestEdits_DeletionShiftsLaterFiles(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 30, PerFile: 10})
	first := func(file string) string {
		_, text := get(t, s.URL()+file)
		return parse(t, text).URLs[0].Loc
	}
	second := s.PostURL(12)
	s.Delete(3)
	if got := first("/wp-sitemap-posts-post-2.xml"); got != second {
		t.Errorf("file 2 begins with %s, want %s", got, second)
	}
	s.Delete(4)
	if got := first("/wp-sitemap-posts-post-3.xml"); got != s.PostURL(23) {
		t.Errorf("file 3 begins with %s", got)
	}
	for id := uint32(20); id <= 27; id++ {
		s.Delete(id)
	}
	if resp, _ := get(t, s.URL()+"/wp-sitemap-posts-post-3.xml"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the last file after the count dropped: %s", resp.Status)
	}
}

func TestEdits_TimezoneIsTheSameInstant(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone data")
	}
	s := start(t, sitetest.Options{Posts: 50})
	before := s.Inventory()
	s.SetTimezone(berlin)
	offsets := map[string]bool{}
	for url, stamp := range s.Inventory() {
		was, err := time.Parse(time.RFC3339, before[url])
		now, err2 := time.Parse(time.RFC3339, stamp)
		if err != nil || err2 != nil || !was.Equal(now) || stamp == before[url] {
			t.Errorf("%s: %s became %s", url, before[url], stamp)
		}
		offsets[stamp[len(stamp)-6:]] = true
	}
	if !offsets["+01:00"] || !offsets["+02:00"] {
		t.Errorf("offsets = %v, want summer and winter time", slices.Collect(maps.Keys(offsets)))
	}
}

func TestPages_FollowTheirPost(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 9, Pages: 1, Categories: 1, Tags: 1, Users: 1})
	expect := func(url string, status int, location string) {
		t.Helper()
		resp, _ := get(t, url)
		if resp.StatusCode != status || resp.Header.Get("Location") != location {
			t.Errorf("%s = %d %q, want %d %q", url, resp.StatusCode, resp.Header.Get("Location"), status, location)
		}
	}
	old := s.PostURL(4)
	expect(strings.TrimSuffix(old, "/"), 301, old)
	expect(s.URL()+"/?p=4", 301, old)
	expect(s.URL()+"/nothing-here/", 404, "")
	renamed := s.ChangeSlug(4, "renamed").URL
	expect(old, 301, renamed)
	expect(renamed, 200, "")
	s.ChangePermalinks(sitetest.DayName)
	dated := s.PostURL(4)
	expect(renamed, 301, dated)
	expect(old, 301, dated)
	s.ChangePermalinks(sitetest.Plain)
	expect(dated, 301, s.URL()+"/?p=4")
	expect(s.URL()+"/?p=4", 200, "")
	s.ChangePermalinks(sitetest.PostName)
	gone := s.PostURL(5)
	s.Trash(5)
	expect(gone, 404, "")
	expect(s.URL()+"/?p=5", 404, "")
	if e := s.ChangeSlug(6, "renamed"); e.URL != s.URL()+"/renamed-2/" {
		t.Errorf("a taken slug became %s", e.URL)
	}
	g := start(t, sitetest.Options{Posts: 3, Gone: true})
	url := g.PostURL(2)
	g.Delete(2)
	expect(url, 410, "")
	expect(g.URL()+"/nothing-2/", 404, "")
}

func TestBulkImport_AddsBackdatedPosts(t *testing.T) {
	t.Parallel()
	s := start(t, sitetest.Options{Posts: 10})
	added, removed, _ := change(s, func() { s.BulkImport(500) })
	if len(added) != 500 || len(removed) != 0 {
		t.Errorf("added %d, removed %d", len(added), len(removed))
	}
	stamp := s.Inventory()[added[0]]
	if at, err := time.Parse(time.RFC3339, stamp); err != nil || !at.Before(noon) {
		t.Errorf("lastmod = %s", stamp)
	}
	_, _, changed := change(s, func() { s.EditShare(100) })
	if len(changed) != 5 {
		t.Errorf("one in a hundred changed %d", len(changed))
	}
}
