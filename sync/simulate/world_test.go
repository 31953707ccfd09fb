package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// worker runs one history after the other on a server of its own.
type worker struct {
	t      testing.TB
	dir    string
	empty  []byte // a migrated database
	mysql  string // names a migrated database on a server, which is used instead
	server *server
	events *events
	count  int
	// thorough makes every check every time; else the dear ones are made by turns, see sometimes.
	thorough bool
}

func newWorker(t testing.TB, number int) *worker {
	w := &worker{t: t, dir: t.TempDir(), server: listen(t, number), events: newEvents()}
	path := filepath.Join(w.dir, "empty.db")
	s, err := store.Open(context.Background(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if w.empty, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return w
}

// newWorkerOnMySQL has one database, which each history begins by emptying.
func newWorkerOnMySQL(t testing.TB, number int) *worker {
	w := &worker{t: t, server: listen(t, number), events: newEvents(), mysql: storetest.MySQL(t)}
	s, err := store.Open(context.Background(), w.mysql, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return w
}

// place makes an empty database and names it; clear takes it away.
func (w *worker) place() (dsn string, clear func(), err error) {
	if w.mysql != "" {
		return w.mysql, func() {}, storetest.Empty(w.mysql)
	}
	path := filepath.Join(w.dir, fmt.Sprintf("%d.db", w.count))
	clear = func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
	}
	return "sqlite:" + path, clear, os.WriteFile(path, w.empty, 0o600)
}

// world is the state of one history.
type world struct {
	ctx    context.Context
	setup  setup
	server *server
	tally  *events // of the worker
	origin *sitetest.Site
	dsn    string
	store  *store.Store
	db     *storage
	web    *recorder
	engine *syncer.Engine
	site   models.Site
	window *window
	now    time.Time
	away   []uint32 // withdrawn posts that may come back
	events []sitetest.Event
	past   past
	// A daemon that stands still while another one works on its database.
	sleeper *sleeper
	// thorough and turns: see sometimes.
	thorough bool
	turns    int
	trace    func(format string, args ...any)
}

// play lives a history to its end and gives the promise that it broke, if any.
func (w *worker) play(h history, trace func(string, ...any)) (err error) {
	if trace == nil {
		trace = func(string, ...any) {}
	}
	w.count++
	dsn, clear, err := w.place()
	if err != nil {
		return err
	}
	x := &world{ctx: context.Background(), setup: h.Setup, server: w.server, tally: w.events, thorough: w.thorough, turns: h.Seed, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		dsn: dsn, trace: trace}
	defer func() {
		x.close()
		clear()
	}()
	if err := x.begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for i, o := range h.Steps {
		trace("step %d: %s", i, o)
		if err := x.step(o); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, o, err)
		}
	}
	if err := x.settle(); err != nil {
		return fmt.Errorf("after the site settled: %w", err)
	}
	if err := x.finally(); err != nil {
		return fmt.Errorf("at the end: %w", err)
	}
	return nil
}

func (x *world) begin() error {
	s := x.setup
	x.origin = sitetest.New(sitetest.Options{Layout: sitetest.Layout(s.Layout % 3), BaseURL: "http://" + x.server.authority, Posts: s.Posts, Pages: s.Pages,
		Categories: s.Categories, Tags: s.Tags, Users: s.Users, PerFile: max(1, s.PerFile), Seed: 7, Gzip: s.Gzip, Conditional: s.Conditional,
		BlogPage: s.BlogPage, NoPosts404: s.NoPosts404, Gone: s.Gone, Now: func() time.Time { return x.now }})
	x.server.site.Store(x.origin)
	x.window = &window{kind: s.Window, now: func() time.Time { return x.now }}
	if s.Window == newestWindow {
		x.window.publish(newest + 5)
	}
	x.server.window.Store(x.window)
	if err := x.open(); err != nil {
		return err
	}
	var err error
	x.site, err = x.store.AddSite(x.ctx, models.Site{Name: "blog", Home: x.origin.URL() + "/", Root: x.origin.Index(), Roots: x.roots()})
	if err != nil {
		return err
	}
	x.past.begin()
	return nil
}

// roots are the index and, in some worlds, one of the files too.
func (x *world) roots() []models.Root {
	documents := x.origin.Documents()
	roots := []models.Root{{URL: documents[0], Discovery: "direct_URL"}}
	if x.setup.TwoRoots {
		roots = append(roots, models.Root{URL: documents[len(documents)-1], Discovery: "robots_txt"})
	}
	if x.setup.Window != 0 {
		roots = append(roots, models.Root{URL: x.origin.URL() + windowPath, Discovery: "robots_txt"})
	}
	return roots
}

// open starts a daemon on the file: a store, a client and an engine, all new.
func (x *world) open() error {
	var err error
	if x.store, err = store.Open(x.ctx, x.dsn, store.Options{NoMigrate: true}); err != nil {
		return err
	}
	lease := models.Lease{}
	var good map[string]view
	var outcomes []*outcomeFault
	var looks []look // of the run that died
	second, calls, statements := 0, 0, 0
	if x.db != nil {
		calls, statements = x.db.usedCalls, x.db.usedStatements
		lease, good, outcomes, looks, second = x.db.lease, x.web.good, x.web.outcomes, x.web.looks, x.web.second
	}
	if lease.Owner != "" { // of a dead daemon: its time is over
		if err := x.store.ReleaseLease(x.ctx, lease); err != nil && !errors.Is(err, models.ErrLeaseLost) {
			return err
		}
	}
	if good == nil {
		good = map[string]view{}
	}
	x.db = newStorage(x.store)
	x.db.other = x.sleeper
	if calls > 0 {
		x.db.usedCalls, x.db.usedStatements = calls, statements
	}
	_, roots := certificate()
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: roots, PageDelay: -1,
		MinSpeed: -1, Retries: 1, HeaderTimeout: 2 * time.Second, MaxRetryAfter: time.Second, Now: func() time.Time { return x.now },
		Sleep: func(context.Context, time.Duration) error { return nil }})
	x.web = &recorder{client: client, good: good, looks: looks, second: second, outcomes: outcomes, events: x.tally,
		now: func() time.Time { return x.now }}
	x.engine, err = x.newEngine(1)
	return err
}

