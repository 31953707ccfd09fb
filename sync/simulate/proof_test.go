package simulate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

func imagesOf(p *models.Page) string {
	var images []struct {
		Loc string `json:"loc"`
	}
	if len(p.Images) > 0 && json.Unmarshal(p.Images, &images) != nil {
		return string(p.Images)
	}
	out := make([]string, 0, len(images))
	for _, i := range images {
		out = append(out, i.Loc)
	}
	return strings.Join(out, " ")
}

// proof checks that every page that ended in this run ended for a reason that the oracle saw too.
func (x *world) proof(before, now *snapshot, record models.Run) error {
	var keys []models.Key
	for url, p := range now.pages {
		if p.State == models.StateRemoved && before.pages[url] != nil && before.pages[url].State != models.StateRemoved {
			keys = append(keys, p.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	cases, err := x.store.Removed(x.ctx, x.site.ID, keys)
	if err != nil {
		return err
	}
	if len(cases) != len(keys) {
		return fmt.Errorf("%d pages ended, but there are %d cases", len(keys), len(cases))
	}
	for _, c := range cases {
		x.tally.add("ended: "+c.Stage, 1)
		if err := x.proven(now, record, c); err != nil {
			return fmt.Errorf("%s ended (%s: %s): %w", c.URL, c.Stage, c.Reason, err)
		}
	}
	return nil
}

func (x *world) proven(now *snapshot, record models.Run, c models.Removal) error {
	w := &now.walks[len(now.walks)-1]
	if w.surely(c.URL) {
		return fmt.Errorf("this run's walk lists it")
	}
	if !now.complete && !(record.Targeted && x.past.named[c.URL]) {
		return fmt.Errorf("this run's walk was not complete")
	}
	if c.Reason == "" {
		return fmt.Errorf("it has no reason")
	}
	asked := slices.IndexFunc(w.asked, func(l look) bool { return l.url == c.URL })
	switch c.Stage {
	case models.StageMigrated:
		from := strings.Replace(c.URL, foreignHome+"/", x.origin.URL()+"/", 1) // a window that was first read as another host's came home
		if !w.listed(c.MovedTo) || strings.TrimPrefix(c.MovedTo, "https") != strings.TrimPrefix(strings.Replace(from, "http://", "https://", 1), "https") &&
			strings.TrimPrefix(c.MovedTo, "http") != strings.TrimPrefix(strings.Replace(from, "https://", "http://", 1), "http") {
			return fmt.Errorf("it cannot have migrated to %s", c.MovedTo)
		}
		return nil
	case models.StageMoved:
		if x.past.movedTo(c.URL, c.MovedTo) && w.listed(c.MovedTo) {
			return nil
		}
		if asked < 0 || w.asked[asked].hops == 0 || w.asked[asked].final != c.MovedTo || !w.listed(c.MovedTo) {
			return fmt.Errorf("it does not redirect to %s, or that is not listed", c.MovedTo)
		}
		return nil
	}
	if x.past.named[c.URL] {
		return nil
	}
	if asked >= 0 && w.asked[asked].status == 410 {
		x.tally.add("ended: its own 410", 1)
		return nil
	}
	if asked >= 0 && w.asked[asked].status == 404 && now.finds(w.asked[asked+1:]) {
		x.tally.add("ended: its own 404", 1)
		return nil
	}
	if c.FromRun == now.run {
		if first := len(now.walks) - 2; first < 0 || !now.twice || now.walks[first].surely(c.URL) {
			return fmt.Errorf("only one complete walk missed it")
		}
		return nil
	}
	for i := range now.walks {
		if now.walks[i].complete && now.walks[i].surely(c.URL) {
			return fmt.Errorf("walk %d of this run lists it", i+1)
		}
	}
	if len(c.Evidence) == 0 {
		return fmt.Errorf("it has no evidence")
	}
	for _, s := range x.past.moments {
		if s.run > c.FromRun && s.complete && s.walks[len(s.walks)-1].surely(c.URL) {
			return fmt.Errorf("run %d listed it in between", s.run)
		}
	}
	for _, s := range x.past.moments {
		if s.run == c.FromRun && s.complete && !s.walks[len(s.walks)-1].surely(c.URL) {
			return nil
		}
	}
	return fmt.Errorf("run %d, which missed it first, was not complete or saw it", c.FromRun)
}

// finds tells whether a page that is listed after the run was found by one of some looks: a server that answers 404 to
// everything says nothing of a page.
func (s *snapshot) finds(looks []look) bool {
	return slices.ContainsFunc(looks, func(l look) bool {
		return l.status >= 200 && l.status < 300 && l.hops == 0 && s.pages[l.url] != nil && s.pages[l.url].State == models.StateLive
	})
}
