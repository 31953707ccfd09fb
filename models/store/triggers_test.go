package store_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// saveMany puts triggers into the inbox, a thousand in a statement.
func saveMany(t *testing.T, s *store.Store, site int64, many int) {
	t.Helper()
	const part = 1000
	for start := 0; start < many; start += part {
		rows := make([]string, 0, part)
		args := make([]any, 0, 2*part)
		for i := start; i < min(many, start+part); i++ {
			rows = append(rows, fmt.Sprintf("(%d, 'hook', 'github', ?, ?, 0, '[]', 'a body')", site))
			args = append(args, binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i+1)), time.Unix(1_770_000_000, 0).UTC())
		}
		err := s.DB().Exec("INSERT INTO triggers (site_id, kind, dialect, dedupe_key, received_at, served_run, hints, body) VALUES "+strings.Join(rows, ","), args...).Error
		if err != nil {
			t.Fatal(err)
		}
	}
}

// After a storm more triggers wait than a statement takes parameters, on either dialect (32,766 and 65,535).
func TestFinish_ServesMoreTriggersThanAStatementHoldsParameters(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		const many = 70_000
		saveMany(t, s, f.Site.ID, many)
		run := f.Begin()
		seen, err := s.PendingTriggers(t.Context(), f.Site.ID)
		if err != nil || len(seen) != many {
			t.Fatalf("%d triggers wait, %v; want %d", len(seen), err, many)
		}
		served := make([]int64, 0, many)
		for i := range seen {
			served = append(served, seen[i].ID)
			if len(seen[i].Body) > 0 {
				t.Fatal("bodies are read with what waits")
			}
		}
		late, _, err := s.SaveTrigger(t.Context(), models.Trigger{SiteID: f.Site.ID, Kind: models.CauseHook})
		if err != nil {
			t.Fatal(err)
		}
		run.Triggers = served
		f.Finish(run, served...)
		left, err := s.PendingTriggers(t.Context(), f.Site.ID)
		if err != nil || len(left) != 1 || left[0].ID != late {
			t.Errorf("%d triggers wait after the run, %v; want the late one", len(left), err)
		}
	})
}
