package syncer_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// small is a site of a few files of posts, with pages, terms and authors.
func small(layout sitetest.Layout) sitetest.Options {
	return sitetest.Options{Layout: layout, Posts: 130, Pages: 8, Categories: 4, Tags: 5, Users: 2, PerFile: 25, Seed: 7, Conditional: true}
}

var layouts = map[string]sitetest.Options{
	"core":              small(sitetest.Core),
	"yoast":             small(sitetest.Yoast),
	"rank math":         small(sitetest.RankMath),
	"plain permalinks":  {Permalinks: sitetest.Plain, Posts: 130, Pages: 8, Categories: 4, Tags: 5, Users: 2, PerFile: 25, Seed: 7},
	"core, compressed":  {Posts: 130, PerFile: 25, Seed: 7, Gzip: true},
	"core's false 404s": {Posts: 130, PerFile: 25, Seed: 7, BlogPage: 100},
}

func TestEngine_FirstRunListsWhatTheSiteLists(t *testing.T) {
	t.Parallel()
	for name, options := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, options)
			r := l.run(false)
			l.converged(r)
			want := l.published()
			if !r.Baseline || r.Counts.Added != int64(len(want)) || r.Documents.Read != int64(len(l.origin.Documents())) {
				t.Errorf("run: baseline %v, counts %+v, documents %+v", r.Baseline, r.Counts, r.Documents)
			}
			if diff := differFeeds(map[string][]string{models.KindAdded: slices.Sorted(maps.Keys(want))}, l.feed(r.ID)); diff != "" {
				t.Error("feed:", diff)
			}
			for url, s := range l.kept[0].pages {
				if s.State != models.StateLive || s.From != r.ID || s.First.IsZero() {
					t.Errorf("%s: %+v", url, s)
				}
			}
		})
	}
}

func TestEngine_RunWithoutChangesSaysNothingNew(t *testing.T) {
	t.Parallel()
	for name, options := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, options)
			l.run(false)
			for range 2 {
				r := l.run(true)
				l.converged(r)
				c := r.Counts
				if c.Unchanged != c.Live || c.Added+c.Changed+c.Removed+c.Moved+c.Restored != 0 ||
					r.Documents.Unchanged != int64(len(l.origin.Documents())) {
					t.Errorf("counts %+v, documents %+v: want everything unchanged", c, r.Documents)
				}
				if got := l.feed(r.ID); len(got) > 0 {
					t.Errorf("feed of a run without changes: %v", got)
				}
			}
			l.remembered()
			l.unbroken()
		})
	}
}

// step is one edit of the site; want, when given, replaces what follows from comparing the site before and after.
type step struct {
	name string
	edit func(s *sitetest.Site)
	want func(l *lab, implied map[string][]string) map[string][]string
}

// renamed is the feed of a changed slug: the old page went to the new one, which is a page of its own.
func renamed(_ *lab, implied map[string][]string) map[string][]string {
	old, now := implied[models.KindRemoved], implied[models.KindAdded]
	delete(implied, models.KindRemoved)
	implied[models.KindMoved] = []string{old[0] + " -> " + now[0]}
	return implied
}

func restored(_ *lab, implied map[string][]string) map[string][]string {
	implied[models.KindRestored] = implied[models.KindAdded]
	delete(implied, models.KindAdded)
	return implied
}

func steps() []step {
	return []step{
		{name: "edit", edit: func(s *sitetest.Site) { s.Edit(40) }},
		{name: "edit of the newest", edit: func(s *sitetest.Site) { s.Edit(130) }},
		{name: "publish", edit: func(s *sitetest.Site) { s.Publish(sitetest.Spec{}) }},
		{name: "publish a page", edit: func(s *sitetest.Site) { s.Publish(sitetest.Spec{Page: true}) }},
		{name: "publish with an early date", edit: func(s *sitetest.Site) {
			s.Publish(sitetest.Spec{Date: time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)})
		}},
		{name: "publish in a new category", edit: func(s *sitetest.Site) { s.Publish(sitetest.Spec{Category: 9}) }},
		{name: "slug", edit: func(s *sitetest.Site) { s.ChangeSlug(60, "another-name") }, want: renamed},
		{name: "unpublish", edit: func(s *sitetest.Site) { s.Unpublish(30) }},
		{name: "trash", edit: func(s *sitetest.Site) { s.Trash(31) }},
		{name: "delete", edit: func(s *sitetest.Site) { s.Delete(32) }},
		{name: "restore", edit: func(s *sitetest.Site) { s.Restore(30) }, want: restored},
		{name: "restore from the trash", edit: func(s *sitetest.Site) { s.Restore(31) }, want: restored},
		{name: "several at once", edit: func(s *sitetest.Site) {
			s.Edit(5)
			s.Edit(77)
			s.Delete(3)
			s.Trash(78)
			s.Publish(sitetest.Spec{})
			s.Publish(sitetest.Spec{Page: true})
		}},
		{name: "bulk import", edit: func(s *sitetest.Site) { s.BulkImport(60) }},
		{name: "reorder", edit: func(s *sitetest.Site) { s.Reorder() }},
		{name: "fewer a file", edit: func(s *sitetest.Site) { s.SetPerFile(11) }},
		{name: "more a file", edit: func(s *sitetest.Site) { s.SetPerFile(60) }},
		{name: "time zone", edit: func(s *sitetest.Site) { s.SetTimezone(time.FixedZone("", 5*3600+1800)) }},
		{name: "to Yoast", edit: func(s *sitetest.Site) { s.SwitchLayout(sitetest.Yoast) }},
		{name: "to Rank Math", edit: func(s *sitetest.Site) { s.SwitchLayout(sitetest.RankMath) }},
		{name: "to core", edit: func(s *sitetest.Site) { s.SwitchLayout(sitetest.Core) }},
		{name: "edit after all that", edit: func(s *sitetest.Site) { s.Edit(40) }},
	}
}

