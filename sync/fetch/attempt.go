package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// attempt follows one chain of redirects to a final answer.
func (c *Client) attempt(ctx context.Context, j *job, validators bool) *Result {
	r := &Result{URL: j.URL, Body: http.NoBody, Header: http.Header{}, ContentLength: -1}
	target := j.start
	seen := map[string]bool{target.String(): true}
	budget := j.timeout
	var release func()
	var key string
	for {
		if next := hostKey(target); release == nil || next != key {
			if release != nil {
				release()
			}
			var err error
			if release, err = c.limiter.enter(ctx, next, j.Kind); err != nil {
				r.FinalURL, r.FetchedAt = target.String(), c.opt.Now()
				r.ObservedAt = r.FetchedAt
				r.Outcome, r.Reason = Cancelled, "the fetch was cancelled"
				return r
			}
			key = next
		}
		resp, body, spent := c.hop(ctx, j, r, target, validators, budget, release)
		budget -= spent
		c.limiter.report(key, j, r, spent)
		if resp == nil {
			release()
			return r
		}
		if !isRedirect(resp.StatusCode) {
			c.settle(j, r, resp, body, validators)
			return r
		}
		hop := Hop{
			URL: target.String(), Status: resp.StatusCode, Location: resp.Header.Get("Location"),
			Header: resp.Header, RetryAfter: r.RetryAfter,
		}
		body.release = func() {} // the slot is kept for the next hop
		discard(body, resp.ContentLength)
		next, outcome, reason := follow(j, target, &hop, seen, len(r.Hops))
		r.Hops = append(r.Hops, hop)
		if outcome != "" {
			r.Outcome, r.Reason = outcome, reason
			release()
			return r
		}
		target = next
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow judges a redirect; an outcome ends the chain.
func follow(j *job, from *url.URL, hop *Hop, seen map[string]bool, before int) (*url.URL, Outcome, string) {
	if hop.Location == "" {
		return nil, BadRedirect, "the redirect names no location"
	}
	ref, err := url.Parse(hop.Location)
	if err != nil {
		return nil, BadRedirect, "the redirect's location is not a valid URL"
	}
	next, err := parseTarget(from.ResolveReference(ref).String())
	if err != nil {
		return nil, BadRedirect, "the redirect's location cannot be followed: " + err.Error()
	}
	if from.Scheme == "https" && next.Scheme == "http" {
		hop.Downgrade = true
		if j.Kind != Page {
			return nil, BadRedirect, "the redirect leaves https for http"
		}
	}
	if seen[next.String()] {
		return nil, RedirectLoop, "the redirects lead in a circle"
	}
	if before >= j.redirects {
		return nil, TooManyRedirects, "there are too many redirects"
	}
	seen[next.String()] = true
	return next, "", ""
}

// hop sends one fresh request. Without an answer r is settled and resp nil;
// otherwise the body is under its limits and holds the slot.
func (c *Client) hop(ctx context.Context, j *job, r *Result, target *url.URL, validators bool,
	budget time.Duration, release func(),
) (*http.Response, *body, time.Duration) {
	hopCtx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(max(0, min(c.opt.HeaderTimeout, budget)), func() { cancel(ErrTimeout) })
	r.FinalURL, r.FetchedAt = target.String(), c.opt.Now().UTC()
	r.ObservedAt, r.Status, r.RetryAfter = r.FetchedAt, 0, 0
	request := (&http.Request{
		Method: j.Method, URL: target, Host: target.Host, Header: c.header(j, target, validators),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(hopCtx)
	if err := permitted(ctx); err != nil {
		timer.Stop()
		cancel(err)
		r.Outcome, r.Reason = Cancelled, "the fetch was cancelled"
		return nil, nil, 0
	}
	start := time.Now()
	// RoundTrip, not http.Client: that would send Referer and carry headers
	// from one host to another.
	resp, err := c.transport(j, target).RoundTrip(request)
	timer.Stop()
	spent := time.Since(start)
	if err != nil {
		r.fail(ctx, hopCtx, err)
		cancel(err)
		return nil, nil, spent
	}
	r.Status, r.RetryAfter = resp.StatusCode, retryAfter(resp.Header, r.FetchedAt)
	return resp, c.newBody(hopCtx, ctx, cancel, resp.Body, j.maxWire, budget-spent, release), spent
}

// settle fills the Result from the final answer and decides about its body.
func (c *Client) settle(j *job, r *Result, resp *http.Response, b *body, validators bool) {
	h := resp.Header
	r.Header, r.Proto, r.ContentLength = h, resp.Proto, resp.ContentLength
	r.ETag, r.LastModified = h.Get("ETag"), h.Get("Last-Modified")
	r.ContentType, r.ContentEncoding = h.Get("Content-Type"), h.Get("Content-Encoding")
	r.Age = age(h)
	r.ObservedAt = r.FetchedAt.Add(-r.Age)
	r.Unframed = resp.ContentLength < 0 && resp.ProtoMajor == 1 && len(resp.TransferEncoding) == 0 && j.Method != http.MethodHead
	asked := validators && j.hasValidators() && r.FinalURL == j.validated
	switch {
	case resp.StatusCode == http.StatusNotModified:
		_ = b.Close()
		r.Outcome = NotModified
		if !asked {
			r.Outcome, r.Reason = Protocol, "the server answered 304 although no validators were sent"
		}
		return
	case resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNonAuthoritativeInfo:
		r.Outcome = OK
	default:
		r.Outcome, r.Reason = HTTPError, "the server answered "+resp.Status
		r.retryable = passing(resp.StatusCode)
	}
	if j.Method == http.MethodHead || resp.ContentLength == 0 {
		_ = b.Close()
		r.dropped = r.Outcome == OK && asked && j.Method == http.MethodGet
		return
	}
	if resp.ContentLength > j.maxWire {
		_ = b.Close()
		r.Outcome, r.Reason = TooLarge, "the declared length is larger than the limit"
		return
	}
	r.body, r.Body = b, b
	if r.Outcome == OK && asked {
		r.peek(b)
	}
}

// peek looks for a body without a byte, which some caches send in answer to
// validators: that says nothing about the document.
func (r *Result) peek(b *body) {
	var first [1]byte
	n, err := b.Read(first[:])
	if n == 0 && err == io.EOF {
		r.dropped = true
		return
	}
	b.unread, b.hasUnread = first[0], n == 1
}
