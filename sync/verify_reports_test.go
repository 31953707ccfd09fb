package syncer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// instead puts markup into a page's head in the place of its canonical link.
func instead(markup string) sitetest.Fault {
	return over(sitetest.InHead(markup), sitetest.Canonical())
}

// over lays one fault over another.
func over(a, b sitetest.Fault) sitetest.Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		a(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b(w, r, honest) }))
	}
}

// words makes a text of n words that no other seed gives.
func words(seed string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", seed, i*i%977)
	}
	return b.String()
}

// telling is a page of its own with a text, which declares the URL given.
func telling(declares, text string) sitetest.Fault {
	return sitetest.Page(`<!DOCTYPE html><html><head><meta charset="UTF-8"><title>x</title><link rel="canonical" href="`+declares+`"></head><body><main><p>`+text+`</p></main></body></html>`, nil)
}

// pageReports are faults that one page's own answer shows, with the finding that reports each. What they need of other
// pages is that "other" is as it should be.
var pageReports = []struct {
	code  string
	fault func(page, other, home string) sitetest.Fault
}{
	{canonical.FindingDuplicate, func(page, _, _ string) sitetest.Fault { return sitetest.Canonical(page, page) }},
	{canonical.FindingInert, func(page, _, _ string) sitetest.Fault {
		return instead(`<noscript><link rel="canonical" href="` + page + `"></noscript>`)
	}},
	{canonical.FindingEmpty, func(string, string, string) sitetest.Fault { return sitetest.Body("text/html; charset=UTF-8", "") }},
	{canonical.FindingUndecodable, func(page, _, _ string) sitetest.Fault {
		var utf16 strings.Builder // without a word of it
		for _, c := range `<html><head><link rel="canonical" href="` + page + `"></head><body>` {
			utf16.WriteString(string(c) + "\x00")
		}
		return sitetest.Body("text/html", utf16.String())
	}},
	{canonical.FindingMissingScheme, func(string, string, string) sitetest.Fault { return sitetest.Canonical("www.example.com/page") }},
	{canonical.FindingMalformed, func(string, string, string) sitetest.Fault { return instead(`<link rel="canonical" href="">`) }},
	{canonical.FindingFragment, func(page, _, _ string) sitetest.Fault { return sitetest.Canonical(page + "#more") }},
	{canonical.FindingAttributes, func(page, _, _ string) sitetest.Fault {
		return instead(`<link rel="canonical" hreflang="de" href="` + page + `">`)
	}},
	{canonical.FindingLookalike, func(page, _, _ string) sitetest.Fault {
		return sitetest.InHead(`<meta name="canonical" content="` + page + `">`)
	}},
	{canonical.FindingNoscriptSensitive, func(string, string, string) sitetest.Fault {
		return sitetest.BeforeCanonical(`<noscript><img src="/pixel.gif"></noscript>`)
	}},
	{canonical.FindingBaseElsewhere, func(string, string, string) sitetest.Fault {
		return instead(`<base href="http://127.0.0.2:1/"><link rel="canonical" href="/x/">`)
	}},
	{canonical.FindingJSONLDInvalid, func(string, string, string) sitetest.Fault {
		return sitetest.InHead(`<script type="application/ld+json">{"url":}</script>`)
	}},
	{canonical.FindingCharsetConflict, func(page, _, _ string) sitetest.Fault {
		return sitetest.Page(`<!DOCTYPE html><html><head><meta charset="windows-1251"><title>x</title><link rel="canonical" href="`+page+`"></head><body></body></html>`, nil)
	}},
	{canonical.FindingSchemaMismatch, func(_, other, _ string) sitetest.Fault {
		return sitetest.InHead(`<script type="application/ld+json">{"@type":"Article","url":"` + other + `"}</script>`)
	}},
	{canonical.FindingVariant, func(page, _, _ string) sitetest.Fault { return sitetest.Canonical(strings.TrimSuffix(page, "/")) }},
	{canonical.FindingNoindexWithCanonical, func(_, other, _ string) sitetest.Fault { return over(sitetest.NoIndex(), sitetest.Canonical(other)) }},
	{canonical.FindingHreflangElsewhere, func(_, other, _ string) sitetest.Fault {
		return over(sitetest.InHead(`<link rel="alternate" hreflang="de" href="`+other+`">`), sitetest.Canonical(other))
	}},
	{canonical.FindingHreflangNoReturn, func(_, other, _ string) sitetest.Fault {
		return sitetest.InHead(`<link rel="alternate" hreflang="de" href="` + other + `">`)
	}},
	{canonical.FindingToHome, func(_, _, home string) sitetest.Fault { return sitetest.Canonical(home) }},
	{canonical.FindingRedirectContradicts, func(page, other, _ string) sitetest.Fault {
		return sitetest.RedirectTo(301, other, http.Header{"Link": {"<" + page + `>; rel="canonical"`}})
	}},
	{canonical.FindingLastmodPageDateDiffer, func(string, string, string) sitetest.Fault {
		return sitetest.InHead(`<meta property="article:modified_time" content="2020-01-01T00:00:00+00:00">`)
	}},
}

