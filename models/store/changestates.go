package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sitemapd/sitemapd/models"
)

// turns is what a run's lines of stale and fresh pages are derived from, read once for all its documents.
type turns struct {
	run       int64
	undecided *cases // at the run
	before    *cases // at the moment before it
	documents map[documentAt]documentState
}

type documentAt struct {
	number int32
	run    int64
}

type documentState struct {
	good   bool
	reason string
}

// turned gives the pages of a document that are stale after the run and were told to be live, or the other way round: their
// document turned, or another one lists them now. Who follows the feed holds the state of the last line: a page that was
// added or restored is live, one that changed or moved to another document is what it was. Pages with an undecided removal
// are pending, or stale out of their rolling window, whatever their document is.
func (r *changeReader) turned(ctx context.Context, document int32) error {
	if !r.wants(models.KindStale, models.KindFresh) {
		return nil
	}
	t, err := r.readTurns(ctx)
	if err != nil {
		return err
	}
	was, err := t.document(ctx, r, document, r.was)
	if err != nil {
		return err
	}
	is, err := t.document(ctx, r, document, r.run)
	if err != nil {
		return err
	}
	run := strconv.FormatInt(r.run, 10)
	where := " AND d.from_run = " + run // in a document as good as it was only what it lists anew
	switch {
	case was.good != is.good:
		where = " AND d.from_run <= " + run + " AND d.to_run > " + run
	case is.good: // what is new in a good document is live
		where += " AND d.first_run < " + run
	}
	after := r.from(sectionDocuments, document)
	for {
		var rows []models.Declaration
		err := r.store.declarations(ctx, "d.site_id = ? AND d.document = ? AND d.url_key > ?"+where+" AND d.role = 0 ORDER BY d.url_key LIMIT "+strconv.Itoa(portion),
			[]any{r.site.ID, document, after[:]}, func(d *models.Declaration) error {
				rows = append(rows, *d)
				return nil
			})
		if err != nil {
			return err
		}
		if err := r.tellTurned(ctx, t, rows, is); err != nil {
			return err
		}
		if len(rows) < portion {
			return nil
		}
		after = rows[len(rows)-1].Key
		if err := r.late(sectionDocuments, document, after); err != nil {
			return err
		}
	}
}

func (r *changeReader) tellTurned(ctx context.Context, t *turns, rows []models.Declaration, is documentState) error {
	keys := make([]models.Key, len(rows))
	var anew []models.Key
	for i := range rows {
		if keys[i] = rows[i].Key; rows[i].FromRun == r.run && rows[i].FirstRun < r.run {
			anew = append(anew, keys[i])
		}
	}
	declared, err := r.declared(ctx, anew, r.was)
	if err != nil {
		return err
	}
	undecided, err := t.undecided.of(ctx, keys)
	if err != nil {
		return err
	}
	ended, err := t.before.of(ctx, keys)
	if err != nil {
		return err
	}
	for i := range rows {
		row, from := &rows[i], &rows[i]
		if row.FromRun == r.run {
			from = declared[row.Key]
		}
		live := true // as the feed told so far
		if from != nil {
			c := of(from.Document, ended[row.Key])
			if c != nil && r.ruled != 0 && c.RuledRun == r.ruled && c.Ruling == rejected {
				continue // the lines of rulings tell
			}
			if c != nil && c.stageAt(r.was) != models.StageRejected {
				if of(row.Document, undecided[row.Key]) != nil || c.Stage == models.StageLeftWindow {
					continue // still pending, held or out of its window; who came back to that was told with the cases
				} // else it was said to be restored
			} else {
				before, err := t.document(ctx, r, from.Document, r.was)
				if err != nil {
					return err
				}
				live = before.good
			}
			if c == nil && of(row.Document, undecided[row.Key]) != nil {
				continue // its case began, and says so itself
			}
		}
		if live == is.good {
			continue
		}
		c := models.Change{Kind: models.KindFresh, URL: row.URL}
		if !is.good {
			c.Kind, c.Reason = models.KindStale, is.reason
		}
		if err := r.emit(sectionDocuments, row.Document, row.Key, c); err != nil {
			return err
		}
	}
	return nil
}

// readTurns reads the cases of a run once.
func (r *changeReader) readTurns(ctx context.Context) (*turns, error) {
	if r.turns != nil && r.turns.run == r.run {
		return r.turns, nil
	}
	m := &moment{store: r.store, site: r.site, run: r.run}
	t := &turns{run: r.run, documents: map[documentAt]documentState{}}
	var err error
	if t.undecided, err = m.cases(ctx); err != nil {
		return nil, err
	}
	if t.before, err = m.with(r.was).cases(ctx); err != nil {
		return nil, err
	}
	r.turns = t
	return t, nil
}

// document tells whether a document was good at a run; one that was not known then counts as good.
func (t *turns) document(ctx context.Context, r *changeReader, number int32, run int64) (documentState, error) {
	at := documentAt{number, run}
	if state, ok := t.documents[at]; ok {
		return state, nil
	}
	var row struct{ Verdict, Reason string }
	found := r.store.reads.WithContext(ctx).Raw(`SELECT verdict, reason FROM document_versions
		WHERE site_id = ? AND document = ? AND from_run <= ? AND to_run > ?`, r.site.ID, number, run, run).Scan(&row)
	if found.Error != nil {
		return documentState{}, fmt.Errorf("read document %d: %w", number, found.Error)
	}
	state := documentState{good: true}
	if found.RowsAffected > 0 && !models.Verdict(row.Verdict).Read() {
		state = documentState{reason: row.Reason}
	}
	t.documents[at] = state
	return state, nil
}
