package syncer

import (
	"slices"
)

// A site that is edited while it is read shows pages in no file at all: every entry behind a deleted one moves a place
// towards the first file, and one steps into a file that was read a moment ago. Nobody is told that such a page is gone:
// the files where it may be are read again before anything is planned.

const (
	mostTorn   = 200 // more missing pages than these are no page shift; the second complete walk tells
	mostReread = 12  // documents read again in a run
)

// suspects chooses what to read again for missing pages: the document that each left, its neighbours in a numbered
// series, the two ends of the series, where edited and new pages go, and the index, which may list a file more by now.
// nil when nothing was torn: the series has one file and the index is as good as it was.
func suspects(missing []place, documents []*document) []*document {
	if len(missing) == 0 || len(missing) > mostTorn {
		return nil
	}
	byNumber := map[int32]*document{}
	for _, d := range documents {
		byNumber[d.Number] = d
	}
	series := inSeries(slices.Values(documents), func(d *document) bool { return d.visited && !d.alias })
	var out []*document
	want := func(d *document) {
		if d != nil && d.visited && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	seen := map[int32]bool{}
	for _, p := range missing {
		if seen[p.document] {
			continue
		}
		seen[p.document] = true
		d := byNumber[p.document]
		if d == nil {
			continue
		}
		name, _ := seriesOf(d.URL)
		files := series[name]
		at := slices.Index(files, d)
		full := at == len(files)-1 && d.previous != nil && d.previous.Entries > 0 && d.Entries >= d.previous.Entries
		if full || at < 0 && len(files) > 0 { // its last pages may be in a file that the index did not list yet
			want(byNumber[d.Parent])
		}
		if len(files) < 2 && at >= 0 {
			continue
		}
		if at >= 0 {
			want(d)
		}
		for _, i := range []int{at - 1, at + 1, 0, len(files) - 1} {
			if i >= 0 && i < len(files) {
				want(files[i])
			}
		}
	}
	if len(out) > mostReread {
		return nil
	}
	// The index first: what it lists anew is read with the rest.
	slices.SortStableFunc(out, func(a, b *document) int { return a.Depth - b.Depth })
	return out
}
