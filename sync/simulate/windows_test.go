package simulate_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// Kinds of rolling windows that a world may have beside its other documents. Their pages are in no other one.
const (
	newsWindow   = 1 // a news sitemap: what was published within two days
	newestWindow = 2 // the newest pages alone, always the same number
)

const (
	windowPath = "/rolling-window.xml"
	newest     = 50 // a full window of newest pages
	newsSpan   = 48 * time.Hour
)

// article is a page that a rolling window lists while it is new.
type article struct {
	name      string
	published time.Time
	withdrawn bool
}

// window is the rolling window of a world, and the server of its document and pages.
type window struct {
	kind int
	now  func() time.Time

	mu       sync.Mutex
	articles []*article // in the order in which they were published
	fault    sitetest.Fault
	times    int // how often it strikes; negative: always
}

func (v *window) publish(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for range n {
		v.articles = append(v.articles, &article{name: fmt.Sprintf("/article-%d/", len(v.articles)+1), published: v.now().UTC()})
	}
}

// withdraw takes an article away, the most of the time one that is listed.
func (v *window) withdraw(o op) {
	in := v.listed()
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case len(in) > 0:
		in[o.A%len(in)].withdrawn = true
	case len(v.articles) > 0:
		v.articles[o.A%len(v.articles)].withdrawn = true
	}
}

func (v *window) fail(fault sitetest.Fault, times int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fault, v.times = fault, times
}

// listed are the articles in the window, newest first.
func (v *window) listed() []*article {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*article
	for i := len(v.articles) - 1; i >= 0; i-- {
		a := v.articles[i]
		if a.withdrawn || v.kind == newsWindow && v.now().Sub(a.published) >= newsSpan || v.kind == newestWindow && len(out) == newest {
			continue
		}
		out = append(out, a)
	}
	return out
}

// find gives the article of a URL.
func (v *window) find(url string) *article {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.articles {
		if strings.HasSuffix(url, a.name) {
			return a
		}
	}
	return nil
}

// serves answers for the window's document and pages, and leaves all others.
func (v *window) serves(w http.ResponseWriter, r *http.Request, base string) bool {
	if r.URL.Path == windowPath {
		v.mu.Lock()
		fault := v.fault
		if v.times == 0 {
			fault = nil
		} else if v.times > 0 {
			v.times--
		}
		v.mu.Unlock()
		honest := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { v.document(w, base) })
		if fault != nil {
			fault(w, r, honest)
		} else {
			honest(w, r)
		}
		return true
	}
	a := v.find(r.URL.Path)
	if a == nil {
		return false
	}
	if v.mu.Lock(); a.withdrawn {
		w.WriteHeader(http.StatusNotFound)
	}
	v.mu.Unlock()
	return true
}

func (v *window) document(w http.ResponseWriter, base string) {
	w.Header().Set("Content-Type", "application/xml")
	text := `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">` + "\n"
	for _, a := range v.listed() {
		at := a.published.Format(time.RFC3339)
		text += "<url><loc>" + base + a.name + "</loc>"
		if v.kind == newsWindow {
			text += "<news:news><news:publication><news:name>blog</news:name><news:language>en</news:language></news:publication><news:publication_date>" + at +
				"</news:publication_date><news:title>said today</news:title></news:news>"
		} else {
			text += "<lastmod>" + at + "</lastmod>"
		}
		text += "</url>\n"
	}
	_, _ = w.Write([]byte(text + "</urlset>\n"))
}

// inventory adds what the window lists to what the site publishes.
func (v *window) inventory(truth map[string]string, base string) {
	for _, a := range v.listed() {
		truth[base+a.name] = ""
		if v.kind == newestWindow {
			truth[base+a.name] = a.published.Format(time.RFC3339)
		}
	}
}

// rolledOn tells whether a page's case may say that the window went on: it must be one of the window's, and an article of a
// news sitemap must be old. Full windows of a number of pages without a window of their own are files of posts, see setup.
func (x *world) rolledOn(c models.Removal, run int64) error {
	a := x.window.find(c.URL)
	switch {
	case a == nil && x.setup.PerFile != 50:
		return fmt.Errorf("%s is said to have left a rolling window, and there is none", c.URL)
	case a != nil && x.window.kind == newsWindow && c.FromRun == run && x.now.Sub(a.published) < newsSpan-time.Hour:
		return fmt.Errorf("%s is said to have left the news %s after it was published", c.URL, x.now.Sub(a.published))
	}
	return nil
}
