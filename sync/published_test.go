package syncer_test

import (
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// postList is a companion plugin's signed list for a made-up site, as the plugin serves it.
type postList struct {
	*lab
	secret []byte
	hidden map[uint32]bool // posts that it does not name
	seq    int64
	most   int // posts of one answer, whatever is asked for
	asked  []string
	home   string                                         // what it says of itself
	bend   func(n int, answer map[string]any) any         // changes an answer before it is sent
	refuse func(n int, w http.ResponseWriter) (done bool) // answers in its place
}

const listingPath = "/wp-json/sitemapd/v1/inventory"

// listed gives a site with a hook secret whose plugin lists its posts.
func listed(t *testing.T, o sitetest.Options) *postList {
	t.Helper()
	l := &postList{lab: newLab(t, o), hidden: map[uint32]bool{}, seq: 1, most: 40}
	key, err := l.store.RotateHookKey(t.Context(), l.site.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if l.secret, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(key.Secret, "whsec_")); err != nil {
		t.Fatal(err)
	}
	l.home = l.site.Home
	l.origin.Fail(listingPath, func(w http.ResponseWriter, r *http.Request, _ http.Handler) { l.serve(w, r) })
	return l
}

func (l *postList) serve(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after_id"), 10, 64)
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	l.asked = append(l.asked, r.URL.RawQuery)
	id, at, given := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature")
	sum := hmac.New(sha256.New, l.secret)
	fmt.Fprintf(sum, "%s.%s.inventory?after_id=%d&limit=%d", id, at, after, limit)
	stamp, _ := strconv.ParseInt(at, 10, 64)
	switch {
	case l.refuse != nil && l.refuse(len(l.asked), w):
		return
	case given != "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)), stamp != l.clock.now().Unix():
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code":"sitemapd_signature","message":"no"}`))
		return
	}
	answer := map[string]any{"home": l.home, "site_url": l.home + "wp", "permalink_structure": "/%postname%/",
		"system": map[string]string{"wordpress": "6.8"}, "seq": l.seq, "next_after_id": nil}
	items := []map[string]any{}
	for _, post := range l.origin.PublishedPosts() {
		if int64(post) <= after || l.hidden[post] {
			continue
		}
		if len(items) == min(limit, l.most) {
			answer["next_after_id"] = items[len(items)-1]["id"]
			break
		}
		items = append(items, map[string]any{"id": int64(post), "url": l.origin.PostURL(post), "type": "post", "status": "publish", "modified_gmt": "2020-01-02T03:04:05Z"})
	}
	answer["items"] = items
	var out any = answer
	if l.bend != nil {
		out = l.bend(len(l.asked), answer)
	}
	text, isText := out.(string)
	if !isText {
		body, err := json.Marshal(out)
		if err != nil {
			l.Error(err)
		}
		text = string(body)
	}
	if slices.Contains(r.Header.Values("Accept-Encoding"), "gzip") && after > 0 { // both forms of transfer
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return
	}
	_, _ = w.Write([]byte(text))
}

// full makes a full run of the schedule, without a confirming walk.
func (l *postList) full() models.Run {
	l.Helper()
	l.clock.advance(2 * time.Hour)
	return l.recheck(models.CauseCron)
}

func (l *postList) reading() models.PluginInventory {
	l.Helper()
	p, err := l.store.PluginInventory(l.Context(), l.site.ID, false)
	if err != nil {
		l.Fatal(err)
	}
	return p
}

// said gives "code page" of a run's findings about published posts.
func said(r models.Run) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Code == "published-not-declared" || f.Code == "declared-but-gone" {
			out = append(out, strings.TrimSpace(f.Code+" "+f.Page))
		}
	}
	return out
}

func TestPublished_ListIsReadToItsEndAndKeptApart(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 100, Pages: 2})
	r := l.full()
	p := l.reading()
	if p.Outcome != models.PublishedComplete || !p.Steady || p.Posts != 100 || p.Requests != 3 || p.PermalinkStructure != "/%postname%/" || p.SiteURL != l.home+"wp" || p.System != "wordpress 6.8" {
		t.Fatalf("reading %+v: want 100 posts, complete and steady, in 3 requests", p)
	}
	if got := said(r); got != nil || p.NotDeclared != 0 || p.DeclaredGone != 0 {
		t.Errorf("a site whose sitemap is right: %v, %+v", got, p)
	}
	if r.Counts.Live != int64(len(l.origin.Inventory())) {
		t.Errorf("%d pages are live, want %d: the list declares nothing", r.Counts.Live, len(l.origin.Inventory()))
	}
	if diff := cmp.Diff([]string{"after_id=0&limit=1000", "after_id=40&limit=1000", "after_id=80&limit=1000"}, l.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	before := l.asked
	l.hooked(l.origin.Edit(1), models.ExpectChanged)
	if r := l.recheck(models.CauseCron); r.Targeted {
		t.Errorf("the run is targeted")
	}
	if len(l.asked) <= len(before) {
		t.Errorf("a full run of the schedule does not read a short list again")
	}
}