// Every fault of this list is found by the first look at it, and closed by the first look after it was mended.
func TestAudit_ReportsOnPagesAreOpenedAndClosed(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, len(pageReports)+1)
	l.verify()
	other := l.posts[len(pageReports)]
	var undo []func()
	for i, r := range pageReports {
		undo = append(undo, l.origin.Fail(sitetest.Path(l.posts[i]), r.fault(l.posts[i], other, l.origin.URL()+"/")))
	}
	l.verify()
	for i, r := range pageReports {
		if !l.open(l.posts[i], r.code) {
			t.Errorf("%s is not among %v", r.code, l.findings(l.posts[i]))
		}
	}
	for _, mend := range undo {
		mend()
	}
	l.verify()
	for i, r := range pageReports {
		if l.open(l.posts[i], r.code) {
			t.Errorf("%s, mended: %v", r.code, l.findings(l.posts[i]))
		}
	}
	// One comes back: reports since then tell that alone, and when it began.
	since := l.clock.now().Add(time.Hour)
	l.origin.Fail(sitetest.Path(l.posts[0]), pageReports[0].fault(l.posts[0], other, ""))
	l.verify()
	var told []models.Audited
	f := models.AuditFilter{State: "all", Since: since}
	if err := l.verifier.Audit(t.Context(), l.site.ID, f, func(a *models.Audited) error { told = append(told, *a); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Code != pageReports[0].code || told[0].State != "reopened" || told[0].Confirmed != 2 || !told[0].FirstSeen.Before(since) {
		t.Errorf("since the fault came back: %+v", told)
	}
}

// siteReports are faults that show over several pages, looks, documents or days. Each plants its fault in a site of its
// own that was verified before, says where the finding must be, and gives what mends it.
var siteReports = []struct {
	code  string
	plant func(l *pagesLab) (page string, mend func())
}{
	{canonical.FindingMissing, func(l *pagesLab) (string, func()) {
		undo := l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical())
		l.verify() // absence is weak
		return l.posts[0], undo
	}},
	{canonical.FindingChain, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.Canonical(l.posts[2]))
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
	}},
	{canonical.FindingLoop, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.Canonical(l.posts[0]))
	}},
	{canonical.FindingIntoLoop, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
		l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.Canonical(l.posts[2]))
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[2]), sitetest.Canonical(l.posts[1]))
	}},
	{canonical.FindingTargetRedirects, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.RedirectTo(301, l.posts[2], nil))
	}},
	{canonical.FindingTargetNoindex, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.NoIndex())
	}},
	{canonical.FindingTargetError, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
		undo := l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.Status(404))
		l.verify()
		l.clock.advance(25 * time.Hour)
		return l.posts[0], undo
	}},
	{canonical.FindingTargetBlocked, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.origin.URL()+"/private/"))
		l.origin.Fail("/private/", telling(l.origin.URL()+"/private/", "one"))
		undo := l.origin.Fail("/robots.txt", sitetest.Body("text/plain", "User-agent: *\nDisallow: /private/\n"))
		return l.posts[0], func() { undo(); l.verify(l.origin.URL() + "/private/") }
	}},
	{canonical.FindingTargetSoft404, func(l *pagesLab) (string, func()) {
		missing := sitetest.Page("<html><head><title>Oops</title></head><body><main><p>"+words("missing", 300)+"</p></main></body></html>", nil)
		l.origin.Fail("/sitemapd-probe-*/", missing)
		l.origin.Fail("/moved/", missing)
		l.clock.advance(8 * 24 * time.Hour) // the host is probed once a week
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.origin.URL()+"/moved/"))
	}},
	{canonical.FindingSitemapSoft404, func(l *pagesLab) (string, func()) {
		missing := sitetest.Page("<html><head><title>Oops</title></head><body><main><p>"+words("missing", 300)+"</p></main></body></html>", nil)
		l.origin.Fail("/sitemapd-probe-*/", missing)
		l.clock.advance(8 * 24 * time.Hour)
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), missing)
	}},
	{canonical.FindingTargetUnreachable, func(l *pagesLab) (string, func()) {
		l.origin.Fail("/down/", sitetest.Status(500))
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.origin.URL()+"/down/"))
	}},
	{canonical.FindingTargetContent, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[1]), telling(l.posts[1], words("target", 600)))
		l.verify()
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), telling(l.posts[1], words("source", 600)))
	}},
	{canonical.FindingManyToOne, func(l *pagesLab) (string, func()) {
		var undo []func()
		for _, p := range l.posts[1:9] {
			undo = append(undo, l.origin.Fail(sitetest.Path(p), sitetest.Canonical(l.posts[0])))
		}
		l.verify() // all of them are known to the second look
		return l.posts[1], func() {
			for _, mend := range undo {
				mend()
			}
		}
	}},
	{canonical.FindingHreflangNonCanonical, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.Canonical(l.posts[2]))
		l.verify()
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.InHead(`<link rel="alternate" hreflang="de" href="`+l.posts[1]+`">`))
	}},
	{canonical.FindingFlapping, func(l *pagesLab) (string, func()) {
		for range 3 {
			undo := l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[1]))
			l.verify(l.posts[0])
			undo()
			l.verify(l.posts[0])
		}
		return l.posts[0], func() { l.clock.advance(9 * 24 * time.Hour) } // quiet for a week
	}},
	{canonical.FindingSitemapBlocked, func(l *pagesLab) (string, func()) {
		return l.posts[0], l.origin.Fail("/robots.txt", sitetest.Body("text/plain", "User-agent: *\nDisallow: "+sitetest.Path(l.posts[0])+"\n"))
	}},
	{canonical.FindingListedTwice, func(l *pagesLab) (string, func()) {
		undo := l.origin.Fail("/wp-sitemap-posts-post-1.xml", sitetest.Replaced(l.posts[1], strings.TrimSuffix(l.posts[0], "/")))
		l.run(true)
		return l.posts[0], func() { undo(); l.run(true) }
	}},
	{canonical.FindingForeignHost, func(l *pagesLab) (string, func()) {
		const foreign = "http://localhost:1/p/"
		site, err := l.store.Site(l.Context(), l.site.ID)
		if err != nil {
			l.Fatal(err)
		}
		site.Settings.Hosts = []string{"localhost:1"} // it is followed, for its owner said so
		if err := l.store.SaveSite(l.Context(), site); err != nil {
			l.Fatal(err)
		}
		undo := l.origin.Fail("/wp-sitemap-posts-post-1.xml", sitetest.Replaced(l.posts[1], foreign))
		l.run(true)
		return foreign, func() { undo(); l.run(true) }
	}},
	{canonical.FindingUnlisted, func(l *pagesLab) (string, func()) {
		undo := l.origin.Fail("/wp-sitemap-posts-post-1.xml", sitetest.Without(sitetest.Path(l.posts[0])))
		l.run(true)
		return l.posts[0], func() { undo(); l.run(true) }
	}},
	{canonical.FindingListedUndeclared, func(l *pagesLab) (string, func()) {
		l.hook(l.posts[0])
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Status(404))
	}},
	{canonical.FindingPaginated, func(l *pagesLab) (string, func()) {
		series := l.origin.URL() + "/series/"
		l.hook(series + "page/2/")
		l.origin.Fail("/series/", telling(series, "one"))
		l.origin.Fail("/series/page/2/", telling(series, "two"))
		return series + "page/2/", func() { l.origin.Fail("/series/page/2/", telling(series+"page/2/", "two")) }
	}},
	{canonical.FindingLastmodUnchanged, func(l *pagesLab) (string, func()) {
		l.origin.Fail(sitetest.Path(l.posts[0]), telling(l.posts[0], words("a", 300)))
		l.verify()
		l.origin.Edit(l.origin.PublishedPosts()[0])
		l.run(false)
		return l.posts[0], func() {
			l.origin.Fail(sitetest.Path(l.posts[0]), telling(l.posts[0], words("b", 300)))
			l.origin.Edit(l.origin.PublishedPosts()[0])
			l.run(false)
		}
	}},
	{canonical.FindingLastmodBehind, func(l *pagesLab) (string, func()) {
		undo := l.origin.Fail(sitetest.Path(l.posts[0]), telling(l.posts[0], words("a", 300)))
		l.verify()
		undo()
		l.origin.Fail(sitetest.Path(l.posts[0]), telling(l.posts[0], words("b", 300)))
		return l.posts[0], func() {
			l.origin.Edit(l.origin.PublishedPosts()[0])
			l.run(false)
		}
	}},
	{canonical.FindingDowngrade, func(l *pagesLab) (string, func()) {
		l.mirror("https://shop.example")
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(strings.Replace(l.posts[0], "https:", "http:", 1)))
	}},
	{canonical.FindingLeakedHost, func(l *pagesLab) (string, func()) {
		l.mirror("https://shop.example")
		return l.posts[0], l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(strings.Replace(l.posts[0], "shop.example", "staging.shop.example", 1)))
	}},
}

