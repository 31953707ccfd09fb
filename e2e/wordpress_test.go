package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// delta is what became different between two inventories: URL to what happened, "added", "removed" or
// "changed OLD NEW" with lastmod in UTC.
type delta map[string]string

// difference is the oracle's: from what WordPress listed before to what it lists now.
func difference(before, after inventory) delta {
	d := delta{}
	for u, lastmod := range after {
		old, was := before[u]
		switch {
		case !was:
			d[u] = "added"
		case old != lastmod:
			d[u] = fmt.Sprintf("changed %s %s", old, lastmod)
		}
	}
	for u := range before {
		if _, is := after[u]; !is {
			d[u] = "removed"
		}
	}
	return d
}

// feedDelta sums up a piece of the change feed in the same terms. A page that is pending and then removed within the feed
// was removed; one that came back was added; a move takes its old address away, and the new one is added.
func feedDelta(t *testing.T, feed []change) delta {
	t.Helper()
	d := delta{}
	var moved []string
	put := func(u, what string) {
		if earlier, twice := d[u]; twice && earlier != "pending" {
			t.Errorf("the feed says of %s first %q, then %q", u, earlier, what)
		}
		d[u] = what
	}
	for _, c := range feed {
		switch c.Kind {
		case "added", "restored":
			put(c.URL, "added")
		case "removed", "pending":
			put(c.URL, c.Kind)
		case "moved":
			for _, f := range c.Fields {
				var to string
				if f.Field == "url" && json.Unmarshal(f.New, &to) == nil {
					moved = append(moved, to)
				}
			}
			put(c.URL, "removed")
		case "changed":
			put(c.URL, changedText(t, c))
		default:
			put(c.URL, c.Kind)
		}
	}
	for _, to := range moved {
		if _, said := d[to]; !said {
			t.Errorf("the feed says that a page moved to %s and does not say that this one was added", to)
		}
	}
	return d
}

func changedText(t *testing.T, c change) string {
	t.Helper()
	for _, f := range c.Fields {
		if f.Field == "lastmod" {
			return fmt.Sprintf("changed %s %s", instantOf(t, f.Old), instantOf(t, f.New))
		}
	}
	return "changed something else than lastmod"
}

// instantOf reads a lastmod out of the feed, which shows it as its raw text or as an object.
func instantOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var text string
	var object lastmod
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return at.UTC().Format(time.RFC3339)
	case json.Unmarshal(raw, &object) == nil:
		return object.utc()
	}
	t.Errorf("lastmod in the feed: %s", raw)
	return string(raw)
}

// same fails unless two inventories are equal, naming at most some differences.
func same(t *testing.T, what string, want, got inventory) {
	t.Helper()
	d := difference(want, got)
	if len(d) == 0 {
		return
	}
	lines := []string{}
	for _, u := range slices.Sorted(maps.Keys(d)) {
		lines = append(lines, d[u]+" "+u)
	}
	t.Errorf("%s: %d pages differ from what WordPress lists (%d): %s", what, len(d), len(want), strings.Join(lines[:min(len(lines), 10)], ", "))
}

// follower is one database that follows the site, with what it said at each run.
type follower struct {
	program
	cursor string
	states map[int64]inventory // run to what WordPress listed then
}

// follow makes a run and holds it against the oracle: the feed says exactly what became different, and the inventory is
// what WordPress lists.
func (f *follower) follow(t *testing.T, what string, s site, before, after inventory) {
	t.Helper()
	r := f.sync(t, s.url)
	if r.Verdict != "complete" || r.code != 0 {
		t.Fatalf("%s: verdict %s (%s), exit code %d: %v", what, r.Verdict, r.Reason, r.code, r.Findings)
	}
	feed := f.changes(t, s.url, f.cursor)
	if len(feed) > 0 {
		f.cursor = feed[len(feed)-1].Cursor
	}
	if diff := cmp.Diff(difference(before, after), feedDelta(t, feed)); diff != "" && len(diff) < 4000 {
		t.Errorf("%s: the change feed is wrong (-WordPress +sitemapd):\n%s", what, diff)
	} else if diff != "" {
		t.Errorf("%s: the change feed is wrong in many pages: %d instead of %d", what, len(feed), len(difference(before, after)))
	}
	same(t, what, after, f.live(t, s.url, 0))
	f.states[r.ID] = after
}

