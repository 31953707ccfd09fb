package canonical

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// Observation is one statement over the looks that found it unchanged: an
// interval, so that a page that stays as it is costs an update and no row.
type Observation struct {
	ID        [16]byte  `json:"-"` // of source, kind, place, target and raw value
	SourceKey Key       `json:"source_key"`
	Item      Item      `json:"item"`
	Parser    string    `json:"parser"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Times     int       `json:"times"`
	Current   bool      `json:"current"` // found by the last look that could tell
}

// Observe folds one look into what was observed before. Changed holds the
// observations that are new, were seen again, or are no longer seen; only
// those need writing. A look that proves nothing changes nothing, and a 304
// confirms all that was current.
func Observe(before []Observation, e *Evidence, at time.Time) (all, changed []Observation) {
	if !e.Reading.Clean() && e.Reading != ReadingNotModified && e.Reading != ReadingRedirect {
		return before, nil
	}
	index := map[[16]byte]int{}
	for i, o := range before {
		index[o.ID] = i
	}
	all = append(all, before...)
	seen := map[[16]byte]bool{}
	for _, it := range e.Items {
		id := observationID(e.Key, &it)
		if seen[id] {
			continue
		}
		seen[id] = true
		i, ok := index[id]
		if !ok {
			all = append(all, Observation{ID: id, SourceKey: e.Key, FirstSeen: at})
			i = len(all) - 1
		}
		o := &all[i]
		o.Item, o.Parser, o.LastSeen, o.Current = it, e.Parser, at, true
		o.Times++
		changed = append(changed, *o)
	}
	for i := range before {
		o := &all[i]
		if seen[o.ID] || !o.Current {
			continue
		}
		if e.Reading == ReadingNotModified {
			o.LastSeen = at
			o.Times++
		} else {
			o.Current = false
		}
		changed = append(changed, *o)
	}
	return all, changed
}

// observationID leaves out where in the document a statement stood: a line
// more above it is no new observation.
func observationID(source Key, it *Item) [16]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%d\n%t\n%s\n%s", source, it.Kind, it.Place, it.Hop, it.Accepted, it.URL, it.Raw))
	return [16]byte(sum[:16])
}
