package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/libtnb/sqlite"
	"gorm.io/gorm"
	driver "modernc.org/sqlite"

	"github.com/sitemapd/sitemapd/models"
)

// Page cache in KiB. The writer's is small on purpose: it measured faster and leaner than a large one.
const (
	writerCache = 8192
	readerCache = 2048
	bulkCache   = 4096
)

// openSQLite opens one handle that writes, one connection wide, and two that read. IMMEDIATE transactions are what
// keeps a read-then-write transaction from failing with "locked" (reliability: 709 of 800 failed without).
func (s *Store) openSQLite(ctx context.Context, path string) error {
	s.dialect = SQLite
	if err := prepareFile(path); err != nil {
		return err
	}
	writer, err := s.sqlitePool(path, 1, writerCache, "&_txlock=immediate"+timesAsIntegers)
	if err != nil {
		return err
	}
	reader, err := s.sqlitePool(path, 4, readerCache, "&_pragma=query_only(1)"+timesAsIntegers)
	if err != nil {
		return err
	}
	// Without conversion of times: it would ask for the declared type of each integer of each row.
	if s.bulk, err = s.sqlitePool(path, 4, bulkCache, "&_pragma=query_only(1)"); err != nil {
		return err
	}
	s.migrating = func() (*sql.DB, error) {
		return sql.Open(sqlite.DriverName, sqliteDSN(path, writerCache, "&_txlock=immediate"+timesAsIntegers))
	}
	if err := writer.PingContext(ctx); err != nil {
		return err
	}
	if s.db, err = gorm.Open(sqlite.New(sqlite.Config{Conn: writer}), s.gormConfig()); err != nil {
		return err
	}
	s.reads, err = gorm.Open(sqlite.New(sqlite.Config{Conn: reader}), s.gormConfig())
	return err
}

// timesAsIntegers makes the driver keep times as integer microseconds and read them back as UTC times.
const timesAsIntegers = "&_time_integer_format=unix_micro&_inttotime=1&_timezone=UTC"

func sqliteDSN(path string, cache int, more string) string {
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_pragma=journal_size_limit(67108864)&_pragma=cache_size(-%d)%s",
		(&url.URL{Path: path}).EscapedPath(), cache, more)
}

func (s *Store) sqlitePool(path string, connections, cache int, more string) (*sql.DB, error) {
	connector, err := driver.NewConnector(sqliteDSN(path, cache, more))
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(keepingConnector{connector})
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	s.pools = append(s.pools, pool)
	return pool, nil
}

// prepareFile makes the file when it is missing, for our user alone, and tells what SQLite would say less clearly.
func prepareFile(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return models.Invalid("database", "make it first, or choose another path", "there is no directory %s", filepath.Dir(path))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return models.Invalid("database", "name a file in it", "%s is a directory", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &models.HintedError{Err: err, Hint: "the file and its directory must be writable by the user that runs sitemapd"}
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }() // read only
	head := make([]byte, 16)
	switch n, err := io.ReadFull(f, head); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	if string(head) != "SQLite format 3\x00" {
		return models.Invalid("database", "choose another path; the file is left as it is", "%s is not an SQLite database", path)
	}
	return nil
}
