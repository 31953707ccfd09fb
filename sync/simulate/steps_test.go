package simulate_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// foreignHome is where a site says that it is by a fault.
const foreignHome = "https://other.example"

// step does one operation and checks what it may have changed.
func (x *world) step(o op) error {
	switch o.Do {
	case "run":
		return x.run(o, o.A%5 == 0)
	case "clock": // mostly on, now and then back
		steps := []time.Duration{time.Second, time.Minute, 3 * time.Minute, time.Hour, 26 * time.Hour, -time.Minute, -2 * time.Hour}
		step := steps[o.A%len(steps)]
		if x.now = x.now.Add(step); step < 0 {
			x.tally.add("clock: back", 1)
		}
	case "fault":
		x.origin.FailTimes(x.target(o.B), faultTimes(o.C), unvalidated(x.faultOf(o.A)))
	case "stale":
		if target := x.target(o.B); target != "" {
			fault := x.origin.Stale(target)
			if o.A%2 == 0 {
				fault = everyOther(fault)
			}
			x.origin.FailTimes(target, faultTimes(o.C), fault)
		}
	case "offset": // a plugin that calls its local time UTC
		x.origin.FailTimes("", -1, unvalidated(sitetest.Replaced("+00:00<", "+02:00<")))
	case "outcome":
		all := []fetch.Outcome{fetch.Timeout, fetch.DNS, fetch.TLS, fetch.Refused, fetch.TooLarge, fetch.Protocol, fetch.TooSlow}
		x.web.mu.Lock()
		x.web.outcomes = append(x.web.outcomes, &outcomeFault{x.target(o.B), all[o.A%len(all)], faultTimes(o.C)})
		x.web.mu.Unlock()
	case "heal":
		x.heal()
	case "hook":
		return x.hook(o)
	case "retry":
		return x.retry(o)
	case "approve":
		return x.rule(o, true)
	case "reject":
		return x.rule(o, false)
	case "root":
		x.tally.add("operator: new root", 1)
		return x.reroot()
	case "article":
		x.tally.add("window: article", 1)
		x.window.publish(1 + o.A%3)
	case "withdraw":
		x.tally.add("window: withdrawn", 1)
		x.window.withdraw(o)
	case "day":
		x.now = x.now.Add(23 * time.Hour)
	case "window-fault":
		x.tally.add("window: fault", 1)
		x.window.fail(unvalidated(x.faultOf(o.A)), faultTimes(o.C))
	case "window-heal":
		x.window.fail(nil, 0)
	case "reopen":
		x.tally.add("operator: restart", 1)
		return x.reopen()
	default:
		x.edit(o)
	}
	return nil
}

func (x *world) heal() {
	x.origin.Heal()
	x.window.fail(nil, 0)
	x.web.mu.Lock()
	defer x.web.mu.Unlock()
	x.web.outcomes = nil
}

// faultTimes: half of all faults stay until they are healed, others for a request or a few.
func faultTimes(c int) int {
	if c < 5 {
		return -1
	}
	return c - 4
}

// target names everything, the index, or one of the files.
func (x *world) target(b int) string {
	documents := x.origin.Documents()
	switch {
	case b%10 == 0:
		return ""
	case b%10 < 3:
		return x.relative(documents[0])
	}
	return x.relative(documents[b%len(documents)])
}

func (x *world) relative(url string) string { return strings.TrimPrefix(url, x.origin.URL()) }

// unvalidated keeps a fault from giving its body the validators of the true one: that lie nobody can see through.
func unvalidated(fault sitetest.Fault) sitetest.Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		fault(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			honest.ServeHTTP(w, r)
			w.Header().Del("ETag")
			w.Header().Del("Last-Modified")
		}))
	}
}

// everyOther is a cache of two nodes, of which one has the fault.
func everyOther(fault sitetest.Fault) sitetest.Fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		if n.Add(1)%2 == 0 {
			fault(w, r, honest)
		} else {
			honest.ServeHTTP(w, r)
		}
	}
}

