package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// aged is a site with three runs that say three things of one page, and who looks after its retention.
func aged(t *testing.T, own, general time.Duration) (retention, models.Site, *bytes.Buffer) {
	t.Helper()
	text := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/a</loc><lastmod>2026-01-01</lastmod></url></urlset>`
	x := publish(t, text)
	served := string(x.published)
	s, err := store.Open(t.Context(), x.database, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	sites, err := s.Sites(t.Context())
	if err != nil || len(sites) != 1 {
		t.Fatalf("%d sites, %v", len(sites), err)
	}
	site := sites[0]
	for _, day := range []string{"2026-01-02", "2026-01-03"} {
		copy(x.published, strings.Replace(served, "2026-01-01", day, 1)) // as long as it was: what the server sends
		if code, _, errs := x.run(t, "sync", x.home+"/sitemap.xml"); code != exitDone {
			t.Fatalf("sync: exit %d\n%s", code, errs)
		}
	}
	if site, err = s.Site(t.Context(), site.ID); err != nil || site.CurrentRun != 3 {
		t.Fatalf("run %d, %v", site.CurrentRun, err)
	}
	if own != 0 {
		site.Settings.Retention = own
		if err := s.SaveSite(t.Context(), site); err != nil {
			t.Fatal(err)
		}
	}
	c := config.Default()
	c.Sync.Retention = general
	var log bytes.Buffer
	a := &app{config: c, log: slog.New(slog.NewTextHandler(&log, nil)), out: io.Discard, errOut: io.Discard}
	return retention{app: a, store: s, kept: map[int64]int64{}}, site, &log
}

// oldest is the oldest run that can be asked for.
func oldest(t *testing.T, s *store.Store, site models.Site) int64 {
	t.Helper()
	for run := int64(1); run <= site.CurrentRun; run++ {
		err := s.Pages(t.Context(), site.ID, models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: run}}, func(*models.Page) error { return nil })
		var pruned *models.PrunedError
		if err == nil {
			return run
		}
		if !errors.As(err, &pruned) {
			t.Fatal(err)
		}
	}
	return 0
}

func TestRetention_ForgetsWhatIsOlderAndNothingElse(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		own, general time.Duration
		after        time.Duration // since the last run
		oldest       int64
	}{
		"off":                                {after: 4000 * day, oldest: 1},
		"nothing is so old":                  {general: 400 * day, after: 399 * day, oldest: 1},
		"everything superseded is older":     {general: 400 * day, after: 401 * day, oldest: 3},
		"a site's own goes first":            {own: 30 * day, general: 400 * day, after: 31 * day, oldest: 3},
		"a site's own may be longer":         {own: 400 * day, general: 30 * day, after: 31 * day, oldest: 1},
		"a day is kept whatever is said":     {own: time.Minute, after: 23 * time.Hour, oldest: 1},
		"a site's own while the other's off": {own: 30 * day, after: 31 * day, oldest: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, site, log := aged(t, row.own, row.general)
			before := history(t, r.store, site)
			for range 2 { // the second look has nothing left to do
				if !r.look(t.Context(), time.Now().Add(row.after)) {
					t.Fatalf("not done: %s", log)
				}
			}
			if got := oldest(t, r.store, site); got != row.oldest {
				t.Errorf("run %d is the oldest that is kept, want %d", got, row.oldest)
			}
			if n := strings.Count(log.String(), "old history is forgotten"); n != min(1, int(row.oldest-1)) {
				t.Errorf("told %d times: %s", n, log)
			}
			if after := history(t, r.store, site); after[len(after)-1] != before[len(before)-1] || row.oldest == 1 && len(after) != len(before) {
				t.Errorf("history %v, was %v", after, before)
			}
			lease, err := r.store.AcquireLease(t.Context(), syncer.HostKey(site.Root), "next", time.Minute)
			if err != nil {
				t.Fatalf("the host is not given back: %v", err)
			}
			if err := r.store.ReleaseLease(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func history(t *testing.T, s *store.Store, site models.Site) (lastmods []string) {
	t.Helper()
	err := s.Pages(t.Context(), site.ID, models.PageFilter{State: models.StateAll}, func(p *models.Page) error {
		states, err := s.PageHistory(t.Context(), site.ID, p.Key)
		for _, state := range states {
			lastmods = append(lastmods, state.Lastmod.Raw)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lastmods
}

// A host that is walked is left alone and looked at again; what was kept until then is kept.
func TestRetention_WaitsForARunThatIsUnderWay(t *testing.T) {
	t.Parallel()
	r, site, _ := aged(t, 0, 24*time.Hour)
	later := time.Now().Add(48 * time.Hour)
	lease, err := r.store.AcquireLease(t.Context(), syncer.HostKey(site.Root), "a run", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if r.look(t.Context(), later) || oldest(t, r.store, site) != 1 {
		t.Errorf("history was forgotten while a run was under way")
	}
	if err := r.store.ReleaseLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if r.look(stopped, later); oldest(t, r.store, site) != 1 {
		t.Errorf("history was forgotten by a daemon that stops")
	}
	if !r.look(t.Context(), later) || oldest(t, r.store, site) != 3 {
		t.Errorf("history is not forgotten afterwards: run %d is kept", oldest(t, r.store, site))
	}
}
