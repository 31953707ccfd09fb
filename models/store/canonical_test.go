package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// looked makes the first look at a page.
func looked(url string) *models.Look {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	key := storetest.KeyOf(url)
	return &models.Look{Watch: models.CanonicalWatch{Key: key, URL: url, Listed: true, LastLook: at, LastRead: at, Looks: 1, Reading: "read", Status: 200},
		Head: &models.CanonicalHead{Key: key, URL: url, Own: "self", Status: "validated", Listed: true},
		Opened: []models.CanonicalRelationship{{Source: key, Target: key, Method: "html_link_element", ValidFrom: at, Status: "validated", Score: 0.98, Rule: "E1",
			Ruleset: "x", ObservedAt: at, JudgedAt: at, Cause: "look", Body: []byte(`{}`)}}}
}

func one(t *testing.T, s *store.Store, site int64, key models.Key) *models.Dossier {
	t.Helper()
	found, err := s.Dossiers(t.Context(), site, []models.Key{key})
	if err != nil || found[key] == nil {
		t.Fatalf("%v, %v", found, err)
	}
	return found[key]
}

func TestSaveLook_IsFencedAndCompared(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		look := looked("https://example.com/a/")
		if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, look); err != nil {
			t.Fatal(err)
		}
		d := one(t, s, f.Site.ID, look.Watch.Key)
		if d.Watch.Revision != 1 || len(d.Relationships) != 1 || d.Relationships[0].Score != 0.98 || !d.Watch.LastLook.Equal(look.Watch.LastLook) {
			t.Errorf("%+v", d)
		}
		if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, look); !errors.Is(err, models.ErrConflict) {
			t.Errorf("a look at what was read before somebody wrote it: %v", err)
		}
		again := &models.Look{Watch: d.Watch}
		again.Watch.Looks, again.Watch.Confirmed = 2, d.Watch.LastLook.Add(time.Hour)
		lost := f.Lease
		lost.Epoch--
		if err := s.SaveLook(t.Context(), lost, f.Site.ID, again); !errors.Is(err, models.ErrLeaseLost) {
			t.Errorf("a look by somebody who lost the host: %v", err)
		}
		if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, again); err != nil {
			t.Fatal(err)
		}
		if d = one(t, s, f.Site.ID, look.Watch.Key); d.Watch.Revision != 2 || !d.Relationships[0].ObservedAt.Equal(again.Watch.Confirmed) {
			t.Errorf("what a look confirms is told by one row: %+v", d.Relationships)
		}
		var rows int64
		if err := s.DB().Table("canonical_states").Count(&rows).Error; err != nil || rows != 1 {
			t.Errorf("%d judgements after a look that changed nothing, %v", rows, err)
		}
	})
}

func TestRelationships_OneIsOpenOfAMeaning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		look := looked("https://example.com/a/")
		if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, look); err != nil {
			t.Fatal(err)
		}
		for n := range 3 { // closed and opened again, any number of times
			at := look.Watch.LastLook.Add(time.Duration(n+1) * time.Hour)
			d := one(t, s, f.Site.ID, look.Watch.Key)
			next := &models.Look{Watch: d.Watch, Closed: slices.Clone(d.Relationships), Opened: slices.Clone(d.Relationships)}
			next.Closed[0].ValidUntil, next.Closed[0].EndReason = &at, "replaced"
			next.Opened[0].ValidFrom, next.Opened[0].JudgedAt = at, at
			if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, next); err != nil {
				t.Fatal(err)
			}
		}
		all, _, err := s.RelationshipHistory(t.Context(), f.Site.ID, look.Watch.Key)
		if err != nil || len(all) != 4 {
			t.Fatalf("%d relationships, %v", len(all), err)
		}
		for i := 1; i < len(all); i++ {
			if all[i-1].ValidUntil == nil || !all[i-1].ValidUntil.Equal(all[i].ValidFrom) {
				t.Errorf("a gap or an overlap: %+v, then %+v", all[i-1], all[i])
			}
		}
		d := one(t, s, f.Site.ID, look.Watch.Key)
		twice := &models.Look{Watch: d.Watch, Opened: slices.Clone(d.Relationships)}
		twice.Opened[0].ValidFrom = twice.Opened[0].ValidFrom.Add(time.Minute)
		if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, twice); err == nil {
			t.Error("a second open relationship of the same meaning was taken")
		}
	})
}