func (x *world) faultOf(a int) sitetest.Fault {
	all := []func() sitetest.Fault{
		func() sitetest.Fault { return sitetest.Status(404) }, func() sitetest.Fault { return sitetest.Status(410) },
		func() sitetest.Fault { return sitetest.Status(401) }, func() sitetest.Fault { return sitetest.Status(500) },
		func() sitetest.Fault { return sitetest.Busy(503, "600") }, func() sitetest.Fault { return sitetest.Busy(429, "3600") },
		func() sitetest.Fault { return sitetest.StatusWithBody(404) }, func() sitetest.Fault { return sitetest.StatusWithBody(410) },
		func() sitetest.Fault { return sitetest.StatusWithBody(503) }, func() sitetest.Fault { return sitetest.StatusWithBody(500) },
		sitetest.Empty, sitetest.EmptyWhenConditional, sitetest.HTML, sitetest.Parked, sitetest.Challenge,
		func() sitetest.Fault { return sitetest.ShortLength(0.5) }, func() sitetest.Fault { return sitetest.AbortChunk(1) },
		func() sitetest.Fault { return sitetest.AbortChunk(0.6) }, func() sitetest.Fault { return sitetest.CutCleanly(0.5) },
		func() sitetest.Fault { return sitetest.CutCleanly(0.95) }, sitetest.TruncatedGzip,
		func() sitetest.Fault { return sitetest.Redirect("/wp-login.php") }, sitetest.Loop, sitetest.NotModified, sitetest.WrongNamespace,
		sitetest.EmptyURLSet, sitetest.EmptyIndex, sitetest.HalfGone, sitetest.HalfGone,
		func() sitetest.Fault { return sitetest.Without("page") }, func() sitetest.Fault { return sitetest.Without("-2.xml") },
		func() sitetest.Fault { return x.origin.ForeignHost(foreignHome) },
		func() sitetest.Fault { return sitetest.Replaced("+00:00<", "+02:00<") },
		func() sitetest.Fault { return sitetest.Replaced("T", "t") },
		func() sitetest.Fault { return sitetest.Redirect("/wp-sitemap-posts-post-1.xml") },
		func() sitetest.Fault { return sitetest.Redirect("/post-sitemap.xml") },
	}
	return all[a%len(all)]()
}

