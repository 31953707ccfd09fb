package graph

import "cmp"

// MaxHops is how many edges are followed from one URL.
const MaxHops = 10

// Resolution says where a URL's edge leads.
type Resolution string

// The resolutions. The words are those of the canonical head row.
const (
	None     Resolution = "none"      // no edge
	Chain    Resolution = "chain"     // to Final, in Depth edges (1 is a plain reference)
	Loop     Resolution = "loop"      // back to the URL itself, in Depth edges
	IntoLoop Resolution = "into_loop" // into a loop of other URLs; Depth edges until one is met twice
	TooLong  Resolution = "too_long"  // more than MaxHops edges
)

// State is where one URL leads. The zero value is that of a URL without edge.
type State[K cmp.Ordered] struct {
	Resolution Resolution
	Final      K   // of a chain
	Depth      int // see the resolutions
	Loop       K   // smallest member of the loop
}

// normal gives the zero value its name.
func (s State[K]) normal() State[K] {
	if s.Resolution == "" {
		s.Resolution = None
	}
	return s
}

// Full computes the state of every URL that has an edge, from all edges at
// once. It colours the graph instead of walking it, so that it shares no step
// with the incremental computation.
func Full[K cmp.Ordered](edges map[K]K) map[K]State[K] {
	type place struct {
		entry  K   // terminal URL, or the first loop member met
		dist   int // edges to entry
		length int // of the loop, 0 for a chain
	}
	done := make(map[K]place, len(edges))
	smallest := map[K]K{} // loop member -> smallest member
	for start := range edges {
		var path []K
		on := map[K]int{}
		at := start
		for {
			if _, ok := done[at]; ok {
				break
			}
			if i, ok := on[at]; ok { // a new loop
				loop := path[i:]
				low := loop[0]
				for _, k := range loop {
					low = min(low, k)
				}
				for _, k := range loop {
					done[k], smallest[k] = place{k, 0, len(loop)}, low
				}
				path = path[:i]
				break
			}
			next, ok := edges[at]
			if !ok {
				done[at] = place{at, 0, 0}
				break
			}
			on[at] = len(path)
			path = append(path, at)
			at = next
		}
		for i := len(path) - 1; i >= 0; i-- {
			p := done[edges[path[i]]]
			done[path[i]] = place{p.entry, p.dist + 1, p.length}
		}
	}
	states := make(map[K]State[K], len(edges))
	for k := range edges {
		p := done[k]
		s := State[K]{Resolution: TooLong}
		switch {
		case p.dist+p.length > MaxHops:
		case p.length == 0:
			s = State[K]{Resolution: Chain, Final: p.entry, Depth: p.dist}
		case p.dist == 0:
			s = State[K]{Resolution: Loop, Depth: p.length, Loop: smallest[k]}
		default:
			s = State[K]{Resolution: IntoLoop, Depth: p.dist + p.length, Loop: smallest[p.entry]}
		}
		states[k] = s
	}
	return states
}
