package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"

	"github.com/sitemapd/sitemapd/models/store"
)

// compiler counts statements that connections compile and close.
type compiler struct {
	driver.Connector
	compiled, closed atomic.Int64
}

type countedConn struct {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	counts *compiler
}

type countedStmt struct {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	counts *compiler
}

func (c *compiler) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countedConn{conn, conn.(driver.ConnBeginTx), conn.(driver.ExecerContext), conn.(driver.QueryerContext), conn.(driver.Pinger),
		conn.(driver.SessionResetter), conn.(driver.Validator), c}, nil
}

func (c countedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	c.counts.compiled.Add(1)
	return countedStmt{s, s.(driver.StmtExecContext), s.(driver.StmtQueryContext), c.counts}, nil
}

func (s countedStmt) Close() error {
	s.counts.closed.Add(1)
	return s.Stmt.Close()
}

// keeping opens an SQLite file with one connection, which keeps compiled statements.
func keeping(t *testing.T) (*sql.DB, *compiler) {
	t.Helper()
	connector, err := sqlite.NewConnector("file:" + filepath.Join(t.TempDir(), "kept.db") + "?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	counts := &compiler{Connector: connector}
	pool := sql.OpenDB(store.Keeping(counts))
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		if counts.compiled.Load() != counts.closed.Load() {
			t.Errorf("%d statements were compiled, %d closed with the connection", counts.compiled.Load(), counts.closed.Load())
		}
	})
	run(t, pool, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT")
	return pool, counts
}

type runner interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

