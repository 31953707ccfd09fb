package sitetest

import (
	"context"
	"math/rand/v2"
	"time"
)

// Publisher keeps editing a site the way an editorial office does: mostly new
// posts and edits, now and then a changed slug, something withdrawn, deleted or
// brought back.
type Publisher struct {
	Site  *Site
	Every time.Duration    // between edits: 3 s
	Tick  <-chan time.Time // instead of a ticker, for tests
	Seed  uint64           // the same seed on the same site makes the same edits
	// OnEvent is told each edit, after the site shows it.
	OnEvent func(Event)

	random *rand.Rand
	away   []uint32 // withdrawn, may come back
}

// Run edits until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	tick := p.Tick
	if tick == nil {
		every := p.Every
		if every <= 0 {
			every = 3 * time.Second
		}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			p.Step()
		}
	}
}

// Step makes one edit and returns it.
func (p *Publisher) Step() Event {
	if p.random == nil {
		p.random = rand.New(rand.NewPCG(p.Seed, 0x5eed))
	}
	e := p.step()
	if e.Type == "" { // nothing to edit there: an office always has something to say
		e = p.Site.Publish(Spec{})
	}
	if p.OnEvent != nil {
		p.OnEvent(e)
	}
	return e
}

func (p *Publisher) step() Event {
	ids := p.Site.PublishedPosts()
	draw := p.random.IntN(100)
	if len(ids) < 5 || draw < 45 {
		return p.Site.Publish(Spec{})
	}
	// Recent posts are edited more often than old ones.
	back := min(p.random.IntN(len(ids)), p.random.IntN(len(ids)))
	id := ids[len(ids)-1-back]
	switch {
	case draw < 70:
		return p.Site.Edit(id)
	case draw < 80:
		return p.Site.ChangeSlug(id, seededSlug(p.random.Uint64(), id)+"-renamed")
	case draw < 86:
		p.away = append(p.away, id)
		return p.Site.Unpublish(id)
	case draw < 92:
		p.away = append(p.away, id)
		return p.Site.Trash(id)
	case draw < 96 || len(p.away) == 0:
		return p.Site.Delete(id)
	}
	last := p.away[len(p.away)-1]
	p.away = p.away[:len(p.away)-1]
	return p.Site.Restore(last)
}
