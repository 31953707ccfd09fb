package fetch

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Client fetches. It is safe for concurrent use and meant to be shared by the
// whole daemon, since it is what paces the hosts.
type Client struct {
	opt     Options
	guards  guards
	limiter *limiter
	log     *slog.Logger
}

// New returns a Client with the defaults of Options filled in.
func New(o Options) *Client {
	o = o.withDefaults()
	return &Client{opt: o, guards: newGuards(o), limiter: newLimiter(o), log: o.Logger.With("component", "fetch")}
}

// Close drops idle connections.
func (c *Client) Close() { c.guards.close() }

// dialWith replaces the way to the network, guard included. Tests alone use it.
func (c *Client) dialWith(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	c.guards.dialWith(dial)
}

// Do fetches once, repeating what failed for a passing reason. The caller closes
// the Result. Faults in the middle of the body are met by the reader of the body:
// see Read for a whole that is repeated.
func (c *Client) Do(ctx context.Context, req Request) *Result {
	r, _ := c.do(ctx, req, 0)
	return r
}

// Read fetches and hands each answer that has a body to consume, with a fresh
// body. When the body itself was cut (not when consume disliked it), the whole is
// fetched again within the same number of retries, so consume must be ready to
// start anew. It returns the last Result, closed, and what consume returned last;
// nil when consume was not called. Result.BodyOutcome tells a cut that stayed.
func (c *Client) Read(ctx context.Context, req Request, consume func(*Result) error) (*Result, error) {
	start := time.Now()
	attempts := 0
	for {
		var r *Result
		r, attempts = c.do(ctx, req, attempts)
		var err error
		if r.HasBody() {
			err = consume(r)
		}
		_ = r.Close()
		r.Elapsed = time.Since(start)
		if r.BodyOutcome() != Truncated || req.Once || attempts > max(0, c.opt.Retries) {
			return r, err
		}
		if c.opt.Sleep(ctx, c.backoff(attempts)) != nil {
			return r, err
		}
	}
}

// do makes attempts after those already made and returns how many there were.
func (c *Client) do(ctx context.Context, req Request, made int) (*Result, int) {
	start := time.Now()
	j, err := c.job(req)
	if err != nil {
		return &Result{
			URL: req.URL, FinalURL: req.URL, Outcome: BadURL, Reason: err.Error(),
			Header: http.Header{}, Body: http.NoBody, ContentLength: -1, FetchedAt: c.opt.Now(), ObservedAt: c.opt.Now(),
		}, made
	}
	validators, dropped := true, false
	for {
		made++
		r := c.attempt(ctx, j, validators)
		r.Attempts = made
		r.ValidatorsDropped = dropped
		if r.dropped {
			_ = r.Close()
			validators, dropped = false, true
			made--
			continue
		}
		pause, again := c.again(r, made)
		again = again && !req.Once
		c.log.DebugContext(ctx, "fetched", "url", r.URL, "final_url", r.FinalURL, "outcome", r.Outcome,
			"status", r.Status, "attempt", made, "again", again, "detail", r.detail)
		if !again {
			r.Elapsed = time.Since(start)
			return r, made
		}
		_ = r.Close()
		if err := c.opt.Sleep(ctx, pause); err != nil {
			r.Outcome, r.Reason = Cancelled, "the fetch was cancelled"
			r.Body, r.body = http.NoBody, nil
			r.Elapsed = time.Since(start)
			return r, made
		}
	}
}

func (c *Client) again(r *Result, made int) (time.Duration, bool) {
	if made > c.opt.Retries || !r.retryable || r.RetryAfter > c.opt.MaxRetryAfter {
		return 0, false
	}
	return max(r.RetryAfter, c.backoff(made)), true
}

// backoff doubles from Options.Backoff and is jittered between half and one and
// a half of it, so that failures of many sites do not come back as one.
func (c *Client) backoff(made int) time.Duration {
	mean := c.opt.Backoff << (min(made, 6) - 1)
	return mean/2 + rand.N(mean+1)
}

// discard makes a small known rest of a body be read, so that its connection
// serves again; anything else is cut off.
func discard(b io.ReadCloser, length int64) {
	if length >= 0 && length <= 16<<10 {
		_, _ = io.CopyN(io.Discard, b, length+1)
	}
	_ = b.Close()
}
