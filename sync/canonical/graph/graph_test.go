package graph_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical/graph"
	"github.com/sitemapd/sitemapd/sync/canonical/graph/graphtest"
	"pgregory.net/rapid"
)

func TestFull_TellsChainsLoopsAndTails(t *testing.T) {
	t.Parallel()
	edges := map[string]string{"a": "b", "b": "c", // chain
		"l": "m", "m": "n", "n": "l", "t": "m", "u": "t", // loop and tail
		"s": "s", // a URL that names itself as its own edge
	}
	for i := 0; i < 12; i++ {
		edges[fmt.Sprintf("x%02d", i)] = fmt.Sprintf("x%02d", i+1)
	}
	got := graph.Full(edges)
	for k, want := range map[string]graph.State[string]{
		"a": {Resolution: graph.Chain, Final: "c", Depth: 2}, "b": {Resolution: graph.Chain, Final: "c", Depth: 1},
		"l": {Resolution: graph.Loop, Depth: 3, Loop: "l"}, "n": {Resolution: graph.Loop, Depth: 3, Loop: "l"},
		"t": {Resolution: graph.IntoLoop, Depth: 4, Loop: "l"}, "u": {Resolution: graph.IntoLoop, Depth: 5, Loop: "l"},
		"s":   {Resolution: graph.Loop, Depth: 1, Loop: "s"},
		"x00": {Resolution: graph.TooLong}, "x01": {Resolution: graph.TooLong}, "x02": {Resolution: graph.Chain, Final: "x12", Depth: 10},
	} {
		if diff := cmp.Diff(want, got[k]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", k, diff)
		}
	}
	if _, ok := got["c"]; ok {
		t.Error("a URL without edge has a state")
	}
}

// TestDrain_EqualsFull draws small dense graphs, where loops, tails and
// over-long chains are common, and changes them while the queue is worked off.
func TestDrain_EqualsFull(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "urls")
		m := graphtest.NewMemory[int]()
		change := func(label string) {
			from := rapid.IntRange(0, n-1).Draw(t, label+" from")
			to := rapid.IntRange(-2, n-1).Draw(t, label+" to")
			if rapid.Bool().Draw(t, label+" near") && to >= 0 { // long chains need neighbours
				to = (from + 1) % n
			}
			if to < 0 {
				_ = m.SetEdge(from, nil)
			} else {
				_ = m.SetEdge(from, &to)
			}
		}
		during := 0
		m.Before = func() { // another writer, between the worker's reads and its commit
			if during > 0 {
				during--
				change("during")
			}
		}
		for round := rapid.IntRange(1, 6).Draw(t, "rounds"); round > 0; round-- {
			for c := rapid.IntRange(1, 2*n).Draw(t, "changes"); c > 0; c-- {
				change("change")
			}
			during = rapid.IntRange(0, 3).Draw(t, "changes while draining")
			if _, _, err := graph.Drain[int](m, 0); err != nil {
				t.Fatalf("drain: %v", err)
			}
			edges, _ := m.AllEdges()
			states, _ := m.AllStates()
			if diff := cmp.Diff(graph.Full(edges), states); diff != "" {
				t.Fatalf("states differ from a full recomputation (-full +drained):\n%s\nedges: %v", diff, edges)
			}
		}
	})
}

func TestWalk_EqualsFull(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "urls")
		m := graphtest.NewMemory[int]()
		var keys []int
		for i := 0; i < n; i++ {
			to := rapid.IntRange(-5, n-1).Draw(t, "to")
			if to < -2 {
				to = (i + 1) % n
			}
			if to >= 0 {
				_ = m.SetEdge(i, &to)
				keys = append(keys, i)
			}
		}
		got, err := graph.Walk[int](m, keys)
		if err != nil {
			t.Fatal(err)
		}
		edges, _ := m.AllEdges()
		if diff := cmp.Diff(graph.Full(edges), got); diff != "" {
			t.Fatalf("(-full +walk):\n%s", diff)
		}
		if m.Reads > graph.MaxHops+1 {
			t.Fatalf("%d reads for one walk of %d URLs", m.Reads, len(keys))
		}
	})
}

func TestExercise_OnMemory(t *testing.T) {
	t.Parallel()
	p := graphtest.Plan{URLs: 20_000, Edges: 2_000, Loops: 40, LongChains: 20, Hub: 3_000, Changes: 500, Seed: 7}
	m := graphtest.NewMemory[int]()
	graphtest.Exercise(t, m, func(i int) int { return i }, p)
	if m.Largest > graph.Batch {
		t.Errorf("a call handed over %d rows, more than a batch of %d", m.Largest, graph.Batch)
	}
}

func TestDrain_WorksAHubOffInBatches(t *testing.T) {
	t.Parallel()
	m := graphtest.NewMemory[int]()
	hub := 0
	for i := 1; i <= 20_000; i++ {
		_ = m.SetEdge(i, &hub)
	}
	if _, _, err := graph.Drain[int](m, 0); err != nil {
		t.Fatal(err)
	}
	to := 30_000
	_ = m.SetEdge(hub, &to)
	batches, states, err := graph.Drain[int](m, 0)
	if err != nil {
		t.Fatal(err)
	}
	if states != 20_001 || batches > 60 || m.Largest > graph.Batch {
		t.Errorf("%d states in %d batches, at most %d rows a call; want 20,001 states in batches of %d", states, batches, m.Largest, graph.Batch)
	}
	m.Reads = 0
	_ = m.SetEdge(25_000, &to)
	if batches, _, _ := graph.Drain[int](m, 0); batches > 2 || m.Reads > 20 {
		t.Errorf("one edge beside the hub cost %d batches and %d reads", batches, m.Reads)
	}
}

// failing lets one call after another go wrong.
type failing struct {
	*graphtest.Memory[int]
	left int
}

var errDown = errors.New("database is down")

func (f *failing) Targets(keys []int) (map[int]int, error) {
	if f.left--; f.left < 0 {
		return nil, errDown
	}
	return f.Memory.Targets(keys)
}

func (f *failing) Dependents(target int, after *int, limit int) ([]int, error) {
	if f.left--; f.left < 0 {
		return nil, errDown
	}
	return f.Memory.Dependents(target, after, limit)
}

func TestDrain_LosesNothingWhenTheStoreFails(t *testing.T) {
	t.Parallel()
	m := graphtest.NewMemory[int]()
	for i := 0; i < 30; i++ {
		to := (i * 7) % 31
		_ = m.SetEdge(i, &to)
	}
	failures := 0
	for left := 0; left < 200; left++ {
		_, _, err := graph.Drain[int](&failing{m, left}, 0)
		if err == nil {
			break
		}
		if !errors.Is(err, errDown) {
			t.Fatalf("error %v does not wrap the store's", err)
		}
		failures++
	}
	edges, _ := m.AllEdges()
	states, _ := m.AllStates()
	if diff := cmp.Diff(graph.Full(edges), states); diff != "" || failures == 0 {
		t.Errorf("after %d failures (-full +drained):\n%s", failures, diff)
	}
}
