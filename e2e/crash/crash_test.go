package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

func TestKilledRuns_SQLite(t *testing.T) {
	killRuns(t, false, number(t, "SITEMAPD_TEST_CRASHES", 50))
}

func TestKilledRuns_MariaDB(t *testing.T) {
	if os.Getenv("SITEMAPD_TEST_MYSQL") == "" {
		t.Skip("SITEMAPD_TEST_MYSQL names no server")
	}
	killRuns(t, true, number(t, "SITEMAPD_TEST_CRASHES_MYSQL", 20))
}

// inventory is what readers see: URL -> lastmod as published.
type inventory map[string]string

// trial is one database and one site in a row of kills.
type trial struct {
	*program
	random *rand.Rand
	origin *sitetest.Site
	office sitetest.Publisher

	visible inventory           // what readers saw last
	current int64               // at which run
	past    map[int64]inventory // what they saw at every run so far
	edited  []string            // URLs whose history is worth a look
	took    time.Duration       // the last whole run
	hits    map[string]int      // where the kills struck
}

func killRuns(t *testing.T, mysql bool, kills int) {
	seed := uint64(number(t, "SITEMAPD_TEST_SEED", int(time.Now().UnixNano()%1_000_000)))
	t.Logf("SITEMAPD_TEST_SEED=%d makes the same edits again", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	hits := map[string]int{}
	// A new database now and then: its first run, migration included, is killed as well.
	for kills > 0 {
		n := min(kills, 10)
		kills -= n
		c := &trial{program: newProgram(t, mysql), random: random, past: map[int64]inventory{}, hits: hits, took: 700 * time.Millisecond}
		c.origin = sitetest.New(sitetest.Options{Posts: 6000, Pages: 40, Categories: 10, PerFile: 500, Seed: seed, Conditional: random.IntN(2) == 0, Gzip: random.IntN(2) == 0})
		if err := c.origin.Listen("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		c.office = sitetest.Publisher{Site: c.origin, Seed: random.Uint64(), OnEvent: func(e sitetest.Event) {
			c.edited = append(c.edited, e.URL)
		}}
		for range n {
			c.round()
		}
		c.converge()
		c.remembered(len(c.past))
		_ = c.origin.Close()
	}
	t.Logf("kills by what they struck: %v", hits)
	if hits["a run"] == 0 && hits["finished"] > 3 {
		t.Errorf("no kill struck a run under way: %v", hits)
	}
}

// round edits the site, kills a run and looks; every other time a whole run follows.
func (c *trial) round() {
	c.edit()
	published := inventory(c.origin.Inventory())
	struck := c.kill(c.origin.Index(), time.Duration(c.random.Float64()*1.1*float64(c.took)))
	c.look(published, struck)
	c.expire()
	if c.random.IntN(2) == 0 {
		c.converge()
	}
}

// edit changes a little or a lot, so that runs of all sizes are killed.
func (c *trial) edit() {
	for range 1 + c.random.IntN(5) {
		c.office.Step()
	}
	switch c.random.IntN(5) {
	case 0:
		c.origin.EditShare(10 + c.random.IntN(30))
	case 1:
		c.origin.BulkImport(100 + c.random.IntN(900))
	case 2:
		c.origin.SetPerFile(400 + c.random.IntN(300)) // nearly every page moves to another document
	case 3:
		c.origin.Reorder()
	}
}

// look checks what the kill left: the state before, or the whole of the new one.
func (c *trial) look(published inventory, struck bool) {
	c.Helper()
	c.read(func(ctx context.Context, s *store.Store) {
		sites, err := s.Sites(ctx)
		if err != nil || len(sites) == 0 { // killed before the site was stored, or before there was a schema
			if c.current != 0 {
				c.Fatalf("the site is gone: %v", err)
			}
			c.hits["before the site"]++
			return
		}
		site := sites[0]
		now := c.inventory(ctx, s, site, models.AsOf{})
		switch {
		case site.CurrentRun > c.current:
			c.Helper()
			c.same(published, now, "a run that became visible")
			c.visible, c.current = now, site.CurrentRun
			c.past[c.current] = now
			c.hits["finished"]++
		case site.LastRun > site.CurrentRun && struck:
			c.hits["a run"]++
		default:
			c.hits["before a run"]++
		}
		c.same(c.visible, now, "after the kill")
	})
	c.whole()
}

func (c *trial) same(want, got inventory, when string) {
	c.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		if len(diff) > 3000 {
			diff = diff[:3000] + "\n..."
		}
		c.Fatalf("%s: the inventory is not a state of the site (-want +got):\n%s", when, diff)
	}
}

func (c *trial) inventory(ctx context.Context, s *store.Store, site models.Site, at models.AsOf) inventory {
	c.Helper()
	if site.CurrentRun == 0 {
		return nil
	}
	out := inventory{}
	err := s.Pages(ctx, site.ID, models.PageFilter{State: models.StateAll, AsOf: at}, func(p *models.Page) error {
		if p.State == models.StateRemoved {
			return nil
		}
		if _, twice := out[p.URL]; twice || p.State != models.StateLive {
			return fmt.Errorf("%s is %s, seen before: %v", p.URL, p.State, twice)
		}
		out[p.URL] = ""
		if p.Lastmod != nil {
			out[p.URL] = p.Lastmod.Raw
		}
		return nil
	})
	if err != nil {
		c.Fatalf("pages: %v", err)
	}
	return out
}

