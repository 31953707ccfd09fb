package syncer_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// TestEngine_NoFaultRemoves lays every fault that hides published pages over the site, for one run and for several,
// with and without the confirming walk.
func TestEngine_NoFaultRemoves(t *testing.T) {
	t.Parallel()
	for _, fault := range sitetest.NoRemovals() {
		t.Run(fault.Name, func(t *testing.T) {
			t.Parallel()
			for name, options := range map[string]sitetest.Options{
				"core":  {Posts: 200, Pages: 3, PerFile: 50, Seed: 5},
				"yoast": {Layout: sitetest.Yoast, Posts: 200, Pages: 3, PerFile: 50, Seed: 5, Gzip: true},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					l := newLab(t, options)
					l.run(true)
					before := l.live()
					undo := fault.Lay(l.origin)
					for _, confirm := range []bool{true, false, true} {
						l.restart(nil) // a host that asked for an hour's rest is asked again
						r := l.run(confirm)
						hidden := l.kept[len(l.kept)-1].keeps(l, before)
						findings, err := l.store.Findings(t.Context(), l.site.ID, models.FindingFilter{})
						if err != nil {
							t.Fatal(err)
						}
						if hidden == 0 && len(findings) == 0 { // what can be understood all the same hides nothing, but is told
							t.Errorf("run %d: no page is stale or held, and no finding", r.ID)
						}
						if r.Counts.Removed+r.Counts.Moved+r.Counts.Added+r.Counts.Changed != 0 {
							t.Errorf("run %d: %+v", r.ID, r.Counts)
						}
					}
					undo()
					l.restart(nil)
					r := l.run(true)
					l.converged(r)
					if got := l.feed(r.ID); len(got[models.KindAdded])+len(got[models.KindChanged])+len(got[models.KindRemoved]) != 0 {
						t.Errorf("the feed after healing: %s", kinds(got))
					}
					l.remembered()
					l.unbroken()
				})
			}
		})
	}
}

// keeps fails when a page of before is gone or on its way out. It gives how many are stale or held.
func (m memory) keeps(l *lab, before map[string]entry) (hidden int) {
	l.Helper()
	for url := range before {
		switch s, ok := m.pages[url]; {
		case !ok || s.State == models.StateRemoved || s.State == models.StatePending:
			l.Fatalf("run %d: %s is %q", m.run, url, s.State)
		case s.State == models.StateStale || s.State == models.StateHeld:
			hidden++
		}
	}
	return hidden
}

// TestEngine_TruthGoesOnBesideAFault: what can be read is recorded although a part cannot.
func TestEngine_TruthGoesOnBesideAFault(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 200, Pages: 3, PerFile: 50, Seed: 5})
	l.run(true)
	l.origin.Fail("/wp-sitemap-posts-post-2.xml", sitetest.Status(404))
	fresh := l.origin.Publish(sitetest.Spec{Page: true}).URL
	l.origin.Edit(10)
	gone := l.origin.Delete(160).URL
	r := l.run(true)
	feed := l.feed(r.ID)
	if r.Verdict != models.VerdictPartial || r.Counts.Stale != 50 || r.Counts.Removed+r.Counts.Pending != 0 {
		t.Errorf("%s, counts %+v: want partial, 50 stale, nothing removed or pending", r.Verdict, r.Counts)
	}
	if len(feed[models.KindAdded]) != 1 || feed[models.KindAdded][0] != fresh || len(feed[models.KindChanged]) == 0 {
		t.Errorf("feed %v", feed)
	}
	if s := l.kept[1].pages[gone].State; s != models.StateLive && s != models.StateStale {
		t.Errorf("%s is %s after an incomplete walk", gone, s)
	}
	l.origin.Heal()
	r = l.run(true)
	l.converged(r)
	if got := l.feed(r.ID)[models.KindRemoved]; len(got) != 1 || got[0] != gone {
		t.Errorf("removed %v: want %s", got, gone)
	}
	l.remembered()
	l.unbroken()
}

// TestEngine_NoiseIsNoChange: what means the same is no change, however it is written.
func TestEngine_NoiseIsNoChange(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 60, Pages: 3, PerFile: 25, Seed: 5})
	l.run(true)
	for name, fault := range map[string]sitetest.Fault{
		"blanks":            sitetest.Replaced("<url>", "\n <!-- a comment -->\n<url >\t"),
		"CDATA":             sitetest.Replaced("<lastmod>20", "<lastmod><![CDATA[20]]>"),
		"Z":                 sitetest.Replaced("+00:00</lastmod>", "Z</lastmod>"),
		"fractions":         sitetest.Replaced("+00:00</lastmod>", ".000Z</lastmod>"),
		"a prefix":          prefixed,
		"served as 404":     sitetest.StatusWithBody(404),
		"a numeric entity":  sitetest.Replaced("<loc>http", "<loc>&#104;ttp"),
		"upper-case scheme": sitetest.Replaced("<loc>http", "<loc>HTTP"),
	} {
		undo := l.origin.Fail("/wp-sitemap-posts-*.xml", fault)
		r := l.run(true)
		if got := l.feed(r.ID); len(got) > 0 || r.Verdict != models.VerdictComplete || r.Counts.Unchanged != r.Counts.Live {
			t.Errorf("%s: %s (%s), counts %+v, feed %v", name, r.Verdict, r.Reason, r.Counts, kinds(got))
		}
		undo()
	}
	l.converged(l.run(true))
	l.remembered()
	l.unbroken()
}

// prefixed writes the same document with a namespace prefix.
func prefixed(w http.ResponseWriter, r *http.Request, honest http.Handler) {
	answer := httptest.NewRecorder()
	plain := r.Clone(r.Context())
	plain.Header.Del("Accept-Encoding")
	honest.ServeHTTP(answer, plain)
	text := answer.Body.String()
	for _, name := range []string{"urlset", "url", "loc", "lastmod"} {
		text = strings.NewReplacer("<"+name+">", "<s:"+name+">", "<"+name+" ", "<s:"+name+" ", "</"+name+">", "</s:"+name+">").Replace(text)
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write([]byte(strings.Replace(text, "xmlns=", "xmlns:s=", 1)))
}
