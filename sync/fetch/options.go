package fetch

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/netip"
	"time"
)

// Options are the limits and manners of a Client. The zero value is usable:
// a zero field takes the default named beside it. Where "none" makes sense a
// negative value says so.
type Options struct {
	UserAgent string // "sitemapd"
	Contact   string // URL or address, appended to the User-Agent as "(+contact)"

	// AllowPrivate lists prefixes that may be reached although they are private
	// or reserved, on any port. Everything else of that kind is refused.
	AllowPrivate []netip.Prefix
	// Ports that may be reached on public addresses: 80 and 443. The port of
	// Request.Origin and Request.AllowPort are allowed beside them.
	Ports []uint16

	RootCAs  *x509.CertPool // nil: the system's
	Resolver *net.Resolver  // nil: the system's; what it answers is guarded alike

	MaxWire       int64         // bytes on the wire of one document: 64 MiB
	MaxPageWire   int64         // bytes on the wire of a page or robots.txt: 8 MiB
	MaxHeader     int64         // bytes of one response header: 64 KiB
	DialTimeout   time.Duration // one connection: 10 s
	HeaderTimeout time.Duration // from the request to its response header: 30 s
	FetchTimeout  time.Duration // one attempt on a document, redirects and body: 120 s
	PageTimeout   time.Duration // the same for a page or robots.txt: 20 s
	MinSpeed      int64         // bytes a second, measured over SpeedWindow: 1024; negative: none
	SpeedWindow   time.Duration // 20 s

	MaxRedirects     int // hops of a document: 5
	MaxPageRedirects int // hops of a page: 10

	// PerHost is the largest number of documents read from one host at once: 4.
	// The actual number adapts to the host's answers between 1 and PerHost.
	PerHost int
	// PageDelay is the shortest pause between two pages of one host: 1 s. The
	// pause grows to twice the last response time and to Request.CrawlDelay; after
	// a page without an answer to 5 s, doubled for each further one in a row.
	// Negative: no pause at all, for tests.
	PageDelay time.Duration
	// SlowAfter is the time to the response header from which a host counts as
	// slow and is asked less at once: 5 s.
	SlowAfter time.Duration

	// Retries is how often an attempt that failed for a passing reason is
	// repeated: 2; negative: never.
	Retries int
	// Backoff is the mean pause before the first repetition, doubled for each
	// further one, jittered by half: 1 s.
	Backoff time.Duration
	// MaxRetryAfter is the longest Retry-After that Do waits for itself: 10 s.
	// A longer one ends the attempts and is reported in Result.RetryAfter.
	MaxRetryAfter time.Duration

	Now    func() time.Time                                     // time.Now
	Sleep  func(ctx context.Context, pause time.Duration) error // a timer that ctx ends early
	Logger *slog.Logger                                         // discards
}

func (o Options) withDefaults() Options {
	if o.UserAgent == "" {
		o.UserAgent = "sitemapd"
	}
	if o.Contact != "" {
		o.UserAgent += " (+" + o.Contact + ")"
	}
	if o.Ports == nil {
		o.Ports = []uint16{80, 443}
	}
	defaulted(&o.MaxWire, 64<<20)
	defaulted(&o.MaxPageWire, 8<<20)
	defaulted(&o.MaxHeader, 64<<10)
	defaulted(&o.DialTimeout, 10*time.Second)
	defaulted(&o.HeaderTimeout, 30*time.Second)
	defaulted(&o.FetchTimeout, 120*time.Second)
	defaulted(&o.PageTimeout, 20*time.Second)
	defaulted(&o.MinSpeed, 1024)
	defaulted(&o.SpeedWindow, 20*time.Second)
	defaulted(&o.MaxRedirects, 5)
	defaulted(&o.MaxPageRedirects, 10)
	defaulted(&o.PerHost, 4)
	defaulted(&o.PageDelay, time.Second)
	defaulted(&o.SlowAfter, 5*time.Second)
	defaulted(&o.Retries, 2)
	defaulted(&o.Backoff, time.Second)
	defaulted(&o.MaxRetryAfter, 10*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func defaulted[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func sleep(ctx context.Context, pause time.Duration) error {
	if pause <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
