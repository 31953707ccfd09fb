package syncer_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// pagesLab is a lab whose pages are verified.
type pagesLab struct {
	*lab
	verifier *syncer.Verifier
	posts    []string
}

func newPagesLab(t testing.TB, posts int) *pagesLab {
	t.Helper()
	l := &pagesLab{lab: newLab(t, sitetest.Options{Posts: posts})}
	l.run(false)
	for _, id := range l.origin.PublishedPosts() {
		l.posts = append(l.posts, l.origin.PostURL(id))
	}
	l.verifier = l.newVerifier(syncer.VerifierOptions{})
	return l
}

// client asks without any pause and with little patience.
func (l *pagesLab) client() *fetch.Client {
	l.Helper()
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Backoff: time.Millisecond,
		MaxRetryAfter: time.Millisecond, PageDelay: -1, HeaderTimeout: 3 * time.Second, Retries: 1})
	l.Cleanup(client.Close)
	return client
}

func (l *pagesLab) newVerifier(o syncer.VerifierOptions) *syncer.Verifier {
	l.Helper()
	client := l.client()
	o.Engine, o.Web, o.Now, o.Delay, o.Rest = l.engine, client, l.clock.now, -1, time.Millisecond
	if o.Store == nil {
		o.Store = l.store
	}
	v, err := syncer.NewVerifier(o)
	if err != nil {
		l.Fatal(err)
	}
	return v
}

// verify looks at pages, all of them when none is named, two hours after the last thing that happened.
func (l *pagesLab) verify(urls ...string) syncer.VerifyResult {
	l.Helper()
	l.clock.advance(2 * time.Hour)
	r, err := l.verifier.Verify(l.Context(), syncer.VerifyRequest{SiteID: l.site.ID, URLs: urls})
	if err != nil {
		l.Fatalf("verify: %v", err)
	}
	return r
}

// lines gives the lines of the site by page.
func (l *pagesLab) lines(f models.CanonicalFilter) map[string][]models.Canonical {
	l.Helper()
	out := map[string][]models.Canonical{}
	if err := l.verifier.Canonical(l.Context(), l.site.ID, f, func(c *models.Canonical) error {
		out[c.SourceURL] = append(out[c.SourceURL], *c)
		return nil
	}); err != nil {
		l.Fatalf("read lines: %v", err)
	}
	return out
}

// line is what a page's first line says, in short.
func (l *pagesLab) line(url string) string {
	l.Helper()
	found := l.lines(models.CanonicalFilter{Source: url, Unlisted: true})[url]
	if len(found) == 0 {
		return "nothing"
	}
	return brief(&found[0])
}

func brief(c *models.Canonical) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %.2f %s %s", c.Status, c.Rule, c.Confidence, c.Resolution, c.Reason))
}

// findings gives "state code" of everything reported on a page.
func (l *pagesLab) findings(url string) []string {
	l.Helper()
	key := models.Key(canonical.KeyOf(url))
	var out []string
	if err := l.verifier.Audit(l.Context(), l.site.ID, models.AuditFilter{Key: &key, State: "all"}, func(a *models.Audited) error {
		out = append(out, a.State+" "+a.Code)
		return nil
	}); err != nil {
		l.Fatalf("read findings: %v", err)
	}
	slices.Sort(out)
	return out
}

const validSelf = "validated E1 0.98 self"

func TestVerify_LooksAtEveryListedPage(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 60)
	r := l.verify()
	inventory := slices.Sorted(maps.Keys(l.origin.Inventory()))
	lines := l.lines(models.CanonicalFilter{})
	if diff := cmp.Diff(inventory, slices.Sorted(maps.Keys(lines))); diff != "" {
		t.Errorf("pages (-listed +verified):\n%s", diff)
	}
	for url, of := range lines {
		if len(of) != 1 || brief(&of[0]) != validSelf || of[0].CanonicalURL != url {
			t.Errorf("%s: %v", url, of)
		}
	}
	if len(r.Keys) != len(inventory) || r.Unread != 0 {
		t.Errorf("%+v", r)
	}
	if n := l.origin.Count("/robots.txt"); n != 1 {
		t.Errorf("robots.txt was asked for %d times", n)
	}
	if l.origin.MostAtOnce() > 4 {
		t.Error("pages are asked for one at a time")
	}
	if found := l.findings(l.posts[0]); len(found) != 0 {
		t.Errorf("findings on a page that is as it should be: %v", found)
	}
}

