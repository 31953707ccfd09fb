package fetch

import (
	"context"
	"sync"
	"time"
)

// Pacing of one host. Documents share up to PerHost slots: the number halves
// when the host says 429 or 5xx or fails, drops by one when it is slow, and
// grows by one after a row of good answers. Pages have a lane of their own, one
// at a time with a pause; 429 and 503 double the pause for a day.
const (
	slowDay       = 24 * time.Hour
	maxSlowFactor = 16
	maxCrawlDelay = 60 * time.Second
	silentPause   = 5 * time.Second // after a page that gave no answer, doubled for each further one in a row
	idleHost      = time.Hour       // after which a host without slow mark is forgotten
	manyHosts     = 4096            // from which forgetting is tried
)

type limiter struct {
	opt   Options
	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	limit   int // documents allowed at once
	active  int
	good    int // good answers in a row
	waiting []chan struct{}
	resume  time.Time // no document starts before

	page       chan struct{} // capacity 1: the page lane
	nextPage   time.Time
	slowFactor int
	slowUntil  time.Time
	silent     int // pages in a row that gave no answer

	users int // calls that hold or wait for anything here
	last  time.Time
}

func newLimiter(o Options) *limiter {
	return &limiter{opt: o, hosts: map[string]*host{}}
}

// enter waits for a slot and returns its release, to be called once.
func (l *limiter) enter(ctx context.Context, key string, kind Kind) (func(), error) {
	h := l.host(key)
	var err error
	if kind == Page {
		err = l.enterPage(ctx, h)
	} else {
		err = l.enterDocument(ctx, h)
	}
	if err != nil {
		l.mu.Lock()
		h.users--
		l.mu.Unlock()
		return nil, err
	}
	return func() { l.leave(h, kind) }, nil
}

func (l *limiter) host(key string) *host {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[key]
	if h == nil {
		if len(l.hosts) >= manyHosts {
			l.forget()
		}
		h = &host{limit: l.opt.PerHost, page: make(chan struct{}, 1), slowFactor: 1}
		l.hosts[key] = h
	}
	h.users++
	h.last = l.opt.Now()
	return h
}

func (l *limiter) forget() {
	now := l.opt.Now()
	for key, h := range l.hosts {
		if h.users == 0 && now.Sub(h.last) > idleHost && now.After(h.slowUntil) {
			delete(l.hosts, key)
		}
	}
}

func (l *limiter) enterDocument(ctx context.Context, h *host) error {
	l.mu.Lock()
	if h.active < h.limit && len(h.waiting) == 0 {
		h.active++
		l.mu.Unlock()
	} else {
		turn := make(chan struct{})
		h.waiting = append(h.waiting, turn)
		l.mu.Unlock()
		select {
		case <-turn: // active was raised by whoever gave the turn
		case <-ctx.Done():
			l.abandon(h, turn)
			return ctx.Err()
		}
	}
	l.mu.Lock()
	pause := h.resume.Sub(l.opt.Now())
	l.mu.Unlock()
	if pause > 0 {
		if err := l.opt.Sleep(ctx, pause); err != nil {
			l.mu.Lock()
			h.active--
			h.wake()
			l.mu.Unlock()
			return err
		}
	}
	return nil
}

// abandon takes a waiter out of the row, or hands on the turn it just got.
func (l *limiter) abandon(h *host, turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range h.waiting {
		if w == turn {
			h.waiting = append(h.waiting[:i], h.waiting[i+1:]...)
			return
		}
	}
	h.active--
	h.wake()
}

// wake gives free slots to the longest waiting; the mutex is held.
func (h *host) wake() {
	for h.active < h.limit && len(h.waiting) > 0 {
		h.active++
		close(h.waiting[0])
		h.waiting = h.waiting[1:]
	}
}

func (l *limiter) enterPage(ctx context.Context, h *host) error {
	select {
	case h.page <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	pause := h.nextPage.Sub(l.opt.Now())
	l.mu.Unlock()
	if pause > 0 {
		if err := l.opt.Sleep(ctx, pause); err != nil {
			<-h.page
			return err
		}
	}
	return nil
}

func (l *limiter) leave(h *host, kind Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.users--
	h.last = l.opt.Now()
	if kind == Page {
		// The pause begins when the page has been read, and was at least begun
		// by report: a slow reader makes it longer, never shorter.
		if next := h.last.Add(l.pagePause(h, 0, 0)); next.After(h.nextPage) {
			h.nextPage = next
		}
		<-h.page
		return
	}
	h.active--
	h.wake()
}

// pagePause is the pause after a page. Twice the time until a timeout of ours says nothing of the host's load: one page that
// hangs keeps its host's others waiting for silentPause, a host that hangs gets twice as long with each page, up to that.
func (l *limiter) pagePause(h *host, response, crawlDelay time.Duration) time.Duration {
	if l.opt.PageDelay < 0 {
		return 0
	}
	silence := time.Duration(0)
	if h.silent > 0 {
		silence, response = min(2*response, silentPause<<min(h.silent-1, 8)), 0
	}
	pause := max(l.opt.PageDelay, 2*response, min(crawlDelay, maxCrawlDelay))
	if l.opt.Now().Before(h.slowUntil) {
		pause *= time.Duration(h.slowFactor)
	}
	return max(pause, silence)
}

// report tells the limiter how the host answered: latency is the time to the
// response header, or until there was none.
func (l *limiter) report(key string, j *job, r *Result, latency time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[key]
	if h == nil {
		return
	}
	now := l.opt.Now()
	if r.Status == 429 || r.Status == 503 {
		if now.After(h.slowUntil) {
			h.slowFactor = 1
		}
		h.slowFactor = min(2*h.slowFactor, maxSlowFactor)
		h.slowUntil = now.Add(slowDay)
	}
	if j.Kind == Page {
		if h.silent++; r.Status > 0 {
			h.silent = 0
		}
		h.nextPage = now.Add(l.pagePause(h, latency, j.CrawlDelay))
		return
	}
	switch {
	case r.Status == 429 || r.Status >= 500 || r.Outcome == Timeout || r.Outcome == Refused || r.Outcome == Protocol:
		h.limit, h.good = max(1, h.limit/2), 0
		if pause := min(r.RetryAfter, l.opt.MaxRetryAfter); pause > 0 && now.Add(pause).After(h.resume) {
			h.resume = now.Add(pause)
		}
	case latency > l.opt.SlowAfter:
		h.limit, h.good = max(1, h.limit-1), 0
	case r.Status > 0:
		if h.good++; h.good >= 2*h.limit && h.limit < l.opt.PerHost {
			h.limit, h.good = h.limit+1, 0
			h.wake()
		}
	}
}
