package syncer_test

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// What changed since a moment is what became new, fixed or reopened since; a finding that a later look confirms is not.
func TestAudit_DeltasAreChangesAlone(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	page := l.posts[0]
	since := func(at time.Time) (states []string) {
		t.Helper()
		if err := l.verifier.Audit(t.Context(), l.site.ID, models.AuditFilter{Since: at, State: "all"}, func(a *models.Audited) error {
			if a.Page == page && a.Code == canonical.FindingSitemapNoindex {
				states = append(states, a.State)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return states
	}
	want := func(what string, at time.Time, state string) {
		t.Helper()
		if got := since(at); state == "" && len(got) > 0 || state != "" && (len(got) != 1 || got[0] != state) {
			t.Errorf("%s: %v, want %q", what, got, state)
		}
	}
	start := l.clock.now()
	undo := l.origin.Fail(sitetest.Path(page), sitetest.NoIndex())
	l.verify()
	want("first seen", start, "new")
	seen := l.clock.now().Add(time.Minute)
	l.verify()
	want("confirmed, since before it was seen", start, "open")
	want("confirmed, since it was seen", seen, "")
	undo()
	l.verify()
	want("mended", seen, "fixed")
	mended := l.clock.now().Add(time.Minute)
	undo = l.origin.Fail(sitetest.Path(page), sitetest.NoIndex())
	l.verify()
	want("back", mended, "reopened")
	back := l.clock.now().Add(time.Minute)
	l.verify()
	want("back and confirmed", back, "")
	want("back and confirmed, since before", mended, "open")
	undo()
}