// Nothing changed: a second pass says the same, from 304 as well as from 200, and validity has not moved.
func TestVerify_ConfirmsWhatStays(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 6)
	undo := l.origin.Fail("/*/", sitetest.Validated())
	defer undo()
	l.verify()
	before := l.lines(models.CanonicalFilter{})
	l.verify()
	if got := l.line(l.posts[0]); got != validSelf {
		t.Error(got)
	}
	after := l.lines(models.CanonicalFilter{})
	for url, of := range after {
		if url == l.origin.URL()+"/" { // a pattern of path.Match does not reach it
			continue
		}
		if of[0].Reading != "not_modified" {
			t.Errorf("%s was read again: %s", url, of[0].Reading)
		}
		if !of[0].ValidFrom.Equal(*before[url][0].ValidFrom) || !of[0].ObservedAt.After(*before[url][0].ObservedAt) {
			t.Errorf("%s: valid from %s and %s, observed %s and %s", url, before[url][0].ValidFrom, of[0].ValidFrom, before[url][0].ObservedAt, of[0].ObservedAt)
		}
		if diff := cmp.Diff(string(before[url][0].Signals), string(of[0].Signals)); diff != "" {
			t.Errorf("%s: signals (-before +after):\n%s", url, diff)
		}
	}
}

func TestVerify_TakesSecondLooks(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	l.verify()
	absent, gone := l.posts[0], l.posts[1]
	l.origin.Fail(sitetest.Path(absent), sitetest.Canonical())
	l.origin.Fail(sitetest.Path(gone), sitetest.Status(410))
	l.verify(absent, gone)
	for _, url := range []string{absent, gone} {
		if got := l.line(url); got != validSelf {
			t.Errorf("after one look %s: %s", url, got)
		}
	}
	l.verify(absent, gone)
	if got := l.line(absent); got != "unknown N0 0.00 none no_declaration" {
		t.Errorf("absent twice: %s", got)
	}
	if got := l.line(gone); got != validSelf {
		t.Errorf("gone for two hours: %s", got)
	}
	l.clock.advance(24 * time.Hour)
	l.verify(gone)
	if got := l.line(gone); !strings.HasPrefix(got, "unknown N0 0.00 none source_gone") {
		t.Errorf("gone for a day: %s", got)
	}
	history, _, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(gone)))
	if err != nil || len(history) != 1 || history[0].EndReason != "source_gone" {
		t.Errorf("%+v, %v", history, err)
	}
}

// Loops are found whoever declares them last, their members and what leads into them are judged anew, and so it is when
// they are mended.
func TestVerify_FollowsLoopsAndChains(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 8)
	l.verify()
	p := l.posts
	lay := func(from, to string) func() { return l.origin.Fail(sitetest.Path(from), sitetest.Canonical(to)) }
	lay(p[0], p[1])
	lay(p[1], p[2])
	mend := lay(p[2], p[0])
	lay(p[3], p[0]) // into the loop
	lay(p[4], p[5]) // a chain of two, its end a redirect
	l.origin.Fail(sitetest.Path(p[5]), sitetest.RedirectTo(301, p[6], nil))
	l.verify()
	for i, want := range map[int]string{0: "invalid C2 0.30 loop canonical_loop", 1: "invalid C2 0.30 loop canonical_loop", 2: "invalid C2 0.30 loop canonical_loop",
		3: "declared E2 0.95 into_loop into_loop", 4: "declared E2 0.95 chain target_redirects"} {
		if got := l.line(p[i]); got != want {
			t.Errorf("page %d: %s, want %s", i, got, want)
		}
	}
	for i, code := range map[int]string{0: canonical.FindingLoop, 1: canonical.FindingLoop, 2: canonical.FindingLoop, 3: canonical.FindingIntoLoop,
		4: canonical.FindingTargetRedirects} {
		if !slices.ContainsFunc(l.findings(p[i]), func(f string) bool { return strings.HasSuffix(f, code) }) {
			t.Errorf("page %d: no %s in %v", i, code, l.findings(p[i]))
		}
	}
	edges := syncer.NewEdges(t.Context(), l.store, l.site.ID)
	all, err := edges.AllEdges()
	if err != nil || len(all) != 6 {
		t.Errorf("%d edges, %v", len(all), err)
	}
	mend()
	l.verify(p[2])
	for i, want := range map[int]string{0: "declared E2 0.95 chain chain", 1: "validated E3 0.97 chain", 2: validSelf, 3: "declared E2 0.95 chain chain"} {
		if got := l.line(p[i]); !strings.HasPrefix(got, want) {
			t.Errorf("mended, page %d: %s, want %s", i, got, want)
		}
	}
	if !slices.Contains(l.findings(p[1]), "fixed "+canonical.FindingLoop) {
		t.Errorf("%v", l.findings(p[1]))
	}
}

