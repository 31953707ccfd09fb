package syncer_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// between runs an edit after so many requests: between the two walks of a run when that is how many one walk makes.
func (l *lab) between(requests int, edit func()) {
	var seen atomic.Int64
	l.origin.OnRequest(func(int, *http.Request) {
		if seen.Add(1) == int64(requests)+1 {
			edit()
		}
	})
}

// The first walk reads a document that is new and that the second one does not find any more.
func TestEngine_ADocumentOfTheFirstWalkAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 100, PerFile: 25, Seed: 1})
	l.run(true)
	l.origin.SetPerFile(19) // six files instead of four
	l.origin.Delete(50)     // makes the run walk twice
	l.between(len(l.origin.Documents()), func() { l.origin.SetPerFile(25) })
	r := l.run(true)
	l.converged(r)
	l.counted(r, l.feed(r.ID))
	for _, p := range l.pages(models.PageFilter{}) {
		if strings.Contains(p.Document, "post-5") || strings.Contains(p.Document, "post-6") {
			t.Errorf("%s is declared by %s, which is gone", p.URL, p.Document)
		}
	}
	l.converged(l.run(true))
	l.remembered()
	l.unbroken()
}

// The confirming walk cannot read everything: it confirms nothing.
func TestEngine_ASecondWalkThatFailsConfirmsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 100, PerFile: 25, Seed: 1})
	l.run(true)
	gone := l.origin.Delete(50).URL
	fresh := l.origin.Publish(sitetest.Spec{}).URL
	l.between(len(l.origin.Documents()), func() { l.origin.Fail("/wp-sitemap-posts-post-1.xml", sitetest.Status(500)) })
	r := l.run(true)
	if r.Verdict != models.VerdictPartial || r.Counts.Removed+r.Counts.Pending != 0 {
		t.Errorf("%s, counts %+v: want partial, nothing removed or pending", r.Verdict, r.Counts)
	}
	seen := l.kept[1].pages
	if seen[gone].State == models.StateRemoved || seen[gone].State == "" || seen[fresh].State != models.StateLive {
		t.Errorf("%s is %q, %s is %q", gone, seen[gone].State, fresh, seen[fresh].State)
	}
	l.origin.Heal()
	r = l.run(true)
	l.converged(r)
	if diff := differFeeds(map[string][]string{models.KindRemoved: {gone}}, without(l.feed(r.ID), models.KindFresh)); diff != "" {
		t.Error("feed:", diff)
	}
	l.remembered()
	l.unbroken()
}

func without(feed map[string][]string, kind string) map[string][]string {
	delete(feed, kind)
	return feed
}

// A page that is listed again while a person thinks, or after they decided, was never gone.
func TestEngine_HeldPagesReturn(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(l *lab){
		"undecided": func(*lab) {},
		"approved":  func(l *lab) { l.decide(nil, true, 50) },
		"rejected":  func(l *lab) { l.decide(nil, false, 50) },
		"some of each": func(l *lab) {
			l.decide([]models.Key{keyOf(l, l.origin.PostURL(60)), keyOf(l, l.origin.PostURL(61))}, true, 2)
			l.decide([]models.Key{keyOf(l, l.origin.PostURL(62))}, false, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, sitetest.Options{Posts: 200, PerFile: 50, Seed: 1})
			l.run(true)
			undo := l.origin.Fail("/wp-sitemap.xml", sitetest.Without("post-2.xml"))
			if r := l.run(true); r.Counts.Held != 50 {
				t.Fatalf("counts %+v: want 50 held", r.Counts)
			}
			rule(l)
			undo()
			for range 2 {
				l.converged(l.run(true))
			}
			l.remembered()
			l.unbroken()
		})
	}
}

// Last-Modified counts seconds: what was read within the second of a change says nothing of the rest of that second.
func TestEngine_AChangeWithinTheSameSecondIsSeen(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 30, PerFile: 25, Seed: 1})
	l.origin.Fail("/wp-sitemap*", func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		now := l.clock.now().UTC().Format(http.TimeFormat)
		w.Header().Set("Date", now)
		if changed := "Mon, 30 Nov 2026 13:00:00 GMT"; r.Header.Get("If-Modified-Since") == changed {
			w.WriteHeader(http.StatusNotModified)
			return
		} else {
			w.Header().Set("Last-Modified", changed)
		}
		honest.ServeHTTP(w, r)
	})
	l.run(false) // at 13:00:00
	fresh := l.origin.Publish(sitetest.Spec{}).URL
	r := l.run(false)
	l.lists(l.inventory(), r)
	if got := l.feed(r.ID)[models.KindAdded]; len(got) != 1 || got[0] != fresh {
		t.Errorf("added %v, want %s", got, fresh)
	}
	r = l.run(false)
	if r.Documents.Unchanged != int64(len(l.origin.Documents())) || r.Bytes != 0 {
		t.Errorf("documents %+v, %d bytes: want nothing sent again once the second is over", r.Documents, r.Bytes)
	}
}

// TestEngine_AMassMove moves more pages at once than are looked up one by one, some listed twice, some back from the dead.
func TestEngine_AMassMove(t *testing.T) {
	if testing.Short() {
		t.Skip("52,000 pages")
	}
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 52_000, Pages: 2, Seed: 1})
	l.run(false)
	back, gone := l.origin.Trash(700).URL, l.origin.Delete(800).URL
	l.run(true)
	l.origin.Restore(700)
	removed := l.origin.Delete(900).URL
	fresh := l.origin.Publish(sitetest.Spec{}).URL
	l.origin.SetPerFile(1999)
	twice := l.origin.Fail("/wp-sitemap-posts-page-1.xml", listing(append(l.entries(l.origin.URL()+"/", l.origin.PostURL(52_001),
		l.origin.PostURL(52_002), fresh), l.origin.PostURL(5))...))
	r := l.run(true)
	l.lists(l.inventory(), r)
	want := map[string][]string{models.KindRestored: {back}, models.KindRemoved: {removed}, models.KindAdded: {fresh}, models.KindChanged: {l.origin.URL() + "/"}}
	if diff := differFeeds(want, l.feed(r.ID)); diff != "" {
		t.Error("feed:", diff)
	}
	l.counted(r, want)
	twice()
	r = l.run(true)
	l.converged(r)
	if got := l.feed(r.ID); len(got) > 0 {
		t.Errorf("feed %s: want nothing", kinds(got))
	}
	for _, url := range []string{back, gone, removed, fresh, l.origin.PostURL(5), l.origin.PostURL(51_000)} {
		l.unbrokenPage(url)
	}
	l.remembered()
}

// Of a document that a run staged and took back, sums that were read meanwhile tell what was staged: the second walk must
// not take a row for what the first one wrote.
func TestEngine_ASecondWalkBelievesNoSumsOfTheFirst(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 100, PerFile: 25, Seed: 1})
	l.restart(func(o *syncer.Options) { o.ReadWhole, o.Fetches = 1, 1 })
	l.converged(l.run(true))
	l.origin.Delete(100) // wants a second walk, and moves nothing
	for _, id := range []uint32{3, 27, 52} {
		l.clock.advance(time.Minute)
		l.origin.Edit(id)
	}
	l.between(len(l.origin.Documents()), func() {
		for _, id := range []uint32{9, 33, 58} {
			l.clock.advance(time.Minute)
			l.origin.Edit(id)
		}
	})
	l.converged(l.run(true))
	l.remembered()
	l.unbroken()
}
