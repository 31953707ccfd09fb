package syncer_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// rows gives every row of every table as text, by table.
func (l *lab) rows() map[string]map[string]int {
	l.Helper()
	db, err := sql.Open("sqlite", l.path)
	if err != nil {
		l.Fatal(err)
	}
	defer db.Close()
	out := map[string]map[string]int{}
	for _, name := range column(l, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		out[name] = map[string]int{}
		for _, row := range column(l, db, "SELECT * FROM "+name) {
			out[name][row]++
		}
	}
	return out
}

// exec changes the database behind the program's back.
func (l *lab) exec(statement string) {
	l.Helper()
	db, err := sql.Open("sqlite", l.path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		l.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		l.Errorf("%s: %v", statement, err)
	}
}

func column(l *lab, db *sql.DB, query string) []string {
	l.Helper()
	rows, err := db.Query(query)
	if err != nil {
		l.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	var out []string
	for rows.Next() {
		cells := make([]any, len(names))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := rows.Scan(cells...); err != nil {
			l.Fatal(err)
		}
		var text []string
		for _, c := range cells {
			text = append(text, fmt.Sprint(*c.(*any)))
		}
		out = append(out, strings.Join(text, "|"))
	}
	return out
}

// TestEngine_RunWithoutChangesWritesAConstantNumberOfRows compares all rows of the database before and after.
func TestEngine_RunWithoutChangesWritesAConstantNumberOfRows(t *testing.T) {
	t.Parallel()
	written := map[int]int{}
	for _, posts := range []int{50, 1000} {
		for _, conditional := range []bool{true, false} {
			l := newLab(t, sitetest.Options{Posts: posts, Pages: 3, PerFile: 25, Seed: 5, Conditional: conditional})
			l.run(true)
			l.run(true)
			if !conditional { // other bytes, the same meaning: every document is read and understood again
				l.origin.Reorder()
			}
			before := l.rows()
			l.run(true)
			n := 0
			for table, rows := range l.rows() {
				for row := range rows {
					if before[table][row] == 0 {
						n++
						if table == "declarations" || strings.HasPrefix(table, "document") || table == "removals" || table == "findings" {
							t.Errorf("%d posts: a row of %s was written: %s", posts, table, row)
						}
					}
				}
			}
			written[n]++
		}
	}
	if len(written) != 1 {
		t.Errorf("rows written by a run without changes, and how often so many: %v; want the same number for every size", written)
	}
}

// TestEngine_ARunThatIsStoppedLeavesNothing ends a run before each of its requests in turn.
func TestEngine_ARunThatIsStoppedLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, small(sitetest.Core))
	l.run(true)
	office := sitetest.Publisher{Site: l.origin, Seed: 3}
	var at atomic.Int64
	var cancel atomic.Pointer[context.CancelFunc]
	l.origin.OnRequest(func(int, *http.Request) {
		if at.Add(-1) == 0 {
			(*cancel.Load())()
		}
	})
	for n := range 2 * len(l.origin.Documents()) {
		before := l.sights(models.AsOf{})
		for range 3 {
			office.Step()
		}
		l.clock.advance(time.Hour)
		ctx, stop := context.WithCancel(t.Context())
		cancel.Store(&stop)
		at.Store(int64(n + 1))
		_, err := l.engine.Run(ctx, syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual, Confirm: true})
		stopped := at.Swap(0) <= 0
		stop()
		if stopped && !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped before request %d: %v", n+1, err)
		}
		if err == nil {
			l.kept = append(l.kept, memory{int64(len(l.allRuns())), l.sights(models.AsOf{})})
			continue
		}
		if diff := differ(before, l.sights(models.AsOf{})); diff != "" {
			t.Fatalf("stopped before request %d: something is visible of it : %s", n+1, diff)
		}
		if n%3 == 0 {
			l.converged(l.run(true))
		}
	}
	l.converged(l.run(true))
	l.remembered()
	l.unbroken()
}

func (l *lab) allRuns() []models.Run {
	l.Helper()
	runs, err := l.store.Runs(l.Context(), l.site.ID, 0, 0)
	if err != nil {
		l.Fatal(err)
	}
	return runs
}

// brittle is a database whose calls fail from the n-th write on, as a full disk makes them.
type brittle struct {
	*store.Store
	left atomic.Int64
	hit  atomic.Bool
}

var errBrittle = errors.New("disk full")

func (b *brittle) write() error {
	if b.left.Add(-1) < 0 {
		b.hit.Store(true)
		return errBrittle
	}
	return nil
}

func (b *brittle) BeginRun(ctx context.Context, lease models.Lease, site int64, run models.Run) (models.Run, error) {
	if err := b.write(); err != nil {
		return models.Run{}, err
	}
	return b.Store.BeginRun(ctx, lease, site, run)
}

func (b *brittle) TakeRun(ctx context.Context, host models.Key, owner string, ttl time.Duration, site models.Site, run models.Run) (models.Lease, models.Run, error) {
	if err := b.write(); err != nil {
		return models.Lease{}, run, err
	}
	return b.Store.TakeRun(ctx, host, owner, ttl, site, run)
}

