package syncer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// asked stores what a person asks for.
func (l *lab) asked(hints ...models.Hint) {
	l.Helper()
	_, _, err := l.store.SaveTrigger(l.Context(), models.Trigger{SiteID: l.site.ID, Kind: models.CauseManual, Dialect: "none", ReceivedAt: l.clock.now(), Hints: hints})
	if err != nil {
		l.Fatal(err)
	}
}

func TestRetry_LooksAtTheFailedDocumentsAlone(t *testing.T) {
	t.Parallel()
	l := large(t)
	const broken = "/wp-sitemap-posts-post-7.xml"
	l.origin.Fail(broken, sitetest.Status(503))
	if r := l.run(false); r.Verdict != models.VerdictPartial || r.Documents.Failed != 1 {
		t.Fatalf("%+v", r)
	}
	l.origin.Heal()
	ids := l.origin.PublishedPosts()
	l.origin.Edit(ids[0])      // elsewhere
	l.origin.Edit(ids[6*20+3]) // in the document that could not be read
	l.origin.ResetLog()
	l.asked(models.Hint{Event: models.EventRetry})
	l.clock.advance(time.Minute)
	r := l.recheck(models.CauseManual)
	if !r.Targeted || r.Verdict != models.VerdictComplete || r.Counts.Stale != 0 || r.Counts.Removed+r.Counts.Pending+r.Counts.Added != 0 || r.Counts.Changed != 1 {
		t.Errorf("%+v %+v", r, r.Counts)
	}
	var asked []string
	for _, q := range l.origin.Requests() {
		asked = append(asked, q.Path)
	}
	if got := strings.Join(asked, " "); !strings.Contains(got, broken) || len(asked) > 4 {
		t.Errorf("asked for %s", got)
	}
	if full := l.run(true); full.Targeted || full.Counts.Changed < 1 || full.Counts.Removed != 0 {
		t.Errorf("the full run after it: %+v", full.Counts)
	}
	l.settled()
}

func TestRetry_BesideAnotherWishIsAFullRun(t *testing.T) {
	t.Parallel()
	l := large(t)
	l.asked(models.Hint{Event: models.EventRetry})
	l.asked()
	if r := l.recheck(models.CauseManual); r.Targeted {
		t.Errorf("%+v", r)
	}
	l.asked(models.Hint{Event: models.EventRetry})
	if r := l.recheck(models.CauseCron); r.Targeted {
		t.Errorf("%+v", r)
	}
}
