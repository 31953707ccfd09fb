package graphtest

import (
	"cmp"
	"math/rand"
	"testing"

	"github.com/sitemapd/sitemapd/sync/canonical/graph"
)

// Subject is a store under test.
type Subject[K cmp.Ordered] interface {
	graph.Store[K]
	SetEdge(source K, target *K) error
	AllEdges() (map[K]K, error)
	AllStates() (map[K]graph.State[K], error)
}

// Plan describes the graph and the changes of an exercise.
type Plan struct {
	URLs, Edges, Loops, LongChains, Hub, Changes int
	Seed                                         int64
}

// Differs compares the states on record with a full recomputation and counts
// the URLs whose state is not the same.
func Differs[K cmp.Ordered](s Subject[K]) (int, error) {
	edges, err := s.AllEdges()
	if err != nil {
		return 0, err
	}
	got, err := s.AllStates()
	if err != nil {
		return 0, err
	}
	want := graph.Full(edges)
	n := 0
	for k, w := range want {
		if got[k] != w {
			n++
		}
	}
	for k, g := range got {
		if _, ok := want[k]; !ok && g.Resolution != graph.None && g.Resolution != "" {
			n++
		}
	}
	return n, nil
}

// Exercise plants loops, chains and a hub, changes edges at random, works the
// queue off after each few changes, and fails unless the states equal a full
// recomputation. Key makes the n-th URL.
func Exercise[K cmp.Ordered](t *testing.T, s Subject[K], key func(int) K, p Plan) {
	t.Helper()
	r := rand.New(rand.NewSource(p.Seed))
	set := func(from, to int) {
		t.Helper()
		k := key(to)
		if err := s.SetEdge(key(from), &k); err != nil {
			t.Fatalf("set edge: %v", err)
		}
	}
	for i := 0; i < p.Edges; i++ {
		set(r.Intn(p.URLs), r.Intn(p.URLs))
	}
	for i := 0; i < p.Loops; i++ {
		start, n := r.Intn(p.URLs-12), 2+r.Intn(4)
		for j := 0; j < n; j++ {
			set(start+j, start+(j+1)%n)
		}
	}
	for i := 0; i < p.LongChains; i++ {
		start := r.Intn(p.URLs - 20)
		for j := 0; j < 9+r.Intn(6); j++ {
			set(start+j, start+j+1)
		}
	}
	for i := 0; i < p.Hub; i++ {
		set(1+r.Intn(p.URLs-1), 0)
	}
	check := func(when string) {
		t.Helper()
		if _, _, err := graph.Drain[K](s, 0); err != nil {
			t.Fatalf("drain: %v", err)
		}
		n, err := Differs(s)
		if err != nil {
			t.Fatalf("compare: %v", err)
		}
		if n > 0 {
			t.Fatalf("%s: %d states differ from a full recomputation", when, n)
		}
	}
	check("after planting")
	for i := 0; i < p.Changes; i++ {
		from := r.Intn(p.URLs)
		if r.Intn(4) == 0 {
			if err := s.SetEdge(key(from), nil); err != nil {
				t.Fatalf("remove edge: %v", err)
			}
		} else {
			set(from, r.Intn(p.URLs))
		}
		if r.Intn(3) == 0 {
			if _, _, err := graph.Drain[K](s, 0); err != nil {
				t.Fatalf("drain: %v", err)
			}
		}
	}
	check("after the changes")
	set(0, 1)
	check("after the hub's redirect")
	set(1, 0)
	check("after the hub's loop")
}
