package hooks_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// crew is several daemons on one MariaDB, with busy sites.
type crew struct {
	*testing.T
	store *store.Store
	raw   *sql.DB
	// database is the name of the store's database on the server.
	database string
	origins  []*origin
	daemons  []*daemon
	names    []string // what each calls itself to the sites

	mu     sync.Mutex
	frozen *daemon // gets no hooks
}

// TestTogether: three daemons share twenty sites. No two runs of one site overlap, no host is asked by two daemons at a
// time, and one that was frozen for longer than its leases writes nothing once another has taken over.
func TestTogether(t *testing.T) {
	lasting := time.Duration(number(t, "SITEMAPD_TEST_DAEMON_SECONDS", 20)) * time.Second
	pauses := number(t, "SITEMAPD_TEST_DAEMON_PAUSES", 1)
	server := newServer(t).dsn()
	dsn := newDatabase(t, server)
	name := dsn[strings.LastIndex(dsn, "/")+1:]
	c := &crew{T: t, store: open(t, dsn), raw: connect(t, server, name), database: name}
	c.origins = newOrigins(t, c.store, 20, sitetest.Options{Posts: 200, PerFile: 30})
	for i := range 3 {
		name := fmt.Sprintf("daemon-%d", i)
		d := newDaemon(t, dsn, "SITEMAPD_FETCH_USER_AGENT="+name, "SITEMAPD_SYNC_QUIET=0s", "SITEMAPD_SYNC_MAX_WAIT=3s",
			"SITEMAPD_SYNC_LEASE_TTL=15s", "SITEMAPD_SYNC_SITES_AT_ONCE=8")
		c.daemons, c.names = append(c.daemons, d), append(c.names, name)
		d.up()
	}
	firstRuns(t, c.store, c.origins)
	for _, o := range c.origins {
		o.slow(20 * time.Millisecond)
	}
	working, rest := context.WithCancel(t.Context())
	defer rest()
	var offices sync.WaitGroup
	for n, o := range c.origins {
		offices.Go(func() { c.office(working, n, o) })
	}
	began := time.Now()
	lost := 0
	for i := range pauses {
		lost += c.freeze(c.daemons[i%len(c.daemons)])
	}
	time.Sleep(lasting - time.Since(began))
	rest()
	offices.Wait()
	servedAll(t, c.store, sites(c.origins), 2*time.Minute)
	c.decided()                      // what was not at the ends of a list is looked for everywhere 15 s after its message
	firstRuns(t, c.store, c.origins) // targeted runs state only what they saw; a full run is the truth
	for _, o := range c.origins {
		inventory(t, c.store, o.stored, o.Inventory())
	}
	c.apart(lost)
	c.end()
}

// decided waits until nothing that a message said is open.
func (c *crew) decided() {
	c.Helper()
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		open := 0
		for _, o := range c.origins {
			expected, err := c.store.Expectations(c.Context(), o.stored.ID)
			if err != nil {
				c.Fatal(err)
			}
			open += len(expected)
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			c.Errorf("%d messages are open after 90 s", open)
			return
		}
	}
}

// office edits a site and tells any of the daemons.
func (c *crew) office(ctx context.Context, n int, o *origin) {
	office := sitetest.Publisher{Site: o.Site, Seed: uint64(n + 1)}
	random := rand.New(rand.NewPCG(uint64(n), 7))
	for i := 0; ctx.Err() == nil; i++ {
		e := office.Step()
		for { // a sender tries again, as the plugin does
			d := c.daemons[random.IntN(len(c.daemons))]
			c.mu.Lock()
			frozen := c.frozen
			c.mu.Unlock()
			if d == frozen {
				continue
			}
			if a := o.send(d.address, fmt.Sprintf("msg_%d_%d", n, i), e); a.status == http.StatusOK {
				break
			} else if ctx.Err() != nil {
				c.Errorf("a hook was answered with %d, %v", a.status, a.problem)
				return
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(100+random.IntN(400)) * time.Millisecond):
		}
	}
}

// hold is a run that a daemon had under way when it was frozen.
type hold struct {
	site       models.Site
	run, epoch int64
	owner      string
}

