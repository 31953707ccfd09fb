package handlers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

// Who asks for failed documents alone leaves that with the trigger; the same key asks for something else without it.
func TestStartRun_OfFailedDocumentsAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, query := range []string{"?only=failed", "", "?only=failed"} {
		wantStatus(t, f.post("/api/v1/sites/1/runs"+query, "", "Idempotency-Key", "one"), 202)
	}
	wantStatus(t, f.post("/api/v1/sites/1/runs?only=everything", ""), 422)
	var hints [][]models.Hint
	for _, trigger := range f.triggers {
		hints = append(hints, trigger.Hints)
	}
	if diff := cmp.Diff([][]models.Hint{{{Event: models.EventRetry}}, nil}, hints); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDashboard_OffersAnotherLookAtFailedDocuments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	broken := func(failed int64) {
		runs := f.store.RunsFunc
		f.store.RunsFunc = func(site, before int64, limit int) ([]models.Run, error) {
			list, err := runs(site, before, limit)
			for i := range list {
				list[i].Documents.Failed = failed
			}
			return list, err
		}
	}
	for failed, want := range map[int64]bool{0: false, 3: true} {
		broken(failed)
		if got := strings.Contains(text(t, f.get("/sites/1/documents")), `name="only" value="failed"`); got != want {
			t.Errorf("with %d failed documents it is offered: %v", failed, got)
		}
	}
}