func (x *world) newEngine(parallel int) (*syncer.Engine, error) {
	policy := syncer.Policy{GuardPages: int64(x.setup.GuardPages)}
	if x.setup.Release {
		policy.ReleaseAfter = time.Hour
	}
	return syncer.New(syncer.Options{Store: x.db, Web: x.web, Now: func() time.Time { return x.now }, Owner: "simulated", Fetches: parallel, ReadWhole: 1,
		Workers: min(2, parallel), Progress: x.web.confirming, Policy: policy})
}

func (x *world) close() {
	x.abandon()
	x.shut()
}

// shut ends the daemon; one that stands still goes on doing so.
func (x *world) shut() {
	if x.web != nil {
		x.web.client.Close()
	}
	if x.store != nil {
		_ = x.store.Close()
	}
}

func (x *world) reopen() error {
	x.shut()
	return x.open()
}

// owned tells a page of the site from one of another host.
func (x *world) owned(url string) bool {
	for _, host := range append([]string{x.server.authority}, x.site.Settings.Hosts...) {
		if strings.HasPrefix(url, "http://"+host+"/") || strings.HasPrefix(url, "https://"+host+"/") {
			return true
		}
	}
	return false
}

// sometimes tells whether a check that reads much is made this time: each is made once in n times on average, by a
// count that begins with the history's seed. Reading the past again and again would take four fifths of the time of a
// history, and what one history does not look at another does. Fixtures, and histories made smaller, are checked whole.
func (x *world) sometimes(n int) bool {
	x.turns++
	mixed := uint64(x.turns) * 0x9E3779B97F4A7C15
	return x.thorough || (mixed>>40)%uint64(n) == 0
}

// run makes one run with what is planned for it, and compares what it recorded.
func (x *world) run(o op, confirm bool) error {
	x.now = x.now.Add(5 * time.Second)
	causes := []string{models.CauseCron, models.CauseManual, models.CauseHook, models.CauseConfirm}
	request := syncer.Request{SiteID: x.site.ID, Cause: causes[o.A%4], Confirm: confirm}
	var err error
	frozen := o.Fail != nil && o.Fail.Kind == freezeBefore
	if frozen { // one thing after the other, so that it stands at one place
		o.B = 0
	}
	if x.engine, err = x.newEngine(1 + o.B); err != nil {
		return err
	}
	x.web.start()
	waiting, err := x.store.PendingTriggers(x.ctx, x.site.ID)
	if err != nil {
		return err
	}
	if o.Fail != nil {
		x.db.arm(*o.Fail)
	}
	x.origin.ResetLog()
	x.plan(o.Torn)
	var record models.Run
	var failed error
	if frozen && x.sleeper == nil {
		record, failed, err = x.sleeping(o, request)
	} else {
		record, failed = x.engine.Run(x.ctx, request)
	}
	x.plan(nil)
	if err != nil {
		return err
	}
	if err := x.awoken(); err != nil {
		return err
	}
	if failed == nil {
		x.db.ended()
	}
	x.db.arm(failure{})
	dead := x.db.killed()
	switch {
	case failed != nil && !errors.Is(failed, errKilled) && !errors.Is(failed, errFailed) && !errors.Is(failed, errFrozen) && !errors.Is(failed, context.Canceled):
		return fmt.Errorf("the run failed: %w", failed)
	case dead:
		if err := x.reopen(); err != nil {
			return err
		}
	case o.Fail != nil && x.db.lease.Owner != "":
		// Giving the lease back may be what failed: a later daemon waits until it ends.
		if err := x.store.ReleaseLease(x.ctx, x.db.lease); err != nil && !errors.Is(err, models.ErrLeaseLost) {
			return err
		}
	}
	if o.Fail != nil && failed != nil {
		x.tally.failed(*o.Fail, failed)
	}
	x.trace("  run %d %s verdict %s counts %+v err %v", record.ID, request.Cause, record.Verdict, record.Counts, failed)
	return x.compare(request, record, failed, waiting)
}

// hooks are told to the origin once; the plan of the moment is what they look at.
func (x *world) plan(edits []torn) {
	x.past.mu.Lock()
	x.past.torn = edits
	x.past.mu.Unlock()
	if x.past.hooked {
		return
	}
	x.past.hooked = true
	x.origin.OnRequest(func(n int, _ *http.Request) {
		x.past.mu.Lock()
		var due []op
		rest := x.past.torn[:0:0]
		for _, t := range x.past.torn {
			if t.Request == n {
				due = append(due, t.Edit)
			} else {
				rest = append(rest, t)
			}
		}
		x.past.torn = rest
		x.past.mu.Unlock()
		x.past.editing.Lock()
		defer x.past.editing.Unlock()
		for _, o := range due {
			x.tally.add("site: edited while it is read", 1)
			x.edit(o)
		}
	})
}
