package syncer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/headscan"
	"github.com/sitemapd/sitemapd/sync/canonical/sketch"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// Bounds of what is read of a page.
const (
	sampleBytes  = 32 << 10 // of the text after the head, for comparing pages
	otherBytes   = 4 << 10  // of an answer that is no HTML
	errorBytes   = 64 << 10 // of an error document, to tell a bot wall
	maxPageHops  = 10
	robotsFor    = time.Hour // a robots.txt is believed; RFC 9309 section 2.4 allows a day
	foreignDelay = 10 * time.Second
	silentFor    = time.Minute // a host that gave no answer is not asked for its robots.txt again
)

type robotsEntry struct {
	rules *fetch.RobotsRules
	down  bool              // it could not be read: nothing is allowed, but nobody said so
	fault canonical.Failure // why the host gave no answer at all
	at    time.Time
}

// pageAnswer is what a look at one URL brought.
type pageAnswer struct {
	response     canonical.Response
	etag         string
	lastModified string
	sketch       sketch.Sketch
	cut          bool // the sketch is of the text's beginning
	passing      bool // the fault may be over in a moment
	retryAfter   time.Duration
	started      time.Time
	ended        time.Time
}

// errBusyHost says that another daemon talks to a host that this page leads to.
var errBusyHost = errors.New("the host is busy")

// look fetches one URL, redirects hop by hop: each is asked for on its own, so that each host's robots.txt and pace are
// kept and each answer's header is evidence of the URL that gave it.
func (v *visit) look(ctx context.Context, s *subject) (pageAnswer, error) {
	a := pageAnswer{response: canonical.Response{URL: s.watch.URL, Hosts: v.hosts}, started: v.now()}
	seen := map[string]bool{}
	at := s.watch.URL
	for {
		seen[at] = true
		a.response.FinalURL = at
		next, err := v.hop(ctx, s, &a, at)
		if err != nil {
			return a, err
		}
		if next == "" {
			break
		}
		a.response.FinalURL = next
		if seen[next] || len(a.response.Hops) > maxPageHops {
			a.response.Failure = canonical.FailureRedirects
			break
		}
		at = next
	}
	a.ended = v.now()
	a.response.Fetched = a.ended
	return a, nil
}

// lookUnlessWanted is look, given up when a run becomes due.
func (v *visit) lookUnlessWanted(ctx context.Context, s *subject) (pageAnswer, error) {
	fetching, stop := v.untilWanted(ctx)
	defer stop()
	a, err := v.look(fetching, s)
	if errors.Is(context.Cause(fetching), errWanted) {
		return a, errWanted
	}
	return a, err
}

// hop asks one URL. Next is where it redirects to.
func (v *visit) hop(ctx context.Context, s *subject, a *pageAnswer, at string) (next string, err error) {
	release, err := v.borrow(ctx, at)
	if err != nil {
		return "", err
	}
	defer release()
	robots := v.robotsOf(ctx, at)
	if robots.fault != "" {
		a.response.Failure, a.passing = robots.fault, robots.fault != canonical.FailureAddress
		return "", ctx.Err()
	}
	if !robots.rules.Allowed(at) {
		a.response.Failure, a.passing = canonical.FailureRobots, robots.down
		if robots.down {
			a.response.Failure = canonical.FailureNoRobots
		}
		return "", ctx.Err()
	}
	req := pageRequest(&v.site, at)
	req.Once = true
	req.CrawlDelay = max(robots.rules.CrawlDelay(), v.o.Delay)
	if s.memory.CrossDomain {
		req.CrawlDelay = max(req.CrawlDelay, foreignDelay)
	}
	if s.evidence != nil && s.evidence.Parser == canonical.ParserVersion && s.watch.ValidatedURL == at {
		req.ETag, req.LastModified = s.watch.ETag, s.watch.LastModified
	}
	r, _ := v.o.Web.Read(ctx, req, func(r *fetch.Result) error {
		body, whole := readPage(r)
		a.response.Body, a.response.Truncated = body, !whole
		return nil
	})
	if err := ctx.Err(); err != nil {
		return "", err
	}
	v.requests++
	if len(r.Hops) > 0 {
		hop := r.Hops[len(r.Hops)-1]
		if r.Outcome == fetch.BadRedirect { // leads nowhere: it is the last answer
			a.response.Status, a.response.Header = hop.Status, hop.Header
			return "", nil
		}
		a.response.Hops = append(a.response.Hops, canonical.Hop{URL: at, Status: hop.Status, Header: hop.Header})
		return resolved(at, hop.Location), nil
	}
	a.response.Status, a.response.Header, a.response.ContentType = r.Status, r.Header, r.ContentType
	a.retryAfter = r.RetryAfter
	a.etag, a.lastModified = r.ETag, r.LastModified
	a.response.Failure = failureOf(r)
	a.passing = r.Outcome == fetch.Timeout || r.Outcome == fetch.DNS || r.Outcome == fetch.Refused || r.Outcome == fetch.Protocol ||
		r.BodyOutcome() == fetch.Truncated || (r.Status == 408 || r.Status == 429 || r.Status >= 500) && r.RetryAfter <= patience
	if r.Outcome == fetch.TooLarge {
		a.response.Truncated = true
	}
	if r.Outcome == fetch.OK {
		a.sketch, a.cut = sketch.OfHTML(a.response.Body), a.response.Truncated
	}
	return "", nil
}

