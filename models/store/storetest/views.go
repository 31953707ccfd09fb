package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// ViewNames are the views that people read with SQL.
var ViewNames = []string{"v1_sites", "v1_runs", "v1_documents", "v1_pages", "v1_removed_pages", "v1_page_history", "v1_removals", "v1_changes",
	"v1_findings", "v1_canonical_heads"}

// ExerciseViews compares the views with the store before and after every run of those tests of the suite that write
// whatever a run can write.
func ExerciseViews(t *testing.T, open func(t testing.TB) (func() *store.Store, *Views)) {
	for name, run := range map[string]func(t *testing.T, open func() *store.Store){
		"Histories": histories, "Changes": changes, "Returned": returned, "Reversals": reversals, "Windows": windows, "Reentries": reentries, "Removals": removals, "Rulings": rulings, "Across": across,
		"Listings": listings, "Findings": findings, "Bytes": identity, "Restaged": restaged, "Unstage": unstage,
		"Documents": documents, "Carried": carried, "Failure": failure, "Sweep": sweep, "Shifts": shifts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handle, views := open(t)
			run(t, func() *store.Store {
				s := handle()
				Watch(s, views.Check)
				return s
			})
		})
	}
}

// shifts: every lastmod of a document moves by one time zone's offset, one of them a second more, one page changes otherwise too.
func shifts(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	run := f.Begin()
	f.SaveDocument(run, 1, models.VerdictComplete)
	rows := []models.Declaration{Page(pageA, "1"), Page(pageB, "1"), Page(pageC, "1"), Page(pageD, "1")}
	for i, at := range []time.Time{time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
		time.Unix(0, 0).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)} {
		row := Page(fmt.Sprint(pageA, i), "1")
		row.Lastmod = &models.Lastmod{Raw: at.String(), Instant: at, Precision: models.PrecisionFraction}
		rows = append(rows, row)
	}
	f.Stage(run, 1, nil, rows)
	f.Finish(run)
	run = f.Begin()
	url := f.DocumentURL(1)
	d := models.Document{Number: 1, URL: url, Key: KeyOf(url), Depth: 1, Discovery: "sitemap_index"}
	d.Verdict, d.Type, d.FetchedAt, d.LastmodShift = models.VerdictComplete, "urlset", f.At(run.ID), time.Hour.Microseconds()
	f.must(f.Store.SaveDocument(t.Context(), f.Lease, f.Site.ID, run.ID, &d, nil))
	var close []models.Key
	var add []models.Declaration
	for i, u := range []string{pageA, pageB, pageC} {
		next := since(Page(u, "1"), 1)
		at := next.Lastmod.Instant.Add(time.Hour)
		switch i {
		case 1:
			at = at.Add(time.Second)
		case 2:
			next.Changefreq = "daily"
		}
		next.Lastmod = &models.Lastmod{Raw: at.Format(time.RFC3339), Instant: at, Precision: models.PrecisionSecond}
		next.Fingerprint[0]++
		close, add = append(close, next.Key), append(add, next)
	}
	f.Stage(run, 1, close, add)
	f.Finish(run)
	if got := f.Changes(models.ChangeFilter{Run: 2}); len(got) != 2 {
		t.Errorf("%q", told(got))
	}
}

// Disturbed is a site of which every view has something to say.
func Disturbed(t *testing.T, s *store.Store) *Fixture {
	f := settled(t, s)
	run := f.Begin()
	disturb(f, run)
	f.SaveRemovals(run, Case(run, 1, pageB, models.StagePending))
	f.Finish(run)
	return f
}

// Views reads a database through its views alone: on MySQL as a user who may do nothing else.
type Views struct {
	t  testing.TB
	DB *sql.DB
}

// NewViews opens a migrated database as a reader.
func NewViews(t testing.TB, dsn string) *Views {
	t.Helper()
	var db *sql.DB
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		var err error
		if db, err = sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(10000)"); err != nil {
			t.Fatal(err)
		}
	} else {
		db = viewsReader(t, dsn)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &Views{t: t, DB: db}
}

// viewsReader makes a user as docs/sql-views.md tells operators to.
func viewsReader(t testing.TB, dsn string) *sql.DB {
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 6)
	_, _ = rand.Read(random)
	user, database := "reader_"+hex.EncodeToString(random), strings.TrimPrefix(u.Path, "/")
	Execute(t, dsn, fmt.Sprintf("CREATE USER '%s'@'%%' IDENTIFIED BY 'reads'", user))
	t.Cleanup(func() {
		server := *u
		server.Path = "/"
		Execute(t, server.String(), fmt.Sprintf("DROP USER '%s'@'%%'", user))
	})
	for _, name := range ViewNames {
		Execute(t, dsn, fmt.Sprintf("GRANT SELECT ON `%s`.`%s` TO '%s'@'%%'", database, name, user))
	}
	return login(t, u.Host, user, "reads", database)
}

