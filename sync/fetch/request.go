package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Kind is what is asked for; it chooses limits, manners and the Accept header.
type Kind int

const (
	Document Kind = iota // a sitemap file: up to Options.PerHost at once
	Page                 // a page: one at a time per host, with a pause; https to http is followed and recorded
	Robots               // robots.txt
	Probe                // a guess where a sitemap may be
)

// Request says what to fetch. URL alone is enough for a public document.
type Request struct {
	// URL in wire form, http or https; it is sent as it stands, without its fragment.
	URL string
	// Origin is the root URL of the site on whose behalf the request is made.
	// Username, Password, Header and the permission for its port belong to it.
	Origin string
	Kind   Kind
	Method string // "GET"; or "HEAD"
	Accept string // by Kind

	// ETag and LastModified are the validators of the version already read, sent
	// only to ValidatedURL, or to URL where that is empty: a validator means
	// nothing for another resource.
	ETag, LastModified string
	// ValidatedURL is Result.FinalURL of the answer the validators came with.
	ValidatedURL string
	// NoCache asks caches on the way to look at the origin.
	NoCache bool

	// Username and Password are basic authentication for the Origin: sent only
	// to hops whose scheme, host and port equal the Origin's.
	Username, Password string
	// Header holds further fields under the same rule (a pass for a firewall).
	Header http.Header

	// OneHop follows no redirect: the answer then is the last of Result.Hops, and
	// the caller decides about the next request.
	OneHop bool

	// Once makes one attempt however passing the fault: the caller has other work to do before it tries again.
	Once bool

	AllowPort  uint16        // one more port allowed on public addresses
	CrawlDelay time.Duration // Page only: from the host's robots.txt, capped at 60 s
	MaxWire    int64         // overrides Options.MaxWire or MaxPageWire
}

func (r Request) hasValidators() bool { return r.ETag != "" || r.LastModified != "" }

// job is a Request made ready: parsed, with the limits of its kind.
type job struct {
	Request
	start      *url.URL
	origin     string // scheme://host:port, empty without Origin
	originPort uint16
	validated  string
	timeout    time.Duration
	redirects  int
	maxWire    int64
}

func (c *Client) job(req Request) (*job, error) {
	start, err := parseTarget(req.URL)
	if err != nil {
		return nil, err
	}
	j := &job{
		Request: req, start: start, timeout: c.opt.FetchTimeout,
		redirects: c.opt.MaxRedirects, maxWire: c.opt.MaxWire,
	}
	if req.Origin != "" {
		origin, err := parseTarget(req.Origin)
		if err != nil {
			return nil, fmt.Errorf("origin: %w", err)
		}
		j.origin, j.originPort = originOf(origin), portOf(origin)
	}
	if req.Kind == Page || req.Kind == Robots {
		j.timeout, j.maxWire = c.opt.PageTimeout, c.opt.MaxPageWire
	}
	if req.Kind == Page {
		j.redirects = c.opt.MaxPageRedirects
	}
	if req.OneHop {
		j.redirects = 0
	}
	if req.MaxWire > 0 {
		j.maxWire = req.MaxWire
	}
	j.validated = start.String()
	if req.ValidatedURL != "" {
		j.validated = req.ValidatedURL
	}
	if j.Method == "" {
		j.Method = http.MethodGet
	}
	if j.Method != http.MethodGet && j.Method != http.MethodHead {
		return nil, errors.New("method is neither GET nor HEAD")
	}
	if j.Accept == "" {
		j.Accept = accepts[req.Kind]
	}
	return j, nil
}

var accepts = map[Kind]string{
	Document: "application/xml, text/xml, application/rss+xml;q=0.8, application/atom+xml;q=0.8, text/plain;q=0.7, */*;q=0.5",
	Probe:    "application/xml, text/xml, application/rss+xml;q=0.8, application/atom+xml;q=0.8, text/plain;q=0.7, */*;q=0.5",
	Page:     "text/html, application/xhtml+xml, */*;q=0.5",
	Robots:   "text/plain, */*;q=0.5",
}

// parseTarget accepts what may be requested at all: absolute, http or https, a
// host, no user information, a sensible port. The fragment is dropped.
func parseTarget(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("scheme is neither http nor https")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("URL has no host")
	case u.User != nil:
		return nil, errors.New("URL carries user information")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, errors.New("URL has an impossible port")
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

func originOf(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), strconv.Itoa(int(portOf(u))))
}

// hostKey names the host that is paced: http and https on their own ports are
// one host, any other port is a host of its own.
func hostKey(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if port := portOf(u); port != 80 && port != 443 {
		return net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	return host
}

// header builds the fields for one hop; nothing is carried over from another.
func (c *Client) header(j *job, u *url.URL, validators bool) http.Header {
	h := http.Header{
		"User-Agent": {c.opt.UserAgent},
		"Accept":     {j.Accept},
		// Set by us so that the transport hands over the wire bytes. One coding
		// alone: brotli and zstd inflate by up to 664,000 times.
		"Accept-Encoding": {"gzip"},
	}
	if j.Kind == Robots {
		h.Set("Accept-Encoding", "identity")
	}
	if j.NoCache {
		h.Set("Cache-Control", "no-cache")
		h.Set("Pragma", "no-cache")
	}
	if validators && u.String() == j.validated {
		if j.ETag != "" {
			h.Set("If-None-Match", j.ETag)
		}
		if j.LastModified != "" {
			h.Set("If-Modified-Since", j.LastModified)
		}
	}
	if j.origin == "" || originOf(u) != j.origin {
		return h
	}
	for name, values := range j.Header {
		if name = http.CanonicalHeaderKey(name); name != "Accept-Encoding" {
			h[name] = values
		}
	}
	if j.Username != "" || j.Password != "" {
		basic := http.Request{Header: h}
		basic.SetBasicAuth(j.Username, j.Password)
	}
	return h
}
