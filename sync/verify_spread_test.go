package syncer_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// Thousands of pages that are to be judged anew keep no run waiting: the rest stays queued for the next stay.
func TestVerify_JudgingAnewGivesWayToARun(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 230)
	l.verify()
	var keys []models.Key
	for _, p := range l.posts {
		keys = append(keys, models.Key(canonical.KeyOf(p)))
	}
	if err := l.store.SettleEdges(t.Context(), l.site.ID, nil, nil, nil, keys); err != nil {
		t.Fatal(err)
	}
	queued := func() int {
		news, err := l.store.News(t.Context(), l.site.ID, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return len(news)
	}
	if _, _, err := l.store.SaveTrigger(t.Context(), models.Trigger{SiteID: l.site.ID, Kind: models.CauseHook, ReceivedAt: l.clock.now()}); err != nil {
		t.Fatal(err)
	}
	looked, more, err := l.verifier.Slice(t.Context(), l.site.ID)
	if err != nil || looked != 0 || !more || queued() != len(keys)-200 {
		t.Errorf("a run is due: %d looks, more %t, %d queued, %v; want %d queued", looked, more, queued(), err, len(keys)-200)
	}
	l.verify(l.posts[0]) // by command; no daemon makes the run
	if queued() != 0 {
		t.Errorf("after a command: %d queued", queued())
	}
}