func login(t testing.TB, address, user, password, database string) *sql.DB {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName, config.ParseTime = user, password, "tcp", address, database, true
	config.Params = map[string]string{"time_zone": "'+00:00'"}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(connector)
}

// GrafanaReader makes the user grafana by the statements that a script gives for a database, under a name of its own, and
// opens the database as that user.
func GrafanaReader(t testing.TB, dsn string, script func(database, password string, run func(statement string))) *sql.DB {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	server := *u
	server.Path = "/"
	random := make([]byte, 6)
	_, _ = rand.Read(random)
	user, database := "grafana_"+hex.EncodeToString(random), strings.TrimPrefix(u.Path, "/")
	script(database, "reads", func(statement string) {
		Execute(t, server.String(), strings.ReplaceAll(statement, "grafana@", user+"@"))
	})
	t.Cleanup(func() { Execute(t, server.String(), "DROP USER "+user+"@'%'") })
	db := login(t, u.Host, user, "reads", database)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// microsecond is how views on SQLite write a time.
const microsecond = "2006-01-02T15:04:05.000000Z"

// Rows reads the named columns of a view's rows as texts, sorted; NULL is "-".
func (v *Views) Rows(columns, view, where string, args ...any) []string {
	v.t.Helper()
	rows, err := v.DB.QueryContext(context.Background(), "SELECT "+columns+" FROM "+view+" WHERE "+where, args...)
	if err != nil {
		v.t.Fatalf("%s: %v", view, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		v.t.Fatal(err)
	}
	values, to := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		to[i] = &values[i]
	}
	var out []string
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			v.t.Fatal(err)
		}
		out = append(out, line(values...))
	}
	if err := rows.Err(); err != nil {
		v.t.Fatalf("%s: %v", view, err)
	}
	slices.Sort(out)
	return out
}

// Columns gives the names of a view's columns.
func (v *Views) Columns(view string) []string {
	v.t.Helper()
	rows, err := v.DB.QueryContext(context.Background(), "SELECT * FROM "+view+" WHERE 1 = 0")
	if err != nil {
		v.t.Fatalf("%s: %v", view, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		v.t.Fatalf("%s: %v", view, err)
	}
	return names
}

// Plan gives the steps by which SQLite answers a query.
func (v *Views) Plan(query string) []string {
	v.t.Helper()
	rows, err := v.DB.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query)
	if err != nil {
		v.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			v.t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}

// line writes values alike whichever driver or struct they come from.
func line(values ...any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		switch v := value.(type) {
		case nil:
			texts[i] = "-"
		case []byte:
			texts[i] = string(v)
		case time.Time:
			texts[i] = v.UTC().Format(microsecond)
		case *time.Time:
			if texts[i] = "-"; v != nil {
				texts[i] = v.UTC().Format(microsecond)
			}
		case bool:
			texts[i] = map[bool]string{true: "1", false: "0"}[v]
		case float64:
			texts[i] = fmt.Sprintf("%.4f", v)
		default:
			texts[i] = fmt.Sprint(v)
		}
		if texts[i] == "" { // the API leaves out what the views give as NULL
			texts[i] = "-"
		}
	}
	return strings.Join(texts, " | ")
}

// Check compares every view with what the store answers of the fixture's site.
func (v *Views) Check(f *Fixture) {
	v.t.Helper()
	site, err := f.Store.Site(f.t.Context(), f.Site.ID)
	f.must(err)
	same := func(what string, want, got []string) {
		v.t.Helper()
		for i := range want { // a byte that is no UTF-8 is no text: MySQL shows it so
			want[i] = strings.ToValidUTF8(want[i], "?")
		}
		for i := range got {
			got[i] = strings.ToValidUTF8(got[i], "?")
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			v.t.Fatalf("%s of site %d at run %d of %d (-store +view):\n%s", what, site.ID, site.CurrentRun, site.LastRun, diff)
		}
	}
	same("v1_sites", []string{line(site.Name, site.Home, site.Root, site.CurrentRun, site.Live, site.NextDue, site.CreatedAt)},
		v.Rows("site, home, root, current_run, live, next_due, created_at", "v1_sites", "site_id = ?", site.ID))
	v.checkPages(f, site, same)
	v.checkRest(f, site, same)
}

type comparison func(what string, want, got []string)

