package syncer

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// remove moves every removal on and opens those of pages missing for the first time.
func (r *run) remove(ctx context.Context, s *settlement, complete bool) error {
	c := &r.record.Counts
	proof := walkProof{run: r.record.ID, now: r.record.StartedAt, complete: complete}
	var opened int64
	if complete {
		opened = int64(len(s.missing) - len(s.migrated) - len(s.windowed))
	}
	c.Live = r.site.Live + c.Added + c.Restored - opened
	held := r.o.Policy.judge(r.absence(s, complete))
	var changed []models.Removal
	for key := range s.back {
		removal := *r.undecided[key]
		removal.DecidedRun, removal.Reason = proof.run, "listed again"
		if removal.Stage != models.StageLeftWindow { // its page was listed all the time, stale
			removal.Stage = models.StageRestored
		}
		changed = append(changed, removal)
	}
	confirmAfter := orElse(r.site.Settings.ConfirmAfter, r.o.Policy.ConfirmAfter)
	releaseAfter := orElse(r.site.Settings.ReleaseAfter, r.o.Policy.ReleaseAfter)
	closing := map[int32][]models.Key{}
	undecided := tallies{stages: map[string]int64{}, documents: map[int32]int64{}}
	for key := range s.lost {
		removal := *r.undecided[key]
		proof.confirmed, proof.vouched = s.twice, r.vouched[key]
		if !s.flapped[key] && r.o.Policy.carryOn(&removal, confirmAfter, releaseAfter, proof, r.holds(held, removal.Document)) {
			removal.Evidence = r.evidence(s, &removal, removal.Evidence)
			if m, ok := s.told[key]; ok && removal.Stage == models.StageRemoved {
				removal.Stage, removal.MovedTo, removal.MovedKey, removal.Reason = models.StageMoved, m.toURL, m.to, m.by
				c.Moved++
			}
			changed = append(changed, removal)
			if removal.DecidedRun == proof.run && !gone(r.undecided[key]) {
				c.Live--
			}
		}
		r.decided(&removal, closing, undecided)
	}
	for key := range s.waiting {
		undecided.add(r.undecided[key])
	}
	slices.SortFunc(changed, func(a, b models.Removal) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	if err := r.saveRemovals(ctx, changed); err != nil {
		return err
	}
	if complete {
		if err := r.open(ctx, s, proof, held, closing, undecided); err != nil {
			return err
		}
	}
	for _, number := range sortedKeys(closing) {
		r.traceEnded(closing[number])
		if err := r.o.Store.StageDocument(ctx, r.lease, r.site.ID, r.record.ID, number, sortKeys(closing[number]), nil); err != nil {
			return fmt.Errorf("close removed pages of document %d: %w", number, err)
		}
	}
	c.Pending = undecided.stages[models.StagePending] + undecided.stages[models.StageApproved]
	c.Held = undecided.stages[models.StageHeld]
	c.Stale = undecided.stages[models.StageLeftWindow]
	for _, number := range r.failedDocuments() { // counted with their documents in the end, but their case is what they are
		c.Stale -= undecided.documents[number]
	}
	for key, x := range r.undecided {
		if !s.back[key] && x.Stage == models.StageRejected && r.endedDocument(x.Document) {
			c.Stale++ // a person keeps it, but no document stands for it
		}
	}
	return nil
}

// gone tells whether the page of an undecided removal counts as no longer listed: a person may have kept it, and what
// left a rolling window stays, stale.
func gone(c *models.Removal) bool {
	return c.Stage != models.StageRejected && c.Stage != models.StageLeftWindow
}

func (r *run) endedDocument(number int32) bool {
	d := r.byNumber(number)
	return d == nil || d.Verdict == models.VerdictGone
}

// tallies counts removals that stay undecided, by stage and by document.
type tallies struct {
	stages    map[string]int64
	documents map[int32]int64 // a page whose removal a person rejected is what its document is: not here
}

func (t tallies) add(c *models.Removal) {
	t.stages[c.Stage]++
	if c.Stage != models.StageRejected {
		t.documents[c.Document]++
	}
}

// begin opens the case of a page missing for the first time, or decides it where the page is known to live on.
func (r *run) begin(s *settlement, row models.Declaration, proof walkProof, held string) models.Removal {
	at := place{row.Key, row.Document}
	proof.confirmed, proof.vouched = s.twice && s.agreed[at], r.vouched[row.Key]
	removal := r.o.Policy.openCase(row, proof, held)
	removal.Evidence = r.evidence(s, &removal, nil)
	if m, ok := s.migrated[at]; ok {
		removal.Stage, removal.DecidedRun, removal.HeldRun = models.StageMigrated, proof.run, 0
		removal.MovedTo, removal.MovedKey, removal.Reason = m.toURL, m.to, "the whole site moved"
	}
	if m, ok := s.renamed[at]; ok {
		removal.Stage, removal.DecidedRun, removal.HeldRun = models.StageMoved, proof.run, 0
		removal.MovedTo, removal.MovedKey, removal.Reason = m.toURL, m.to, m.by
		r.record.Counts.Moved++
	}
	if s.windowed[at] {
		removal.Stage, removal.DecidedRun, removal.HeldRun = models.StageLeftWindow, models.Open, 0
		removal.Reason = "left a rolling window (news, or the newest pages alone), which says nothing of the page itself"
	}
	if why := s.ownWord(at); why != "" && removal.Stage == models.StagePending {
		r.o.Policy.remove(&removal, proof, why)
	}
	return removal
}

// holds tells why what is missing from a document waits for a person; "" when it need not.
func (r *run) holds(g guard, number int32) string {
	if why := g.why(number); why != "" {
		return why
	}
	if d := r.byNumber(number); d != nil {
		return d.doubt()
	}
	return ""
}

// byNumber finds a document; the engine's own goroutine alone asks.
func (r *run) byNumber(number int32) *document {
	if len(r.numbered) != len(r.documents) {
		r.numbered = make(map[int32]*document, len(r.documents))
		for _, d := range r.documents {
			r.numbered[d.Number] = d
		}
	}
	return r.numbered[number]
}

// decided books one removal: its row closed, or counted by its stage.
func (r *run) decided(removal *models.Removal, closing map[int32][]models.Key, undecided tallies) {
	switch removal.Stage {
	case models.StageRemoved:
		r.record.Counts.Removed++
	case models.StageMoved, models.StageMigrated:
	default:
		undecided.add(removal)
		return
	}
	closing[removal.Document] = append(closing[removal.Document], removal.Key)
}

// open begins removals document by document, so that memory follows one portion.
func (r *run) open(ctx context.Context, s *settlement, proof walkProof, held guard, closing map[int32][]models.Key, undecided tallies) error {
	byDocument := map[int32][]models.Key{}
	for _, p := range s.missing {
		byDocument[p.document] = append(byDocument[p.document], p.key)
	}
	for _, number := range sortedKeys(byDocument) {
		for portion := range slices.Chunk(byDocument[number], lookupKeys) {
			rows, err := r.o.Store.Rows(ctx, r.site.ID, number, portion)
			if err != nil {
				return fmt.Errorf("read rows of document %d: %w", number, err)
			}
			cases := make([]models.Removal, 0, len(rows))
			for _, row := range rows {
				removal := r.begin(s, row, proof, r.holds(held, number))
				r.decided(&removal, closing, undecided)
				cases = append(cases, removal)
			}
			if err := r.saveRemovals(ctx, cases); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) saveRemovals(ctx context.Context, cases []models.Removal) error {
	for portion := range slices.Chunk(cases, lookupKeys) {
		if err := r.o.Store.SaveRemovals(ctx, r.lease, r.site.ID, r.record.ID, portion); err != nil {
			return fmt.Errorf("save removals: %w", err)
		}
	}
	return nil
}

// known is how many pages the site listed before the run, those whose removal is undecided included.
func (r *run) known() int64 {
	known := r.site.Live
	for _, c := range r.undecided {
		if gone(c) {
			known++
		}
	}
	return known
}

// absence sums up what is missing, for the guard. Removals already held or approved do not count again.
func (r *run) absence(s *settlement, complete bool) absence {
	a := absence{byDocument: map[int32]int64{}, listed: map[int32]int64{}}
	if !complete {
		return a
	}
	a.known = r.known()
	a.remaining = r.record.Counts.Live
	for _, d := range r.documents {
		a.listed[d.Number] = d.diff.listed
	}
	for _, p := range s.missing {
		if _, ok := s.migrated[p]; !ok && !s.windowed[p] {
			a.pages++
			a.byDocument[p.document]++
		}
	}
	for key := range s.lost {
		if c := r.undecided[key]; c.Stage == models.StagePending {
			a.pages++
		}
	}
	return a
}