func TestEngine_FeedSaysWhatAnEditMeans(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]sitetest.Options{"core": small(sitetest.Core), "yoast": small(sitetest.Yoast),
		"rank math": small(sitetest.RankMath), "core, many": {Posts: 400, Pages: 3, PerFile: 25, Seed: 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, options)
			l.converged(l.run(true))
			for _, s := range steps() {
				before := l.published()
				s.edit(l.origin)
				after := l.published()
				if options.Layout != sitetest.Core { // core's own index address redirects to the plugins' ones
					l.refind()
				}
				r := l.run(true)
				want := meaning(before, after)
				if s.want != nil {
					want = s.want(l, want)
				}
				if diff := differFeeds(want, l.feed(r.ID)); diff != "" {
					t.Errorf("%s: the feed of run %d : %s", s.name, r.ID, diff)
				}
				l.converged(r)
				l.counted(r, want)
				if t.Failed() {
					t.Fatalf("at %s", s.name)
				}
			}
			l.remembered()
			l.unbroken()
		})
	}
}

// refind gives the site the root where its index is now, as an operator would after a plugin took the sitemaps over.
func (l *lab) refind() {
	l.Helper()
	if l.site.Root == l.origin.Index() {
		return
	}
	site, err := l.store.Site(l.Context(), l.site.ID)
	if err != nil {
		l.Fatal(err)
	}
	site.Root = l.origin.Index()
	site.Roots = []models.Root{{URL: site.Root, Discovery: "direct_URL"}}
	if err := l.store.SaveSite(l.Context(), site); err != nil {
		l.Fatal(err)
	}
	l.site = site
}

// counted compares a run's counts with its feed. Moved counts shifts between documents too, which no feed tells.
func (l *lab) counted(r models.Run, feed map[string][]string) {
	l.Helper()
	for kind, n := range map[string]int64{models.KindAdded: r.Counts.Added, models.KindRemoved: r.Counts.Removed,
		models.KindChanged: r.Counts.Changed, models.KindRestored: r.Counts.Restored} {
		if n != int64(len(feed[kind])) {
			l.Errorf("run %d counts %d %s, its feed has %d: %+v", r.ID, n, kind, len(feed[kind]), r.Counts)
		}
	}
}

// TestEngine_AnyEdits follows an editorial office at work, in every layout.
func TestEngine_AnyEdits(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]sitetest.Options{"core": small(sitetest.Core), "yoast": small(sitetest.Yoast), "rank math": small(sitetest.RankMath)} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, options)
				l.converged(l.run(true))
				office := sitetest.Publisher{Site: l.origin, Seed: seed}
				for n := range 12 {
					before := l.published()
					for range 1 + n%4 {
						l.clock.advance(time.Minute)
						office.Step()
					}
					if n == 7 {
						l.origin.Reorder()
					}
					after := l.published()
					r := l.run(true)
					l.converged(r)
					want, got := meaning(before, after), l.feed(r.ID)
					// A page that is back may be an old one; a page that is gone may have been renamed.
					got[models.KindAdded] = append(got[models.KindAdded], got[models.KindRestored]...)
					for _, text := range got[models.KindMoved] {
						old, _, _ := strings.Cut(text, " -> ")
						got[models.KindRemoved] = append(got[models.KindRemoved], old)
					}
					delete(got, models.KindRestored)
					delete(got, models.KindMoved)
					for kind, urls := range got {
						if slices.Sort(urls); len(urls) == 0 {
							delete(got, kind)
						}
					}
					if diff := differFeeds(want, got); diff != "" {
						t.Fatalf("step %d: the feed of run %d : %s", n, r.ID, diff)
					}
				}
				l.remembered()
				l.unbroken()
			})
		}
	}
}

