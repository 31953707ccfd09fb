package simulate_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// content is what an entry says of a page, in the oracle's words.
type content struct {
	Lastmod string // instant in UTC, "" when none
	Images  string
}

// look is one question of the engine and its answer, as both saw it.
type look struct {
	url, final string
	page       bool // a page was asked, not a document
	aged       bool // from a cache: it may be older than what is recorded, and then does not count
	status     int
	outcome    fetch.Outcome
	hops       int
	wire       []byte
	cut        bool
	observed   time.Time
	view
}

// view is what the oracle reads in a body: with encoding/xml, so that it shares nothing with the engine's reader.
type view struct {
	complete bool // read to a clean end, with the right root
	index    bool
	pages    map[string]content // of the first entry of each page
	order    []string
	children []string
}

// simulated is the reason of answers that no network gave.
const simulated = "simulated"

// recorder stands between engine and web: it notes every answer and can break some before they are sent for.
type recorder struct {
	client *fetch.Client

	mu       sync.Mutex
	looks    []look
	second   int             // number of the look that begins the second walk
	good     map[string]view // complete views by URL and validator, for answers 304
	outcomes []*outcomeFault
	apart    bool // it answers nothing any more
	now      func() time.Time
	events   *events
}

// outcomeFault is a fault of the network, which needs no network to be told.
type outcomeFault struct {
	pattern string
	outcome fetch.Outcome
	times   int
}

func (r *recorder) broken(req fetch.Request) *fetch.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.outcomes {
		at := strings.SplitN(req.URL, "/", 4)
		if f.times == 0 || len(at) < 4 || !matches(f.pattern, "/"+at[3]) {
			continue
		}
		if f.times > 0 {
			f.times--
		}
		return &fetch.Result{URL: req.URL, FinalURL: req.URL, Outcome: f.outcome, Reason: simulated, Header: http.Header{},
			Body: http.NoBody, ContentLength: -1, FetchedAt: r.now(), ObservedAt: r.now(), Attempts: 1}
	}
	return nil
}

func matches(pattern, uri string) bool {
	if pattern == "" || pattern == uri {
		return true
	}
	ok, err := path.Match(pattern, strings.SplitN(uri, "?", 2)[0])
	return ok && err == nil
}

func (r *recorder) Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error) {
	l := look{url: req.URL, page: req.Kind == fetch.Page}
	if result := r.unanswered(ctx, req); result != nil {
		return result, nil
	}
	result, err := r.broken(req), error(nil)
	if result == nil {
		result, err = r.client.Read(ctx, req, func(res *fetch.Result) error {
			tee := &teeBody{ReadCloser: res.Body}
			res.Body = tee
			err := consume(res)
			_, _ = io.Copy(io.Discard, tee) // consume may stop at an error: what it saw is all that counts
			l.wire, l.cut = tee.seen, tee.failed
			return err
		})
	}
	l.aged = result.Age > 0
	l.final, l.status, l.outcome, l.hops, l.observed = result.FinalURL, result.Status, result.Outcome, len(result.Hops), result.ObservedAt
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case l.page || strings.Contains(req.URL, "_sd="):
	case result.Outcome == fetch.NotModified:
		if good, ok := r.good[req.URL+" "+req.ETag]; ok {
			l.view = good
		}
	case result.HasBody():
		l.view = parse(l.wire, result.ContentEncoding)
		believed := l.status < 300 || l.status == http.StatusNotFound || l.status == http.StatusGone
		if !believed {
			l.view = view{}
		}
		l.complete = l.complete && !l.cut && result.BodyOutcome() == fetch.OK && l.status != http.StatusPartialContent
		if l.complete {
			r.good[req.URL+" "+result.ETag] = l.view
		}
	}
	r.looks = append(r.looks, l)
	r.events.answered(&l, result)
	return result, err
}

func (r *recorder) ReadRobots(ctx context.Context, req fetch.Request) (*fetch.RobotsRules, *fetch.Result) {
	return r.client.ReadRobots(ctx, req)
}

type teeBody struct {
	io.ReadCloser
	seen   []byte
	failed bool
}

func (t *teeBody) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.seen = append(t.seen, p[:n]...)
	t.failed = t.failed || err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	return n, err
}

