package handlers_test

import (
	"context"
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

// asked tells which sites are counted.
type asked struct {
	audits
	sites chan int64
}

func (a asked) Verification(ctx context.Context, site int64) (models.Verification, error) {
	a.sites <- site
	return a.audits.Verification(ctx, site)
}

// Nobody need ask for the counts of a site's pages before they are counted.
func TestServe_CountsPagesBeforeSomebodyAsks(t *testing.T) {
	t.Parallel()
	sites := make(chan int64, 9)
	f := newFixture(t, rich, func(f *fixture) { f.deps.Audits = asked{audits{"absent", new([]models.Mute)}, sites} })
	_, stop := f.serve(t)
	if site := <-sites; site != exampleSite.ID {
		t.Errorf("site %d", site)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