// hook says that a page was published, and lets the run that the message asks for pass.
func (l *pagesLab) hook(url string) {
	l.Helper()
	trigger := models.Trigger{SiteID: l.site.ID, Kind: models.CauseHook, Dialect: "none", ReceivedAt: l.clock.now(), Hints: []models.Hint{{Event: "post.published", URL: url}}}
	if _, _, err := l.store.SaveTrigger(l.Context(), trigger); err != nil {
		l.Fatal(err)
	}
	l.run(false)
}

// mirroring answers for a host that this machine is not.
type mirroring struct {
	*fetch.Client
	host, at string
}

func (m *mirroring) Read(ctx context.Context, req fetch.Request, consume func(*fetch.Result) error) (*fetch.Result, error) {
	req.URL = strings.Replace(req.URL, m.host, m.at, 1)
	return m.Client.Read(ctx, req, consume)
}

func (m *mirroring) ReadRobots(ctx context.Context, req fetch.Request) (*fetch.RobotsRules, *fetch.Result) {
	req.URL = strings.Replace(req.URL, m.host, m.at, 1)
	return m.Client.ReadRobots(ctx, req)
}

// mirror lets the site's pages be those of another host, and has them verified there.
func (l *pagesLab) mirror(host string) {
	l.Helper()
	at := l.origin.URL()
	site, err := l.store.Site(l.Context(), l.site.ID)
	if err != nil {
		l.Fatal(err)
	}
	site.Settings.Hosts = []string{strings.TrimPrefix(host, "https://")}
	if err := l.store.SaveSite(l.Context(), site); err != nil {
		l.Fatal(err)
	}
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, PageDelay: -1, HeaderTimeout: 3 * time.Second, Retries: -1})
	l.Cleanup(client.Close)
	web := &mirroring{client, host, at}
	l.restart(func(o *syncer.Options) { o.Web = web })
	l.origin.SetBase(host)
	l.run(true)
	for i := range l.posts {
		l.posts[i] = strings.Replace(l.posts[i], at, host, 1)
	}
	l.verifier, err = syncer.NewVerifier(syncer.VerifierOptions{Engine: l.engine, Store: l.store, Web: web, Now: l.clock.now, Delay: -1, Rest: time.Millisecond})
	if err != nil {
		l.Fatal(err)
	}
	l.verify()
}

