package syncer

import (
	"context"
	"fmt"

	"github.com/sitemapd/sitemapd/models"
)

const (
	// smallDiff is the largest difference of one document, in rows written and in bytes of them, that waits for others.
	smallDiff      = 500
	smallDiffBytes = 128 << 10
	// batchDiff rows, so many bytes of them, or batchDocuments documents go in one transaction.
	batchDiff       = 1000
	batchBytes      = 512 << 10
	batchDocuments  = 64
	batchValidators = 100
)

// batch gathers the small differences and new validators of one level's documents: they share a transaction, and nothing of
// a run is visible before its end anyway; validators that are lost cost an answer in full. It never outlives the level: a
// later walk may stage another version of a document, which must not get the validators of what the first one read.
type batch struct {
	on      bool
	waiting []models.Staging
	rows    int
	bytes   int

	validators []models.Validators
}

// batching tells whether a document's difference may wait for others: readers know the document, this run wrote nothing of
// it, it has a new version, and few of its rows differ.
func (r *run) batching(d *document, v *models.DocumentVersion, found *collection) bool {
	n := len(d.diff.close) + len(d.diff.add)
	return r.batch.on && d.known && !d.staged && d.FromRun < r.record.ID && !r.stored(d, v) && n > 0 && n <= smallDiff &&
		found.size(d.diff.add) <= smallDiffBytes
}

// queue puts a document's version and difference into the batch, and writes the batch once it is full.
func (r *run) queue(ctx context.Context, d *document, v models.DocumentVersion, found *collection, after []byte) error {
	r.trace(d, found)
	r.adoptVersion(d, v)
	size := found.size(d.diff.add)
	x := models.Staging{Document: &d.Document, Findings: d.findings, Close: d.diff.close, Sums: after,
		Add: found.declarations(nil, d.Number, r.record.ID, d.diff.add)}
	d.staged, d.diff.close, d.diff.add = true, nil, nil
	r.mu.Lock()
	r.batch.waiting = append(r.batch.waiting, x)
	r.batch.rows += len(x.Close) + len(x.Add)
	r.batch.bytes += size
	var full []models.Staging
	if r.batch.rows >= batchDiff || r.batch.bytes >= batchBytes || len(r.batch.waiting) >= batchDocuments {
		full = r.takeBatch()
	}
	r.mu.Unlock()
	return r.stageBatch(ctx, full)
}

// takeBatch empties the batch; r.mu is held.
func (r *run) takeBatch() []models.Staging {
	full := r.batch.waiting
	r.batch.waiting, r.batch.rows, r.batch.bytes = nil, 0, 0
	return full
}

func (r *run) stageBatch(ctx context.Context, all []models.Staging) error {
	if len(all) == 0 {
		return nil
	}
	if err := r.o.Store.StageDocuments(ctx, r.lease, r.site.ID, r.record.ID, all); err != nil {
		return fmt.Errorf("stage: %w", err)
	}
	return nil
}

// saveValidators notes new validators of a document that says what it said, and writes them with others.
func (r *run) saveValidators(ctx context.Context, v models.Validators) error {
	if !r.batch.on {
		return r.writeValidators(ctx, []models.Validators{v})
	}
	r.mu.Lock()
	r.batch.validators = append(r.batch.validators, v)
	var full []models.Validators
	if len(r.batch.validators) >= batchValidators {
		full = r.takeValidators()
	}
	r.mu.Unlock()
	return r.writeValidators(ctx, full)
}

func (r *run) takeValidators() []models.Validators {
	full := r.batch.validators
	r.batch.validators = nil
	return full
}

func (r *run) writeValidators(ctx context.Context, all []models.Validators) error {
	if len(all) == 0 {
		return nil
	}
	if err := r.o.Store.SaveValidators(ctx, r.lease, r.site.ID, all); err != nil {
		return fmt.Errorf("save validators: %w", err)
	}
	return nil
}
