package syncer_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// The body of a host's own 404 is what a page shows that answers 200 in error; where the home page has that body too it
// tells nothing, and neither does one of a few words.
func TestVerify_TellsBodyOf404(t *testing.T) {
	t.Parallel()
	oops := "<html><head><title>Oops</title></head><body><p>" + words("missing", 80) + "</p></body></html>"
	tiny := "<html><head><title>Oops</title></head><body><p>Not found</p></body></html>"
	for _, tt := range []struct {
		name, body string
		home       bool
		status     int
		want       bool
	}{
		{"404", oops, false, 404, true},
		{"410", oops, false, 410, true},
		{"503", oops, false, 503, false},
		{"tiny", tiny, false, 404, false},
		{"as the home page", oops, true, 404, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 3)
			l.origin.Fail("/sitemapd-probe-*/", sitetest.PageStatus(tt.status, tt.body, nil))
			l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Page(tt.body, nil))
			home := sitetest.Page("<html><body><p>"+words("home", 80)+"</p></body></html>", nil)
			if tt.home {
				home = sitetest.Page(tt.body, nil)
			}
			l.origin.Fail("/", home)
			l.verify()
			if found := l.findings(l.posts[0]); slices.Contains(found, "new "+canonical.FindingSitemapSoft404) != tt.want {
				t.Errorf("%v", found)
			}
			if found := l.findings(l.posts[1]); len(found) != 0 {
				t.Errorf("%v", found)
			}
		})
	}
}

// A host is asked for its page of missing URLs once a week where it told something, in an hour where it did not, and at
// once where what is stored has no fingerprint, as earlier versions stored it of a 404.
func TestVerify_AsksAHostAgainThatToldNothing(t *testing.T) {
	t.Parallel()
	oops := "<html><head><title>Oops</title></head><body><p>" + words("missing", 80) + "</p></body></html>"
	soft := func(l *pagesLab) bool {
		return slices.ContainsFunc(l.findings(l.posts[0]), func(f string) bool { return strings.HasSuffix(f, " "+canonical.FindingSitemapSoft404) })
	}
	for _, tt := range []struct {
		name   string
		etag   bool
		status int // of the first probe
		stored bool
		probes []int32 // after each pass, of which the third is made by another process
		want   bool
	}{
		{"404 stored without a fingerprint", false, 404, true, []int32{1, 1, 1}, true},
		{"answers 503", false, 503, false, []int32{1, 2, 2}, true},
		{"answers 503, then the page 304", true, 503, false, []int32{1, 2, 2}, true},
		{"404 with an empty body", false, 204, false, []int32{1, 1, 1}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 3)
			var probes atomic.Int32
			l.origin.Fail("/sitemapd-probe-*/", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				n := probes.Add(1)
				switch {
				case tt.status == 204:
					w.WriteHeader(404)
				case n == 1:
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, oops)
				default:
					w.WriteHeader(404)
					_, _ = io.WriteString(w, oops)
				}
			})
			l.origin.Fail(sitetest.Path(l.posts[0]), func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
				if tt.etag {
					w.Header().Set("ETag", `"v1"`)
				}
				if tt.etag && r.Header.Get("If-None-Match") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				sitetest.Page(oops, nil)(w, r, honest)
			})
			l.origin.Fail("/", sitetest.Page("<html><body><p>"+words("home", 80)+"</p></body></html>", nil))
			if tt.stored {
				if err := l.store.SaveHostProbe(t.Context(), syncer.HostKey(l.posts[0]), models.HostProbe{At: l.clock.now(), Status: 404}); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range tt.probes {
				if i == 2 {
					l.verifier = l.newVerifier(syncer.VerifierOptions{})
				}
				l.verify(l.posts...)
				if got := probes.Load(); got != want {
					t.Errorf("pass %d: the host was asked %d times, want %d", i+1, got, want)
				}
			}
			if soft(l) != tt.want {
				t.Errorf("%v", l.findings(l.posts[0]))
			}
		})
	}
}
