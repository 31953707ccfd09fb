package syncer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/sitemapd/sitemapd/models"
)

const (
	// sumsAhead documents' sums are read at once: neighbours often change together.
	sumsAhead = 16
	// mostSumsKept bounds those that are kept unused.
	mostSumsKept = 128
	// sumsBatch documents' sums, or so many bytes, are written at once.
	sumsBatch      = 64
	sumsBatchBytes = 512 << 10
)

// summary keeps what a run knows of stored sums, and what it is about to write. The engine's r.mu guards it.
type summary struct {
	known   map[int32]models.DocumentSums
	waiting []models.DocumentSums
	bytes   int
}

// sumsOf gives the stored sums of a document, nil when its rows must all be read. Sums read ahead are those of a moment within
// the walk: of a document that this run staged and took back they may be the staged ones.
func (r *run) sumsOf(ctx context.Context, d *document, entries int) (*sums, error) {
	if sumsBits(entries, r.o.ReadWhole) == 0 || d.staged || d.undone || d.FromRun >= r.record.ID {
		return nil, nil
	}
	r.mu.Lock()
	found, ok := r.summary.known[d.Number]
	delete(r.summary.known, d.Number)
	r.mu.Unlock()
	if ok {
		return readSums(found, entries, r.o.ReadWhole), nil
	}
	all, err := r.o.Store.Sums(ctx, r.site.ID, d.Number, sumsAhead)
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.summary.known == nil || len(r.summary.known) > mostSumsKept {
		r.summary.known = map[int32]models.DocumentSums{}
	}
	for _, x := range all {
		if x.Document == d.Number {
			found = x
		} else {
			r.summary.known[x.Document] = x
		}
	}
	return readSums(found, entries, r.o.ReadWhole), nil
}

// readListings reads the stored rows of a document into the bench, those alone that may differ where sums tell.
func (r *run) readListings(ctx context.Context, d *document, b *bench, missing map[models.Key]bool) (*selection, error) {
	b.stored = b.stored[:0]
	if !d.known {
		return nil, nil
	}
	keep := func(l models.Listing) error {
		b.stored = append(b.stored, l)
		return nil
	}
	stored, err := r.sumsOf(ctx, d, len(b.found.order))
	if err != nil {
		return nil, err
	}
	x := selectRows(stored, &b.found, missing)
	if x == nil {
		err = r.o.Store.Listings(ctx, r.site.ID, d.Number, keep)
	} else {
		err = r.o.Store.ListingsIn(ctx, r.site.ID, d.Number, x.ranges(), keep)
	}
	if err != nil {
		return nil, fmt.Errorf("read listings: %w", err)
	}
	return x, nil
}

// summed gives the sums of a document's rows as they will be, in stored form; nil when it is too small for them.
func (r *run) summed(d *documentDiff, b *bench, x *selection) []byte {
	s := d.after(b.stored, &b.found, x, rand.Uint64(), r.o.ReadWhole)
	if s == nil {
		return nil
	}
	return s.encode()
}

// saveSums notes sums of a document whose rows are staged, and writes them with others.
func (r *run) saveSums(ctx context.Context, d *document, encoded []byte) error {
	if encoded == nil || !r.batch.on {
		return nil
	}
	r.mu.Lock()
	r.summary.waiting = append(r.summary.waiting, models.DocumentSums{Document: d.Number, Sums: encoded})
	r.summary.bytes += len(encoded)
	var full []models.DocumentSums
	if len(r.summary.waiting) >= sumsBatch || r.summary.bytes >= sumsBatchBytes {
		full = r.takeSums()
	}
	r.mu.Unlock()
	return r.writeSums(ctx, full)
}

func (r *run) takeSums() []models.DocumentSums {
	full := r.summary.waiting
	r.summary.waiting, r.summary.bytes = nil, 0
	return full
}

func (r *run) writeSums(ctx context.Context, all []models.DocumentSums) error {
	if len(all) == 0 {
		return nil
	}
	if err := r.o.Store.SaveSums(ctx, r.lease, r.site.ID, r.record.ID, all); err != nil {
		return fmt.Errorf("save sums: %w", err)
	}
	return nil
}
