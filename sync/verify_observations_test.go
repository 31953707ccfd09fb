package syncer_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// Looks that find the same are one row for each statement, with the first and the last look that found it and their
// number; another value is another row, and the earlier one keeps its time. A value that comes back goes on with its row.
func TestVerify_KeepsOneRowForWhatStays(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	page, key := l.posts[0], models.Key(canonical.KeyOf(l.posts[0]))
	links := func() (current, closed []models.CanonicalObservation, all int) {
		t.Helper()
		found, err := l.store.Dossiers(t.Context(), l.site.ID, []models.Key{key})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found[key].Observations {
			if o.Kind != string(canonical.KindHTMLLink) {
				continue
			}
			if o.Current {
				current = append(current, o)
			} else {
				closed = append(closed, o)
			}
		}
		return current, closed, len(found[key].Observations)
	}
	l.verify(page)
	began := l.clock.now()
	_, _, rows := links()
	for range 4 {
		l.verify(page)
	}
	ended := l.clock.now()
	now, before, after := links()
	if len(now) != 1 || len(before) != 0 || after != rows || now[0].Times != 5 || !now[0].FirstSeen.Equal(began) || !now[0].LastSeen.Equal(ended) {
		t.Errorf("after five looks: %d rows (%d before), %+v", after, rows, now)
	}
	undo := l.origin.Fail(sitetest.Path(page), sitetest.Canonical(l.posts[1]))
	l.verify(page)
	l.verify(page)
	now, before, _ = links()
	if len(now) != 1 || len(before) != 1 || now[0].Times != 2 || before[0].Times != 5 || !before[0].LastSeen.Equal(ended) {
		t.Errorf("after another value: %+v, closed %+v", now, before)
	}
	undo()
	l.verify(page)
	now, before, _ = links()
	if len(now) != 1 || len(before) != 1 || now[0].Times != 6 || !now[0].FirstSeen.Equal(began) || !now[0].LastSeen.Equal(l.clock.now()) {
		t.Errorf("when the first came back: %+v, closed %+v", now, before)
	}
}