// A target outside the inventory is looked at for the pages that name it; an address of another network never is.
func TestVerify_LooksAtTargets(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	outside := l.origin.URL() + "/landing/"
	undo := l.origin.Fail("/landing/", sitetest.Page("<html><head><title>x</title></head><body></body></html>", nil))
	l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(outside))
	l.verify()
	if got := l.line(l.posts[0]); got != "validated E3 0.97 chain" {
		t.Error(got)
	}
	if got := l.line(outside); got != "unknown N0 0.00 none no_declaration" {
		t.Error(got)
	}
	if found := l.findings(outside); len(found) != 0 {
		t.Errorf("a page that is not the site's is reported on: %v", found)
	}
	undo()
	l.origin.Fail("/landing/", sitetest.Page("<html><head><title>x</title><meta name=robots content=noindex></head><body></body></html>", nil))
	l.verify(outside)
	if got := l.line(l.posts[0]); got != "declared E2 0.95 chain target_noindex" {
		t.Errorf("the target asks not to be indexed: %s", got)
	}
}

func TestVerify_ObeysRobots(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	path := sitetest.Path(l.posts[0])
	l.origin.Fail("/robots.txt", sitetest.Body("text/plain", "User-agent: *\nDisallow: "+path+"\n"))
	l.verify()
	if n := l.origin.Count(path); n != 0 {
		t.Errorf("a forbidden page was asked for %d times", n)
	}
	if got := l.line(l.posts[0]); got != "unknown N0 0.00 none blocked_by_robots" {
		t.Error(got)
	}
	if found := l.findings(l.posts[0]); !slices.Contains(found, "new "+canonical.FindingSitemapBlocked) {
		t.Errorf("%v", found)
	}
}

// A host that answers 200 to everything: pages that are its page for missing ones are told.
func TestVerify_TellsSoftNotFound(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	missing := sitetest.Page("<html><head><title>Oops</title></head><body><main><p>"+strings.Repeat("There is nothing at this address any more but do look around in our shop and read "+
		"what others have written about the seasons of the year and all the birds that stay. ", 4)+"</p></main></body></html>", nil)
	l.origin.Fail("/sitemapd-probe-*/", missing)
	l.origin.Fail(sitetest.Path(l.posts[0]), missing)
	l.verify()
	if found := l.findings(l.posts[0]); !slices.Contains(found, "new "+canonical.FindingSitemapSoft404) {
		t.Errorf("%v", found)
	}
	if found := l.findings(l.posts[1]); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func TestVerify_HoldsAbsenceOfMany(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 70)
	l.verify()
	undo := l.origin.Fail("/*/", sitetest.Canonical())
	l.verify()
	l.verify()
	incidents, err := l.store.Incidents(t.Context(), l.site.ID, time.Time{})
	if err != nil || len(incidents) != 1 || incidents[0].What != "absent" || incidents[0].Pages < 50 {
		t.Errorf("%+v, %v", incidents, err)
	}
	held := 0
	for _, of := range l.lines(models.CanonicalFilter{}) {
		if of[0].Status == "validated" {
			held++
		}
	}
	if held == 0 {
		t.Error("no declaration was held")
	}
	undo()
	l.verify()
	if got := l.line(l.posts[0]); got != validSelf {
		t.Error(got)
	}
}

