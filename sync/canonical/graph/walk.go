package graph

import (
	"cmp"
	"fmt"
)

// Edges reads out-edges.
type Edges[K cmp.Ordered] interface {
	// Targets gives the out-edge of each of the URLs that has one, in one round trip.
	Targets(keys []K) (map[K]K, error)
}

// Walk finds the states of the given URLs by following their edges together:
// at most MaxHops+1 calls of Targets however many they are. A URL without
// edge has resolution None.
func Walk[K cmp.Ordered](edges Edges[K], from []K) (map[K]State[K], error) {
	states := make(map[K]State[K], len(from))
	paths := make(map[K][]K, len(from))
	for _, k := range from {
		paths[k] = append(make([]K, 0, 4), k)
	}
	known := map[K]K{} // edges read so far
	terminal := map[K]bool{}
	for hop := 0; len(paths) > 0; hop++ {
		var ask []K
		asked := map[K]bool{}
		for _, p := range paths {
			last := p[len(p)-1]
			if _, ok := known[last]; !ok && !terminal[last] && !asked[last] {
				asked[last] = true
				ask = append(ask, last)
			}
		}
		if len(ask) > 0 {
			got, err := edges.Targets(ask)
			if err != nil {
				return nil, fmt.Errorf("read %d edges at hop %d: %w", len(ask), hop, err)
			}
			for _, k := range ask {
				if t, ok := got[k]; ok {
					known[k] = t
				} else {
					terminal[k] = true
				}
			}
		}
		for k, p := range paths {
			s, path, done := step(p, known)
			if done {
				states[k] = s
				delete(paths, k)
			} else {
				paths[k] = path
			}
		}
	}
	return states, nil
}

// step follows one more edge of a path.
func step[K cmp.Ordered](path []K, known map[K]K) (State[K], []K, bool) {
	last := path[len(path)-1]
	next, ok := known[last]
	if !ok {
		if len(path) == 1 {
			return State[K]{Resolution: None}, path, true
		}
		return State[K]{Resolution: Chain, Final: last, Depth: len(path) - 1}, path, true
	}
	if len(path) > MaxHops {
		return State[K]{Resolution: TooLong}, path, true
	}
	for i, k := range path {
		if k != next {
			continue
		}
		low := k
		for _, m := range path[i:] {
			low = min(low, m)
		}
		if i == 0 {
			return State[K]{Resolution: Loop, Depth: len(path), Loop: low}, path, true
		}
		return State[K]{Resolution: IntoLoop, Depth: len(path), Loop: low}, path, true
	}
	return State[K]{}, append(path, next), false
}
