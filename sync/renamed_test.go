package syncer_test

import (
	"net/url"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// WordPress redirects an address that it does not know to the published one that begins alike.
func TestRun_AGuessedRedirectIsNoMove(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 20})
	l.run(false)
	ids := l.origin.PublishedPosts()
	gone := l.origin.Delete(ids[3])
	other := l.origin.PostURL(ids[7])
	u, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	l.origin.Fail(u.Path, sitetest.Redirect(other))
	l.origin.Publish(sitetest.Spec{}) // something appears, but not there
	if r := l.run(true); r.Counts.Removed != 1 {
		t.Errorf("counts %+v, want the deleted post removed", r.Counts)
	}
	for _, p := range l.pages(models.PageFilter{State: models.StateRemoved}) {
		if p.MovedTo != "" {
			t.Errorf("%s is said to have moved to %s", p.URL, p.MovedTo)
		}
	}
}