// freeze stops a daemon amid runs until others have taken its hosts and finished runs of them, then lets it go on. It gives
// how many runs it had under way.
func (c *crew) freeze(d *daemon) int {
	c.Helper()
	for _, o := range c.origins {
		o.slow(400 * time.Millisecond)
	}
	mark := fmt.Sprintf("/%d/", d.pid())
	var holds []hold
	for deadline := time.Now().Add(30 * time.Second); len(holds) < 3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("the daemon has only %d runs under way at a time", len(holds))
		}
		holds = c.holds(mark)
	}
	c.mu.Lock()
	c.frozen = d
	c.mu.Unlock()
	d.signal(syscall.SIGSTOP)
	time.Sleep(300 * time.Millisecond) // what it had sent to the database arrives there
	holds = c.holds(mark)
	for _, o := range c.origins {
		o.slow(20 * time.Millisecond)
	}
	stopped := time.Now()
	for _, h := range holds {
		c.takenOver(h)
	}
	before := c.traces(holds)
	d.signal(syscall.SIGCONT)
	frozen := time.Since(stopped)
	for deadline := time.Now().Add(30 * time.Second); !d.ready() && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
	}
	c.mu.Lock()
	c.frozen = nil
	c.mu.Unlock()
	time.Sleep(3 * time.Second) // time enough for everything that it still had in mind
	for at, n := range c.traces(holds) {
		// A site's place in the feed passes every run, those that were taken over too: it may leave one, never come back.
		passed := at == "event_runs.run" && n < before[at]
		if n != before[at] && !passed {
			c.Errorf("%s: %d rows of runs that were taken over, %d before the daemon went on", at, n, before[at])
		}
	}
	for _, h := range holds {
		if r, err := c.store.Run(c.Context(), h.site.ID, h.run); err != nil || r.Error == "" {
			c.Errorf("run %d of %s, which was taken over, ended as %q (%v)", h.run, h.site.Name, r.Error, err)
		}
	}
	c.Logf("a daemon was frozen for %s amid %d runs; all were taken over, none wrote afterwards", frozen.Round(time.Second), len(holds))
	return len(holds)
}

// holds gives the runs that the marked process has under way.
func (c *crew) holds(mark string) []hold {
	c.Helper()
	var out []hold
	for _, o := range c.origins {
		h := hold{site: o.stored}
		host := syncer.HostKey(o.stored.Root)
		c.row("SELECT s.staged_run, l.owner, l.epoch FROM sites s, host_leases l WHERE s.id = ? AND l.host = ?", []any{o.stored.ID, host[:]},
			&h.run, &h.owner, &h.epoch)
		if h.run != 0 && strings.Contains(h.owner, mark) {
			out = append(out, h)
		}
	}
	return out
}

// takenOver waits until another daemon has finished a run of a site that a frozen one had under way.
func (c *crew) takenOver(h hold) {
	c.Helper()
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		site, err := c.store.Site(c.Context(), h.site.ID)
		if err != nil {
			c.Fatal(err)
		}
		if site.CurrentRun > h.run {
			return
		}
		if time.Now().After(deadline) {
			c.transactions()
			c.Fatalf("run %d of %s was not taken over within 90 s", h.run, h.site.Name)
		}
	}
}

