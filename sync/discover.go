package syncer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/sitemap"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// Probe is what looking for the sitemaps of a home page gave, each try with its result.
type Probe struct {
	Home       string      `json:"home"`
	Generator  string      `json:"generator"` // of the first chosen sitemap; unknown when there is none
	Candidates []Candidate `json:"candidates"`
}

// Candidate is one place where a sitemap was looked for.
type Candidate struct {
	URL       string `json:"url"`
	FinalURL  string `json:"final_url,omitempty"` // where redirects led
	Discovery string `json:"discovery_method"`    // robots_txt, linked_reference, direct_URL, well_known
	Status    int    `json:"status"`
	Root      string `json:"root"` // urlset, sitemapindex, text, feed, none
	Verdict   string `json:"verdict"`
	Reason    string `json:"reason,omitempty"`
	Entries   int    `json:"entries"`
	Children  int    `json:"children"`
	Chosen    bool   `json:"chosen"`

	generator string
}

// wellKnown are the places that WordPress and its plugins use, most likely first (knowledge of core 5.5 to 7.1, Yoast,
// Rank Math, All in One SEO, SEOPress, Jetpack, plain permalinks and servers that treat *.xml as static files).
var wellKnown = []string{"wp-sitemap.xml", "sitemap_index.xml", "sitemap.xml", "sitemaps.xml", "?sitemap=index", "?sitemap=1",
	"sitemap.xml.gz", "sitemap-index.xml", "sitemap.txt", "news-sitemap.xml", "sitemap-news.xml"}

// ErrNoSitemap means that a home page was reached but none of its sitemaps was found.
var ErrNoSitemap = errors.New("no sitemap found")

// ErrUnreachable means that the host did not answer at all.
var ErrUnreachable = errors.New("the host does not answer")

// Discover makes a site of any URL that a user names: a sitemap is taken as it is, a home page is probed. all tries
// every place instead of stopping at the first that holds a sitemap.
func Discover(ctx context.Context, w web, raw string, all bool) (models.Site, Probe, error) {
	u, problem := weburl.Parse(nil, []byte(withScheme(raw)))
	if problem != weburl.None {
		return models.Site{}, Probe{}, models.Invalid("url", "name a home page or a sitemap, such as https://example.com",
			"%q is no usable URL: %s", raw, problem)
	}
	given := string(u.Wire)
	d := &discovery{web: w, all: all, probe: Probe{Generator: "unknown"}, seen: map[string]bool{}, finals: map[string]bool{}}
	if namesSitemap(given) && !all {
		return siteOf(homeOf(given), []models.Root{{URL: given, Discovery: "direct_URL"}}), d.probe, nil
	}
	d.probe.Home = given
	first, page := d.try(ctx, given, "direct_URL")
	if first.Root != "none" {
		first.Chosen = true
		d.probe.Home, d.probe.Generator, d.probe.Candidates = homeOf(given), first.generator, []Candidate{first}
		return siteOf(d.probe.Home, d.roots()), d.probe, nil
	}
	if first.Status == 0 {
		d.probe.Candidates = []Candidate{first}
		return models.Site{}, d.probe, fmt.Errorf("%s: %w: %s", given, ErrUnreachable, first.Reason)
	}
	home := given
	if first.FinalURL != "" && first.Status < 400 {
		home = first.FinalURL
	}
	d.probe.Home = home
	d.search(ctx, home, page)
	if err := ctx.Err(); err != nil {
		return models.Site{}, d.probe, err
	}
	roots := d.roots()
	if len(roots) == 0 {
		return models.Site{}, d.probe, fmt.Errorf("%s: %w at %d places (see `sitemapd probe %s`); name the sitemap's own URL if there is one",
			given, ErrNoSitemap, len(d.probe.Candidates), given)
	}
	return siteOf(home, roots), d.probe, nil
}

type discovery struct {
	web    web
	all    bool
	probe  Probe
	seen   map[string]bool // URLs tried
	finals map[string]bool // final URLs chosen
	found  bool
}

// search tries robots.txt, the home page's links and the well-known places.
func (d *discovery) search(ctx context.Context, home string, page []byte) {
	base, err := url.Parse(home)
	if err != nil {
		return
	}
	robots := base.ResolveReference(&url.URL{Path: "/robots.txt"}).String()
	for _, line := range d.robots(ctx, robots) {
		d.add(ctx, line, "robots_txt", true)
	}
	for _, link := range sitemap.LinkedSitemaps(page, home) {
		d.add(ctx, link.URL, "linked_reference", !d.found)
	}
	base.RawQuery, base.Fragment = "", ""
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	for _, place := range wellKnown {
		if d.found && !d.all || ctx.Err() != nil {
			return
		}
		if ref, err := url.Parse(place); err == nil {
			d.add(ctx, base.ResolveReference(ref).String(), "well_known", !d.found)
		}
	}
}

