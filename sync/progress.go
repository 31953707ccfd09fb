package syncer

import (
	"context"

	"github.com/sitemapd/sitemapd/models"
)

// Progress tells how far the site's latest run here came; false when none ran since the start.
func (e *Engine) Progress(site int64) (models.Progress, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.last[site]
	return p, ok
}

// Watch gives the progress of a site's runs until ctx ends. A slow reader misses steps, never the latest one.
func (e *Engine) Watch(ctx context.Context, site int64) <-chan models.Progress {
	ch := make(chan models.Progress, 1)
	e.mu.Lock()
	if e.watch[site] == nil {
		e.watch[site] = map[chan models.Progress]bool{}
	}
	e.watch[site][ch] = true
	if p, ok := e.last[site]; ok {
		ch <- p
	}
	e.mu.Unlock()
	context.AfterFunc(ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watch[site], ch)
		close(ch)
	})
	return ch
}

func (e *Engine) publish(p models.Progress) {
	e.mu.Lock()
	e.last[p.SiteID] = p
	for ch := range e.watch[p.SiteID] {
		select {
		case <-ch: // make room: the latest step replaces one that was not read
		default:
		}
		ch <- p
	}
	e.mu.Unlock()
	if e.o.Progress != nil {
		e.o.Progress(p)
	}
}
