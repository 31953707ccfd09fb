package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
)

// ReadRobots fetches /robots.txt of origin and reads it for the client's own
// product token. RFC 9309 section 2.3.1: found is parsed, 4xx allows everything,
// unreachable (5xx, 429, network, blocked) forbids everything. Sitemap lines are
// given as written.
func (c *Client) ReadRobots(ctx context.Context, req Request) (*RobotsRules, *Result) {
	req.Kind = Robots
	if u, err := parseTarget(req.URL); err == nil {
		u.Path, u.RawPath, u.RawQuery = "/robots.txt", "", ""
		req.URL = u.String()
	}
	var text []byte
	r, err := c.Read(ctx, req, func(r *Result) error {
		var err error
		text, err = readPlain(r.Body)
		return err
	})
	switch {
	case r.Outcome == OK && (err == nil || r.BodyOutcome() == TooLarge):
		return ParseRobots(text, c.Agent()), r
	case r.Outcome == OK && !r.HasBody():
		return &RobotsRules{}, r
	case r.Outcome == HTTPError && r.Status >= 400 && r.Status < 500 && r.Status != http.StatusTooManyRequests,
		r.Outcome == TooManyRedirects, r.Outcome == RedirectLoop:
		return &RobotsRules{}, r
	}
	return DenyAll(), r
}

// Agent is the product token of the client's User-Agent.
func (c *Client) Agent() string {
	return productToken(strings.TrimSpace(c.opt.UserAgent))
}

// readPlain reads what a parser of robots.txt may need, out of gzip where a
// server sends that unasked.
func readPlain(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxRobots+1))
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text, err
	}
	inflated, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(inflated, maxRobots+1))
}