func TestSpend_KeepsADaysAllowance(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		host := storetest.KeyOf("host")
		granted := 0
		for range 5 {
			ok, err := s.Spend(t.Context(), host, "2026-11-30", 3)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				granted++
			}
		}
		if granted != 3 {
			t.Errorf("%d of an allowance of 3", granted)
		}
		if err := s.SaveHostProbe(t.Context(), host, models.HostProbe{At: time.Now(), Status: 404}); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Spent(t.Context(), host, "2026-11-30"); err != nil || n != 3 {
			t.Errorf("spent %d, %v", n, err)
		}
		if ok, err := s.Spend(t.Context(), host, "2026-12-01", 3); err != nil || !ok {
			t.Errorf("the next day: %v, %v", ok, err)
		}
	})
}

func TestAddWatches_KnowsTargetsThatBecomeListed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		target := "https://example.com/b/"
		look := looked("https://example.com/a/")
		look.Head.Target, look.Head.TargetKey, look.Head.Edge, look.Head.EdgeKey = target, storetest.KeyOf(target), target, storetest.KeyOf(target)
		if err := s.SaveLook(t.Context(), f.Lease, f.Site.ID, look); err != nil {
			t.Fatal(err)
		}
		if one(t, s, f.Site.ID, storetest.KeyOf(target)).Head.Listed {
			t.Error("a target is taken for listed")
		}
		for range 2 {
			if err := s.AddWatches(t.Context(), f.Lease, f.Site.ID, []models.CanonicalWatch{{Key: storetest.KeyOf(target), URL: target, Listed: true, Class: models.LookFirst}}); err != nil {
				t.Fatal(err)
			}
		}
		if d := one(t, s, f.Site.ID, storetest.KeyOf(target)); !d.Head.Listed || d.Watch.Revision != 1 {
			t.Errorf("%+v", d)
		}
	})
}

// A purge leaves no row of the site in any table, and another site's rows as they were.
func TestPurge_LeavesNothingKnownOfPages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		other := storetest.NewSite(t, s, "other.example")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range []*storetest.Fixture{f, other} {
			look := looked("https://example.com/a/")
			look.EdgeMoved, look.SetCandidates = true, true
			look.Head.EdgeKey = storetest.KeyOf("https://example.com/b/")
			look.Observations = []models.CanonicalObservation{{ID: look.Watch.Key, Kind: "html_link", Current: true, Item: []byte(`{}`)}}
			look.Conflict = &models.CanonicalConflict{OpenedAt: look.Watch.LastLook, Kinds: "flapping", Body: []byte(`{}`)}
			look.Candidates = []models.CanonicalCandidate{{Target: look.Watch.Key, ValidFrom: look.Watch.LastLook, Body: []byte(`{}`)}}
			look.Negative = &models.CanonicalNegative{From: look.Watch.LastLook, Seen: look.Watch.LastLook, Status: "unknown"}
			look.Findings = []models.PageFinding{{ID: "x", Key: look.Watch.Key, Code: "x", Page: look.Watch.URL, Body: []byte(`{}`)}}
			must(s.SaveLook(t.Context(), x.Lease, x.Site.ID, look))
			must(s.SettleEdges(t.Context(), x.Site.ID, nil, nil, nil, []models.Key{look.Watch.Key}))
			must(s.MuteFinding(t.Context(), x.Site.ID, models.Mute{Code: "x"}))
			must(s.SaveIncident(t.Context(), x.Site.ID, models.Incident{What: "x", Examples: []byte(`[]`)}))
			must(s.SaveWatchedUpTo(t.Context(), x.Lease, x.Site.ID, 1, 1))
			must(s.SaveGraphAudit(t.Context(), x.Lease, x.Site.ID, &models.GraphAudit{At: look.Watch.LastLook}, nil))
		}
		rows := func(site int64) map[string]int64 {
			out := map[string]int64{}
			for _, row := range store.Rows() {
				if name := row.TableName(); strings.HasPrefix(name, "canonical_") && name != "canonical_hosts" {
					var n int64
					must(s.DB().Raw("SELECT COUNT(*) FROM "+name+" WHERE site_id = ?", site).Scan(&n).Error)
					out[name] = n
				}
			}
			return out
		}
		before := rows(f.Site.ID)
		for name, n := range before {
			if n == 0 {
				t.Errorf("the test writes no row of %s", name)
			}
		}
		must(s.RemoveSite(t.Context(), f.Site.ID))
		must(s.PurgeSite(t.Context(), f.Site.ID))
		for name, n := range rows(f.Site.ID) {
			if n != 0 {
				t.Errorf("%d rows of %s are left", n, name)
			}
		}
		if diff := cmp.Diff(before, rows(other.Site.ID)); diff != "" {
			t.Errorf("rows of the other site (-before +after):\n%s", diff)
		}
	})
}