// edit changes the site.
func (x *world) edit(o op) {
	x.tally.add("site: "+o.Do, 1)
	s := x.origin
	posts := s.PublishedPosts()
	id := uint32(0)
	if len(posts) > 0 {
		id = posts[o.A%len(posts)]
	}
	zones := []string{"UTC", "Europe/Vienna", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"}
	switch o.Do {
	case "publish":
		spec := sitetest.Spec{Page: o.C == 8, Draft: o.C == 7, Category: o.B % 4}
		if o.C == 6 {
			spec.Date = time.Date(2012, 1, 1+o.A%300, 10, 0, 0, 0, time.UTC)
		}
		e := s.Publish(spec)
		if spec.Draft {
			x.away = append(x.away, e.ID)
		}
		x.told(e)
	case "edit":
		x.told(s.Edit(id))
	case "slug":
		x.told(s.ChangeSlug(id, fmt.Sprintf("renamed-%d", o.B%50)))
	case "trash":
		x.away = append(x.away, id)
		x.told(s.Trash(id))
	case "unpublish":
		x.away = append(x.away, id)
		x.told(s.Unpublish(id))
	case "delete":
		x.told(s.Delete(id))
	case "restore":
		if n := len(x.away); n > 0 {
			i := o.A % n
			x.told(s.Restore(x.away[i]))
			x.away = append(x.away[:i:i], x.away[i+1:]...)
		}
	case "import":
		s.BulkImport(1 + o.A%25)
	case "share":
		s.EditShare(1 + o.A%7)
	case "purge": // a category of posts at once
		for i, p := range posts {
			if i%(2+o.A%3) == 0 {
				s.Trash(p)
				x.away = append(x.away, p)
			}
		}
	case "reorder":
		s.Reorder()
	case "per-file":
		s.SetPerFile(2 + o.A%12)
	case "layout":
		s.SwitchLayout(sitetest.Layout(o.A % 3))
	case "zone":
		if l, err := time.LoadLocation(zones[o.A%len(zones)]); err == nil {
			s.SetTimezone(l)
		}
	case "scheme":
		if strings.HasPrefix(s.URL(), "https") {
			s.SetBase("http://" + x.server.authority)
		} else {
			s.SetBase("https://" + x.server.authority)
		}
	case "permalinks":
		s.ChangePermalinks(sitetest.Permalinks(o.A % 3))
	}
}

func (x *world) told(e sitetest.Event) {
	if e.Type != "" {
		x.past.mu.Lock()
		defer x.past.mu.Unlock()
		x.events = append(x.events, e)
	}
}

// hook tells the daemon of the last edit, of an old one, or of one that never was.
func (x *world) hook(o op) error {
	if len(x.events) == 0 {
		return nil
	}
	e := x.events[len(x.events)-1]
	if o.C > 5 {
		e = x.events[o.A%len(x.events)]
	}
	hint := models.Hint{Event: e.Type, URL: e.URL, PreviousURL: e.PreviousURL, PostID: int64(e.ID), PostType: e.PostType,
		ModifiedGMT: e.Modified.UTC().Format("2006-01-02T15:04:05"), Expect: models.ExpectListed}
	switch {
	case o.C == 9: // a lie
		hint.Event, hint.Expect = "post.deleted", models.ExpectGone
	case e.Type == "post.updated" && e.PreviousURL != "":
		hint.Expect = models.ExpectMoved
	case e.Type == "post.updated":
		hint.Expect = models.ExpectChanged
	case e.Type != "post.published":
		hint.Expect = models.ExpectGone
	}
	if hint.Expect == models.ExpectGone {
		x.past.named[hint.URL] = true
	}
	if hint.Expect == models.ExpectMoved {
		x.past.named[hint.PreviousURL], x.past.renamed[hint.PreviousURL] = true, renaming{hint.URL, x.past.triggers}
	}
	x.tally.add("hook: told", 1)
	if o.C == 9 {
		x.tally.add("hook: told a lie", 1)
	}
	x.past.triggers++
	var dedupe models.Key
	copy(dedupe[:], fmt.Sprintf("%016d", x.past.triggers))
	_, _, err := x.store.SaveTrigger(x.ctx, models.Trigger{SiteID: x.site.ID, Kind: models.CauseHook, Dialect: "standard_webhooks", DedupeKey: dedupe,
		ReceivedAt: x.now, Hints: []models.Hint{hint}})
	return err
}

// retry is a person who asks for the documents that could not be read, and for no others.
func (x *world) retry(o op) error {
	x.tally.add("operator: retry", 1)
	if _, _, err := x.store.SaveTrigger(x.ctx, models.Trigger{SiteID: x.site.ID, Kind: models.CauseManual, Dialect: "none", ReceivedAt: x.now,
		Hints: []models.Hint{{Event: models.EventRetry}}}); err != nil {
		return err
	}
	o.A = 1
	return x.run(o, false)
}

// rule is what a person says of held removals: of all, or of one. "All" leaves alone what was ruled on one by one.
func (x *world) rule(o op, approve bool) error {
	open, err := x.store.Removals(x.ctx, x.site.ID)
	if err != nil || len(open) == 0 {
		return err
	}
	var keys []models.Key
	switch {
	case o.C == 42: // each by name
		for _, c := range open {
			keys = append(keys, c.Key)
		}
	case o.A%2 == 0:
		keys = []models.Key{open[o.B%len(open)].Key}
	}
	if _, err := x.store.DecideRemovals(x.ctx, x.site.ID, keys, approve); err != nil {
		return err
	}
	if approve {
		x.tally.add("operator: approve", 1)
	} else {
		x.tally.add("operator: reject", 1)
	}
	return x.ruled(keys, approve)
}

// reroot is the operator who gives the site's sitemap its new address.
func (x *world) reroot() error {
	site, err := x.store.Site(x.ctx, x.site.ID)
	if err != nil {
		return err
	}
	site.Root, site.Roots = x.origin.Index(), x.roots()
	x.site = site
	return x.store.SaveSite(x.ctx, site)
}

func keyOf(url string) models.Key {
	u, problem := weburl.Parse(nil, []byte(url))
	if problem != weburl.None {
		return models.Key{}
	}
	return models.Key(u.Key())
}

// settle is a long calm: the faults are gone, and two confirmed runs come with an operator between them.
func (x *world) settle() error {
	x.heal()
	if err := x.reroot(); err != nil {
		return err
	}
	for range 3 {
		x.now = x.now.Add(time.Hour)
		if err := x.run(op{Do: "run", A: 1}, true); err != nil {
			return err
		}
		if err := x.rule(op{C: 42}, true); err != nil {
			return err
		}
	}
	return nil
}
