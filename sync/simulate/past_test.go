package simulate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/sitemapd/sitemapd/models"
)

// past is what the simulation remembers: what readers saw at each run, and what the engine saw on the way.
type past struct {
	mu       sync.Mutex
	editing  sync.Mutex
	torn     []torn
	hooked   bool
	named    map[string]bool     // pages that hooks said are gone
	renamed  map[string]renaming // pages that hooks said have another URL
	triggers int
	ruled    map[string]bool         // pages on whose removal a person ruled since the last run
	folded   map[string]models.State // what somebody has who follows the change feed

	moments []*snapshot // one for each run that became visible, oldest first
	feed    []string    // all lines of the change feed as they were read after each run
	hidden  []int64     // runs that failed
}

// renaming is where a hook said that a page is now, and the number of its message.
type renaming struct {
	to      string
	trigger int
}

// movedTo tells whether messages say that a page is at another address now: one message, or one that goes on from where an
// earlier one ended ("a is b now", then "b is c now").
func (p *past) movedTo(url, to string) bool {
	last := -1
	for range len(p.renamed) {
		next, ok := p.renamed[url]
		if !ok || next.trigger < last {
			return false
		}
		if next.to == to {
			return true
		}
		url, last = next.to, next.trigger
	}
	return false
}

// snapshot is a site as readers see it at one run.
type snapshot struct {
	run      int64
	pages    map[string]*models.Page
	lines    map[string]string // the same as text, less what later runs may add
	cases    map[string]models.Removal
	shifted  map[string]int64 // documents whose every lastmod moved in this run, by URL, in microseconds
	complete bool             // the run was a full one, and the oracle read every document
	twice    bool             // ... in both of its walks
	walks    []walk
}

func (p *past) begin() {
	p.named, p.renamed = map[string]bool{}, map[string]renaming{}
	p.ruled, p.folded = map[string]bool{}, map[string]models.State{}
	p.moments = []*snapshot{{pages: map[string]*models.Page{}, lines: map[string]string{}}}
}

func (p *past) last() *snapshot { return p.moments[len(p.moments)-1] }

// read takes the picture of a run; the numbers of a page that later runs may add to are left out of its line.
func (x *world) read(run int64) (*snapshot, error) {
	s := &snapshot{run: run, pages: map[string]*models.Page{}, lines: map[string]string{}, cases: map[string]models.Removal{}, shifted: map[string]int64{}}
	if run == 0 {
		return s, nil
	}
	err := x.store.Pages(x.ctx, x.site.ID, models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: run}}, func(p *models.Page) error {
		if s.pages[p.URL] != nil {
			return fmt.Errorf("%s is given twice: %s and %s", p.URL, s.pages[p.URL].State, p.State)
		}
		s.pages[p.URL] = p
		line, err := line(p)
		s.lines[p.URL] = line
		return err
	})
	return s, err
}

func line(p *models.Page) (string, error) {
	shown := *p
	shown.ToRun, shown.Listings = nil, nil
	text, err := json.Marshal(shown)
	return string(text), err
}

// same compares two pictures of one run.
func same(before, after *snapshot) error {
	for url, text := range before.lines {
		if after.lines[url] != text {
			return fmt.Errorf("as of run %d %s was\n%s\nand is now\n%s", before.run, url, text, after.lines[url])
		}
	}
	for url := range after.lines {
		if before.lines[url] == "" {
			return fmt.Errorf("as of run %d %s was not there, and now it is: %s", before.run, url, after.lines[url])
		}
	}
	return nil
}

// remembered reads a past run again: it must be as it was recorded.
func (x *world) remembered(s *snapshot) error {
	again, err := x.read(s.run)
	if err != nil {
		return fmt.Errorf("read as of run %d: %w", s.run, err)
	}
	return same(s, again)
}

// ruled takes the newest picture anew after a person decided, and checks that nothing else moved.
func (x *world) ruled(keys []models.Key, approve bool) error {
	before := x.past.last()
	after, err := x.read(before.run)
	if err != nil {
		return err
	}
	for url, text := range before.lines {
		c, undecided := before.cases[url]
		ruled := c.Stage == models.StageApproved || c.Stage == models.StageRejected
		decided := undecided && (slices.Contains(keys, c.Key) || keys == nil && (!approve || !ruled))
		now := after.pages[url]
		if decided {
			x.past.ruled[url] = true
		}
		switch {
		case now == nil:
			return fmt.Errorf("a ruling lost %s", url)
		case !decided && after.lines[url] != text:
			return fmt.Errorf("a ruling on other pages changed %s from\n%s\nto\n%s", url, text, after.lines[url])
		case decided && approve && c.Stage != models.StageLeftWindow && now.State != models.StatePending && now.State != models.StateHeld:
			return fmt.Errorf("an approved removal of %s is %s", url, now.State)
		case decided && !approve && now.State != models.StateLive && now.State != models.StateStale:
			return fmt.Errorf("a rejected removal of %s is %s", url, now.State)
		}
	}
	if len(after.lines) != len(before.lines) {
		return fmt.Errorf("a ruling changed the number of pages from %d to %d", len(before.lines), len(after.lines))
	}
	before.pages, before.lines = after.pages, after.lines
	if err := x.readRulings(before); err != nil {
		return err
	}
	for url, p := range before.pages { // a case that a run which died had decided is not among the store's open ones
		if c, undecided := before.cases[url]; undecided && x.past.ruled[url] && p.Removal != nil {
			c.Stage = p.Removal.Stage
			before.cases[url] = c
		}
	}
	return nil
}

// readRulings takes anew what a person ruled on. Other cases are those of the picture still: what the store has of them
// may be what a run left that failed behind it.
func (x *world) readRulings(s *snapshot) error {
	was := s.cases
	if err := x.readCases(s); err != nil {
		return err
	}
	for url, c := range s.cases {
		if old, known := was[url]; c.Stage != models.StageApproved && c.Stage != models.StageRejected {
			if delete(s.cases, url); known {
				s.cases[url] = old
			}
		}
	}
	for url, old := range was {
		if _, there := s.cases[url]; !there {
			s.cases[url] = old
		}
	}
	return nil
}

func (x *world) readCases(s *snapshot) error {
	open, err := x.store.Removals(x.ctx, x.site.ID)
	if err != nil {
		return err
	}
	s.cases = map[string]models.Removal{}
	for _, c := range open {
		s.cases[c.URL] = c
	}
	return nil
}
