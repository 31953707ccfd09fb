// Package graphtest checks a store of canonical edges against the promises of
// package graph. It is used by the tests of graph and of the real stores.
package graphtest

import (
	"cmp"
	"slices"

	"github.com/sitemapd/sitemapd/sync/canonical/graph"
)

// Memory is a store in memory that behaves as a database would.
type Memory[K cmp.Ordered] struct {
	edges  map[K]K
	back   map[K][]K // dependents, sorted
	states map[K]graph.State[K]
	queue  map[name[K]]graph.Dirty[K]
	seq    int64
	// Reads counts calls that a database would answer in one round trip.
	Reads int
	// Before, if set, runs before each commit: another writer's moment.
	Before func()
	// Largest is the most dependents and entries that one call handed over.
	Largest int
}

type name[K cmp.Ordered] struct {
	key    K
	paging bool
	after  K
}

// NewMemory gives an empty store.
func NewMemory[K cmp.Ordered]() *Memory[K] {
	return &Memory[K]{edges: map[K]K{}, back: map[K][]K{}, states: map[K]graph.State[K]{}, queue: map[name[K]]graph.Dirty[K]{}}
}

// SetEdge writes one edge (target nil: none) and queues its source.
func (m *Memory[K]) SetEdge(source K, target *K) error {
	if old, ok := m.edges[source]; ok {
		list := m.back[old]
		if i, found := slices.BinarySearch(list, source); found {
			m.back[old] = slices.Delete(list, i, i+1)
		}
		delete(m.edges, source)
	}
	if target != nil {
		m.edges[source] = *target
		list := m.back[*target]
		i, _ := slices.BinarySearch(list, source)
		m.back[*target] = slices.Insert(list, i, source)
	}
	m.push(graph.Dirty[K]{Key: source})
	return nil
}

func (m *Memory[K]) push(d graph.Dirty[K]) {
	n := name[K]{d.Key, d.Paging, d.After}
	if old, ok := m.queue[n]; ok {
		d.Hop = min(d.Hop, old.Hop)
	}
	m.seq++
	d.Seq = m.seq
	m.queue[n] = d
}

// Targets implements graph.Edges.
func (m *Memory[K]) Targets(keys []K) (map[K]K, error) {
	m.Reads++
	out := map[K]K{}
	for _, k := range keys {
		if t, ok := m.edges[k]; ok {
			out[k] = t
		}
	}
	return out, nil
}

// Dependents implements graph.Store.
func (m *Memory[K]) Dependents(target K, after *K, limit int) ([]K, error) {
	m.Reads++
	list := m.back[target]
	if after != nil {
		i, found := slices.BinarySearch(list, *after)
		if found {
			i++
		}
		list = list[i:]
	}
	list = slices.Clone(list[:min(limit, len(list))])
	m.Largest = max(m.Largest, len(list))
	return list, nil
}

// States implements graph.Store.
func (m *Memory[K]) States(keys []K) (map[K]graph.State[K], error) {
	m.Reads++
	out := map[K]graph.State[K]{}
	for _, k := range keys {
		if s, ok := m.states[k]; ok {
			out[k] = s
		}
	}
	return out, nil
}

// Take implements graph.Store.
func (m *Memory[K]) Take(n int) ([]graph.Dirty[K], error) {
	m.Reads++
	var out []graph.Dirty[K]
	for _, d := range m.queue {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b graph.Dirty[K]) int {
		return cmp.Or(cmp.Compare(a.Hop, b.Hop), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	out = out[:min(n, len(out))]
	m.Largest = max(m.Largest, len(out))
	return out, nil
}

// Commit implements graph.Store.
func (m *Memory[K]) Commit(done []graph.Dirty[K], states map[K]graph.State[K], next []graph.Dirty[K]) error {
	if m.Before != nil {
		m.Before()
	}
	for k, s := range states {
		if s.Resolution == graph.None {
			delete(m.states, k)
		} else {
			m.states[k] = s
		}
	}
	for _, d := range done {
		n := name[K]{d.Key, d.Paging, d.After}
		if m.queue[n].Seq == d.Seq {
			delete(m.queue, n)
		}
	}
	for _, d := range next {
		m.push(d)
	}
	return nil
}

// AllEdges implements Subject.
func (m *Memory[K]) AllEdges() (map[K]K, error) { return m.edges, nil }

// AllStates implements Subject.
func (m *Memory[K]) AllStates() (map[K]graph.State[K], error) { return m.states, nil }