func TestEngine_RemovalWaitsForASecondWalk(t *testing.T) {
	t.Parallel()
	l := newLab(t, small(sitetest.Core))
	l.run(false)
	gone := l.origin.Delete(20).URL
	l.silence(gone)
	first := l.run(false)
	if first.Counts.Pending != 1 || first.Counts.Removed != 0 || l.kept[1].pages[gone].State != models.StatePending {
		t.Fatalf("after one walk: %+v, %s is %s", first.Counts, gone, l.kept[1].pages[gone].State)
	}
	if diff := differFeeds(map[string][]string{models.KindPending: {gone}}, l.feed(first.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	second := l.run(false)
	l.converged(second)
	if diff := differFeeds(map[string][]string{models.KindRemoved: {gone}}, l.feed(second.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	var states []models.State
	for _, p := range l.unbrokenPage(gone) {
		states = append(states, p.State)
	}
	if diff := cmp.Diff([]models.State{models.StateLive, models.StatePending, models.StateRemoved}, states); diff != "" {
		t.Error("history:", diff)
	}
	l.remembered()
}

func TestEngine_APendingPageThatReturnsWasNeverGone(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 130, PerFile: 25, Seed: 7})
	l.run(false)
	hide := l.origin.Fail("/wp-sitemap-posts-post-2.xml", sitetest.Without(l.origin.PostURL(30)))
	if r := l.run(false); r.Counts.Pending != 1 {
		t.Fatalf("counts %+v: want one pending", r.Counts)
	}
	hide()
	r := l.run(false)
	l.converged(r)
	if diff := differFeeds(map[string][]string{models.KindRestored: {l.origin.PostURL(30)}}, l.feed(r.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	if s := l.kept[2].pages[l.origin.PostURL(30)]; !s.First.Equal(l.kept[0].pages[l.origin.PostURL(30)].First) {
		t.Errorf("first seen moved to %s", s.First)
	}
	l.remembered()
	l.unbroken()
}

func TestEngine_AReturnContinuesTheHistory(t *testing.T) {
	t.Parallel()
	l := newLab(t, small(sitetest.Core))
	l.run(true)
	url := l.origin.PostURL(20)
	for range 2 {
		l.origin.Trash(20)
		l.converged(l.run(true))
		l.run(true)
		l.origin.Restore(20)
		r := l.run(true)
		l.converged(r)
		if diff := cmp.Diff([]string{url}, l.feed(r.ID)[models.KindRestored]); diff != "" {
			t.Error("feed:", diff)
		}
		if s := l.kept[len(l.kept)-1].pages[url]; !s.First.Equal(l.kept[0].pages[url].First) {
			t.Errorf("first seen moved to %s", s.First)
		}
	}
	var states []models.State
	for _, p := range l.unbrokenPage(url) {
		states = append(states, p.State)
	}
	if diff := cmp.Diff([]models.State{models.StateLive, models.StateRemoved, models.StateLive, models.StateRemoved, models.StateLive}, states); diff != "" {
		t.Error("history:", diff)
	}
	l.remembered()
}

// TestEngine_TornReads edits the site in the middle of a walk, before each request in turn: whatever two states the
// walk mixes, nothing is removed that is published, and the next runs converge.
func TestEngine_TornReads(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]sitetest.Options{"core": small(sitetest.Core), "yoast": small(sitetest.Yoast), "rank math": small(sitetest.RankMath)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, options)
			l.converged(l.run(true))
			var mu sync.Mutex
			at, edit := 0, func() {}
			l.origin.OnRequest(func(int, *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if at--; at == 0 {
					edit()
				}
			})
			edits := []func(){
				func() { l.origin.Delete(l.origin.PublishedPosts()[0]) }, // every later page shifts to an earlier file
				func() { l.origin.Edit(l.origin.PublishedPosts()[1]) },
				func() { l.origin.SetPerFile(20 + len(l.kept)%7) },
			}
			for n := range 3 * len(l.origin.Documents()) {
				mu.Lock()
				at, edit = 1+n%(2*len(l.origin.Documents())), edits[n%len(edits)]
				mu.Unlock()
				r := l.run(true)
				listed := l.origin.Inventory()
				for _, p := range l.pages(models.PageFilter{State: models.StateRemoved}) {
					if _, ok := listed[p.URL]; ok {
						t.Fatalf("step %d: run %d removed %s, which is published", n, r.ID, p.URL)
					}
				}
			}
			mu.Lock()
			at = 0
			mu.Unlock()
			l.run(true)
			l.converged(l.run(true))
			l.remembered()
			l.unbroken()
		})
	}
}