// transactions tells which ones are open: a frozen daemon may hold rows that others wait for.
func (c *crew) transactions() {
	ctx, cancel := context.WithTimeout(c.Context(), 20*time.Second)
	defer cancel()
	rows, err := c.raw.QueryContext(ctx, "SELECT trx_mysql_thread_id, trx_state, trx_started, trx_rows_locked, COALESCE(trx_query, '') FROM information_schema.innodb_trx ORDER BY trx_started")
	if err != nil {
		c.Log(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var thread, locked int
		var state, query string
		var started time.Time
		if err := rows.Scan(&thread, &state, &started, &locked, &query); err == nil {
			c.Logf("connection %d: %s since %s, %d rows locked: %s", thread, state, started.Format(time.TimeOnly), locked, query)
		}
	}
}

// traces counts the rows that name the runs, by table and column, in every table that has both a site and a run.
func (c *crew) traces(holds []hold) map[string]int {
	c.Helper()
	out := map[string]int{}
	for _, at := range c.runColumns() {
		table, column, _ := strings.Cut(at, ".")
		for _, h := range holds {
			var n int
			c.row(fmt.Sprintf("SELECT COUNT(*) FROM `%s` WHERE site_id = ? AND `%s` = ?", table, column), []any{h.site.ID, h.run}, &n)
			out[at] += n
		}
	}
	if n := out["declarations.from_run"] + out["declarations.to_run"]; n != 0 {
		c.Errorf("%d declarations of runs that were taken over", n)
	}
	return out
}

// runColumns are the columns that name a run, as "table.column", in tables that have a site.
func (c *crew) runColumns() []string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	defer cancel()
	rows, err := c.raw.QueryContext(ctx, "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ?", c.database)
	if err != nil {
		c.Fatal(err)
	}
	defer rows.Close()
	all, ofSites := []string{}, map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			c.Fatal(err)
		}
		switch {
		case column == "site_id":
			ofSites[table] = true
		case column == "run" || strings.HasSuffix(column, "_run"):
			all = append(all, table+"."+column)
		}
	}
	all = slices.DeleteFunc(all, func(at string) bool { table, _, _ := strings.Cut(at, "."); return !ofSites[table] })
	if err := rows.Err(); err != nil || len(all) < 5 {
		c.Fatalf("columns %v: %v", all, err)
	}
	return all
}

// row reads one row past the program. A server that does not answer within a minute is asked once more on another
// connection, and what it was busy with is told.
func (c *crew) row(query string, args []any, to ...any) {
	c.Helper()
	var err error
	for range 2 {
		ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
		err = c.raw.QueryRowContext(ctx, query, args...).Scan(to...)
		cancel()
		if err == nil {
			return
		}
		c.Logf("%s: %v", query, err)
		c.transactions()
	}
	c.Fatal(err)
}

// apart fails when two visible runs of one site overlap, or two daemons asked a host at a time.
func (c *crew) apart(lost int) {
	c.Helper()
	runs, visits, shared := 0, 0, 0
	agents := map[string]int{}
	for _, o := range c.origins {
		var last models.Run
		for _, r := range runsOf(c.T, c.store, o.stored.ID) {
			if r.Error != "" {
				continue
			}
			runs++
			if last.ID != 0 && r.StartedAt.Before(*last.FinishedAt) {
				c.Errorf("%s: run %d began at %s, before run %d ended at %s", o.stored.Name, r.ID, r.StartedAt, last.ID, last.FinishedAt)
			}
			last = r
		}
		o.mu.Lock()
		all := slices.Clone(o.visits)
		o.mu.Unlock()
		slices.SortFunc(all, func(a, b visit) int { return a.from.Compare(b.from) })
		for i, v := range all {
			visits++
			agents[v.agent]++
			for _, w := range all[i+1:] {
				if w.from.After(v.to) {
					break
				}
				if w.agent != v.agent {
					shared++
				}
			}
		}
	}
	c.Logf("%d runs, %d requests (%v); %d pairs of requests by two daemons at a time, %d runs lost their lease", runs, visits, agents, shared, lost)
	// A frozen daemon learns of its loss when it goes on; what it was just about to ask, at most four documents of a run,
	// may still be asked.
	if shared > 4*lost {
		c.Errorf("%d pairs of requests by two daemons at a time, want none but those of %d runs that lost their lease", shared, lost)
	}
	if len(agents) != len(c.daemons) {
		c.Errorf("%v worked, want all %d daemons", agents, len(c.daemons))
	}
}

// end stops the daemons: each is gone within 10 s, and no host is left to wait for.
func (c *crew) end() {
	c.Helper()
	for _, d := range c.daemons {
		began := time.Now()
		d.signal(syscall.SIGTERM)
		d.mu.Lock()
		select {
		case err := <-d.ended:
			c.Logf("a daemon stopped within %s: %v", time.Since(began).Round(time.Millisecond), err)
			d.command = nil
		case <-time.After(10 * time.Second):
			c.Error("a daemon did not stop within 10 s")
		}
		d.mu.Unlock()
	}
	var held int
	c.row("SELECT COUNT(*) FROM host_leases WHERE until > NOW(6)", nil, &held)
	if held > 0 {
		c.Errorf("%d hosts are still held", held)
	}
}
