package storetest

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func sites(t *testing.T, open func() *store.Store) {
	s, ctx := open(), t.Context()
	a, err := s.AddSite(ctx, models.Site{Home: "https://a.example/", Root: "https://a.example/wp-sitemap.xml"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.AddSite(ctx, models.Site{Name: "second", Home: "https://b.example/", Root: "https://b.example/sitemap_index.xml"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{strconv.FormatInt(b.ID, 10), "second", "https://b.example/sitemap_index.xml", "https://b.example/", "https://b.example"} {
		if got, err := s.FindSite(ctx, name); err != nil || got.ID != b.ID {
			t.Errorf("FindSite(%q) = %d, %v; want %d", name, got.ID, err, b.ID)
		}
	}
	if got, err := s.FindSite(ctx, "a.example"); err != nil || got.ID != a.ID {
		t.Errorf("a site without a name is called by its host: %+v, %v", got, err)
	}
	if _, err := s.FindSite(ctx, "SECOND"); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("names are compared as bytes: %v", err)
	}
	for _, twin := range []models.Site{{Name: "second", Root: "https://c.example/"}, {Name: "third", Root: b.Root}} {
		if _, err := s.AddSite(ctx, twin); !errors.Is(err, models.ErrConflict) {
			t.Errorf("AddSite(%q, %q) = %v, want a conflict", twin.Name, twin.Root, err)
		}
	}
	a.Name = "second"
	if err := s.SaveSite(ctx, a); !errors.Is(err, models.ErrConflict) {
		t.Errorf("SaveSite with another one's name = %v, want a conflict", err)
	}
	if err := s.RemoveSite(ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveSite(ctx, b.ID); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a removed site is removed again: %v", err)
	}
	if _, err := s.Site(ctx, b.ID); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a removed site is still read: %v", err)
	}
	if _, err := s.AddSite(ctx, models.Site{Name: "second", Root: b.Root}); err != nil {
		t.Errorf("a removed site's name and root are free: %v", err)
	}
	if all, err := s.Sites(ctx); err != nil || len(all) != 2 {
		t.Errorf("Sites() = %d, %v; want 2", len(all), err)
	}
}

func siteSettings(t *testing.T, open func() *store.Store) {
	s, ctx := open(), t.Context()
	due := time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.FixedZone("east", 7200))
	site, err := s.AddSite(ctx, models.Site{Name: "süß 😀", Home: "https://x.example/", Root: "https://x.example/a.xml",
		Roots:    []models.Root{{URL: "https://x.example/a.xml", Discovery: "robots_txt"}, {URL: "https://x.example/b.xml", Discovery: "probe"}},
		Schedule: "*/5 * * * *", TimeZone: "Europe/Berlin", Paused: true, NextDue: &due,
		Settings: models.SiteSettings{Hosts: []string{"y.example"}, ConfirmAfter: time.Minute, Username: "u", Password: "p&ß"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := open().Site(ctx, site.ID)
	if err != nil {
		t.Fatal(err)
	}
	site.Agenda = models.Agenda{Known: true}
	if diff := cmp.Diff(site, got); diff != "" {
		t.Errorf("another handle reads another site (-added +read):\n%s", diff)
	}
	if want := due.UTC().Truncate(time.Microsecond); !got.NextDue.Equal(want) || got.Settings.Password != "p&ß" {
		t.Errorf("next due %v, password %q; want %v", got.NextDue, got.Settings.Password, want)
	}
	got.Paused, got.Schedule, got.NextDue, got.Settings.Hosts, got.Live = false, "", nil, nil, 99
	if err := s.SaveSite(ctx, got); err != nil {
		t.Fatal(err)
	}
	got.Live = 0 // counts are the runs' business
	after, err := s.Site(ctx, site.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, after); diff != "" {
		t.Errorf("after saving (-want +got):\n%s", diff)
	}
	if err := s.SaveSite(ctx, models.Site{ID: 999, Root: "https://z.example/"}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("saving an unknown site = %v", err)
	}
}

// changedSites: two who change different things at once both get their way, whatever the runs do meanwhile.
func changedSites(t *testing.T, open func() *store.Store) {
	s, other, ctx := open(), open(), t.Context()
	site, err := s.AddSite(ctx, models.Site{Name: "x", Root: "https://x.example/a.xml", Settings: models.SiteSettings{Hosts: []string{"y.example"}, Password: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSite(ctx, models.Site{Name: "z", Root: "https://z.example/"}); err != nil {
		t.Fatal(err)
	}
	const each = 10
	var group sync.WaitGroup
	for _, work := range []struct {
		s      *store.Store
		change func(*models.Site) error
	}{
		{s, func(x *models.Site) error { x.Settings.Hosts = append(x.Settings.Hosts, "more.example"); return nil }},
		{other, func(x *models.Site) error { x.Settings.Quiet += time.Second; return nil }},
	} {
		group.Go(func() {
			for range each {
				if _, err := work.s.ChangeSite(ctx, site.ID, work.change); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := s.Site(ctx, site.ID)
	if err != nil || len(got.Settings.Hosts) != each+1 || got.Settings.Quiet != each*time.Second || got.Settings.Password != "p" {
		t.Errorf("after %d changes by each of two: %+v, %v", each, got.Settings, err)
	}
	stop := errors.New("stop")
	if _, err := s.ChangeSite(ctx, site.ID, func(x *models.Site) error { x.Name = "never"; return stop }); !errors.Is(err, stop) {
		t.Errorf("a change that was given up = %v", err)
	}
	if _, err := s.ChangeSite(ctx, site.ID, func(x *models.Site) error { x.Name = "z"; return nil }); !errors.Is(err, models.ErrConflict) {
		t.Errorf("another one's name = %v, want a conflict", err)
	}
	if _, err := s.ChangeSite(ctx, 999, func(*models.Site) error { return nil }); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("an unknown site = %v", err)
	}
	changed, err := s.ChangeSite(ctx, site.ID, func(x *models.Site) error { x.ID, x.Live, x.CurrentRun, x.Paused = 7, 9, 9, true; return nil })
	if err != nil {
		t.Fatal(err)
	}
	got.Agenda = models.Agenda{} // not a setting
	if got.Paused = true; cmp.Diff(got, changed) != "" {
		t.Errorf("only settings may be changed (-want +got):\n%s", cmp.Diff(got, changed))
	}
}

func dueSites(t *testing.T, open func() *store.Store) {
	s, ctx := open(), t.Context()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	add := func(name string, due *time.Time, paused bool) int64 {
		site, err := s.AddSite(ctx, models.Site{Name: name, Root: "https://" + name + "/", NextDue: due, Paused: paused})
		if err != nil {
			t.Fatal(err)
		}
		return site.ID
	}
	past, future := at.Add(-time.Microsecond), at.Add(time.Microsecond)
	late, exact := add("late", &past, false), add("exact", &at, false)
	add("later", &future, false)
	add("never", nil, false)
	add("paused", &past, true)
	hooked := add("hooked", nil, true)
	if _, _, err := s.SaveTrigger(ctx, models.Trigger{SiteID: hooked, Kind: models.CauseHook}); err != nil {
		t.Fatal(err)
	}
	due, err := s.DueSites(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, site := range due {
		ids = append(ids, site.ID)
	}
	if diff := cmp.Diff([]int64{late, exact, hooked}, ids); diff != "" {
		t.Errorf("due sites (-want +got):\n%s", diff)
	}
	lease, err := s.AcquireLease(ctx, KeyOf("late"), "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PlanSite(ctx, lease, late, nil); err != nil {
		t.Fatal(err)
	}
	if due, err := s.DueSites(ctx, at); err != nil || len(due) != 2 {
		t.Errorf("%d sites are due after one was planned for never, %v; want 2", len(due), err)
	}
}

func purge(t *testing.T, open func() *store.Store) {
	f, ctx := settled(t, open()), t.Context()
	other := NewSite(t, f.Store, "other.example")
	run := other.Begin()
	other.SaveDocument(run, 1, models.VerdictComplete)
	other.Stage(run, 1, nil, []models.Declaration{Page(pageA, "1")})
	other.Finish(run)
	if err := f.Store.PurgeSite(ctx, f.Site.ID); !errors.Is(err, models.ErrConflict) {
		t.Errorf("a site is purged that was not removed: %v", err)
	}
	f.must(f.Store.RemoveSite(ctx, f.Site.ID))
	f.must(f.Store.PurgeSite(ctx, f.Site.ID))
	if err := f.Store.PurgeSite(ctx, f.Site.ID); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a site is purged twice: %v", err)
	}
	if rows := f.Listed(1, 2); len(rows) != 0 {
		t.Errorf("%d rows are left", len(rows))
	}
	same(t, "the other site", []string{"live " + pageA}, other.States(models.AsOf{}))
}

func refusedSites(t *testing.T, open func() *store.Store) {
	s := open()
	for _, site := range []models.Site{{Name: strings.Repeat("x", 256), Root: "https://a.example/"}, {Name: "\xff", Root: "https://b.example/"},
		{Name: "c", Root: "https://c.example/", Schedule: strings.Repeat("* ", 200)}} {
		var invalid *models.InvalidError
		if _, err := s.AddSite(t.Context(), site); !errors.As(err, &invalid) || invalid.Field == "" {
			t.Errorf("AddSite(%.20q, %.20q) = %v", site.Name, site.Schedule, err)
		}
	}
	root := "https://d.example/" + strings.Repeat("é", 5000)
	site, err := s.AddSite(t.Context(), models.Site{Name: "d", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.FindSite(t.Context(), root); err != nil || found.ID != site.ID {
		t.Errorf("a long root is found as %d, %v", found.ID, err)
	}
}
