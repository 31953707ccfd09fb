package handlers

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
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

// allowance is what a caller may still ask for.
type allowance struct {
	wait      time.Duration // before the next request; 0: this one is let through
	bounded   bool          // false for people at this machine
	remaining int           // requests that may follow at once
	full      time.Duration // until as many are allowed at once as ever
}

// take counts one request and says what is left.
func (l *limiter) take(who *principal, address string) allowance {
	if who != nil && who.Kind == "local" {
		return allowance{}
	}
	name := caller(who, address)
	a := allowance{bounded: true, wait: l.takeNamed(name, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.buckets[name]; b != nil {
		left := b.limiter.TokensAt(l.now())
		a.remaining = max(0, int(left))
		a.full = time.Duration((float64(l.burst) - left) / float64(l.each) * float64(time.Second))
	}
	return a
}

// tell says in an answer's header what is left, by the names of the IETF's draft (httpapi-ratelimit-headers) that clients know: the limit is what is
// allowed at once, and Reset the seconds until it is whole again.
func (l *limiter) tell(h http.Header, a allowance) {
	if !a.bounded {
		return
	}
	h.Set("RateLimit-Limit", strconv.Itoa(l.burst))
	h.Set("RateLimit-Remaining", strconv.Itoa(a.remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(max(0, a.full.Seconds())))))
	h.Set("RateLimit-Policy", strconv.Itoa(int(math.Round(float64(l.each)*60)))+";w=60;burst="+strconv.Itoa(l.burst))
}

// limitHeaders describe them in the API's document, for every answer that has them.
var limitHeaders = map[string]string{
	"RateLimit-Limit": "Requests that are allowed at once.", "RateLimit-Remaining": "Requests that are still allowed at once.",
	"RateLimit-Reset": "Seconds until as many are allowed at once as ever.", "RateLimit-Policy": "Requests a window of w seconds, and how many of them at once (burst).",
}

// describeLimits adds the headers to every answer of the document. Requests of people at this machine are not limited and have none.
func describeLimits(doc *huma.OpenAPI) {
	if doc.Components.Headers == nil {
		doc.Components.Headers = map[string]*huma.Header{}
	}
	for name, text := range limitHeaders {
		kind := huma.TypeInteger
		if name == "RateLimit-Policy" {
			kind = huma.TypeString
		}
		doc.Components.Headers[name] = &huma.Header{Description: text, Schema: &huma.Schema{Type: kind}}
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Patch, path.Put, path.Delete} {
			if op == nil || len(op.Security) == 0 {
				continue
			}
			for _, answer := range op.Responses {
				if answer.Headers == nil {
					answer.Headers = map[string]*huma.Header{}
				}
				for name := range limitHeaders {
					answer.Headers[name] = &huma.Header{Ref: "#/components/headers/" + name}
				}
			}
		}
	}
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
