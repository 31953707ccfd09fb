package syncer_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// A 304 whose header tells something new is no word on the body any more: the page is asked for in full, at once.
func TestVerify_AsksInFullWhereA304TellsSomethingNew(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, then http.Header // of the 304 and of the 200
		silent      bool        // the 304 alone has them
		line        string
		code        string
		full        int32 // answers 200
	}{
		"another canonical":      {nil, http.Header{"Link": {`<OTHER>; rel="canonical"`}}, false, "conflicting C1 0.50 conflict html_vs_http", canonical.FindingConflict, 2},
		"only on the 304":        {nil, http.Header{"Link": {`<OTHER>; rel="canonical"`}}, true, validSelf, "", 4},
		"the same as before":     {http.Header{"Link": {`<PAGE>; rel="canonical"`}}, http.Header{"Link": {`<PAGE>; rel="canonical"`}}, false, validSelf, "", 1},
		"repeats none of it":     {http.Header{"Link": {`<PAGE>; rel="canonical"`}}, nil, false, validSelf, "", 1},
		"noindex":                {nil, http.Header{"X-Robots-Tag": {"noindex"}}, false, validSelf, canonical.FindingSitemapNoindex, 2},
		"refreshes elsewhere":    {nil, http.Header{"Refresh": {"0; url=OTHER"}}, false, "conflicting C1 0.50 conflict explicit_vs_redirect", canonical.FindingSitemapRedirect, 2},
		"something of no weight": {nil, http.Header{"Link": {"</x.css>; rel=preload"}, "X-Robots-Tag": {"noarchive"}}, false, validSelf, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 3)
			page, other := l.posts[0], l.posts[1]
			var changed atomic.Bool
			var full atomic.Int32
			l.origin.Fail(sitetest.Path(page), func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				w.Header().Set("ETag", `"v1"`)
				w.Header().Set("Content-Type", "text/html")
				revalidates := r.Header.Get("If-None-Match") != ""
				h := tt.first
				if changed.Load() && (revalidates || !tt.silent) {
					h = tt.then
				}
				for k, v := range h {
					for _, x := range v {
						w.Header().Add(k, strings.NewReplacer("OTHER", other, "PAGE", page).Replace(x))
					}
				}
				if revalidates {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				full.Add(1)
				fmt.Fprintf(w, `<html><head><link rel="canonical" href="%s"></head><body><p>%s</p></body></html>`, page, words("renewed", 200))
			})
			l.verify(l.posts...)
			changed.Store(true)
			for range 3 {
				l.verify(l.posts...)
			}
			if got := l.line(page); got != tt.line {
				t.Errorf("%s, want %s", got, tt.line)
			}
			found := l.findings(page)
			if tt.code == "" && len(found) > 0 || tt.code != "" && !slices.Contains(found, "open "+tt.code) {
				t.Errorf("findings %v, want %q", found, tt.code)
			}
			if got := full.Load(); got != tt.full {
				t.Errorf("answered in full %d times, want %d", got, tt.full)
			}
		})
	}
}