func TestAudit_ReportsOnSitesAreOpenedAndClosed(t *testing.T) {
	t.Parallel()
	for _, r := range siteReports {
		t.Run(r.code, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 12)
			l.verify()
			page, mend := r.plant(l)
			l.verify()
			l.verify(page) // what is wrong stays so however often it is looked at
			if !l.open(page, r.code) {
				t.Fatalf("%s is not among %v of %s (%s)", r.code, l.findings(page), page, l.line(page))
			}
			mend()
			l.verify()
			l.verify(page)
			if found := l.findings(page); l.open(page, r.code) || !contains(found, "fixed "+r.code) {
				t.Errorf("%s, mended: %v", r.code, found)
			}
		})
	}
}

func contains(list []string, one string) bool {
	for _, x := range list {
		if x == one {
			return true
		}
	}
	return false
}

// Every code of the catalogue has a test that plants its fault in a site and one that mends it.
func TestAudit_EveryReportIsPlanted(t *testing.T) {
	t.Parallel()
	planted := map[string]bool{canonical.FindingGraphCorrected: true} // TestAuditGraph_PutsRightWhatDiffers
	for _, p := range plants {
		for _, code := range p.codes {
			planted[code] = true
		}
	}
	for _, r := range pageReports {
		planted[r.code] = true
	}
	for _, r := range siteReports {
		planted[r.code] = true
	}
	for _, k := range canonical.FindingKinds() {
		if !planted[k.Code] {
			t.Errorf("no test plants %s", k.Code)
		}
	}
}