func TestMute_KeepsFindingsOutOfReports(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.NoIndex())
	l.origin.Fail(sitetest.Path(l.posts[1]), sitetest.NoIndex())
	l.verify()
	count := func() int {
		n := 0
		if err := l.verifier.Audit(t.Context(), l.site.ID, models.AuditFilter{}, func(*models.Audited) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 2 {
		t.Fatalf("%d findings", n)
	}
	groups, err := l.verifier.AuditGroups(t.Context(), l.site.ID, models.AuditFilter{})
	if err != nil || len(groups) != 1 || groups[0].Pages != 2 || groups[0].Template != "/{slug}/" {
		t.Errorf("%+v, %v", groups, err)
	}
	soon, over := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	for _, test := range []struct {
		mute models.Mute
		want int
	}{
		{models.Mute{Code: canonical.FindingSitemapNoindex, Until: &over}, 2},
		{models.Mute{Code: canonical.FindingSitemapNoindex, Place: l.posts[0], Key: models.Key(canonical.KeyOf(l.posts[0])), Until: &soon}, 1},
		{models.Mute{Code: canonical.FindingSitemapNoindex, Place: "/{slug}/", Until: &soon}, 0},
	} {
		if err := l.store.MuteFinding(t.Context(), l.site.ID, test.mute); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != test.want {
			t.Errorf("muted at %q: %d findings, want %d", test.mute.Place, n, test.want)
		}
	}
}

// In the daemon what hooks name comes first, a run that is due gets the host, and a day's allowance is kept.
func TestSlice_WorksInOrderAndWithinItsAllowance(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 12)
	l.verifier = l.newVerifier(syncer.VerifierOptions{PerDay: 5})
	named := l.posts[7]
	trigger := models.Trigger{SiteID: l.site.ID, Kind: models.CauseHook, Dialect: "none", ReceivedAt: l.clock.now(), Hints: []models.Hint{{Event: "post.updated", URL: named}}}
	if _, _, err := l.store.SaveTrigger(t.Context(), trigger); err != nil {
		t.Fatal(err)
	}
	l.clock.advance(2 * time.Minute)
	if looked, more, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil || looked != 0 || !more {
		t.Errorf("while a run is due: %d pages, %v, %v", looked, more, err)
	}
	l.run(false)
	var order []string
	l.origin.OnRequest(func(_ int, r *http.Request) { order = append(order, r.URL.Path) })
	looked, more, err := l.verifier.Slice(t.Context(), l.site.ID)
	if err != nil || looked != 6 || more {
		t.Errorf("%d pages, %v, %v: want the one that the hook named and five others", looked, more, err)
	}
	order = slices.DeleteFunc(order, func(p string) bool { return p == "/robots.txt" || strings.HasPrefix(p, "/sitemapd-probe") })
	if len(order) == 0 || order[0] != sitetest.Path(named) {
		t.Errorf("order of requests: %v", order)
	}
	l.clock.advance(24 * time.Hour)
	if looked, _, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil || looked < 5 {
		t.Errorf("the next day: %d, %v", looked, err)
	}
}

func TestVerify_LeavesAHostAloneThatSomebodyElseHolds(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	lease, err := l.store.AcquireLease(t.Context(), syncer.HostKey(l.site.Root), "another daemon", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	l.origin.ResetLog()
	if _, _, err := l.verifier.Slice(t.Context(), l.site.ID); !errors.Is(err, models.ErrBusy) {
		t.Errorf("got %v", err)
	}
	if n := len(l.origin.Requests()); n != 0 {
		t.Errorf("%d requests to a host that somebody else holds", n)
	}
	if err := l.store.ReleaseLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if looked, _, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil || looked == 0 {
		t.Errorf("%d, %v", looked, err)
	}
}

// What leaves the sitemap is watched, and told from a page that the sitemap only forgot.
func TestVerify_WatchesWhatLeft(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 5)
	l.verify()
	gone := l.posts[0]
	forgotten := l.posts[1]
	l.origin.Trash(l.origin.PublishedPosts()[0])
	l.origin.Fail("/wp-sitemap-posts-post-1.xml", sitetest.Without(sitetest.Path(forgotten)))
	l.run(true)
	l.verify(gone, forgotten)
	if found := l.findings(forgotten); !slices.Contains(found, "new "+canonical.FindingUnlisted) {
		t.Errorf("a page that is there but no longer listed: %v", found)
	}
	if found := l.findings(gone); slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, "fixed") }) {
		t.Errorf("a page that is rightly gone: %v", found)
	}
	if got := l.line(gone); !strings.HasPrefix(got, "unknown N0 0.00 none source_gone") {
		t.Errorf("404 and no longer listed is gone at the first look: %s", got)
	}
}
