package syncer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// lookupKeys is how many pages are looked up at a time.
const lookupKeys = 1000

// settlement is what all documents say together, before anything of it is applied.
type settlement struct {
	resolution
	left    []place              // ascending: declarations that left their documents
	missing []place              // ascending: those that are nowhere else
	lost    map[models.Key]bool  // undecided removals that this walk missed again
	back    map[models.Key]bool  // undecided removals whose page is listed again
	agreed  map[place]bool       // missing from two walks of this run; nil without a second walk
	twice   bool                 // a second walk was made
	flapped map[models.Key]bool  // undecided removals whose page the first walk of this run listed and the second did not
	began   map[models.Key]int64 // first runs of pages that had been removed before

	postponed []place             // absences that a targeted run may not judge
	waiting   map[models.Key]bool // undecided removals that a targeted run may not judge

	windowed map[place]bool              // missing pages that a rolling window left behind
	migrated map[place]move              // missing pages that a move of the whole site took along
	renamed  map[place]move              // missing pages that live on under a listed one
	told     map[models.Key]move         // pages of which a hook said so
	answers  map[place]int               // what missing pages answered when they were asked, by status
	gone     map[place]bool              // those that answered that they are gone: 404 counts where a control is found
	controls map[int32]models.PageAnswer // by document: what a page that is listed answered after a missing one said 404
}

// doubtful reports whether a second walk could decide anything.
func (s *settlement) doubtful() bool { return len(s.missing) > 0 || len(s.lost) > 0 }

