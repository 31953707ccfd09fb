package syncer

import (
	"context"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// declares says whether a stored head counts among the pages that declare target.
func declares(h *models.CanonicalHead, target models.Key) bool {
	return h != nil && h.TargetKey == target && h.EdgeKey == target
}

// others counts the pages that declare target as the database has them, the one that is judged left out, as far as the limit
// of canonical-many-to-one asks for it. A count serves
// until an edge changes: judging all dependents of a hub anew counts them once.
func (j *judging) others(ctx context.Context, target models.Key) (int, error) {
	n, ok := j.declarers[target]
	if !ok {
		var err error
		if n, err = j.o.Store.CountDeclarers(ctx, j.site.ID, target, canonical.MostDeclarers(int(j.site.Live))+2); err != nil {
			return 0, err
		}
		j.declarers[target] = n
	}
	if declares(j.s.head, target) {
		n--
	}
	return n, nil
}

// crossed finds targets that this look brings over the limit of canonical-many-to-one, or back: all who declare them are
// judged anew, not only those that happen to be looked at later.
func (j *judging) crossed(ctx context.Context) error {
	var before models.Key
	if j.s.head != nil {
		before = j.s.head.TargetKey
	}
	for _, target := range []models.Key{before, j.head.TargetKey} {
		if target == (models.Key{}) || declares(j.s.head, target) == declares(&j.head, target) {
			continue
		}
		j.recount = true
		n, err := j.others(ctx, target)
		if err != nil {
			return err
		}
		if n == canonical.MostDeclarers(int(j.site.Live)) {
			j.stirred = append(j.stirred, target)
		}
	}
	return nil
}
