package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// sortFixture is a site with pages of every state, whose lastmods, priorities and runs cross their addresses.
func sortFixture(t *testing.T, s *store.Store) *Fixture {
	f := lists(t, s)
	rng := rand.New(rand.NewPCG(1, 2))
	run := f.Begin()
	var rows []models.Declaration
	for i := range 40 {
		d := Page(fmt.Sprintf("https://example.com/sorted/%d", rng.IntN(1_000_000)), "")
		d.Lastmod, d.Priority = nil, nil
		if at := time.Date(2026, 1, 1+rng.IntN(5), 0, 0, 0, rng.IntN(2)*1000, time.UTC); i%4 > 0 {
			d.Lastmod = &models.Lastmod{Raw: at.Format(time.RFC3339Nano), Instant: at, Precision: models.PrecisionFraction, Zone: true}
		}
		if priority := float64(rng.IntN(4)) / 10; i%3 > 0 {
			d.Priority = &priority
		}
		rows = append(rows, d)
	}
	f.SaveDocument(run, 9, models.VerdictComplete)
	f.Stage(run, 9, nil, rows)
	f.Finish(run)
	run = f.Begin() // some of them change, some go
	f.SaveDocument(run, 9, models.VerdictComplete)
	changed := rows[:6]
	for i := range changed {
		changed[i].Fingerprint, changed[i].Changefreq, changed[i].FirstRun = models.Fingerprint{1}, "daily", run.ID-1
	}
	var keys []models.Key
	for i := range rows[:10] {
		keys = append(keys, rows[i].Key)
	}
	f.Stage(run, 9, keys, changed)
	for i := range rows[6:10] {
		gone := Case(run, 9, rows[6+i].URL, models.StageRemoved)
		gone.DecidedRun, gone.FirstRun = run.ID, run.ID-1
		f.SaveRemovals(run, gone)
	}
	f.Finish(run)
	return f
}

// before says how two pages stand by a column: what is not declared comes last, and with equal values the address decides.
func before(sort models.PageSort) func(a, b models.Page) int {
	direction := 1
	if sort.Descending {
		direction = -1
	}
	return func(a, b models.Page) int {
		order := 0
		switch sort.By {
		case models.SortLastmod:
			if known := (a.Lastmod != nil) != (b.Lastmod != nil); known {
				return map[bool]int{true: -1, false: 1}[a.Lastmod != nil]
			}
			if a.Lastmod != nil {
				order = a.Lastmod.Instant.Compare(b.Lastmod.Instant)
			}
		case models.SortPriority:
			if known := (a.Priority != nil) != (b.Priority != nil); known {
				return map[bool]int{true: -1, false: 1}[a.Priority != nil]
			}
			if a.Priority != nil {
				order = map[bool]int{true: 1}[*a.Priority > *b.Priority] - map[bool]int{true: 1}[*a.Priority < *b.Priority]
			}
		case models.SortFirstSeen:
			order = a.FirstSeen.Compare(b.FirstSeen)
		case models.SortChanged:
			order = int(a.FromRun - b.FromRun)
		}
		if order == 0 {
			order = strings.Compare(a.URL, b.URL)
		}
		return direction * order
	}
}