// meet brings together what left and what appeared. It stages the end of documents that are gone, nothing else.
func (r *run) meet(ctx context.Context) (*settlement, error) {
	s := &settlement{lost: map[models.Key]bool{}, back: map[models.Key]bool{}, began: map[models.Key]int64{}}
	s.targeted = r.target != nil
	if err := r.unlisted(ctx); err != nil {
		return nil, err
	}
	returned := map[models.Key]bool{}
	for _, d := range sortedByNumber(r.documents) {
		for _, row := range d.diff.left {
			s.left = append(s.left, place{row.Key, d.Number})
		}
		for _, key := range d.diff.returned {
			returned[key] = true
		}
	}
	slices.SortFunc(s.left, comparePlaces)
	gone := func(p place) (bool, bool) {
		if c := r.undecided[p.key]; c != nil && c.Document == p.document && !returned[p.key] {
			return true, true
		}
		_, left := slices.BinarySearchFunc(s.left, p, comparePlaces)
		return left, false
	}
	how := make(map[int32]standing, len(r.documents))
	for _, d := range r.documents {
		how[d.Number] = d.standing()
	}
	err := r.candidates(ctx, s, func(keys []models.Key) error {
		rows, err := r.o.Store.Elsewhere(ctx, r.site.ID, keys)
		if err != nil {
			return fmt.Errorf("look for pages elsewhere: %w", err)
		}
		s.resolve(rows, r.record.ID, gone, how, s.began)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(s.resolved, comparePlaces)
	for _, p := range s.left {
		if _, ok := slices.BinarySearchFunc(s.resolved, p, comparePlaces); !ok {
			s.missing = append(s.missing, p)
		}
	}
	for _, key := range s.found {
		s.back[key] = true
	}
	for key := range r.undecided {
		if returned[key] {
			s.back[key] = true
		} else if !s.back[key] {
			s.lost[key] = true
		}
	}
	return s, nil
}

// unlisted stages the end of documents that the walk did not come to: gone when the walk was complete, else unreached.
func (r *run) unlisted(ctx context.Context) error {
	if r.target != nil { // says nothing of what it did not read, beside what messages named
		if err := r.unlistedNamed(ctx); err != nil {
			return err
		}
		return r.unlistedChildren(ctx)
	}
	complete := r.verdict() == models.VerdictComplete
	for _, d := range sortedByNumber(r.documents) {
		if !complete && !d.visited && d.Verdict == models.VerdictGone && d.previous != nil && d.previous.Verdict != models.VerdictGone {
			// An earlier walk of this run found it gone; this one proves nothing.
			if err := r.undo(ctx, d); err != nil {
				return fmt.Errorf("document %s: %w", d.URL, err)
			}
		}
		switch {
		case d.visited || d.Verdict == models.VerdictGone:
			continue
		case complete:
			if err := r.drop(ctx, d); err != nil {
				return fmt.Errorf("document %s: %w", d.URL, err)
			}
		default:
			if err := r.unreached(ctx, d); err != nil {
				return fmt.Errorf("document %s: %w", d.URL, err)
			}
		}
	}
	return nil
}

// candidates hands out, ascending and in portions, the keys that may have several rows or a past.
func (r *run) candidates(ctx context.Context, s *settlement, fn func([]models.Key) error) error {
	var keys []models.Key
	if r.mass {
		// Nearly everything is new: one ordered scan of the index finds what is listed more than once.
		err := r.o.Store.SharedKeys(ctx, r.site.ID, func(key models.Key) error {
			keys = append(keys, key)
			return nil
		})
		if err != nil {
			return fmt.Errorf("find pages with several listings: %w", err)
		}
		r.traces.shared = slices.Clone(keys)
	} else {
		keys = slices.Clone(r.appeared)
		for _, p := range s.left {
			keys = append(keys, p.key)
		}
	}
	if !r.mass && r.turned() { // a page that another document lists as well is as fresh as that one
		if err := r.o.Store.SharedKeys(ctx, r.site.ID, func(key models.Key) error {
			keys = append(keys, key)
			return nil
		}); err != nil {
			return fmt.Errorf("find pages with several listings: %w", err)
		}
	}
	for key := range r.undecided {
		keys = append(keys, key)
	}
	past, err := r.past(ctx)
	if err != nil {
		return err
	}
	for _, c := range past {
		s.began[c.Key] = c.FirstRun
		keys = append(keys, c.Key)
	}
	slices.SortFunc(keys, func(a, b models.Key) int { return bytes.Compare(a[:], b[:]) })
	for portion := range slices.Chunk(slices.Compact(keys), lookupKeys) {
		if err := fn(portion); err != nil {
			return err
		}
	}
	return nil
}

// turned tells whether a document that was read can be read no more, or the other way round, while another one is read.
func (r *run) turned() bool {
	turned, read := false, false
	for _, d := range r.documents {
		read = read || d.Type != typeIndex && d.standing() != notRead && d.Verdict != models.VerdictGone
		if p := d.previous; p != nil && p.Type != typeIndex && p.Verdict != models.VerdictGone && d.Verdict != models.VerdictGone {
			turned = turned || p.Verdict.Read() != d.Verdict.Read()
		}
	}
	return turned && read
}

// past gives the removals of pages that appeared now: a return continues the page's history.
func (r *run) past(ctx context.Context) ([]models.Removal, error) {
	if r.record.Baseline || r.total.Load() == 0 {
		return nil, nil
	}
	if r.mass {
		past, err := r.o.Store.Removed(ctx, r.site.ID, nil)
		if err != nil {
			return nil, fmt.Errorf("read removed pages: %w", err)
		}
		return past, nil
	}
	var out []models.Removal
	for portion := range slices.Chunk(r.appeared, lookupKeys) {
		past, err := r.o.Store.Removed(ctx, r.site.ID, portion)
		if err != nil {
			return nil, fmt.Errorf("read removed pages: %w", err)
		}
		out = append(out, past...)
	}
	return out, nil
}

// confirm walks a second time within the run. What both walks missed is confirmed; where they differ the second holds.
func (r *run) confirm(ctx context.Context, first *settlement) (*settlement, error) {
	r.step("confirming", "")
	before := r.record.Documents
	if err := r.walk(ctx); err != nil {
		return nil, err
	}
	r.record.Documents = before
	second, err := r.meet(ctx)
	if err != nil {
		return nil, err
	}
	second.twice = r.verdict() == models.VerdictComplete
	second.agreed = map[place]bool{}
	for _, p := range second.missing {
		if _, ok := slices.BinarySearchFunc(first.missing, p, comparePlaces); ok {
			second.agreed[p] = true
		}
	}
	second.flapped = map[models.Key]bool{}
	for key := range first.back {
		second.flapped[key] = second.lost[key]
	}
	return second, nil
}

// settle applies the settlement and ends the run.
func (r *run) settle(ctx context.Context, s *settlement) error {
	r.step("applying", "")
	verdict := r.verdict()
	for _, number := range sortedKeys(s.edits) {
		if err := r.edit(ctx, number, s.edits[number]); err != nil {
			return err
		}
	}
	if r.target != nil {
		s.vouched(r.vouched)
	}
	if verdict != models.VerdictComplete || len(s.postponed) > 0 {
		if err := r.postpone(ctx, s, verdict); err != nil {
			return err
		}
	}
	if verdict == models.VerdictComplete {
		if err := r.announced(ctx, s); err != nil {
			return err
		}
	}
	if verdict == models.VerdictComplete && r.target == nil {
		if err := r.corroborate(ctx, s); err != nil {
			return err
		}
		if err := r.moves(ctx, s); err != nil {
			return err
		}
		if err := r.windows(ctx, s); err != nil {
			return err
		}
	}
	r.tally(s)
	if err := r.remove(ctx, s, verdict == models.VerdictComplete); err != nil {
		return err
	}
	if verdict == models.VerdictComplete && r.target == nil {
		if err := r.undeclared(ctx, s); err != nil {
			return err
		}
	}
	if err := r.lookAcross(ctx); err != nil {
		return err
	}
	return r.finish(ctx, verdict)
}

// edit writes what resolving decided for one document.
func (r *run) edit(ctx context.Context, number int32, e *edit) error {
	roles := make(map[models.Key]rerole, len(e.rerole))
	keys := make([]models.Key, 0, len(e.rerole))
	for _, x := range e.rerole {
		roles[x.key] = x
		keys = append(keys, x.key)
	}
	closing := e.close
	r.traceEnded(keys)
	r.traceEnded(closing)
	for portion := range slices.Chunk(keys, lookupKeys) {
		rows, err := r.o.Store.Rows(ctx, r.site.ID, number, portion)
		if err != nil {
			return fmt.Errorf("read rows of document %d: %w", number, err)
		}
		for i := range rows {
			x := roles[rows[i].Key]
			rows[i].Role, rows[i].FirstRun, rows[i].FromRun, rows[i].ToRun = x.role, x.firstRun, r.record.ID, models.Open
		}
		if err := r.o.Store.StageDocument(ctx, r.lease, r.site.ID, r.record.ID, number, portion, rows); err != nil {
			return fmt.Errorf("stage roles of document %d: %w", number, err)
		}
	}
	if len(closing) > 0 {
		if err := r.o.Store.StageDocument(ctx, r.lease, r.site.ID, r.record.ID, number, closing, nil); err != nil {
			return fmt.Errorf("close moved pages of document %d: %w", number, err)
		}
	}
	return nil
}

// postpone keeps the question open where pages left a document while the walk was incomplete.
func (r *run) postpone(ctx context.Context, s *settlement, verdict models.Verdict) error {
	open := s.postponed
	if verdict != models.VerdictComplete {
		open = append(slices.Clone(open), s.missing...)
	}
	var last int32 = -1
	byNumber := map[int32]*document{}
	for _, d := range r.documents {
		byNumber[d.Number] = d
	}
	documents := make([]int32, 0, len(open))
	for _, p := range open {
		documents = append(documents, p.document)
	}
	slices.Sort(documents)
	for _, number := range documents {
		if number == last {
			continue
		}
		last = number
		if err := r.unsettle(ctx, byNumber[number]); err != nil {
			return fmt.Errorf("document %d: %w", number, err)
		}
	}
	return nil
}

// vouched keeps, in a targeted run, only the absences that a hook named: the others may be page shifts into documents
// that were not read. Undecided removals wait for a full run as well.
func (s *settlement) vouched(named map[models.Key]string) {
	kept := s.missing[:0:0]
	for _, p := range s.missing {
		if named[p.key] != "" {
			kept = append(kept, p)
		} else {
			s.postponed = append(s.postponed, p)
		}
	}
	s.missing = kept
	s.waiting = s.lost
	s.lost = map[models.Key]bool{}
}

// tally counts what the documents and their meeting gave.
func (r *run) tally(s *settlement) {
	c := &r.record.Counts
	var appeared int64
	for _, d := range r.documents {
		appeared += d.diff.appearedCount
		c.Changed += d.diff.changed
	}
	c.Changed += s.changed
	c.Moved = s.moved
	c.Restored = s.restored
	for key := range s.back {
		if gone(r.undecided[key]) {
			c.Restored++
		}
	}
	c.Added = appeared - s.known - s.restored - int64(len(s.migrated))
}

func sortedByNumber(documents map[models.Key]*document) []*document {
	out := make([]*document, 0, len(documents))
	for _, d := range documents {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *document) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

func sortedKeys[V any](m map[int32]V) []int32 {
	out := make([]int32, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func sortKeys(keys []models.Key) []models.Key {
	slices.SortFunc(keys, func(a, b models.Key) int { return bytes.Compare(a[:], b[:]) })
	return keys
}
