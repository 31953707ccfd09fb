package syncer_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// What hooks name comes before pages whose lastmod moved or that are new, those before targets, and the clock comes last.
func TestSlice_WorksOnEventsBeforeTheClock(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 10)
	l.verify()
	moved, named, troubled := l.posts[2], l.posts[7], l.posts[5]
	l.origin.Fail(sitetest.Path(troubled), sitetest.Canonical(l.posts[4], l.posts[3]))
	l.verify(troubled) // trouble is seen again after 6 hours
	l.clock.advance(26 * time.Hour)
	l.origin.Edit(l.origin.PublishedPosts()[2])
	fresh := l.origin.Publish(sitetest.Spec{}).URL
	l.hook(named)
	l.clock.advance(30 * time.Minute)
	var order []string
	l.origin.OnRequest(func(_ int, r *http.Request) { order = append(order, r.URL.EscapedPath()) })
	for range 20 {
		if _, more, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil {
			t.Fatal(err)
		} else if !more {
			break
		}
	}
	at := func(url string) int {
		return slices.IndexFunc(order, func(p string) bool { return strings.EqualFold(p, sitetest.Path(url)) })
	}
	order = slices.DeleteFunc(order, func(p string) bool { return p == "/robots.txt" || strings.HasPrefix(p, "/sitemapd-probe") })
	if at(named) != 0 {
		t.Errorf("the page that a hook named comes as number %d: %v", at(named)+1, order)
	}
	events := []int{at(l.origin.URL() + "/"), at(moved), at(fresh)} // the home page has a lastmod too
	slices.Sort(events)
	if !slices.Equal(events, []int{1, 2, 3}) {
		t.Errorf("pages that moved or are new come at %v: %v", events, order)
	}
	if at(troubled) != 4 {
		t.Errorf("trouble comes as number %d: %v", at(troubled)+1, order)
	}
	for _, url := range l.posts {
		if at(url) < 0 {
			t.Errorf("%s, due by the clock, was not looked at", url)
		}
	}
}

// pacing notes the pause that is asked for before each request, and does not make it.
type pacing struct {
	*fetch.Client
	mu     sync.Mutex
	pauses map[string]time.Duration
}

func (p *pacing) Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error) {
	p.mu.Lock()
	p.pauses[sitetest.Path(req.URL)] = req.CrawlDelay
	p.mu.Unlock()
	req.CrawlDelay = 0
	return p.Client.Read(ctx, req, consume)
}

// The pause before a page is the longest of a second and what robots.txt asks of us; targets on other sites wait longer.
func TestVerify_KeepsTheCrawlDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		robots string
		want   time.Duration
	}{
		{"User-agent: *\nAllow: /\n", time.Second},
		{"User-agent: *\nCrawl-delay: 7\n", 7 * time.Second},
		{"User-agent: *\nCrawl-delay: 0.2\n", time.Second},
		{"User-agent: sitemapd\nAllow: /\nCrawl-delay: 3\n\nUser-agent: *\nCrawl-delay: 30\n", 3 * time.Second},
	} {
		l := newPagesLab(t, 2)
		l.origin.Fail("/robots.txt", sitetest.Body("text/plain", c.robots))
		client := l.client()
		p := &pacing{Client: client, pauses: map[string]time.Duration{}}
		v, err := syncer.NewVerifier(syncer.VerifierOptions{Engine: l.engine, Store: l.store, Web: p, Now: l.clock.now, Rest: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		l.verifier = v
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical("http://127.0.0.2:1/elsewhere/"))
		l.verify()
		if got := p.pauses[sitetest.Path(l.posts[1])]; got != c.want {
			t.Errorf("%q: a pause of %s, want %s", c.robots, got, c.want)
		}
	}
}

// A page that fails is left alone for longer and longer, and Retry-After is kept: the daemon asks no sooner.
func TestSlice_LeavesFailingPagesAlone(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 4)
	l.verify()
	page := l.posts[0]
	path := sitetest.Path(page)
	asked := func(after time.Duration, want int, what string) {
		t.Helper()
		l.clock.advance(after)
		l.origin.ResetLog()
		if _, _, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil {
			t.Fatal(err)
		}
		if n := l.origin.Count(path); (n > 0) != (want > 0) {
			t.Errorf("%s: asked %d times, want %d", what, n, want)
		}
	}
	undo := l.origin.Fail(path, sitetest.Status(500))
	l.verify(page)
	asked(4*time.Minute, 0, "4 minutes after the first failure")
	asked(2*time.Minute, 1, "6 minutes after it")
	asked(10*time.Minute, 0, "10 minutes after the second")
	asked(6*time.Minute, 1, "16 minutes after it")
	asked(50*time.Minute, 0, "50 minutes after the third")
	undo()
	asked(11*time.Minute, 1, "an hour after it")
	undo = l.origin.Fail(path, sitetest.Busy(503, "7200"))
	l.verify(page)
	asked(110*time.Minute, 0, "within Retry-After")
	asked(11*time.Minute, 1, "after it")
	undo()
	if got := l.line(page); got != validSelf {
		t.Error(got)
	}
	if due, err := l.store.DueWatches(t.Context(), l.site.ID, l.clock.now().Add(40*24*time.Hour), models.LookClock, 100); err != nil || len(due) == 0 {
		t.Errorf("%d looks are planned, %v", len(due), err)
	}
}