// A post that is missing from the sitemap and from the list that had it before needs no second walk. A list that changes
// whenever it is read proves nothing as a whole; a few posts are asked for by number then, more wait.
func TestPublished_CorroboratesARemoval(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		steady           bool
		trashed          int
		removed, pending int64
	}{{true, 1, 1, 0}, {true, 7, 7, 0}, {false, 1, 1, 0}, {false, 7, 0, 7}} {
		l := listed(t, sitetest.Options{Posts: 60, Pages: 2})
		l.full()
		for _, post := range l.origin.PublishedPosts()[7 : 7+row.trashed] {
			l.origin.Trash(post) // by SQL: no hook tells
		}
		if !row.steady {
			l.bend = func(n int, answer map[string]any) any { answer["seq"] = n; return answer }
		}
		r := l.full()
		if r.Counts.Removed != row.removed || r.Counts.Pending != row.pending {
			t.Errorf("%+v: counts %+v", row, r.Counts)
		}
		for _, page := range l.pages(models.PageFilter{State: models.StateRemoved}) {
			if !strings.Contains(page.Reason, "own list of posts") {
				t.Errorf("%+v: removed because %s", row, page.Reason)
			}
		}
	}
}

// A removal that was pending when the list first says so is decided by it; a page that no post had is none of its business.
func TestPublished_SaysNothingOfOtherPages(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 60, Pages: 3})
	l.full()
	inventory := l.origin.Inventory()
	var page string
	for url := range inventory {
		if !slices.ContainsFunc(l.origin.PublishedPosts(), func(p uint32) bool { return l.origin.PostURL(p) == url }) && url != l.site.Home {
			page = url
		}
	}
	undo := l.origin.Fail("/wp-sitemap-*", dropping(page))
	defer undo()
	if r := l.full(); r.Counts.Pending != 1 || r.Counts.Removed != 0 {
		t.Errorf("a page that is no post: %+v, want it pending", r.Counts)
	}
}

// dropping takes one page out of whatever document lists it.
func dropping(url string) sitetest.Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		recorder := &textWriter{header: http.Header{}}
		honest.ServeHTTP(recorder, r)
		for name, values := range recorder.header {
			if name != "Content-Length" && name != "Etag" {
				w.Header()[name] = values
			}
		}
		text := recorder.body.String()
		if at := strings.Index(text, "<loc>"+url+"</loc>"); at >= 0 {
			start, end := strings.LastIndex(text[:at], "<url>"), at+strings.Index(text[at:], "</url>")+len("</url>")
			text = text[:start] + text[end:]
		}
		w.WriteHeader(max(recorder.status, 200))
		_, _ = w.Write([]byte(text))
	}
}

type textWriter struct {
	header http.Header
	body   strings.Builder
	status int
}

func (t *textWriter) Header() http.Header         { return t.header }
func (t *textWriter) Write(p []byte) (int, error) { return t.body.Write(p) }
func (t *textWriter) WriteHeader(status int)      { t.status = status }

func TestPublished_AMoveIsKnownByThePostsNumber(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 60, Pages: 2})
	l.full()
	post := l.origin.PublishedPosts()[9]
	old := l.origin.PostURL(post)
	l.origin.ChangeSlug(post, "another-name")
	undo := l.origin.Fail(strings.TrimPrefix(old, l.origin.URL()), sitetest.RedirectTo(404, "", nil)) // no redirect that would tell
	defer undo()
	r := l.full()
	if r.Counts.Moved != 1 || r.Counts.Removed != 0 || r.Counts.Pending != 0 {
		t.Fatalf("counts %+v: want one move", r.Counts)
	}
	if diff := cmp.Diff(map[string][]string{models.KindMoved: {old + " -> " + l.origin.PostURL(post)}}[models.KindMoved], l.feed(r.ID)[models.KindMoved]); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