// TestWordPress_MainJob: first everything that WordPress lists, then each edit exactly, on every database, and every
// earlier state afterwards.
func TestWordPress_MainJob(t *testing.T) {
	s := openSite(t)
	followers := map[string]*follower{}
	for name, p := range programs(t) {
		followers[name] = &follower{program: p, states: map[int64]inventory{}}
	}
	var edited, moved post
	old := s.act(t, "find", "middle")
	first := s.act(t, "find", "first")
	draft := s.act(t, "find", "draft")
	steps := []struct {
		name string
		act  func()
	}{
		{"first run", func() {}},
		{"nothing", func() {}},
		{"publish", func() { edited = s.act(t, "publish", "News of today") }},
		{"publish a page", func() { s.act(t, "publish", "A page", "page") }},
		{"publish in a new category", func() { s.act(t, "publish", "In a category", "post", "", "Brand new") }},
		{"publish with a date of 2019", func() { s.act(t, "publish", "From the archive", "post", "2019-05-05 12:00:00") }},
		{"edit an old post", func() { s.act(t, "edit", id(old)) }},
		{"slug", func() { moved = s.act(t, "slug", id(old), "a-better-slug") }},
		{"publish an old draft in the middle", func() { s.act(t, "publish-draft", id(draft)) }},
		{"unpublish", func() { s.act(t, "unpublish", id(edited)) }},
		{"trash", func() { s.act(t, "trash", id(moved)) }},
		{"delete the first post: every later one shifts", func() { s.act(t, "delete", id(first)) }},
		{"untrash and publish", func() { s.act(t, "untrash", id(moved)); s.act(t, "publish-draft", id(moved)) }},
		{"scheduled post", func() { s.act(t, "time-comes", id(s.act(t, "schedule", "3600"))) }},
		{"time zone", func() { s.set(t, "timezone", "America/New_York") }},
		{"time zone back", func() { s.set(t, "timezone", "Europe/Berlin") }},
	}
	before := inventory{}
	for _, step := range steps {
		step.act()
		after := s.list(t)
		for name, f := range followers {
			start := time.Now()
			f.follow(t, name+": "+step.name, s, before, after)
			t.Logf("%-50s %-8s %d differences, %d ms", step.name, name, len(difference(before, after)), time.Since(start).Milliseconds())
		}
		if t.Failed() {
			t.FailNow()
		}
		before = after
	}
	for name, f := range followers {
		for run, want := range f.states {
			same(t, fmt.Sprintf("%s: as of run %d", name, run), want, f.live(t, s.url, run))
		}
		checkHistory(t, name, f.history(t, s.url, old.URL))
		checkHistory(t, name, f.history(t, s.url, moved.URL))
	}
}

// checkHistory: oldest first, no gap between a closed state and the next unless the page was away, no overlap.
func checkHistory(t *testing.T, name string, states []page) {
	t.Helper()
	if len(states) == 0 {
		t.Errorf("%s: a page that was listed has no history", name)
	}
	for i := 1; i < len(states); i++ {
		end := states[i-1].ToRun
		if end == nil || *end > states[i].FromRun {
			t.Errorf("%s: states of %s overlap: %+v, then %+v", name, states[i].URL, states[i-1], states[i])
		}
	}
}

// TestWordPress_WithoutAnyPost: WordPress 7.1.0 answered the whole sitemap of a site without posts with status 404 and a
// valid body. The body decides.
func TestWordPress_WithoutAnyPost(t *testing.T) {
	s := siteFrom(t, "SITEMAPD_TEST_WP_EMPTY_URL", "SITEMAPD_TEST_WP_EMPTY_PHP")
	t.Cleanup(func() { s.set(t, "option", "sd_sitemap_404", "") })
	for name, p := range programs(t) {
		s.set(t, "option", "sd_sitemap_404", "")
		if r := p.sync(t, s.url); r.Verdict != "complete" {
			t.Errorf("%s: verdict %s (%s)", name, r.Verdict, r.Reason)
		}
		same(t, name, s.list(t), p.live(t, s.url, 0))

		s.set(t, "option", "sd_sitemap_404", "1")
		s.act(t, "publish", "A page more for "+name, "page")
		r := p.sync(t, s.url)
		if r.Verdict != "complete" || r.Counts.Added != 1 || r.Counts.Removed+r.Counts.Pending+r.Counts.Held > 0 {
			t.Errorf("%s: served as 404: verdict %s (%s), counts %+v", name, r.Verdict, r.Reason, r.Counts)
		}
		same(t, name+" served as 404", s.list(t), p.live(t, s.url, 0))
		if !slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Code == "served-as-404" }) {
			t.Errorf("%s: no finding served-as-404 among %v", name, r.Findings)
		}
	}
}

// TestWordPress_PermalinkStructure: every page of the site moves at once. That is held for a person, nothing known is
// lost meanwhile, and one approval settles it.
func TestWordPress_PermalinkStructure(t *testing.T) {
	s := openSite(t)
	before := s.list(t)
	all := programs(t)
	for name, p := range all {
		if r := p.sync(t, s.url); r.Verdict != "complete" {
			t.Fatalf("%s: verdict %s (%s)", name, r.Verdict, r.Reason)
		}
	}
	t.Cleanup(func() { s.set(t, "permalink", "/%postname%/") })
	s.set(t, "permalink", "/%year%/%monthnum%/%postname%/")
	after := s.list(t)
	gone := 0
	for u := range before {
		if _, still := after[u]; !still {
			gone++
		}
	}
	for name, p := range all {
		r := p.sync(t, s.url)
		if r.code != 5 || r.Counts.Held != gone || r.Counts.Removed != 0 {
			t.Errorf("%s: exit code %d, %d held and %d removed, want code 5 with %d held: nothing may be removed without a person",
				name, r.code, r.Counts.Held, r.Counts.Removed, gone)
		}
		known := p.live(t, s.url, 0)
		for _, held := range p.pages(t, s.url, "--state", "held") {
			known[held.URL] = held.Lastmod.utc()
		}
		for u := range before {
			if _, is := known[u]; !is {
				t.Fatalf("%s: %s is neither live nor held", name, u)
			}
		}
		p.run(t, "held", s.url, "approve")
		settled := p.sync(t, s.url)
		if settled.code != 0 || settled.Counts.Held != 0 {
			t.Errorf("%s: after approval exit code %d, %d held", name, settled.code, settled.Counts.Held)
		}
		same(t, name+": after approval", after, p.live(t, s.url, 0))
		same(t, name+": as of the first run", before, p.live(t, s.url, 1))
	}
}