func resolved(base, location string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	to, err := b.Parse(location)
	if err != nil {
		return ""
	}
	to.Fragment, to.RawFragment = "", ""
	return to.String()
}

// failureOf says why there is no answer to judge; "" where there is one.
func failureOf(r *fetch.Result) canonical.Failure {
	switch r.Outcome {
	case fetch.Timeout, fetch.TooSlow:
		return canonical.FailureTimeout
	case fetch.DNS:
		return canonical.FailureDNS
	case fetch.Refused:
		return canonical.FailureConnect
	case fetch.TLS:
		return canonical.FailureTLS
	case fetch.BlockedAddress, fetch.BadURL:
		return canonical.FailureAddress
	case fetch.Protocol, fetch.Truncated:
		return canonical.FailureReset
	case fetch.RedirectLoop, fetch.TooManyRedirects:
		return canonical.FailureRedirects
	}
	return ""
}

// readPage reads until the head has ended and a sample of the text is there. A page whose head names no canonical URL is
// read further, to find the one that stands outside.
func readPage(r *fetch.Result) (body []byte, whole bool) {
	in := bufio.NewReaderSize(r.Body, 8<<10)
	var plain io.Reader = in
	magic, err := in.Peek(2)
	if err != nil { // shorter than two bytes, or broken off there; Peek keeps no error for later
		return bytes.Clone(magic), err == io.EOF
	}
	if magic[0] == 0x1f && magic[1] == 0x8b {
		zr, err := gzip.NewReader(in)
		if err != nil {
			return nil, false
		}
		plain = zr
	}
	most := canonical.MaxBody
	kind, _, _ := strings.Cut(strings.ToLower(r.ContentType), ";")
	kind = strings.TrimSpace(kind)
	switch {
	case kind != "" && kind != "text/html" && kind != "application/xhtml+xml":
		most = otherBytes
	case r.Outcome != fetch.OK:
		most = errorBytes
	}
	buffer := make([]byte, 0, 16<<10)
	ended, checked := false, 0
	for len(buffer) < most {
		if len(buffer) == cap(buffer) {
			grown := make([]byte, len(buffer), 2*cap(buffer))
			copy(grown, buffer)
			buffer = grown
		}
		n, err := plain.Read(buffer[len(buffer):min(cap(buffer), most)])
		buffer = buffer[:len(buffer)+n]
		if err != nil {
			return buffer, err == io.EOF
		}
		// Each check begins anew, so the text must have grown by a half.
		if !ended && len(buffer) >= checked+checked/2 {
			checked = len(buffer)
			var end int
			if end, ended = headscan.Ended(buffer); ended && most == canonical.MaxBody {
				most = end + canonical.MaxAfter
				if bytes.Contains(bytes.ToLower(buffer[:end]), []byte("canonical")) {
					most = end + sampleBytes
				}
			}
		}
	}
	return buffer[:min(len(buffer), most)], false
}

// robotsOf reads a host's robots.txt, at most once in robotsFor.
func (v *visit) robotsOf(ctx context.Context, at string) robotsEntry {
	u, err := url.Parse(at)
	if err != nil {
		return robotsEntry{rules: fetch.DenyAll(), down: true}
	}
	origin := u.Scheme + "://" + u.Host
	v.mu.Lock()
	e, ok := v.robots[origin]
	v.mu.Unlock()
	if age := v.now().Sub(e.at); ok && (age < robotsFor && !e.down || age < silentFor && e.fault != "") {
		return e
	}
	req := pageRequest(&v.site, origin+"/robots.txt")
	req.OneHop, req.Once = false, true
	rules, r := v.o.Web.ReadRobots(ctx, req)
	e = robotsEntry{rules: rules, at: v.now()}
	e.down = r.Status >= 500 || r.Status == 429 || r.Status == 0
	if r.Status == 0 {
		e.fault = failureOf(r)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.robots) > 4096 {
		clear(v.robots)
	}
	v.robots[origin] = e
	return e
}

