package handlers

import (
	"context"
	"sync"
	"time"
)

// Bounds of counts that read a row for each page.
const (
	countingWait  = 80 * time.Millisecond // for the first answer, before a page is shown without it
	countingLimit = 2 * time.Minute
)

// counting keeps the last answer of each site to a question that reads every page, and finds the next one in the
// background, one at a time for a site. What is shown may be old; its moment is shown with it.
type counting[T any] struct {
	mu  sync.Mutex
	all map[int64]*count[T]
}

type count[T any] struct {
	at    time.Time // of the answer
	value *T
	ready chan struct{} // closed when the counting under way ends; nil when none is
}

// of gives the last answer, and starts a new counting when that is older than young. It waits a moment for the first one;
// without any, counting tells that one is on its way.
func (a *counting[T]) of(ctx context.Context, s *Server, site int64, young time.Duration, read func(context.Context) (T, error)) (value *T, at time.Time, counting bool) {
	c, ready := a.start(ctx, s, site, young, read)
	a.mu.Lock()
	value, at = c.value, c.at
	a.mu.Unlock()
	if value != nil || ready == nil {
		return value, at, ready != nil
	}
	wait := time.NewTimer(countingWait)
	defer wait.Stop()
	select {
	case <-ready:
	case <-wait.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return c.value, c.at, c.ready != nil
}

// start begins a counting unless the last answer is young or one is under way.
func (a *counting[T]) start(ctx context.Context, s *Server, site int64, young time.Duration, read func(context.Context) (T, error)) (*count[T], chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[int64]*count[T]{}
	}
	c := a.all[site]
	if c == nil {
		c = &count[T]{}
		a.all[site] = c
	}
	if c.ready == nil && (c.value == nil || s.deps.Now().UTC().Sub(c.at) > young) {
		c.ready = make(chan struct{})
		s.background.Add(1)
		go a.count(context.WithoutCancel(ctx), s, site, c, c.ready, read)
	}
	return c, c.ready
}

func (a *counting[T]) count(ctx context.Context, s *Server, site int64, c *count[T], ready chan struct{}, read func(context.Context) (T, error)) {
	defer s.background.Done()
	var value T
	err := context.Canceled
	if s.counting.take(site, s.draining) {
		value, err = a.answer(ctx, s, site, read)
		s.counting.give(site)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.ready = nil; err == nil {
		c.value, c.at = &value, s.deps.Now().UTC()
	}
	close(ready)
}

func (a *counting[T]) answer(ctx context.Context, s *Server, site int64, read func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, countingLimit)
	defer cancel()
	go func() {
		select {
		case <-s.draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	value, err := read(ctx)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "pages not counted", "site", site, "error", err)
	}
	return value, err
}

// slots let one counting of a site go on at a time: a screen that asks for several leaves a processor to itself.
type slots struct {
	mu  sync.Mutex
	all map[int64]chan struct{}
}

func (l *slots) of(site int64) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int64]chan struct{}{}
	}
	if l.all[site] == nil {
		l.all[site] = make(chan struct{}, 1)
	}
	return l.all[site]
}

// take waits for the site's turn; false: the server stops.
func (l *slots) take(site int64, stop <-chan struct{}) bool {
	select {
	case l.of(site) <- struct{}{}:
		return true
	case <-stop:
		return false
	}
}

func (l *slots) give(site int64) { <-l.of(site) }

// forget drops the answer of a site after a change that must be seen at once.
func (a *counting[T]) forget(site int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, site)
}
