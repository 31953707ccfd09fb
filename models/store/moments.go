package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// finished selects the runs whose rows readers may see.
const finished = "finished_at IS NOT NULL AND error = ''"

// moment is a site as readers see it at one run. Rows at a run never change while the store is open, whatever runs
// write meanwhile: later runs only close rows above it.
type moment struct {
	store *Store
	site  siteRow
	run   int64 // 0: before the first run, nothing is visible
	times map[int64]time.Time
	runs  []runRow // all finished ones, once load has read them
	// checked is the end of the last run that looked at every document, known once documents are read.
	checked time.Time
	// seenAt remembers what seenBefore found.
	seenAt map[sighting]time.Time
	// addresses of all documents, once one was asked for.
	addresses map[int32]string
}

// addressOf gives the URL of a document, "" of an unknown one.
func (m *moment) addressOf(ctx context.Context, number int32) (string, error) {
	if m.addresses != nil {
		return m.addresses[number], nil
	}
	addresses := map[int32]string{}
	rows, err := m.store.query(ctx, fmt.Sprintf("SELECT document, url FROM documents WHERE site_id = %d", m.site.ID))
	err = each(rows, err, func(rows *sql.Rows) error {
		var document int32
		var link string
		err := rows.Scan(&document, &link)
		addresses[document] = link
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read documents: %w", err)
	}
	m.addresses = addresses
	return addresses[number], nil
}

// load reads all finished runs at once, for readers that ask for many.
func (m *moment) load(ctx context.Context) error {
	err := m.store.reads.WithContext(ctx).Select("run", "targeted", "finished_at").
		Where("site_id = ? AND run <= ? AND "+finished, m.site.ID, m.site.CurrentRun).Order("run").Find(&m.runs).Error
	if err != nil {
		return fmt.Errorf("read runs: %w", err)
	}
	for i := range m.runs {
		m.times[m.runs[i].Run] = m.runs[i].FinishedAt.UTC()
	}
	return nil
}

// with is the same site at another run.
func (m *moment) with(run int64) *moment {
	other := *m
	other.run = run
	return &other
}

// at finds the run that as-of names. A run above the current one is the current one while it is under way or failed,
// and models.ErrNotFound when there never was one with this number.
func (s *Store) at(ctx context.Context, siteID int64, at models.AsOf) (*moment, error) {
	site, err := s.siteRow(ctx, siteID)
	if err != nil {
		return nil, err
	}
	m := &moment{store: s, site: site, run: site.CurrentRun, times: map[int64]time.Time{}, seenAt: map[sighting]time.Time{}}
	switch {
	case at.Run > site.LastRun || at.Run < 0:
		return nil, notFound("run", at.Run)
	case at.Run > 0:
		m.run = min(at.Run, site.CurrentRun)
	case !at.Time.IsZero():
		m.run, err = s.RunAt(ctx, siteID, at.Time)
		if errors.Is(err, models.ErrNotFound) {
			m.run, err = 0, nil
		}
	}
	if err == nil && m.run > 0 && m.run < site.keptFrom { // before the first run there was nothing, and that is still known
		return nil, &models.PrunedError{Field: "as_of", Run: m.run, KeptFrom: site.keptFrom}
	}
	return m, err
}

// when gives the end of a run, which is when readers first saw it.
func (m *moment) when(ctx context.Context, run int64) (time.Time, error) {
	if t, ok := m.times[run]; ok {
		return t, nil
	}
	var row runRow
	err := m.store.reads.WithContext(ctx).Select("started_at", "finished_at").
		Where("site_id = ? AND run = ?", m.site.ID, run).Limit(1).Find(&row).Error
	if err != nil {
		return time.Time{}, fmt.Errorf("read run %d: %w", run, err)
	}
	t := row.StartedAt.UTC()
	if row.FinishedAt != nil {
		t = row.FinishedAt.UTC()
	}
	m.times[run] = t
	return t, nil
}

// last gives the end of the last run up to one; full leaves targeted runs out, which do not look at every document.
func (m *moment) last(ctx context.Context, run int64, full bool) (time.Time, error) {
	if m.runs != nil {
		at := sort.Search(len(m.runs), func(i int) bool { return m.runs[i].Run > run })
		for at--; at >= 0; at-- {
			if !full || !m.runs[at].Targeted {
				return m.runs[at].FinishedAt.UTC(), nil
			}
		}
		return time.Time{}, nil
	}
	query := m.store.reads.WithContext(ctx).Select("run", "started_at", "finished_at").
		Where("site_id = ? AND run <= ? AND "+finished, m.site.ID, min(run, m.site.CurrentRun)).Order("run DESC")
	if full {
		query = query.Where("targeted = ?", false)
	}
	var row runRow
	if err := query.Limit(1).Find(&row).Error; err != nil {
		return time.Time{}, fmt.Errorf("read runs: %w", err)
	}
	if row.FinishedAt == nil {
		return time.Time{}, nil
	}
	return row.FinishedAt.UTC(), nil
}

// documentView is what pages need to know of their document at a moment.
type documentView struct {
	Number  int32
	FromRun int64
	URL     string
	Verdict models.Verdict
	Reason  string
	Trust   float64 // in its lastmod values, 0 when there is nothing to judge
	good    bool
	// staleSince is since when it could not be read, nil while it can.
	staleSince *time.Time
	lastSeen   time.Time // end of the last run in which the document said what its rows say
}

// documents gives every document's version at the moment, by number. A site may have tens of thousands, so only what
// pages need is read; one restricts it to one document.
func (m *moment) documents(ctx context.Context, one int32) (map[int32]*documentView, []int32, error) {
	checked, err := m.last(ctx, m.run, true)
	if err != nil {
		return nil, nil, err
	}
	of := ""
	if one != 0 {
		of = fmt.Sprintf(" AND v.document = %d", one)
	}
	rows, err := m.store.query(ctx, fmt.Sprintf(`SELECT v.document, v.from_run, v.verdict, v.reason, v.lastmod_trust, d.url, v.stale_since FROM document_versions v
		JOIN documents d ON d.site_id = v.site_id AND d.document = v.document
		WHERE v.site_id = %d AND v.from_run <= %d AND v.to_run > %d%s ORDER BY v.document`, m.site.ID, m.run, m.run, of))
	views := map[int32]*documentView{}
	m.checked = checked
	var order, gone []int32
	err = each(rows, err, func(rows *sql.Rows) error {
		d := &documentView{}
		var since instant
		if err := rows.Scan(&d.Number, &d.FromRun, &d.Verdict, &d.Reason, &d.Trust, &d.URL, &since); err != nil {
			return err
		}
		if !since.IsZero() {
			d.staleSince = &since.Time
		}
		d.good = d.Verdict.Read()
		views[d.Number] = d
		if d.Verdict == models.VerdictGone { // last: they hold little but superseded rows
			gone = append(gone, d.Number)
		} else {
			order = append(order, d.Number)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read documents: %w", err)
	}
	return views, append(order, gone...), nil
}

// seen gives the end of the last run in which a document said what its rows say. It is looked up for those documents
// alone whose pages are shown.
func (m *moment) seen(ctx context.Context, d *documentView) (time.Time, error) {
	if !d.lastSeen.IsZero() {
		return d.lastSeen, nil
	}
	if d.good {
		began, err := m.when(ctx, d.FromRun)
		d.lastSeen = latest(m.checked, began)
		return d.lastSeen, err
	}
	var err error
	d.lastSeen, err = m.seenBefore(ctx, d.Number, m.run+1, false)
	return d.lastSeen, err
}

// sighting names a document before a run.
type sighting struct {
	document int32
	run      int64
	settled  bool
}

// seenBefore gives the end of the last run before one that found a document good: a run that could not read it, or that
// read others alone, saw nothing of it. settled leaves out readings after which pages were missing that the run could not
// place. It is zero when there was none.
func (m *moment) seenBefore(ctx context.Context, document int32, run int64, settled bool) (time.Time, error) {
	name := sighting{document, run, settled}
	if t, ok := m.seenAt[name]; ok {
		return t, nil
	}
	only := ""
	if settled {
		only = " AND semantic_hash IS NOT NULL"
	}
	var row struct{ FromRun, ToRun int64 }
	err := m.store.reads.WithContext(ctx).Raw(`SELECT from_run, to_run FROM document_versions WHERE site_id = ? AND document = ? AND from_run < ?
		AND verdict IN ?`+only+" ORDER BY from_run DESC LIMIT 1", m.site.ID, document, run,
		[]models.Verdict{models.VerdictComplete, models.VerdictUnchanged}).Scan(&row).Error
	if err != nil {
		return time.Time{}, fmt.Errorf("read versions of document %d: %w", document, err)
	}
	var seen time.Time
	if row.FromRun != 0 {
		began, err := m.when(ctx, row.FromRun)
		if err != nil {
			return seen, err
		}
		full, err := m.last(ctx, min(run, row.ToRun)-1, true)
		if err != nil {
			return seen, err
		}
		seen = latest(began, full)
	}
	if m.seenAt != nil {
		m.seenAt[name] = seen
	}
	return seen, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// DocumentsAt gives every document's version at a moment, gone ones included, by number.
func (s *Store) DocumentsAt(ctx context.Context, siteID int64, at models.AsOf) ([]models.Document, error) {
	m, err := s.at(ctx, siteID, at)
	if err != nil {
		return nil, err
	}
	return m.visible(s.versions(ctx, "SELECT "+versionColumns+` FROM document_versions v
		JOIN documents d ON d.site_id = v.site_id AND d.document = v.document
		WHERE v.site_id = ? AND v.from_run <= ? AND v.to_run > ? ORDER BY v.document`, siteID, m.run, m.run))
}

// DocumentHistory gives every version of one document that no pruning took, oldest first.
func (s *Store) DocumentHistory(ctx context.Context, siteID int64, document int32) ([]models.Document, error) {
	m, err := s.at(ctx, siteID, models.AsOf{})
	if err != nil {
		return nil, err
	}
	list, err := m.visible(s.versions(ctx, "SELECT "+versionColumns+` FROM document_versions v
		JOIN documents d ON d.site_id = v.site_id AND d.document = v.document
		WHERE v.site_id = ? AND v.document = ? AND v.from_run <= ? AND v.to_run > ? ORDER BY v.from_run`, siteID, document, m.site.CurrentRun, m.site.keptFrom))
	if err == nil && len(list) == 0 {
		return nil, notFound("document", document)
	}
	return list, err
}

// visible hides that a run under way has superseded a version already, and judges each by the last run that shows it.
func (m *moment) visible(list []models.Document, err error) ([]models.Document, error) {
	for i := range list {
		shown := min(m.run, list[i].ToRun-1)
		if list[i].ToRun == 0 || list[i].ToRun > m.site.CurrentRun {
			list[i].ToRun, shown = 0, m.run
		}
		list[i].Freshness = list[i].FreshnessAt(shown)
	}
	return list, err
}