func run(t *testing.T, on runner, text string, args ...any) {
	t.Helper()
	if _, err := on.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// read gives the rows of a statement as texts, after the names of its columns.
func read(t *testing.T, on runner, text string, args ...any) (out []string) {
	t.Helper()
	rows, err := on.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out = []string{fmt.Sprint(columns)}
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(values))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestKeptStatements_AreCompiledOnceAndGiveWhatIsAsked(t *testing.T) {
	t.Parallel()
	pool, counts := keeping(t)
	for i := range 20 {
		run(t, pool, "INSERT INTO t (a, b) VALUES (?, ?)", i, fmt.Sprint("row ", i))
	}
	for i := range 20 {
		want := []string{"[a b]", fmt.Sprintf("[%d row %d]", i, i)}
		if diff := cmp.Diff(want, read(t, pool, "SELECT a, b FROM t WHERE a = ? AND b <> ?", i, "")); diff != "" {
			t.Error(diff)
		}
	}
	if n := counts.compiled.Load(); n != 2 {
		t.Errorf("%d statements were compiled, want 2", n)
	}
}

func TestKeptStatements_AreBoundedInNumberAndLength(t *testing.T) {
	t.Parallel()
	pool, counts := keeping(t)
	long := "SELECT a FROM t WHERE a IN (0" + fmt.Sprintf("%02000d", 0) + ")"
	for i := range 3 * store.KeptStatements {
		read(t, pool, fmt.Sprintf("SELECT a FROM t WHERE a = %d", i))
		read(t, pool, "SELECT b FROM t") // always among the last used
		read(t, pool, long)
	}
	if n, want := counts.compiled.Load(), int64(3*store.KeptStatements+1); n != want {
		t.Errorf("%d statements were compiled, want %d", n, want)
	}
	if n := counts.compiled.Load() - counts.closed.Load(); n != store.KeptStatements {
		t.Errorf("%d are kept, want %d", n, store.KeptStatements)
	}
}

func TestKeptStatements_OfOneTextRunWithinEachOther(t *testing.T) {
	t.Parallel()
	pool, counts := keeping(t)
	run(t, pool, "INSERT INTO t (a, b) VALUES (1, 'one'), (2, 'two'), (3, 'three');")
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = "SELECT b FROM t WHERE a >= ? ORDER BY a"
	outer, err := tx.QueryContext(t.Context(), text, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for outer.Next() {
		var b string
		if err := outer.Scan(&b); err != nil {
			t.Fatal(err)
		}
		got = append(append(got, b), read(t, tx, text, 3)...)
	}
	if err := outer.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "[b]", "[three]", "two", "[b]", "[three]", "three", "[b]", "[three]"}, got); diff != "" {
		t.Error(diff)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if n := counts.compiled.Load() - counts.closed.Load(); n != 1 {
		t.Errorf("%d statements of the text are kept, want 1", n)
	}
}

func TestKeptStatements_SeeAChangedSchema(t *testing.T) {
	t.Parallel()
	pool, _ := keeping(t)
	other, err := sql.Open("sqlite", dsnOf(t, pool))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	run(t, pool, "INSERT INTO t (a, b) VALUES (1, 'one')")
	for i, c := range []struct {
		change string
		want   []string
	}{
		{"SELECT 1", []string{"[a b]", "[1 one]"}},
		{"ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 7", []string{"[a b c]", "[1 one 7]"}},
		{"CREATE INDEX by_b ON t (b)", []string{"[a b c]", "[1 one 7]"}},
		{"ALTER TABLE t DROP COLUMN c", []string{"[a b]", "[1 one]"}},
	} {
		by := other // as a migration does
		if i%2 == 0 {
			by = pool
		}
		run(t, by, c.change)
		if diff := cmp.Diff(c.want, read(t, pool, "SELECT * FROM t WHERE b = ?", "one")); diff != "" {
			t.Errorf("after %q: %s", c.change, diff)
		}
	}
	run(t, other, "DROP TABLE t") // which a statement still in use would forbid
	if _, err := pool.QueryContext(t.Context(), "SELECT * FROM t WHERE b = ?", "one"); err == nil {
		t.Error("a table that is gone is read")
	}
}

func TestKeptStatements_WorkAfterFailures(t *testing.T) {
	t.Parallel()
	pool, _ := keeping(t)
	const add = "INSERT INTO t (a, b) VALUES (?, ?)"
	run(t, pool, add, 1, "one")
	if _, err := pool.ExecContext(t.Context(), add, 1, "again"); err == nil {
		t.Error("a key is there twice")
	}
	run(t, pool, add, 2, "two")
	if _, err := pool.ExecContext(t.Context(), add, 3); err == nil {
		t.Error("an argument is missing, and nobody says so")
	}
	run(t, pool, add, 3, "three")

	const returning = "UPDATE t SET b = b || '!' WHERE a <= ? RETURNING b"
	var b string
	if err := pool.QueryRowContext(t.Context(), returning, 2).Scan(&b); err != nil { // of two rows one is read
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"
	rows, err := pool.QueryContext(ctx, endless, int64(1)<<40)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; rows.Next(); i++ {
		if i == 10 {
			cancel()
		}
	}
	cancel()
	if rows.Err() == nil {
		t.Error("a cancelled query came to its end")
	}
	_ = rows.Close() // tells of the cancelling
	if got := read(t, pool, endless, 1); len(got) != 2 {
		t.Errorf("read %v", got)
	}
	if diff := cmp.Diff([]string{"[b]", "[one!]", "[two!]", "[three]"}, read(t, pool, "SELECT b FROM t ORDER BY a")); diff != "" {
		t.Error(diff)
	}
}

func TestKeptStatements_ServePreparedOnes(t *testing.T) {
	t.Parallel()
	pool, counts := keeping(t)
	const add = "INSERT INTO t (a, b) VALUES (?, ?)"
	for round := range 3 {
		tx, err := pool.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := tx.PrepareContext(t.Context(), add)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if _, err := stmt.ExecContext(t.Context(), 10*round+i, "x"); err != nil {
				t.Fatal(err)
			}
		}
		if err := stmt.Close(); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"[n]", "[15]"}, read(t, pool, "SELECT COUNT(*) AS n FROM t")); diff != "" {
		t.Error(diff)
	}
	if n := counts.compiled.Load(); n != 2 {
		t.Errorf("%d statements were compiled, want 2", n)
	}
}

// dsnOf names the file that a pool has open.
func dsnOf(t *testing.T, pool *sql.DB) string {
	t.Helper()
	var file string
	if err := pool.QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list").Scan(&file); err != nil {
		t.Fatal(err)
	}
	return "file:" + file
}