func sorted(t *testing.T, open func() *store.Store) {
	f := sortFixture(t, open())
	at := f.At(2)
	for name, filter := range map[string]models.PageFilter{
		"live": {}, "all": {State: models.StateAll}, "stale": {State: models.StateStale}, "held": {State: models.StateHeld}, "pending": {State: models.StatePending},
		"removed": {State: models.StateRemoved}, "contains": {State: models.StateAll, Contains: "sorted/4"}, "prefix": {Prefix: "https://example.com/sorted/"},
		"type": {State: models.StateAll, ObjectType: models.NoObjectType}, "stale of a type": {State: models.StateStale, ObjectType: "category"}, "no lastmod": {Lastmod: models.LastmodNone},
		"document": {Document: 9, State: models.StateAll}, "before": {State: models.StateAll, AsOf: models.AsOf{Run: 2}}, "first": {State: models.StateAll, FirstFrom: &at},
		"lastmod": {LastmodFrom: &time.Time{}}, "language": {State: models.StateAll, Language: "de-AT"}, "stale before": {State: models.StateStale, AsOf: models.AsOf{Run: 2}},
	} {
		all := f.Pages(filter)
		if len(all) == 0 && name != "lastmod" {
			t.Errorf("%s selects nothing", name)
		}
		for _, by := range models.PageSorts() {
			for _, descending := range []bool{false, true} {
				filter.Sort = models.PageSort{By: by, Descending: descending}
				want := slices.Clone(all)
				slices.SortStableFunc(want, before(filter.Sort))
				if diff := cmp.Diff(states(want), states(f.Pages(filter))); diff != "" {
					t.Errorf("%s by %s: (-want +got)\n%s", name, filter.Sort, diff)
				}
				turned := filter
				turned.Limit = 7
				if got, _ := unhurried(t, f, turned); cmp.Diff(states(want), got) != "" && len(want)+len(got) > 0 {
					t.Errorf("%s by %s in turns: %s", name, filter.Sort, cmp.Diff(states(want), got))
				}
			}
		}
	}
}

func states(pages []models.Page) []string {
	var out []string
	for _, p := range pages {
		out = append(out, string(p.State)+" "+p.URL)
	}
	return out
}

func sortedCursors(t *testing.T, open func() *store.Store) {
	f := sortFixture(t, open())
	filter := models.PageFilter{Sort: models.PageSort{By: models.SortLastmod, Descending: true}, Limit: 5}
	first := f.Pages(filter)
	whole := f.Pages(models.PageFilter{Sort: filter.Sort})
	cursor := first[4].Cursor

	// Another program, which has sorted nothing yet, goes on at the same place, and so does one whose positions differ.
	filter.After = cursor
	var other []models.Page
	f.must(open().Pages(t.Context(), f.Site.ID, filter, func(p *models.Page) error { other = append(other, *p); return nil }))
	same(t, "elsewhere", states(whole[5:10]), states(other))
	parts := strings.Split(cursor, ".")
	for _, position := range []string{"0", "17", "900000"} {
		parts[2] = position
		filter.After = strings.Join(parts, ".")
		same(t, "from position "+position, states(whole[5:10]), states(f.Pages(filter)))
	}

	var invalid *models.InvalidError
	unsorted := f.Pages(models.PageFilter{Limit: 1})[0].Cursor
	parts[4] = strings.Repeat("0", 32)
	for _, bad := range []models.PageFilter{
		{Sort: models.PageSort{By: "size"}}, {Sort: models.PageSort{By: models.SortURL}, After: cursor}, {After: cursor},
		{Sort: models.PageSort{By: models.SortLastmod}, After: cursor}, {Sort: filter.Sort, After: unsorted}, {Sort: filter.Sort, After: "s.-lastmod.x"},
		{Sort: filter.Sort, After: "s.-lastmod.-1.1." + strings.Repeat("0", 32)}, {Sort: filter.Sort, After: strings.Join(parts, ".")},
	} {
		err := f.Store.Pages(t.Context(), f.Site.ID, bad, func(*models.Page) error { return nil })
		if !errors.As(err, &invalid) {
			t.Errorf("sort %q after %q is refused as %v", bad.Sort, bad.After, err)
		}
	}

	// What a later run writes is sorted in; one that writes nothing changes nothing.
	f.Finish(f.Begin())
	same(t, "after a quiet run", states(whole), states(f.Pages(models.PageFilter{Sort: filter.Sort})))
	run := f.Begin()
	f.SaveDocument(run, 9, models.VerdictComplete)
	added := Page("https://example.com/sorted/newest", "")
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	added.Lastmod = &models.Lastmod{Raw: "2027-01-01", Instant: at, Precision: models.PrecisionDay}
	f.Stage(run, 9, nil, []models.Declaration{added})
	same(t, "while it writes", states(whole), states(f.Pages(models.PageFilter{Sort: filter.Sort})))
	f.Finish(run)
	same(t, "after it", append([]string{"live " + added.URL}, states(whole)...), states(f.Pages(models.PageFilter{Sort: filter.Sort})))
}
