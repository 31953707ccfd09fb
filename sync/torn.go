package syncer

import (
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// reread looks once more at the documents between which missing pages may have moved while the walk read them, and
// brings everything together again. A page that two walks of this run missed needs no third look.
func (r *run) reread(ctx context.Context, s *settlement) (*settlement, error) {
	if r.verdict() != models.VerdictComplete || r.target != nil {
		return s, nil
	}
	doubtful := slices.DeleteFunc(slices.Clone(s.missing), func(p place) bool { return s.agreed[p] })
	again := suspects(doubtful, r.order)
	if len(again) == 0 {
		return s, nil
	}
	r.step("rereading", "")
	before := r.record.Documents
	level := again
	for len(level) > 0 {
		var fresh, left []*document
		for _, d := range level {
			d.alias = false
			if err := r.document(ctx, d); err != nil {
				return nil, fmt.Errorf("document %s: %w", d.URL, err)
			}
			for _, other := range r.deserted(d) {
				if !slices.Contains(again, other) { // once is enough for a site that answers otherwise each time
					again, left = append(again, other), append(left, other)
				}
			}
		}
		for _, d := range level {
			fresh = append(fresh, r.next([]*document{d}, d.Depth+1)...)
		}
		before.Read += int64(len(fresh))
		level = append(fresh, left...)
	}
	r.record.Documents = before
	for _, d := range r.order {
		if d.failed { // nothing had failed before
			r.record.Documents.Failed++
			r.record.Documents.Read = max(0, r.record.Documents.Read-1)
		}
	}
	second, err := r.meet(ctx)
	if err != nil {
		return nil, err
	}
	second.twice, second.agreed, second.flapped = s.twice, s.agreed, s.flapped
	if found := len(s.missing) - len(second.missing); found > 0 {
		r.note("torn-read", models.SeverityInfo, r.site.Root, fmt.Sprintf(
			"the site changed while it was read: %d pages were between files and were found when these were read again", found))
	}
	return second, nil
}

// deserted gives the documents that redirected to an address for which another one had answered that, read again, answers for
// it no more: nobody has read what is there for them.
func (r *run) deserted(d *document) []*document {
	now, gone := finalKey(d), map[models.Key]bool{}
	for key, by := range r.claimed {
		if by == d && key != d.Key && (key != now || d.alias) {
			gone[key] = true
			delete(r.claimed, key)
		}
	}
	var out []*document
	for _, other := range r.order {
		if other != d && other.alias && gone[finalKey(other)] {
			out = append(out, other)
		}
	}
	return out
}

// finalKey is the identity of the address that answered for a document.
func finalKey(d *document) models.Key {
	u, problem := weburl.Parse(nil, []byte(d.FinalURL))
	if problem != weburl.None {
		return models.Key{}
	}
	return models.Key(u.Key())
}
