package graph

import (
	"cmp"
	"fmt"
	"slices"
)

// Batch is how many queue entries, and how many dependents of one URL, are
// worked off in one transaction.
const Batch = 1000

// Dirty is one URL whose state must be computed anew. Whoever changes an edge
// queues its source with Hop 0, in the transaction that writes the edge: that
// is what keeps two writers who cannot see each other's edge from missing the
// loop that both edges make.
type Dirty[K cmp.Ordered] struct {
	Key K
	Hop int // edges from the changed one; what is farther than MaxHops cannot see the change
	// After and Paging continue a list of dependents that was too long for one batch.
	After  K
	Paging bool
	// Seq is the store's: it changes whenever the entry is queued again, so that
	// a change that comes while the entry is worked off is not lost with it.
	Seq int64
}

// Store holds edges, states and the queue.
type Store[K cmp.Ordered] interface {
	Edges[K]
	// Dependents lists up to limit URLs whose edge leads to target and whose
	// key is greater than after (or all where after is nil), in key order.
	Dependents(target K, after *K, limit int) ([]K, error)
	// States gives the states on record; URLs without one are missing.
	States(keys []K) (map[K]State[K], error)
	// Take reads up to n queued entries without removing them, smallest hop first.
	Take(n int) ([]Dirty[K], error)
	// Commit writes, in one transaction: the states; the removal of those entries
	// done whose Seq is still the one that was taken; and the new entries. An
	// entry is named by Key, Paging and After; of one that is queued already the
	// smaller hop stays and Seq changes.
	Commit(done []Dirty[K], states map[K]State[K], next []Dirty[K]) error
}

// Drain works the queue off, at most maxBatches batches (0: until it is empty),
// and says how many batches and states it wrote.
func Drain[K cmp.Ordered](s Store[K], maxBatches int) (batches, states int, err error) {
	seen := map[K]int{}
	for maxBatches == 0 || batches < maxBatches {
		entries, err := s.Take(Batch)
		if err != nil {
			return batches, states, fmt.Errorf("take dirty entries: %w", err)
		}
		if len(entries) == 0 {
			break
		}
		changed, next, err := Step(s, entries, seen)
		if err != nil {
			return batches, states, err
		}
		if err := s.Commit(entries, changed, next); err != nil {
			return batches, states, fmt.Errorf("commit %d states: %w", len(changed), err)
		}
		batches++
		states += len(changed)
	}
	return batches, states, nil
}

// Step computes the entries' states anew and lists who has to be looked at
// next. It returns the states that differ from those on record. Seen, which
// may be nil, is kept between the steps of one drain and saves repeated visits;
// it is emptied when a changed edge comes up, for what was computed before may
// not have seen that change.
func Step[K cmp.Ordered](s Store[K], entries []Dirty[K], seen map[K]int) (map[K]State[K], []Dirty[K], error) {
	keys := make([]K, 0, len(entries))
	for _, d := range entries {
		if d.Hop == 0 && !d.Paging {
			clear(seen)
		}
	}
	for _, d := range entries {
		if !d.Paging {
			if seen != nil {
				seen[d.Key] = d.Hop
			}
			keys = append(keys, d.Key)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	now, err := Walk(Edges[K](s), keys)
	if err != nil {
		return nil, nil, err
	}
	before, err := s.States(keys)
	if err != nil {
		return nil, nil, fmt.Errorf("read %d states: %w", len(keys), err)
	}
	changed := map[K]State[K]{}
	for k, st := range now {
		if st != before[k].normal() {
			changed[k] = st
		}
	}
	var next []Dirty[K]
	for _, d := range entries {
		// Not even an unchanged state stops here: a dependent may have been
		// computed from an edge that was gone again before this entry was looked at.
		if d.Hop >= MaxHops {
			continue
		}
		more, err := dependents(s, d, seen)
		if err != nil {
			return nil, nil, err
		}
		next = append(next, more...)
	}
	return changed, next, nil
}

// dependents lists one batch of the URLs that lead to an entry, and the entry
// that lists the rest.
func dependents[K cmp.Ordered](s Store[K], d Dirty[K], seen map[K]int) ([]Dirty[K], error) {
	var after *K
	if d.Paging {
		after = &d.After
	}
	list, err := s.Dependents(d.Key, after, Batch)
	if err != nil {
		return nil, fmt.Errorf("read dependents: %w", err)
	}
	var next []Dirty[K]
	for _, k := range list {
		hop := d.Hop + 1
		if h, ok := seen[k]; ok && h <= hop {
			continue
		}
		if seen != nil {
			seen[k] = hop
		}
		next = append(next, Dirty[K]{Key: k, Hop: hop})
	}
	if len(list) == Batch {
		next = append(next, Dirty[K]{Key: d.Key, Hop: d.Hop, After: list[len(list)-1], Paging: true})
	}
	return next, nil
}
