package graph_test

import (
	"flag"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical/graph"
	"github.com/sitemapd/sitemapd/sync/canonical/graph/graphtest"
)

var million = flag.Bool("million", false, "measure a million URLs")

// TestMillion_OneEdgeIsCheap measures in memory what the stores repeat on a
// database: go test -run Million -million -v ./sync/canonical/graph
func TestMillion_OneEdgeIsCheap(t *testing.T) {
	if !*million {
		t.Skip("needs -million")
	}
	m := graphtest.NewMemory[int]()
	p := graphtest.Plan{URLs: 1_000_000, Edges: 81_000, Loops: 200, LongChains: 100, Hub: 19_817, Changes: 2_000, Seed: 1}
	start := time.Now()
	graphtest.Exercise(t, m, func(i int) int { return i }, p)
	t.Logf("planting, 2,000 changes and the hub's loop, each equal to a full recomputation: %s", time.Since(start))
	r := rand.New(rand.NewSource(2))
	var took []time.Duration
	for i := 0; i < 2000; i++ {
		to := r.Intn(p.URLs)
		begin := time.Now()
		_ = m.SetEdge(1+r.Intn(p.URLs-1), &to)
		if _, _, err := graph.Drain[int](m, 0); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	edges, _ := m.AllEdges()
	begin := time.Now()
	graph.Full(edges)
	t.Logf("one changed edge p50 %s, p99 %s; full recomputation of %d edges %s", took[1000], took[1980], len(edges), time.Since(begin))
	if n, err := graphtest.Differs[int](m); err != nil || n != 0 {
		t.Errorf("%d states differ, %v", n, err)
	}
}