// whole looks at the rows themselves, as readers see them: of each page one declaration at a time, without gap within
// one document and without overlap.
func (c *trial) whole() {
	c.Helper()
	rows, err := c.raw.Query(`SELECT d.document, d.url_key, d.role, d.from_run,
			CASE WHEN d.to_run > s.current_run THEN 9223372036854775807 ELSE d.to_run END
		FROM declarations d JOIN sites s ON s.id = d.site_id WHERE d.from_run <= s.current_run ORDER BY d.url_key, d.from_run`)
	if err != nil {
		if c.current == 0 {
			return
		}
		c.Fatal(err)
	}
	defer rows.Close()
	type listing struct {
		document int32
		key      models.Key
	}
	ends, declared := map[listing]int64{}, map[models.Key]int64{}
	for rows.Next() {
		var l listing
		var role, from, to int64
		var key []byte
		if err := rows.Scan(&l.document, &key, &role, &from, &to); err != nil {
			c.Fatal(err)
		}
		copy(l.key[:], key)
		if from < ends[l] || to <= from {
			c.Fatalf("page %s in document %d: a version of runs %d to %d overlaps one up to %d", l.key, l.document, from, to, ends[l])
		}
		ends[l] = to
		if role == int64(models.RoleDeclaration) {
			if from < declared[l.key] {
				c.Fatalf("page %s has two declarations at run %d", l.key, from)
			}
			declared[l.key] = to
		}
	}
	if err := rows.Err(); err != nil {
		c.Fatal(err)
	}
	if !c.mysql() {
		var verdict string
		if err := c.raw.QueryRow("PRAGMA quick_check").Scan(&verdict); err != nil || verdict != "ok" {
			c.Fatalf("quick_check: %s, %v", verdict, err)
		}
	}
}

// converge makes a whole run: the inventory is what the site publishes.
func (c *trial) converge() {
	c.Helper()
	c.expire()
	started := time.Now()
	run := c.sync(c.origin.Index())
	c.took = time.Since(started)
	if run.Verdict != models.VerdictComplete || run.Counts.Held+run.Counts.Pending+run.Counts.Stale != 0 {
		c.Fatalf("the run after the kill: %s (%s), %+v", run.Verdict, run.Reason, run.Counts)
	}
	c.read(func(ctx context.Context, s *store.Store) {
		site, err := s.FindSite(ctx, c.origin.Index())
		if err != nil {
			c.Fatal(err)
		}
		now := c.inventory(ctx, s, site, models.AsOf{})
		c.same(inventory(c.origin.Inventory()), now, "after a whole run")
		if run.Counts.Live != int64(len(now)) || site.Live != run.Counts.Live || site.CurrentRun != run.ID {
			c.Fatalf("the run counts %d, the site %d at run %d, the inventory %d at run %d", run.Counts.Live, site.Live, site.CurrentRun, len(now), run.ID)
		}
		c.visible, c.current = now, run.ID
		c.past[run.ID] = now
	})
	c.whole()
	c.remembered(2)
}

// remembered reads some earlier runs again, and the histories of pages that were edited.
func (c *trial) remembered(n int) {
	c.Helper()
	runs := make([]int64, 0, len(c.past))
	for run := range c.past {
		runs = append(runs, run)
	}
	slices.Sort(runs)
	c.random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	c.read(func(ctx context.Context, s *store.Store) {
		site, err := s.FindSite(ctx, c.origin.Index())
		if err != nil {
			c.Fatal(err)
		}
		for _, run := range runs[:min(n, len(runs))] {
			c.same(c.past[run], c.inventory(ctx, s, site, models.AsOf{Run: run}), fmt.Sprintf("as of run %d", run))
		}
		for range min(20, len(c.edited)) {
			if err := unbroken(ctx, s, site, c.edited[c.random.IntN(len(c.edited))]); err != nil {
				c.Fatal(err)
			}
		}
	})
}

// unbroken fails when a page's history has a gap or an overlap, or does not reach to now.
func unbroken(ctx context.Context, s *store.Store, site models.Site, url string) error {
	u, problem := weburl.Parse(nil, []byte(url))
	if problem != weburl.None {
		return errors.New(problem.String())
	}
	history, err := s.PageHistory(ctx, site.ID, models.Key(u.Key()))
	if err != nil {
		return fmt.Errorf("history of %s: %w", url, err)
	}
	for i, p := range history { // none at all: published and withdrawn between two runs
		last := i == len(history)-1
		if last != (p.ToRun == nil) || !last && (*p.ToRun != history[i+1].FromRun || *p.ToRun <= p.FromRun) {
			return fmt.Errorf("history of %s has a gap or an overlap at run %d: %+v", url, p.FromRun, history)
		}
	}
	return nil
}
