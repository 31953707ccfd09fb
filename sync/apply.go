package syncer

import (
	"context"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// stageRows is how many declarations are built and handed to the store at a time.
const stageRows = 4000

// apply stages what a reading says: a version of the document when it says something new, and the rows that differ.
func (r *run) apply(ctx context.Context, d *document, got *reading, b *bench) error {
	d.visited = true
	v := got.version
	if v.Good() && v.ObservedAt.After(d.seen) {
		d.seen = v.ObservedAt
	}
	if !got.same || got.parsed || len(got.findings) > 0 { // bytes seen before say what they said
		d.findings = got.findings
	}
	if got.parsed {
		d.children = append([]child{}, got.children...)
	}
	if d.staged && got.same { // an earlier walk of this run wrote rows; this one confirms
		d.same = true
		return nil
	}
	if !got.same {
		if err := r.undo(ctx, d); err != nil {
			return err
		}
	}
	switch {
	case d.alias:
		d.same = true
		v.Type, v.SemanticHash, v.ByteHash, v.Entries, v.Children = "none", nil, nil, 0, 0
		v.Verdict, v.Reason, v.StaleSince = models.VerdictComplete, "redirects to a document that is read anyway", nil
		b.found.reset()
		return r.diff(ctx, d, v, b, false)
	case got.same:
		d.same = true
		keepRecord(&v, d.good())
		return r.saveVersion(ctx, d, v)
	case v.Verdict == models.VerdictUnavailable || v.Verdict == models.VerdictNotSitemap:
		d.failed, d.children = true, nil
		v.StaleSince = &v.FetchedAt
		carry(&v, d.previous)
		if v.StaleSince == nil {
			v.StaleSince = &v.FetchedAt
		}
		return r.saveVersion(ctx, d, v)
	}
	partial := v.Verdict == models.VerdictPartial
	if partial {
		d.failed = true
		since := v.FetchedAt
		if d.previous != nil && d.previous.StaleSince != nil {
			since = *d.previous.StaleSince
		}
		v.StaleSince, v.SemanticHash, v.ByteHash = &since, nil, nil
	}
	return r.diff(ctx, d, v, b, partial)
}

// undo takes back what an earlier walk of this run wrote of a document, and found missing from it.
func (r *run) undo(ctx context.Context, d *document) error {
	if d.staged || d.FromRun == r.record.ID {
		if err := r.o.Store.Unstage(ctx, r.lease, r.site.ID, r.record.ID, d.Number); err != nil {
			return fmt.Errorf("undo the first walk: %w", err)
		}
		d.undone = true
		if d.previous != nil {
			d.DocumentVersion = *d.previous
		}
	}
	r.total.Add(-d.diff.appearedCount)
	d.staged, d.diff = false, documentDiff{}
	return nil
}

// saveVersion stores a version unless the stored one says the same of a document that the same index lists: an index that
// did not change has the children that are stored under it. Validators alone change in place.
func (r *run) saveVersion(ctx context.Context, d *document, v models.DocumentVersion) error {
	if r.stored(d, &v) {
		if d.previous.ETag != v.ETag || d.previous.LastModified != v.LastModified {
			if err := r.saveValidators(ctx, models.Validators{Document: d.Number, ETag: v.ETag, LastModified: v.LastModified}); err != nil {
				return err
			}
		}
		d.ETag, d.LastModified = v.ETag, v.LastModified
		return nil
	}
	r.adoptVersion(d, v)
	if err := r.o.Store.SaveDocument(ctx, r.lease, r.site.ID, r.record.ID, &d.Document, d.findings); err != nil {
		return fmt.Errorf("save document: %w", err)
	}
	return nil
}

// stored tells whether what readers see of a document says what a version says.
func (r *run) stored(d *document, v *models.DocumentVersion) bool {
	return d.previous != nil && sameVersion(d.previous, v) && d.FromRun < r.record.ID && d.Parent == d.listedBy
}

// adoptVersion makes a version the document's own.
func (r *run) adoptVersion(d *document, v models.DocumentVersion) {
	v.FromRun, v.ToRun = r.record.ID, 0
	d.DocumentVersion = v
	d.findings = append(d.findings, lastmodFindings(d.URL, &v)...)
}

// diff compares a document's rows with its entries and stages the difference.
func (r *run) diff(ctx context.Context, d *document, v models.DocumentVersion, b *bench, partial bool) error {
	b.found.index()
	v.FirstKey, v.LastKey = b.found.ends()
	missing := r.missingFrom(d.Number)
	read, err := r.readListings(ctx, d, b, missing)
	if err != nil {
		return err
	}
	d.diff = diffDocument(b.stored, &b.found, read, missing, r.record.ID, partial)
	after := r.summed(&d.diff, b, read)
	if err := r.lastmods(ctx, d, &v, &b.found); err != nil {
		return err
	}
	if r.batching(d, &v, &b.found) {
		r.remember(&d.diff)
		return r.queue(ctx, d, v, &b.found, after)
	}
	if err := r.saveVersion(ctx, d, v); err != nil {
		return err
	}
	r.remember(&d.diff)
	if len(d.diff.close)+len(d.diff.add) == 0 {
		return r.stage(ctx, d, &b.found)
	}
	if err := r.stage(ctx, d, &b.found); err != nil {
		return err
	}
	return r.saveSums(ctx, d, after)
}

func (r *run) stage(ctx context.Context, d *document, found *collection) error {
	r.trace(d, found)
	closing, picks := d.diff.close, d.diff.add
	d.staged = d.staged || len(closing)+len(picks) > 0
	rows := make([]models.Declaration, 0, min(len(picks), stageRows))
	for len(closing)+len(picks) > 0 {
		n := min(len(picks), stageRows)
		rows = found.declarations(rows[:0], d.Number, r.record.ID, picks[:n])
		if err := r.o.Store.StageDocument(ctx, r.lease, r.site.ID, r.record.ID, d.Number, closing, rows); err != nil {
			return fmt.Errorf("stage: %w", err)
		}
		closing, picks = nil, picks[n:]
	}
	d.diff.close, d.diff.add = nil, nil
	return nil
}

// missingFrom names the pages whose removal from a document is undecided.
func (r *run) missingFrom(document int32) map[models.Key]bool {
	var missing map[models.Key]bool
	for key, removal := range r.undecided {
		if removal.Document == document {
			if missing == nil {
				missing = map[models.Key]bool{}
			}
			missing[key] = true
		}
	}
	return missing
}

// remember notes appeared pages for resolving, up to massKeys of them in a run.
func (r *run) remember(diff *documentDiff) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mass = r.total.Add(int64(len(diff.appeared))) > massKeys || r.mass
	if r.appeared = append(r.appeared, diff.appeared...); r.mass {
		r.appeared = nil
	}
	diff.appearedCount, diff.appeared = int64(len(diff.appeared)), nil
}

