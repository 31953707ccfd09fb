package simulate_test

import (
	"fmt"

	"github.com/sitemapd/sitemapd/models"
)

// differences holds the comparison of two moments against the pictures that were taken at them.
func (x *world) differences(a, b *snapshot) error {
	want := map[saying]bool{}
	taken := map[string]bool{} // by pages that the whole site's move brought there: they tell of it
	for url, p := range b.pages {
		if old := a.pages[url]; old != nil && old.State != models.StateRemoved && p.State == models.StateRemoved && p.Reason == "the whole site moved" {
			for to := p; to != nil && to.State == models.StateRemoved && to.Reason == "the whole site moved" && !taken[to.MovedTo]; to = b.pages[to.MovedTo] {
				taken[to.MovedTo] = true
			}
		}
	}
	for url, p := range b.pages {
		old := a.pages[url]
		was := old != nil && old.State != models.StateRemoved
		switch {
		case p.State == models.StateRemoved && was && p.MovedTo != "":
			want[saying{models.KindMoved, url}] = true
		case p.State == models.StateRemoved && was:
			want[saying{models.KindRemoved, url}] = true
		case p.State == models.StateRemoved:
		case !was && taken[url]:
		case !was:
			want[saying{models.KindAdded, url}] = true
		default:
			if said(old) != said(p) {
				want[saying{models.KindChanged, url}] = true
			}
			if old.State != p.State {
				kinds := map[models.State]string{models.StateLive: models.KindFresh, models.StateStale: models.KindStale,
					models.StatePending: models.KindPending, models.StateHeld: models.KindHeld}
				want[saying{kinds[p.State], url}] = true
			}
		}
	}
	got := map[saying]bool{}
	err := x.store.Diff(x.ctx, x.site.ID, models.DiffFilter{From: models.AsOf{Run: a.run}, To: models.AsOf{Run: b.run}}, func(c *models.Change) error {
		s := saying{c.Kind, c.URL}
		switch {
		case got[s]:
			return fmt.Errorf("%s is said twice of %s", c.Kind, c.URL)
		case !want[s]:
			return fmt.Errorf("it says %s, but the page was\n%s\nand is\n%s", text(*c), a.lines[c.URL], b.lines[c.URL])
		}
		got[s] = true
		return nil
	})
	if err != nil {
		return err
	}
	for s := range want {
		if !got[s] {
			return fmt.Errorf("it does not say %s of %s, which was\n%s\nand is\n%s", s.kind, s.url, a.lines[s.url], b.lines[s.url])
		}
	}
	return nil
}

// compared compares a dozen pairs of moments.
func (x *world) compared() error {
	m := x.past.moments[1:] // without the one before the first run
	for i := range min(12, len(m)) {
		if !x.sometimes(6) {
			continue
		}
		a, b := m[i*5%len(m)], m[i*11%len(m)]
		if a.run > b.run {
			a, b = b, a
		}
		if err := x.differences(a, b); err != nil {
			return fmt.Errorf("difference of runs %d and %d: %w", a.run, b.run, err)
		}
	}
	return nil
}
