package syncer_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// silence lets a page's own address say nothing of whether the page is gone.
func (l *lab) silence(page string) {
	l.origin.Fail(sitetest.Path(page), sitetest.Status(http.StatusForbidden))
}

// A page that answers 404 is removed by one complete walk where a page that is listed still is found, and only there.
func TestRun_APagesOwn404IsProofWhereOthersAreFound(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	const pages = "/*/" // and no document
	for name, row := range map[string]struct {
		gone    int // posts that go
		options sitetest.Options
		fault   func(l *lab, page string)
		removed int
		control int // what the control answered: -1 none was asked, 0 it gave no answer of its own
		asked   int // requests for pages
	}{
		"found":                         {gone: 1, removed: 1, control: 200, asked: 2},
		"five at once have one control": {gone: 5, removed: 5, control: 200, asked: 6},
		"six are no rename":             {gone: 6, control: -1},
		"410 needs no control":          {gone: 1, options: sitetest.Options{Gone: true}, removed: 1, control: -1, asked: 1},
		"404 for everything": {gone: 1, control: 404, asked: 2, fault: func(l *lab, _ string) {
			l.origin.Fail(pages, sitetest.Status(404))
		}},
		"maintenance for everything": {gone: 1, control: -1, asked: 1, fault: func(l *lab, _ string) {
			l.origin.Fail(pages, sitetest.Status(403))
		}},
		"404, and refused from then on": {gone: 1, control: 403, asked: 2, fault: func(l *lab, page string) {
			l.origin.Fail(pages, sitetest.Status(403))
			l.origin.Fail(sitetest.Path(page), sitetest.Status(404))
		}},
		"listed pages lead to a login": {gone: 1, control: 0, asked: 3, fault: func(l *lab, page string) {
			l.origin.Fail(pages, sitetest.Redirect("/wp-login.php"))
			l.origin.Fail(sitetest.Path(page), sitetest.Status(404))
		}},
		"404 of another host": {gone: 1, control: -1, asked: 1, fault: func(l *lab, page string) {
			l.origin.Fail(sitetest.Path(page), sitetest.Redirect(elsewhere.URL))
		}},
		"robots.txt forbids the page": {gone: 1, control: -1, fault: func(l *lab, page string) {
			l.origin.Fail("/robots.txt", sitetest.Body("text/plain", "User-agent: *\nDisallow: "+sitetest.Path(page)+"\n"))
		}},
		"robots.txt forbids every page": {gone: 1, control: -1, asked: 1, fault: func(l *lab, page string) {
			l.origin.Fail("/robots.txt", sitetest.Body("text/plain", "User-agent: *\nDisallow: /\nAllow: "+sitetest.Path(page)+"\nAllow: /wp-sitemap\n"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.options.Posts = 90
			l := newLab(t, row.options)
			l.run(false)
			gone := map[string]bool{}
			for _, id := range l.origin.PublishedPosts()[10 : 10+row.gone] {
				page := l.origin.PostURL(id)
				l.origin.Delete(id)
				gone[page] = true
				if row.fault != nil {
					row.fault(l, page)
				}
			}
			l.origin.ResetLog()
			r := l.run(false)
			if r.Verdict != models.VerdictComplete || r.Counts.Removed != int64(row.removed) || r.Counts.Pending != int64(row.gone-row.removed) {
				t.Fatalf("run %s %+v: want %d of %d removed", r.Verdict, r.Counts, row.removed, row.gone)
			}
			asked := 0
			for _, request := range l.origin.Requests() {
				if request.Method == http.MethodHead {
					asked++
				}
			}
			if asked != row.asked {
				t.Errorf("%d pages were asked for, want %d", asked, row.asked)
			}
			for _, p := range l.pages(models.PageFilter{State: models.StateAll}) {
				if gone[p.URL] {
					l.controlled(&p, row.control, row.removed > 0)
				}
			}
			if row.removed > 0 {
				l.converged(r)
			} else {
				l.origin.Heal()
				l.converged(l.run(false)) // the second walk
			}
			l.remembered()
			l.unbroken()
		})
	}
}

// controlled checks what is kept of the control of a missing page.
func (l *lab) controlled(p *models.Page, status int, removed bool) {
	l.Helper()
	if p.Removal == nil || len(p.Removal.Missing) == 0 {
		l.Fatalf("%s is %s without evidence: %+v", p.URL, p.State, p.Removal)
	}
	control := p.Removal.Control
	switch {
	case status < 0 && control != nil:
		l.Errorf("%s has the control %+v, want none", p.URL, control)
	case status >= 0 && (control == nil || control.Status != status || control.URL == p.URL || l.kept[len(l.kept)-1].pages[control.URL].State != models.StateLive):
		l.Errorf("%s has the control %+v, want a listed page that answered %d", p.URL, control, status)
	case removed && !strings.Contains(p.Reason, "the page itself answers 4"):
		l.Errorf("%s is removed because %s", p.URL, p.Reason)
	}
}

// The last page of its document is held against a page of another one, and never against the home page, which answers
// where rewriting is broken and no other page does.
func TestRun_TheControlIsNoHomePage(t *testing.T) {
	t.Parallel()
	for posts, removed := range map[int]int64{0: 0, 12: 1} {
		l := newLab(t, sitetest.Options{Posts: posts})
		page := l.origin.Publish(sitetest.Spec{Page: true})
		l.run(false)
		if l.kept[0].pages[l.origin.URL()+"/"].State != models.StateLive {
			t.Fatalf("the home page is not listed: %v", l.kept[0].pages)
		}
		l.origin.Delete(page.ID)
		if r := l.run(false); r.Counts.Removed != removed || r.Counts.Pending != 1-removed {
			t.Errorf("%d posts: counts %+v, want %d removed", posts, r.Counts, removed)
		}
	}
}
