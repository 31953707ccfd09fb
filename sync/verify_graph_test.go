package syncer_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/graph"
	"github.com/sitemapd/sitemapd/sync/canonical/graph/graphtest"
)

var million = flag.Bool("million", false, "measure the graph on a million URLs")

// databases runs a test on SQLite, and on the MySQL or MariaDB server of the environment.
func databases(t *testing.T, test func(t *testing.T, s *store.Store)) {
	for name, dsn := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), dsn(t), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			test(t, s)
		})
	}
}

func numbered(i int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(i)))
	return string(sum[:16])
}

func TestEdges_IncrementalStatesEqualAFullComputation(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, s *store.Store) {
		e := syncer.NewEdges(t.Context(), s, 7)
		plan := graphtest.Plan{URLs: 2_500, Edges: 300, Loops: 10, LongChains: 6, Hub: 1_150, Changes: 200, Seed: 3}
		graphtest.Exercise(t, e, numbered, plan)
	})
}

// TestEdges_Million measures what docs/benchmarks.md says: go test ./sync -run Edges_Million -million -v -timeout 60m
func TestEdges_Million(t *testing.T) {
	if !*million {
		t.Skip("needs -million")
	}
	for name, dsn := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), dsn(t), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			measure(t, s)
		})
	}
}

const measured = 1_000_000

func measure(t *testing.T, s *store.Store) {
	begin := time.Now()
	lease, err := s.AcquireLease(t.Context(), storetest.KeyOf("host"), "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	watches := make([]models.CanonicalWatch, 0, 10_000)
	for i := range measured {
		w := models.CanonicalWatch{URL: "https://example.com/" + strconv.Itoa(i) + "/", Listed: true}
		copy(w.Key[:], numbered(i))
		if watches = append(watches, w); len(watches) == cap(watches) || i == measured-1 {
			if err := s.AddWatches(t.Context(), lease, 7, watches); err != nil {
				t.Fatal(err)
			}
			watches = watches[:0]
		}
	}
	t.Logf("%d URLs stored in %s", measured, time.Since(begin).Round(time.Second))
	e := syncer.NewEdges(t.Context(), s, 7)
	plan := graphtest.Plan{URLs: measured, Edges: 81_000, Loops: 200, LongChains: 100, Hub: 19_817, Changes: 2_000, Seed: 1}
	begin = time.Now()
	graphtest.Exercise(t, e, numbered, plan)
	t.Logf("planting, 2,000 changes, the hub's redirect and its loop, each equal to a full recomputation: %s", time.Since(begin).Round(time.Second))
	r := rand.New(rand.NewSource(2))
	var took []time.Duration
	for range 2000 {
		to := numbered(r.Intn(measured))
		from := numbered(1 + r.Intn(measured-1))
		begin := time.Now()
		if err := e.SetEdge(from, &to); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Drain(); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	begin = time.Now()
	edges, err := e.AllEdges()
	if err != nil {
		t.Fatal(err)
	}
	graph.Full(edges)
	t.Logf("one changed edge: p50 %s, p99 %s, max %s; full recomputation of %d edges: %s", took[1000], took[1980], took[1999], len(edges), time.Since(begin))
	begin = time.Now()
	to := numbered(5)
	if err := e.SetEdge(numbered(0), &to); err != nil {
		t.Fatal(err)
	}
	n, err := e.Drain()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a hub that starts to redirect: %d states in %s", n, time.Since(begin))
	if differs, err := graphtest.Differs(e); err != nil || differs != 0 {
		t.Errorf("%d states differ, %v", differs, err)
	}
}

// TestVerify_SaysTheSameOnEveryDatabase runs one story and compares every answer with what SQLite gives.
func TestVerify_SaysTheSameOnEveryDatabase(t *testing.T) {
	t.Parallel()
	told := map[string][]string{}
	for name, dsn := range map[string]func(testing.TB) string{"SQLite": storetest.SQLite, "MySQL": storetest.MySQL} {
		if name == "MySQL" && os.Getenv(storetest.Server) == "" {
			continue
		}
		s, err := store.Open(t.Context(), dsn(t), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		told[name] = story(t, s)
	}
	if other, ok := told["MySQL"]; ok {
		if diff := cmp.Diff(told["SQLite"], other); diff != "" {
			t.Errorf("(-SQLite +MySQL)\n%s", diff)
		}
	}
}

// story plants and mends a few faults on a site of a dozen pages and tells everything that can be read afterwards.
func story(t *testing.T, s *store.Store) []string {
	t.Helper()
	l := &pagesLab{lab: newLabOn(t, sitetest.Options{Posts: 8}, s)}
	l.run(false)
	for _, id := range l.origin.PublishedPosts() {
		l.posts = append(l.posts, l.origin.PostURL(id))
	}
	l.verifier = l.newVerifier(syncer.VerifierOptions{})
	var out []string
	tell := func(at time.Time) {
		for i, url := range l.posts {
			for _, c := range l.lines(models.CanonicalFilter{Source: url, At: at})[url] {
				out = append(out, fmt.Sprint(i, " ", brief(&c), " ", c.ValidFrom, " ", c.ValidUntil, " ", c.ObservedAt, " ", c.Depth))
			}
		}
	}
	l.verify(l.posts...) // in this order: that of keys is another at every port
	tell(time.Time{})
	first := l.clock.now()
	lay := func(from, to int) func() {
		return l.origin.Fail(sitetest.Path(l.posts[from]), sitetest.Canonical(l.posts[to]))
	}
	lay(0, 1)
	mend := lay(1, 0)
	lay(2, 0)
	l.origin.Fail(sitetest.Path(l.posts[3]), sitetest.NoIndex())
	l.origin.Fail(sitetest.Path(l.posts[4]), sitetest.Canonical(l.posts[4], l.posts[5]))
	l.origin.Fail(sitetest.Path(l.posts[6]), sitetest.Canonical())
	l.verify(l.posts...)
	tell(time.Time{})
	mend()
	l.verify(l.posts...)
	tell(time.Time{})
	tell(first)
	for i, url := range l.posts {
		for _, f := range l.findings(url) {
			out = append(out, fmt.Sprint(i, " ", f))
		}
		all, judgements, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(url)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			out = append(out, fmt.Sprint(i, " ", r.Method, " ", r.Status, " ", r.Score, " ", r.ValidFrom, " ", r.ValidUntil, " ", r.EndReason))
		}
		for _, r := range judgements {
			out = append(out, fmt.Sprint(i, " ", r.JudgedAt, " ", r.Status, " ", r.Score))
		}
	}
	for _, status := range []string{"validated", "conflicting", "declared", "unknown"} {
		out = append(out, fmt.Sprint(status, " ", len(l.lines(models.CanonicalFilter{Status: status}))))
	}
	return out
}