func (b *brittle) StageDocument(ctx context.Context, lease models.Lease, site, run int64, document int32, closing []models.Key, add []models.Declaration) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.StageDocument(ctx, lease, site, run, document, closing, add)
}

func (b *brittle) SaveSums(ctx context.Context, lease models.Lease, site, run int64, all []models.DocumentSums) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.SaveSums(ctx, lease, site, run, all)
}

func (b *brittle) StageDocuments(ctx context.Context, lease models.Lease, site, run int64, all []models.Staging) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.StageDocuments(ctx, lease, site, run, all)
}

func (b *brittle) Unstage(ctx context.Context, lease models.Lease, site, run int64, document int32) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.Unstage(ctx, lease, site, run, document)
}

func (b *brittle) SaveDocument(ctx context.Context, lease models.Lease, site, run int64, d *models.Document, findings []models.Finding) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.SaveDocument(ctx, lease, site, run, d, findings)
}

func (b *brittle) SaveRemovals(ctx context.Context, lease models.Lease, site, run int64, removals []models.Removal) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.SaveRemovals(ctx, lease, site, run, removals)
}

func (b *brittle) SaveRunFindings(ctx context.Context, lease models.Lease, site, run int64, findings []models.Finding) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.SaveRunFindings(ctx, lease, site, run, findings)
}

func (b *brittle) Finish(ctx context.Context, lease models.Lease, run models.Run, served []int64, next *time.Time) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.Finish(ctx, lease, run, served, next)
}

func (b *brittle) FailRun(ctx context.Context, lease models.Lease, site, run int64, message string) error {
	if err := b.write(); err != nil {
		return err
	}
	return b.Store.FailRun(ctx, lease, site, run, message)
}

// TestEngine_EveryWriteMayFail fails the n-th write of a run and all after it, for every n until a run gets through:
// nothing of the run is visible, and the next one converges. Edits of every kind are in each run.
func TestEngine_EveryWriteMayFail(t *testing.T) {
	t.Parallel()
	l := newLab(t, small(sitetest.Yoast))
	b := &brittle{Store: l.store}
	l.run(true)
	l.restart(func(o *syncer.Options) { o.Store = b })
	office := sitetest.Publisher{Site: l.origin, Seed: 9}
	for n := int64(0); ; n++ {
		if n > 500 {
			t.Fatal("a run needs more than 500 writes")
		}
		before := l.sights(models.AsOf{})
		for range 4 {
			office.Step()
		}
		b.left.Store(n)
		b.hit.Store(false)
		l.clock.advance(time.Hour)
		_, err := l.engine.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual, Confirm: true})
		hit := b.hit.Load()
		b.left.Store(1 << 40)
		if !hit {
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("a run needs %d writes", n)
			break
		}
		if !errors.Is(err, errBrittle) {
			t.Fatalf("write %d failed, and the run said %v", n+1, err)
		}
		if diff := differ(before, l.sights(models.AsOf{})); diff != "" {
			t.Fatalf("write %d failed: something of the run is visible : %s", n+1, diff)
		}
		if n%4 == 3 {
			l.converged(l.run(true))
		}
	}
	l.converged(l.run(true))
	l.remembered()
	l.unbroken()
}

// TestEngine_ALostLeaseEndsTheRun takes the host away in the middle of a walk, as a daemon does whose rival was silent.
func TestEngine_ALostLeaseEndsTheRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, small(sitetest.Core))
	l.run(true)
	before := l.sights(models.AsOf{})
	l.origin.Edit(5)
	l.origin.Publish(sitetest.Spec{})
	stolen := false
	l.origin.OnRequest(func(n int, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "post-6.xml") && !stolen {
			stolen = true
			l.exec("UPDATE host_leases SET owner = 'rival', epoch = epoch + 1")
		}
	})
	_, err := l.engine.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual, Confirm: true})
	if !stolen || !errors.Is(err, models.ErrLeaseLost) {
		t.Fatalf("stolen %v, error %v: want the lease lost", stolen, err)
	}
	if diff := differ(before, l.sights(models.AsOf{})); diff != "" {
		t.Errorf("something of the run is visible: %s", diff)
	}
	l.exec("UPDATE host_leases SET until = 0")
	l.converged(l.run(true))
	l.remembered()
	l.unbroken()
}

func TestEngine_TwoRunsOfOneHostDoNotMeet(t *testing.T) {
	t.Parallel()
	l := newLab(t, small(sitetest.Core))
	asked := false
	other := l.engine
	l.restart(func(o *syncer.Options) { o.Owner = "another daemon" })
	l.origin.OnRequest(func(n int, _ *http.Request) {
		if n != 1 {
			return
		}
		asked = true
		for _, e := range []*syncer.Engine{other, l.engine} {
			if _, err := e.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseCron}); !errors.Is(err, models.ErrBusy) {
				t.Errorf("a second run: %v, want busy", err)
			}
		}
	})
	l.converged(l.run(true))
	if !asked {
		t.Error("the walk asked for nothing")
	}
}