// add tries a place and, when it holds a sitemap and one is wanted, chooses it.
func (d *discovery) add(ctx context.Context, place, method string, choose bool) {
	if place == "" || d.seen[place] || ctx.Err() != nil {
		return
	}
	c, _ := d.try(ctx, place, method)
	usable := c.Root == "urlset" || c.Root == "sitemapindex" || c.Root == "text" || c.Root == "feed" && !d.found
	if choose && usable && !d.finals[c.FinalURL] {
		c.Chosen, d.found, d.finals[c.FinalURL] = true, true, true
		if d.probe.Generator == "unknown" && c.generator != "" {
			d.probe.Generator = c.generator
		}
	}
	d.probe.Candidates = append(d.probe.Candidates, c)
}

// try fetches a place and reads what is there; the first bytes of what is no sitemap come back for its links.
func (d *discovery) try(ctx context.Context, place, method string) (Candidate, []byte) {
	d.seen[place] = true
	c := Candidate{URL: place, Discovery: method, Root: "none", Verdict: "unavailable"}
	var page []byte
	result, _ := d.web.Read(ctx, fetch.Request{URL: place, Origin: place, Kind: fetch.Probe}, func(res *fetch.Result) error {
		var head limited
		meta := sitemap.Meta{ContentType: res.ContentType, ContentEncoding: res.ContentEncoding, Status: res.Status}
		doc, err := sitemap.NewReader(sitemap.Options{}).Read(io.TeeReader(res.Body, &head), res.FinalURL, meta, sitemap.Visitor{})
		page = head.bytes
		if err == nil && doc != nil {
			c.Verdict, c.Reason, c.Entries, c.Children, c.generator = doc.Verdict.String(), doc.Reason, doc.Entries, doc.Children, doc.Generator
			if doc.Readable() {
				c.Root = doc.Type.String()
			}
		}
		return nil
	})
	c.Status, c.FinalURL = result.Status, result.FinalURL
	if c.Reason == "" && c.Root == "none" {
		c.Reason = result.Reason
	}
	return c, page
}

// robots gives the sitemaps that robots.txt names.
func (d *discovery) robots(ctx context.Context, place string) []string {
	var out []string
	_, _ = d.web.Read(ctx, fetch.Request{URL: place, Origin: place, Kind: fetch.Robots}, func(res *fetch.Result) error {
		body, err := io.ReadAll(io.LimitReader(res.Body, 512<<10))
		if err != nil || res.Status != 200 {
			return err
		}
		out = nil
		for _, line := range sitemap.ParseRobots(body, res.FinalURL) {
			if line.URL != "" {
				out = append(out, line.URL)
			}
		}
		return nil
	})
	return out
}

func (d *discovery) roots() []models.Root {
	var out []models.Root
	for _, c := range d.probe.Candidates {
		if c.Chosen {
			method := c.Discovery
			if method == "well_known" {
				method = "direct_URL"
			}
			out = append(out, models.Root{URL: c.URL, Discovery: method})
		}
	}
	return out
}

// limited keeps the first 256 KiB that are written to it.
type limited struct{ bytes []byte }

func (l *limited) Write(p []byte) (int, error) {
	if room := 256<<10 - len(l.bytes); room > 0 {
		l.bytes = append(l.bytes, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// withScheme lets users name a host without https://.
func withScheme(raw string) string {
	raw = strings.TrimSpace(raw)
	if raw == "" || strings.Contains(raw, "://") {
		return raw
	}
	return "https://" + raw
}

// namesSitemap reports whether a URL plainly names a sitemap file rather than a page.
func namesSitemap(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	path := strings.ToLower(u.Path)
	for _, end := range []string{".xml", ".gz", ".txt", ".rss"} {
		if strings.HasSuffix(path, end) && !strings.HasSuffix(path, "robots.txt") {
			return true
		}
	}
	return strings.Contains(u.RawQuery, "sitemap") || strings.Contains(path, "sitemap")
}

func homeOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Scheme + "://" + u.Host + "/"
}

func siteOf(home string, roots []models.Root) models.Site {
	s := models.Site{Name: authorityOf([]byte(home)), Home: home, Roots: roots}
	if len(roots) > 0 {
		s.Root = roots[0].URL
	}
	return s
}
