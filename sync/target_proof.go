package syncer

import (
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// A hook is a hint: the message that a page is gone may be old by now, and the one that it is back may be lost. A page that
// left its document may stand in another one, where a targeted run does not look. So such a run reads the documents to
// which pages shift as well, and where these prove nothing it reads the rest.

// around gives the documents where a page of a document may be by now: the files beside it, when pages before it came or
// went, and the two ends of its series, where edited and restored pages go.
func (r *run) around(d *document) []*document {
	if d == nil {
		return nil
	}
	name, _ := seriesOf(d.URL)
	files := r.series()[name]
	at := slices.Index(files, d)
	if at < 0 {
		return nil
	}
	return []*document{files[max(at-1, 0)], files[min(at+1, len(files)-1)], files[0], files[len(files)-1]}
}

// widen reads every document in a targeted run that misses a named page without proof of its absence. The run stays a
// targeted one: it judges the pages that were named, and leaves the others to the next full run and its guard.
func (r *run) widen(ctx context.Context, s *settlement) (*settlement, error) {
	if r.target == nil || r.verdict() != models.VerdictComplete {
		return s, nil
	}
	unproven := slices.ContainsFunc(s.missing, func(p place) bool { return r.vouched[p.key] != "" && !r.provenAbsent(p.key) })
	if !unproven {
		return s, nil
	}
	for _, d := range r.documents {
		r.target[d.Number] = true
	}
	if err := r.walk(ctx); err != nil {
		return nil, fmt.Errorf("read the whole site: %w", err)
	}
	return r.meet(ctx)
}

// provenAbsent tells whether a page that a targeted run misses would have been seen by it. It would where the run read the
// whole series. Else no series may have shifted by more than a file since it was last read: a document that still lists
// one of its pages unchanged keeps its others in itself, in the files beside it or, edited, at the ends. Where the run did not
// ask which documents list the page (another look at failed documents, a page that the plugin's list lacks) nothing is proven.
func (r *run) provenAbsent(key models.Key) bool {
	if len(r.listed[key]) == 0 {
		return false
	}
	all := r.series()
	for _, number := range r.listed[key] {
		d := r.byNumber(number)
		if d == nil {
			return false
		}
		name, _ := seriesOf(d.URL)
		files := all[name]
		if !slices.ContainsFunc(files, func(f *document) bool { return !f.visited && !r.target[f.Number] }) {
			continue // what was aimed at and not visited is in no index any more
		}
		for at := slices.Index(files, d); !d.visited; at-- { // its pages went to the last file that is left
			if at <= 0 {
				return false
			}
			d = files[at-1]
			if !d.visited && !r.target[d.Number] {
				return false
			}
		}
		if d.failed || d.alias || !d.same && d.diff.kept == 0 {
			return false
		}
	}
	return true
}