func TestPublished_ShowsWhatTheSitemapLacksAndKeeps(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 60, Pages: 2})
	posts := l.origin.PublishedPosts()
	lacking := l.origin.PostURL(posts[3])
	undo := l.origin.Fail("/wp-sitemap-*", dropping(lacking))
	if diff := cmp.Diff([]string{"published-not-declared " + lacking}, said(l.full())); diff != "" {
		t.Errorf("a post that no document lists (-want +got):\n%s", diff)
	}
	undo()
	l.hidden[posts[5]] = true // trashed, and a cache serves the old sitemap
	kept := l.origin.PostURL(posts[5])
	for range 2 { // the second time the list has known it as gone for long
		r := l.full()
		if diff := cmp.Diff([]string{"declared-but-gone " + kept}, said(r)); diff != "" {
			t.Errorf("a post that is gone but listed (-want +got):\n%s", diff)
		}
		if r.Counts.Removed != 0 || l.reading().DeclaredGone != 1 {
			t.Errorf("the document counts: %+v, %+v", r.Counts, l.reading())
		}
	}
	delete(l.hidden, posts[5])
	if got := said(l.full()); got != nil {
		t.Errorf("once both agree: %v", got)
	}
	for _, post := range posts[10:40] {
		l.hidden[post] = true
	}
	l.full()
	l.hidden = map[uint32]bool{}
}

// Whatever is wrong with the list is in the reading: the run ends as if there were none, and nothing is removed by it.
func TestPublished_FaultsAreData(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		break_  func(l *postList)
		outcome string
		reason  string
	}{
		"another secret": {func(l *postList) { l.secret = []byte("another secret") }, models.PublishedRefused, "signature"},
		"switched off":   {func(l *postList) { l.refuse = status(404, `{"code":"rest_no_route"}`) }, models.PublishedAbsent, ""},
		"the home page":  {func(l *postList) { l.refuse = status(200, "<!DOCTYPE html><p>Welcome") }, models.PublishedAbsent, "no list"},
		"closed":         {func(l *postList) { l.refuse = status(403, `{"code":"rest_cannot_access"}`) }, models.PublishedUnavailable, "403"},
		"overloaded":     {func(l *postList) { l.refuse = status(503, "") }, models.PublishedUnavailable, "503"},
		"another site":   {func(l *postList) { l.home = "https://copy.example/" }, models.PublishedInvalid, "another site"},
		"no end": {func(l *postList) {
			l.bend = func(_ int, a map[string]any) any { delete(a, "next_after_id"); return a }
		}, models.PublishedInvalid, "whether there is more"},
		"cut": {func(l *postList) {
			l.bend = func(n int, a map[string]any) any { body, _ := json.Marshal(a); return string(body[:len(body)/2]) }
		}, models.PublishedInvalid, "no list of posts"},
		"a circle": {func(l *postList) {
			l.bend = func(_ int, a map[string]any) any { a["next_after_id"] = 1; return a }
		}, models.PublishedInvalid, "goes on after"},
		"unordered": {func(l *postList) {
			l.bend = func(_ int, a map[string]any) any { slices.Reverse(a["items"].([]map[string]any)); return a }
		}, models.PublishedInvalid, "does not belong behind"},
		"drafts": {func(l *postList) {
			l.bend = func(_ int, a map[string]any) any { a["items"].([]map[string]any)[2]["status"] = "draft"; return a }
		}, models.PublishedInvalid, "does not belong"},
		"failing in the middle": {func(l *postList) {
			l.refuse = func(n int, w http.ResponseWriter) bool { return n > 1 && status(500, "")(n, w) }
		}, models.PublishedPartial, "after post 41"},
		"another home in the middle": {func(l *postList) {
			l.bend = func(n int, a map[string]any) any {
				if n > 1 {
					a["home"] = l.origin.URL() + "/blog/"
				}
				return a
			}
		}, models.PublishedPartial, "address changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listed(t, sitetest.Options{Posts: 60, Pages: 1})
			l.full()
			gone := l.origin.PublishedPosts()[7]
			l.silence(l.origin.PostURL(gone))
			l.origin.Trash(gone)
			l.asked = nil
			fault.break_(l)
			r := l.full()
			p := l.reading()
			if p.Outcome != fault.outcome || !strings.Contains(p.Reason, fault.reason) {
				t.Errorf("%s (%s), want %s (…%s…)", p.Outcome, p.Reason, fault.outcome, fault.reason)
			}
			if r.Verdict != models.VerdictComplete || r.Counts.Removed != 0 || r.Counts.Pending != 1 {
				t.Errorf("run %s %+v: want a complete one that waits for a second walk", r.Verdict, r.Counts)
			}
			if got := said(r); got != nil {
				t.Errorf("findings %v of a list that proves nothing", got)
			}
			if len(l.asked) > 14 {
				t.Errorf("%d requests for a list that is broken", len(l.asked))
			}
		})
	}
}