func parse(wire []byte, encoding string) view {
	if encoding == "gzip" || bytes.HasPrefix(wire, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(wire))
		if err != nil {
			return view{}
		}
		plain, err := io.ReadAll(z)
		v := parse(plain, "")
		v.complete = v.complete && err == nil
		return v
	}
	d := xml.NewDecoder(bytes.NewReader(wire))
	v := view{pages: map[string]content{}}
	var at []string
	var loc, lastmod, image string
	var images []string
	rooted := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			v.complete = rooted && len(at) == 0
			return v
		}
		if err != nil { // what came before it was read; behind the closed root nothing matters
			v.complete = rooted && len(at) == 0
			return v
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(at) == 0 {
				if t.Name.Local != "urlset" && t.Name.Local != "sitemapindex" { // a wrong namespace is forgiven
					return view{}
				}
				rooted, v.index = true, t.Name.Local == "sitemapindex"
			}
			at = append(at, t.Name.Local)
			if len(at) == 2 {
				loc, lastmod, image, images = "", "", "", nil
			}
		case xml.CharData:
			switch strings.Join(at[min(1, len(at)):], "/") {
			case "url/loc", "sitemap/loc":
				loc += string(t)
			case "url/lastmod", "sitemap/lastmod":
				lastmod += string(t)
			case "url/image/loc":
				image += string(t)
			}
		case xml.EndElement:
			at = at[:len(at)-1]
			switch {
			case t.Name.Local == "image":
				images, image = append(images, strings.TrimSpace(image)), ""
			case len(at) == 1 && v.index:
				v.children = append(v.children, strings.TrimSpace(loc))
			case len(at) == 1:
				v.add(strings.TrimSpace(loc), content{instant(lastmod), strings.Join(images, " ")})
			}
		}
	}
}

func (v *view) add(url string, c content) {
	if _, ok := v.pages[url]; !ok && url != "" {
		v.pages[url] = c
		v.order = append(v.order, url)
	}
}

func instant(text string) string {
	t, err := time.Parse(time.RFC3339, strings.ToUpper(strings.TrimSpace(text)))
	if err != nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// walk is one pass over the documents of a site.
type walk struct {
	looks []look // of documents, one each
	asked []look // of pages
	// before holds answers that a later one of the same walk replaced: where that one failed, rows came from them.
	before []look
	// some holds the pages that any completely or partly read document lists; sure those that are surely the site's
	// inventory as this walk saw it: no redirects, no doubt.
	some, sure map[string][]content
	complete   bool
	aged       map[string]bool // documents that a cache answered for
}

// walks cuts the looks of a run into its walks. What is read again after the last one belongs to it.
func (r *recorder) walks(owned func(string) bool) []walk {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []walk
	for i, l := range r.looks {
		if strings.Contains(l.url, "_sd=") {
			continue
		}
		if len(out) == 0 || i >= r.second && len(out) == 1 {
			out = append(out, walk{complete: true, aged: map[string]bool{}, some: map[string][]content{}, sure: map[string][]content{}})
		}
		w := &out[len(out)-1]
		if l.page {
			w.asked = append(w.asked, l)
			continue
		}
		again := slices.IndexFunc(w.looks, func(x look) bool { return x.url == l.url })
		if again >= 0 && !l.aged { // read anew within the walk: the last answer counts, unless an old copy was in the way
			w.before = append(w.before, w.looks[again])
			w.looks[again] = l
		} else {
			w.looks = append(w.looks, l)
		}
	}
	for i := range out {
		if i > 0 {
			out[i].remember(&out[i-1])
		}
		out[i].sum(owned)
	}
	return out
}

// remember keeps what the walk before read of documents that a cache answers for in this one: an old copy never takes
// the place of what is newer.
func (w *walk) remember(first *walk) {
	for _, l := range w.looks {
		at := slices.IndexFunc(first.looks, func(x look) bool { return x.url == l.url && !x.aged })
		if l.aged && at >= 0 {
			w.before = append(w.before, first.looks[at])
		}
	}
}

// start forgets the last run; confirming notes that the second walk of a run begins.
func (r *recorder) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks, r.second = nil, math.MaxInt
}

func (r *recorder) confirming(p models.Progress) {
	if p.Phase == "confirming" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.second = len(r.looks)
	}
}

func (w *walk) sum(owned func(string) bool) {
	names := map[string]int{}
	for _, l := range w.looks {
		names[l.url]++
		if l.final != l.url {
			names[l.final]++
		}
	}
	for _, l := range w.before {
		for url, c := range l.pages {
			if owned(url) {
				w.some[url] = append(w.some[url], c)
			}
		}
	}
	for _, l := range w.looks {
		w.complete = w.complete && l.complete
		if l.aged {
			w.aged[l.url] = true
		}
		alias := l.final != l.url && names[l.final] > 1
		for url, c := range l.pages {
			if !owned(url) {
				continue
			}
			w.some[url] = append(w.some[url], c)
			if l.complete && !alias && !l.aged {
				w.sure[url] = append(w.sure[url], c)
			}
		}
	}
}

func (w *walk) listed(url string) bool { return len(w.some[url]) > 0 }

// surely tells whether a document lists a page that no cache answered for.
func (w *walk) surely(url string) bool { return len(w.sure[url]) > 0 }
