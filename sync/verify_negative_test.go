package syncer_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// dated is a line in short, with the looks that it rests on as hours since the lab began.
func dated(c *models.Canonical, began time.Time) string {
	hours := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return fmt.Sprint(t.Sub(began).Round(time.Hour).Hours())
	}
	return fmt.Sprintf("%s, %s %d, %s to %s, seen %s", brief(c), c.Reading, c.SourceStatus, hours(c.ValidFrom), hours(c.ValidUntil), hours(c.ObservedAt))
}

// Every page that was looked at has a line as of any later time, whether it declared something or not: what was seen of it,
// from when to when, and when last.
func TestCanonical_AsOfTellsWhatWasLookedAtAndDeclaredNothing(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "MySQL" && os.Getenv(storetest.Server) == "" {
				t.Skip("needs " + storetest.Server)
			}
			s, err := store.Open(t.Context(), dsn(t), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			l := &pagesLab{lab: newLabOn(t, sitetest.Options{Posts: 8}, s)}
			l.run(false)
			for _, id := range l.origin.PublishedPosts() {
				l.posts = append(l.posts, l.origin.PostURL(id))
			}
			l.verifier = l.newVerifier(syncer.VerifierOptions{})
			negatives(t, l)
		})
	}
}

func negatives(t *testing.T, l *pagesLab) {
	pages := l.posts[:6]
	names := []string{"declares nothing", "fails", "noindex, revalidated", "redirects", "declares, then not", "declares"}
	began := l.clock.now()
	at := func(when time.Time) []string {
		var out []string
		for i, p := range pages {
			got := l.lines(models.CanonicalFilter{Source: p, At: when})[p]
			if len(got) > 1 {
				t.Errorf("%s: %d lines", names[i], len(got))
			}
			for j := range got {
				out = append(out, names[i]+": "+dated(&got[j], began))
			}
		}
		return out
	}
	fail := func(i int, f sitetest.Fault) func() { return l.origin.Fail(sitetest.Path(pages[i]), f) }
	speak := fail(0, sitetest.Canonical())
	mend := fail(1, sitetest.Status(500))
	fail(2, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<html><head><meta name=robots content=noindex></head><body><p>%s</p></body></html>", words("noindex", 200))
	})
	fail(3, sitetest.RedirectTo(301, l.posts[7], nil))
	check := func(what string, when time.Time, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, at(when)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	check("before the first look", began)

	l.verify(pages...) // at 2
	first := l.clock.now()
	want := []string{
		"declares nothing: unknown N0 0.00 none no_declaration, read 200, 2 to -, seen 2",
		"fails: unknown N0 0.00 none source_unreachable, tempfail 500, 2 to -, seen 2",
		"noindex, revalidated: unknown N0 0.00 none suppressed_by_noindex, read 200, 2 to -, seen 2",
		"redirects: unknown N0 0.00 chain no_declaration, redirect 301, 2 to -, seen 2",
		"declares, then not: validated E1 0.98 self, read 200, 2 to -, seen 2",
		"declares: validated E1 0.98 self, read 200, 2 to -, seen 2",
	}
	check("as of the first look", first, want...)
	check("before it", began)
	speak()
	mend()
	fail(1, sitetest.Canonical())
	hush := fail(4, sitetest.Canonical())
	l.verify(pages...) // at 4: the absence is held
	l.verify(pages...) // at 6
	hush()
	second := l.clock.now()
	check("as of the third look", second,
		"declares nothing: validated E1 0.98 self, read 200, 4 to -, seen 6",
		"fails: unknown N0 0.00 none no_declaration, read 200, 4 to -, seen 6",
		"noindex, revalidated: unknown N0 0.00 none suppressed_by_noindex, read 200, 2 to -, seen 6",
		"redirects: unknown N0 0.00 chain no_declaration, redirect 301, 2 to -, seen 6",
		"declares, then not: unknown N0 0.00 none no_declaration, read 200, 6 to -, seen 6",
		"declares: validated E1 0.98 self, read 200, 2 to -, seen 6",
	)
	for i, p := range pages {
		now, then := l.lines(models.CanonicalFilter{Source: p})[p], l.lines(models.CanonicalFilter{Source: p, At: second})[p]
		if len(now) != 1 || len(then) != 1 || dated(&now[0], began) != dated(&then[0], began) && now[0].Reading != "not_modified" {
			t.Errorf("%s: now %s, as of now %s", names[i], dated(&now[0], began), dated(&then[0], began))
		}
	}
	l.verify(pages...) // at 8
	check("as of the first look, later", first,
		"declares nothing: unknown N0 0.00 none no_declaration, read 200, 2 to 4, seen 2",
		"fails: unknown N0 0.00 none source_unreachable, tempfail 500, 2 to 4, seen 2",
		"noindex, revalidated: unknown N0 0.00 none suppressed_by_noindex, read 200, 2 to -, seen 2",
		"redirects: unknown N0 0.00 chain no_declaration, redirect 301, 2 to -, seen 2",
		"declares, then not: validated E1 0.98 self, read 200, 2 to 6, seen 2",
		"declares: validated E1 0.98 self, read 200, 2 to -, seen 2",
	)
	check("as of the third look, later", second.Add(time.Minute),
		"declares nothing: validated E1 0.98 self, read 200, 4 to -, seen 4",
		"fails: unknown N0 0.00 none no_declaration, read 200, 4 to -, seen 4",
		"noindex, revalidated: unknown N0 0.00 none suppressed_by_noindex, read 200, 2 to -, seen 2",
		"redirects: unknown N0 0.00 chain no_declaration, redirect 301, 2 to -, seen 2",
		"declares, then not: unknown N0 0.00 none no_declaration, read 200, 6 to 8, seen 6",
		"declares: validated E1 0.98 self, read 200, 2 to -, seen 2",
	)
}