func status(code int, body string) func(int, http.ResponseWriter) bool {
	return func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
		return true
	}
}

// A site that cannot answer for a thousand posts at once is asked for fewer; one whose answers are larger than anybody reads, too.
func TestPublished_AsksForLessOfASlowSite(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 200})
	l.most = 1000
	var bodies int
	l.refuse = func(n int, w http.ResponseWriter) bool {
		if strings.HasSuffix(l.asked[n-1], "limit=1000") {
			bodies++
			return status(200, strings.Repeat(" ", 17<<20))(n, w)
		}
		return strings.HasSuffix(l.asked[n-1], "limit=250") && status(500, "")(n, w)
	}
	l.full()
	if p := l.reading(); p.Outcome != models.PublishedComplete || p.Posts != 200 || bodies == 0 {
		t.Errorf("%+v after %d bodies of 17 MiB: want all 200 posts, asked for 62 at a time", p, bodies)
	}
}

// Events that fall between two answers make the list be read once more; posts published and trashed meanwhile are no proof.
func TestPublished_IsReadAgainWhenTheSiteChangesMeanwhile(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 100})
	l.full()
	gone := l.origin.PublishedPosts()[70]
	l.asked = nil
	l.bend = func(n int, answer map[string]any) any {
		if n == 1 {
			l.origin.Trash(gone)
			l.seq++
		}
		return answer
	}
	r := l.full()
	if p := l.reading(); !p.Steady || p.Posts != 99 || p.Requests != 6 || p.Seq != 2 {
		t.Errorf("reading %+v: want 99 posts in two times three answers", p)
	}
	if r.Counts.Removed != 1 {
		t.Errorf("counts %+v: want the trashed post removed at once", r.Counts)
	}
}

// A site that answers under plain addresses only, or under another of its own names.
func TestPublished_FindsTheList(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 10})
	l.origin.Heal()
	l.origin.Fail("/", func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		if r.URL.Query().Get("rest_route") == "/sitemapd/v1/inventory" {
			l.serve(w, r)
			return
		}
		honest.ServeHTTP(w, r)
	})
	l.full()
	if p := l.reading(); p.Outcome != models.PublishedComplete || p.Requests != 2 || p.Endpoint != l.home+"?rest_route=/sitemapd/v1/inventory" {
		t.Errorf("plain addresses: %+v", p)
	}
	l.full()
	if p := l.reading(); p.Requests != 1 {
		t.Errorf("the form that answered is asked for first: %+v", p)
	}

	moved := listed(t, sitetest.Options{Posts: 10})
	moved.origin.Heal()
	moved.origin.Fail("/blog"+listingPath, func(w http.ResponseWriter, r *http.Request, _ http.Handler) { moved.serve(w, r) })
	moved.origin.Fail(listingPath, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, moved.origin.URL()+"/blog"+listingPath+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
	})
	moved.full()
	if p := moved.reading(); p.Outcome != models.PublishedComplete || p.Endpoint != moved.origin.URL()+"/blog"+listingPath {
		t.Errorf("a redirect to another address of the site's own: %+v", p)
	}
	moved.origin.Fail(listingPath, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, "https://elsewhere.example"+listingPath, http.StatusFound)
	})
	moved.origin.Fail("/blog"+listingPath, sitetest.RedirectTo(302, "https://elsewhere.example"+listingPath, nil))
	moved.full()
	if p := moved.reading(); p.Complete() {
		t.Errorf("a redirect to a stranger: %+v", p)
	}
}

// A long list is read once a day; between, the few posts that matter are asked for by number.
func TestPublished_OfALongListIsAskedForByNumber(t *testing.T) {
	t.Parallel()
	l := listed(t, sitetest.Options{Posts: 10_100, PerFile: 2000})
	l.most = 2000
	l.full()
	if p := l.reading(); !p.Complete() || p.Posts != 10_100 {
		t.Fatalf("reading %+v", p)
	}
	read := len(l.asked)
	gone := l.origin.PublishedPosts()[5000]
	l.origin.Trash(gone)
	if r := l.full(); r.Counts.Removed != 1 || r.Counts.Pending != 0 {
		t.Errorf("counts %+v: want the post removed at once", r.Counts)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("after_id=%d&limit=1", gone-1)}, l.asked[read:]); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	l.clock.advance(23 * time.Hour)
	l.full()
	if p := l.reading(); p.Posts != 10_099 {
		t.Errorf("a day later: %+v", p)
	}
}
