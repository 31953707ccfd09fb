package simulate_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func text(c models.Change) string {
	out, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func (x *world) lines(filter models.ChangeFilter) ([]models.Change, error) {
	var out []models.Change
	err := x.store.Changes(x.ctx, x.site.ID, filter, func(c *models.Change) error {
		out = append(out, *c)
		return nil
	})
	return out, err
}

// saying is one kind of line about one page.
type saying struct{ kind, url string }

// changes holds the feed of a run against the difference of the pictures before and after it.
func (x *world) changes(before, now *snapshot, feed []models.Change) error {
	must, may := map[saying]bool{}, map[saying]bool{}
	migrated := map[string]bool{}
	for url, p := range now.pages {
		if old := before.pages[url]; p.MovedTo != "" && (old == nil || old.State != models.StateRemoved) {
			migrated[p.MovedTo] = true
		}
	}
	for url, p := range now.pages {
		x.expect(must, may, before, now, url, p, migrated[url])
	}
	given := map[saying]bool{}
	for _, c := range feed {
		s := saying{c.Kind, c.URL}
		if given[s] {
			return fmt.Errorf("%s is said twice of %s", c.Kind, c.URL)
		}
		given[s] = true
		if !must[s] && !may[s] {
			return fmt.Errorf("the feed says %s, but the page was\n%s\nand is\n%s", text(c), before.lines[c.URL], now.lines[c.URL])
		}
		if c.Kind == models.KindChanged && len(c.Fields) == 0 {
			return fmt.Errorf("the feed says %s and no field", text(c))
		}
	}
	for s := range must {
		if !given[s] {
			return fmt.Errorf("the feed does not say %s of %s, which was\n%s\nand is\n%s", s.kind, s.url, before.lines[s.url], now.lines[s.url])
		}
	}
	clear(x.past.ruled)
	return x.followed(now, feed)
}

// followed keeps what a consumer has who knows nothing but the feed, and holds it against the inventory.
func (x *world) followed(now *snapshot, feed []models.Change) error {
	kinds := map[string]models.State{models.KindAdded: models.StateLive, models.KindRestored: models.StateLive, models.KindFresh: models.StateLive,
		models.KindStale: models.StateStale, models.KindPending: models.StatePending, models.KindHeld: models.StateHeld, models.KindRemoved: models.StateRemoved}
	for _, c := range feed {
		if state, ok := kinds[c.Kind]; ok {
			x.past.folded[c.URL] = state
		}
		if c.Kind == models.KindMoved {
			x.past.folded[c.URL] = models.StateRemoved
			if to, _ := c.Fields[0].New.(string); x.past.folded[to] == "" || x.past.folded[to] == models.StateRemoved {
				x.past.folded[to] = models.StateLive
			}
		}
	}
	for url, p := range now.pages {
		if got := x.past.folded[url]; got != p.State {
			return fmt.Errorf("who follows the feed has %q for a page that is\n%s", got, now.lines[url])
		}
	}
	return nil
}

func (x *world) expect(must, may map[saying]bool, before, now *snapshot, url string, p *models.Page, migrated bool) {
	old := before.pages[url]
	is := func(kind string) { must[saying{kind, url}] = true }
	could := func(kind string) { may[saying{kind, url}] = true }
	was, has := "", now.cases[url].Stage
	if c := before.cases[url]; c.FromRun <= before.run { // not one that a run which died had begun
		was = c.Stage
	}
	if listed(p.State) && (old == nil || old.State == models.StateRemoved || x.past.ruled[url]) {
		could(models.KindStale) // in a document that was read in part
	}
	if x.past.ruled[url] {
		could(models.KindFresh)
		could(models.KindPending)
	}
	if old != nil && old.State != models.StateRemoved && p.State != models.StateRemoved && said(old) != said(p) && !shifted(old, p, now) {
		is(models.KindChanged)
	}
	switch {
	case old == nil:
		if could(models.KindAdded); !migrated {
			is(models.KindAdded)
		}
	case old.State == models.StateRemoved && listed(p.State):
		is(models.KindRestored)
	case old.State == models.StateRemoved || old.State == p.State && was == has:
	case p.State == models.StateRemoved && p.MovedTo != "":
		is(models.KindMoved)
	case p.State == models.StateRemoved:
		is(models.KindRemoved)
	case p.State == models.StatePending:
		is(models.KindPending)
	case p.State == models.StateHeld:
		is(models.KindHeld)
	case was != has && has == models.StageLeftWindow:
		is(models.KindStale)
	case was != has && was == models.StageLeftWindow && p.State == models.StateLive:
		is(models.KindFresh)
	case was == models.StageLeftWindow || has == models.StageLeftWindow: // nothing new
	case undecided(old.State):
		if is(models.KindRestored); p.State == models.StateStale {
			could(models.KindStale)
		}
	case old.State == models.StateLive && p.State == models.StateStale:
		if could(models.KindStale); p.FromRun < now.run && p.Document == old.Document {
			is(models.KindStale)
		}
	case old.State == models.StateStale && p.State == models.StateLive:
		if could(models.KindFresh); p.FromRun < now.run && p.Document == old.Document {
			is(models.KindFresh)
		}
	}
}

// shifted tells whether two pictures of a page differ in a lastmod alone that its whole document's shift explains.
func shifted(old, p *models.Page, now *snapshot) bool {
	by := now.shifted[p.Document]
	return by != 0 && old.Document == p.Document && old.Lastmod != nil && p.Lastmod != nil && imagesOf(old) == imagesOf(p) &&
		p.Lastmod.Instant.Sub(old.Lastmod.Instant) == time.Duration(by)*time.Microsecond
}

// counts holds the numbers of a run against the feed and the inventory.
func (x *world) counts(now *snapshot, record models.Run, site models.Site, feed []models.Change) error {
	kinds, states := map[string]int64{}, map[models.State]int64{}
	for _, c := range feed {
		kinds[c.Kind]++
	}
	for _, p := range now.pages {
		states[p.State]++
	}
	c := record.Counts
	moved := c.Moved
	if moved > 0 || kinds[models.KindMoved] > 0 || x.sometimes(3) {
		shifts, err := x.lines(models.ChangeFilter{Run: now.run, Shifts: true, Kinds: []string{models.KindMoved}})
		if err != nil {
			return err
		}
		moved = int64(len(shifts))
	}
	for _, n := range []struct {
		what      string
		got, want int64
	}{
		{"live", c.Live, states[models.StateLive] + states[models.StateStale]}, {"the site's live", site.Live, c.Live},
		{"added", c.Added, kinds[models.KindAdded]}, {"removed", c.Removed, kinds[models.KindRemoved]},
		{"changed", c.Changed, kinds[models.KindChanged]}, {"restored", c.Restored, kinds[models.KindRestored]},
		{"moved", c.Moved, moved},
		{"pending", c.Pending, states[models.StatePending]}, {"held", c.Held, states[models.StateHeld]}, {"stale", c.Stale, states[models.StateStale]},
	} {
		if n.got != n.want {
			for url, p := range now.pages {
				x.trace("    %s %s in %s since %d: %s", p.State, url, p.Document, p.FromRun, p.Reason)
			}
			return fmt.Errorf("%s is %d, and should be %d", n.what, n.got, n.want)
		}
	}
	for state, n := range states {
		if !x.sometimes(3) {
			continue
		}
		counted, err := x.store.CountPages(x.ctx, x.site.ID, models.PageFilter{State: state})
		if err != nil {
			return err
		}
		if counted != n {
			return fmt.Errorf("%d pages are %s, but %d are counted", n, state, counted)
		}
	}
	return nil
}
