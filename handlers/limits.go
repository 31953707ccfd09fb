package handlers

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiter bounds how often one token, user or address may ask the API. People at this machine are not bounded.
type limiter struct {
	mu      sync.Mutex
	now     func() time.Time
	each    rate.Limit
	burst   int
	buckets map[string]*bucket
}

type bucket struct {
	limiter *rate.Limiter
	used    time.Time
}

const maxBuckets = 10000

func newLimiter(perMinute int, now func() time.Time) *limiter {
	return &limiter{now: now, each: rate.Limit(float64(perMinute) / 60), burst: max(10, perMinute/4), buckets: map[string]*bucket{}}
}

// take counts one request and says how long to wait; 0 lets it through.
func (l *limiter) take(who *principal, address string) time.Duration {
	if who != nil && who.Kind == "local" {
		return 0
	}
	return l.takeNamed(caller(who, address), 1)
}

// caller names whose requests are counted together.
func caller(who *principal, address string) string {
	switch {
	case who == nil:
		return "address " + address
	case who.Kind == "token":
		return "token " + number(who.ID)
	}
	return who.Kind + " " + who.Name
}

func (l *limiter) takeNamed(name string, n int) time.Duration {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.buckets[name]
	if !ok {
		if len(l.buckets) >= maxBuckets {
			l.forget(now)
		}
		b = &bucket{limiter: rate.NewLimiter(l.each, l.burst)}
		l.buckets[name] = b
	}
	b.used = now
	reservation := b.limiter.ReserveN(now, n)
	if wait := reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
		return wait
	}
	return 0
}

// forget drops buckets that have filled up again; if a flood of addresses keeps all of them busy, all go.
func (l *limiter) forget(now time.Time) {
	for name, b := range l.buckets {
		if b.limiter.TokensAt(now) >= float64(l.burst) {
			delete(l.buckets, name)
		}
	}
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
