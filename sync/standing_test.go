package syncer_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// A page of an unreadable document that another, just read one lists as well is as fresh as that one, whether it was listed
// there before or appears there now, and it stays where it is when its old document is back.
func TestRun_APageIsAsFreshAsItsBestListing(t *testing.T) {
	t.Parallel()
	const posts, pages = "/wp-sitemap-posts-post-1.xml", "/wp-sitemap-posts-page-1.xml"
	for name, row := range map[string]struct{ before, sameWords bool }{
		"listed twice before":           {true, true},
		"listed twice, in other words":  {true, false},
		"appears in the other document": {false, true},
		"appears there in other words":  {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, sitetest.Options{Posts: 20, Pages: 2})
			both := l.origin.PostURL(l.origin.PublishedPosts()[5])
			entry := "<url><loc>" + both + "</loc></url>"
			if row.sameWords {
				entry = "<url><loc>" + both + "</loc><lastmod>" + l.origin.Inventory()[both] + "</lastmod></url>"
			}
			twice := func() { l.origin.Fail(pages, sitetest.Replaced("</urlset>", entry+"</urlset>")) }
			if row.before {
				twice()
			}
			l.run(false)
			if !row.before {
				twice()
			}
			back := l.origin.Fail(posts, sitetest.Status(http.StatusForbidden))
			for n := range 2 {
				r := l.run(false)
				if r.Verdict != models.VerdictPartial || r.Counts.Stale != 19 || r.Counts.Live != 23 {
					t.Fatalf("run %s %+v: want all but one of 20 posts stale", r.Verdict, r.Counts)
				}
				for _, p := range l.pages(models.PageFilter{State: models.StateAll}) {
					if p.URL == both && (p.State != models.StateLive || p.Document != l.origin.URL()+pages || p.Freshness == "stale" || p.Freshness == "unavailable") {
						t.Errorf("%s is %s and %s in %s (%s)", p.URL, p.State, p.Freshness, p.Document, p.Reason)
					}
				}
				feed := l.feed(r.ID)
				if slices.Contains(feed[models.KindStale], both) || len(feed[models.KindStale]) != 19*(1-n) {
					t.Errorf("run %d: the feed says stale of %v", n, feed[models.KindStale])
				}
				if want := n == 0 && !row.sameWords; want != slices.Contains(feed[models.KindChanged], both) {
					t.Errorf("run %d: the feed says changed of %v", n, feed[models.KindChanged])
				}
			}
			back()
			r := l.run(false)
			if r.Verdict != models.VerdictComplete || r.Counts.Stale != 0 || r.Counts.Changed+r.Counts.Moved != 0 {
				t.Errorf("after the document is back: %s %+v", r.Verdict, r.Counts)
			}
			if diff := cmp.Diff(19, len(l.feed(r.ID)[models.KindFresh])); diff != "" {
				t.Error("fresh pages:", diff)
			}
			l.remembered()
			l.unbroken()
		})
	}
}