// drop diffs a document that a complete walk no longer lists: every page it declared has left it.
func (r *run) drop(ctx context.Context, d *document) error {
	if err := r.undo(ctx, d); err != nil { // an earlier walk of this run did find it
		return err
	}
	b := r.benches.Get().(*bench)
	defer r.benches.Put(b)
	b.found.reset()
	v := models.DocumentVersion{Verdict: models.VerdictGone, Reason: "no longer listed", Type: d.Type,
		FinalURL: d.FinalURL, FetchedAt: r.record.StartedAt, ObservedAt: r.record.StartedAt}
	d.findings = nil
	return r.diff(ctx, d, v, b, false)
}

// unreached marks a document that an incomplete walk did not come to: its rows stay, stale. One that its index was read
// without is that index's child no more: should the index not change again, nobody would tell.
func (r *run) unreached(ctx context.Context, d *document) error {
	if err := r.undo(ctx, d); err != nil { // an earlier walk of this run came to it: the last one holds
		return err
	}
	v := models.DocumentVersion{Verdict: models.VerdictUnavailable, Reason: "not reached: the walk was incomplete",
		FetchedAt: r.record.StartedAt, ObservedAt: r.record.StartedAt}
	if parent := r.byNumber(d.Parent); parent != nil && parent.visited && !parent.failed {
		d.Parent, v.Reason = 0, "no longer listed, by a walk that was incomplete"
	}
	since := micros(r.o.Now())
	v.StaleSince = &since
	carry(&v, d.previous)
	if v.StaleSince == nil {
		v.StaleSince = &since
	}
	v.Type = d.Type
	d.failed, d.findings = true, nil
	return r.saveVersion(ctx, d, v)
}

// unsettle makes the next run diff a document again although its bytes may be the same: pages left it, but the walk
// could not tell where to.
func (r *run) unsettle(ctx context.Context, d *document) error {
	v := d.DocumentVersion
	v.SemanticHash, v.ByteHash, v.ETag, v.LastModified = nil, nil, "", ""
	return r.saveVersion(ctx, d, v)
}

func earliest(a *time.Time, b time.Time) *time.Time {
	if a == nil || b.Before(*a) {
		return &b
	}
	return a
}
