package syncer_test

import (
	"slices"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
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