func (v *Views) checkPages(f *Fixture, site models.Site, same comparison) {
	v.t.Helper()
	var pages, removed []string
	for _, p := range f.Pages(models.PageFilter{State: models.StateAll}) {
		if p.State == models.StateRemoved {
			removed = append(removed, line(p.Key.String(), p.Reason, p.MovedTo, p.RemovedAt, p.FromRun))
			continue
		}
		pages = append(pages, line(p.Key.String(), p.URL, p.State, p.Reason, p.Freshness, p.Document, lastmodLine(p.Lastmod), p.Changefreq,
			priority(p.Priority), p.FirstSeen, p.FromRun))
	}
	same("v1_pages", pages, v.Rows("page_hash, url, state, reason, freshness, document, lastmod, lastmod_raw, lastmod_precision, changefreq, priority, first_seen, from_run",
		"v1_pages", "site_id = ?", site.ID))
	same("v1_removed_pages", removed, v.Rows("page_hash, reason, moved_to, removed_at, removed_run", "v1_removed_pages", "site_id = ?", site.ID))
	for run := int64(1); run <= site.CurrentRun; run++ {
		var then []string
		for _, p := range f.Pages(models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: run}}) {
			if p.State != models.StateRemoved {
				to := any(nil)
				if p.ToRun != nil {
					to = *p.ToRun
				}
				then = append(then, line(p.Key.String(), p.URL, p.Document, lastmodLine(p.Lastmod), p.Changefreq, p.FromRun, to))
			}
		}
		same(fmt.Sprint("v1_page_history as of run ", run), then, v.Rows("page_hash, url, document, lastmod, lastmod_raw, lastmod_precision, changefreq, from_run, to_run",
			"v1_page_history", "site_id = ? AND listing = 'declaration' AND from_run <= ? AND COALESCE(to_run, ?) > ?", site.ID, run, models.Open, run))
	}
	var changes []string
	for _, c := range f.Changes(models.ChangeFilter{}) {
		key := c.Cursor[strings.LastIndexByte(c.Cursor, '.')+1:]
		moved := ""
		if c.Kind == models.KindMoved {
			moved, _ = c.Fields[0].New.(string)
		}
		changes = append(changes, line(c.At, c.Run, c.Kind, key, c.URL, c.Reason, moved))
	}
	same("v1_changes", changes, v.Rows("time, run, kind, page_hash, url, reason, moved_to", "v1_changes", "site_id = ?", site.ID))
}

// lastmodLine is how views write a lastmod, in three columns.
func lastmodLine(l *models.Lastmod) string {
	if l == nil {
		return line(nil, nil, nil)
	}
	if l.Instant.IsZero() { // nothing that can be read as a moment
		return line(nil, l.Raw, l.Precision.String())
	}
	return line(l.Instant, l.Raw, l.Precision.String())
}

func priority(p *float64) any {
	if p == nil {
		return nil
	}
	return *p
}

func (v *Views) checkRest(f *Fixture, site models.Site, same comparison) {
	v.t.Helper()
	ctx := f.t.Context()
	runs, err := f.Store.Runs(ctx, site.ID, 0, 0)
	f.must(err)
	var want []string
	for _, r := range runs {
		if r.FinishedAt != nil {
			c := r.Counts
			want = append(want, line(r.FinishedAt, r.ID, r.Cause, string(r.Verdict), r.Error, r.Current, r.StartedAt, c.Live, c.Added, c.Removed, c.Held))
		}
	}
	same("v1_runs", want, v.Rows("time, run, cause, verdict, error, is_current, started_at, live, added, removed, held", "v1_runs", "site_id = ?", site.ID))

	documents, err := f.Store.Documents(ctx, site.ID)
	f.must(err)
	want = nil
	for _, d := range documents {
		want = append(want, line(d.Number, d.URL, string(d.Verdict), d.Reason, d.Type, d.Entries, d.FetchedAt, d.StaleSince, d.FromRun, hex.EncodeToString(d.SemanticHash)))
	}
	same("v1_documents", want, v.Rows("document_id, url, verdict, reason, type, entries, fetched_at, stale_since, from_run, semantic_hash", "v1_documents", "site_id = ?", site.ID))

	findings, err := f.Store.Findings(ctx, site.ID, models.FindingFilter{})
	f.must(err)
	want = nil
	for _, x := range findings {
		want = append(want, line(x.Code, x.Severity, x.Document, x.Page, x.Text, x.FromRun))
	}
	same("v1_findings", want, v.Rows("code, severity, document, page, text, from_run", "v1_findings", "site_id = ?", site.ID))

	if site.LastRun != site.CurrentRun { // the store reads removals as they are staged
		return
	}
	removals, err := f.Store.Removals(ctx, site.ID)
	f.must(err)
	want = nil
	for _, r := range removals {
		want = append(want, line(r.Key.String(), r.URL, r.Stage, r.Reason, r.Since, r.FromRun))
	}
	same("v1_removals", want, v.Rows("page_hash, url, stage, reason, since, from_run", "v1_removals", "site_id = ?", site.ID))
}