// borrow makes sure that nobody else talks to a URL's host: the site's own is held already, another one's lease is taken
// for the time of the request.
func (v *visit) borrow(ctx context.Context, at string) (release func(), err error) {
	host := HostKey(at)
	if host == v.lease.Host {
		return func() {}, nil
	}
	lease, err := v.o.Store.AcquireLease(ctx, host, v.o.Engine.o.Owner, 2*time.Minute)
	if errors.Is(err, models.ErrBusy) {
		return nil, errBusyHost
	}
	if err != nil {
		return nil, err
	}
	return func() {
		if err := v.o.Store.ReleaseLease(context.WithoutCancel(ctx), lease); err != nil && !errors.Is(err, models.ErrLeaseLost) {
			v.o.Logger.Warn("give back a lease", "error", err)
		}
	}, nil
}

// softProbe is what a host answers to an address that does not exist.
type softProbe struct {
	models.HostProbe
	sketch sketch.Sketch
	told   bool  // the host was heard, so it need not be asked again for probeEvery
	shell  *bool // the home page looks the same, so the answer tells nothing; nil until somebody asked
}

const (
	probeEvery = 7 * 24 * time.Hour
	probeAgain = time.Hour // where the host was not heard: it did not answer, or for a reason that says nothing of missing pages
)

// old says whether a host is to be asked anew.
func (p *softProbe) old(now time.Time) bool {
	if p.told {
		return now.Sub(p.At) >= probeEvery
	}
	return now.Sub(p.At) >= probeAgain
}

// softNotFound says whether a page is the one that its host gives for missing ones, under whatever status. A home page
// is none, and where it looks like the missing one all pages do: their text is made by scripts.
func (v *visit) softNotFound(ctx context.Context, at string, page sketch.Sketch) (bool, error) {
	u, err := url.Parse(at)
	if err != nil {
		return false, nil //nolint:nilerr // what cannot be parsed was not read either
	}
	if u.RawQuery == "" && (u.Path == "" || u.Path == "/") {
		return false, nil
	}
	host := HostKey(at)
	v.mu.Lock()
	p := v.probes[host]
	v.mu.Unlock()
	if p == nil || p.old(v.now()) {
		if p, err = v.probe(ctx, host, u); err != nil {
			return false, err
		}
		v.mu.Lock()
		v.probes[host] = p
		v.mu.Unlock()
	}
	if !sketch.SoftNotFound(page, p.sketch) {
		return false, nil
	}
	if p.Status == 200 {
		return true, nil
	}
	shell, err := v.shell(ctx, p, u)
	return err == nil && !shell, err
}

// shell says whether the home page looks like the body of the host's 404 too. It is asked for only where a page does,
// once a visit; a home page that cannot be read clears nobody of the doubt.
func (v *visit) shell(ctx context.Context, p *softProbe, u *url.URL) (bool, error) {
	v.mu.Lock()
	known := p.shell
	v.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	home := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	a, err := v.look(ctx, &subject{watch: models.CanonicalWatch{URL: home.String()}})
	if err != nil && !errors.Is(err, errBusyHost) {
		return true, err
	}
	shell := err != nil || a.response.Status != 200 || a.response.Failure != "" || sketch.SoftNotFound(a.sketch, p.sketch)
	v.mu.Lock()
	defer v.mu.Unlock()
	p.shell = &shell
	return shell, nil
}

// probe asks for a random address, once a week and host. An answer without a fingerprint was stored by a version that took
// none of it, and is asked for again; one that has nothing to compare is stored with an empty fingerprint.
func (v *visit) probe(ctx context.Context, host models.Key, u *url.URL) (*softProbe, error) {
	stored, err := v.o.Store.HostProbe(ctx, host)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return nil, err
	}
	p := &softProbe{HostProbe: stored, told: true}
	if err != nil || len(stored.Sketch) == 0 || p.old(v.now()) {
		var random [8]byte
		_, _ = rand.Read(random[:])
		missing := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/sitemapd-probe-" + hex.EncodeToString(random[:]) + "/"}
		a, err := v.look(ctx, &subject{watch: models.CanonicalWatch{URL: missing.String()}})
		if err != nil && !errors.Is(err, errBusyHost) {
			return nil, err
		}
		p.HostProbe = models.HostProbe{At: v.now(), Status: a.response.Status}
		missed := p.Status == 404 || p.Status == 410
		if missed { // its body is what a page shows that answers 200 in error
			a.sketch = sketch.OfHTML(a.response.Body)
		}
		if p.Status != 200 && !missed || len(a.response.Hops) > 0 {
			a.sketch = sketch.Sketch{}
		}
		if p.Sketch, err = a.sketch.MarshalBinary(); err != nil {
			return nil, err
		}
		p.told = a.response.Failure == "" && (p.Status == 200 || missed)
		if p.told {
			if err := v.o.Store.SaveHostProbe(ctx, host, p.HostProbe); err != nil {
				return nil, err
			}
		}
	}
	if len(p.Sketch) > 0 {
		if err := p.sketch.UnmarshalBinary(p.Sketch); err != nil {
			return nil, err
		}
	}
	return p, nil
}
