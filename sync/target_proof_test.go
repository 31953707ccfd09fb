package syncer_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

// A message that a page is gone arrives, the one that it is back is lost, and a page before it goes without a message: the
// page leaves its file for the one before.
func TestTargeted_AnOldMessageRemovesNoPageThatShifted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		gone  int  // posts before it that go untold; a file has 20
		whole bool // every document is read
	}{
		{name: "to the file before", gone: 1},
		{name: "by more than a file", gone: 25, whole: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := large(t)
			ids := l.origin.PublishedPosts()
			e := l.origin.Unpublish(ids[200]) // the first of the eleventh file
			l.origin.Restore(ids[200])
			for _, id := range ids[:tt.gone] {
				l.origin.Delete(id)
			}
			r := l.hooked(e, models.ExpectGone)
			if whole := r.Documents.Read+r.Documents.Unchanged > 10; !r.Targeted || whole != tt.whole || r.Counts.Removed+r.Counts.Pending+r.Counts.Held != 0 {
				t.Errorf("run %+v: want a targeted one that judges no page and reads every document: %v", r, tt.whole)
			}
			if _, is := l.live()[e.URL]; !is {
				t.Errorf("%s is listed, but counts as removed", e.URL)
			}
			l.run(true)
			l.run(true)
			if diff := differ(l.published(), l.live()); diff != "" {
				t.Errorf("after the full runs: %s", diff)
			}
		})
	}
}

// A page was edited and shifted to the file before, where a targeted run met it; then it went. A run that reads the file
// where it is declared, and not the other one, knows nothing of the page: the other file's listing is as old as its reading.
func TestTargeted_AListingThatWasNotReadIsNoChange(t *testing.T) {
	t.Parallel()
	l := large(t)
	ids := l.origin.PublishedPosts()
	page := l.origin.Edit(ids[200]).URL // the first of the eleventh file
	l.origin.Delete(ids[3])
	if r := l.hooked(l.origin.Edit(ids[190]), models.ExpectChanged); !r.Targeted || r.Counts.Changed != 1 {
		t.Fatalf("run %+v: want a targeted one that reads the tenth file and not the eleventh", r)
	}
	l.origin.Unpublish(ids[200])
	r := l.hooked(l.origin.Edit(ids[210]), models.ExpectChanged)
	if changed := l.feed(r.ID)[models.KindChanged]; !r.Targeted || r.Counts.Changed != 1 || len(changed) != 1 || changed[0] == page {
		t.Errorf("run %+v says that %v changed, want the edited page alone", r, changed)
	}
	if full := l.run(true); full.Counts.Removed != 2 {
		t.Errorf("the full run after it: %+v, want two removals", full.Counts)
	}
	l.settled()
}
