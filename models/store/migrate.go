package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/sitemapd/sitemapd/models"
)

//go:embed migrations
var migrations embed.FS

const (
	versionsTable = "schema_versions"
	schemaTTL     = time.Minute
)

// SchemaStatus says how far the schema is migrated.
type SchemaStatus struct {
	Dialect string `json:"dialect"`
	Current int64  `json:"current"` // number of the last migration applied, 0 for an empty database
	Latest  int64  `json:"latest"`  // number of the last migration that this program knows
}

// MigrationStatus compares the database's schema with the one that this program needs. It writes nothing.
func (s *Store) MigrationStatus(ctx context.Context) (SchemaStatus, error) {
	status := SchemaStatus{Dialect: s.dialect}
	names, err := fs.Glob(migrations, "migrations/"+s.dialect+"/*.sql")
	if err != nil {
		return status, err
	}
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return status, err
		}
		status.Latest = max(status.Latest, n)
	}
	var version sql.NullInt64
	err = s.db.WithContext(ctx).Raw("SELECT MAX(version_id) FROM " + versionsTable).Row().Scan(&version)
	if err != nil && !missingTable(err) {
		return status, fmt.Errorf("read schema version: %w", err)
	}
	status.Current = version.Int64
	return status, nil
}

// checkSchema refuses a database that a newer program wrote: this one could only damage it.
func (s *Store) checkSchema(ctx context.Context) error {
	status, err := s.MigrationStatus(ctx)
	if err != nil {
		return err
	}
	if status.Current > status.Latest {
		return models.Invalid("database", "start the newer sitemapd, or restore a backup from before it",
			"its schema %d is newer than this program's %d", status.Current, status.Latest)
	}
	return nil
}

// Migrate brings the schema up to date. Of several programs that start at once one migrates, under a lease of its own;
// the others wait for it.
func (s *Store) Migrate(ctx context.Context) error {
	status, err := s.MigrationStatus(ctx)
	if err != nil || status.Current >= status.Latest {
		return err
	}
	pool, err := s.migrating()
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }() // nothing is pending on it
	owner, err := s.lockSchema(ctx, pool)
	if err != nil {
		return fmt.Errorf("lock schema: %w", err)
	}
	err = s.migrateLocked(ctx, pool, owner)
	_, unlock := pool.ExecContext(context.WithoutCancel(ctx), "UPDATE schema_lease SET owner = '', until = 0 WHERE id = 1 AND owner = ?", owner)
	return errors.Join(err, unlock)
}

func (s *Store) migrateLocked(ctx context.Context, pool *sql.DB, owner string) error {
	ctx, cancel := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		s.keepSchema(ctx, cancel, pool, owner)
	}()
	defer func() { cancel(); <-renewed }()
	dialect := goose.DialectSQLite3
	if s.mysql() {
		dialect = goose.DialectMySQL
	}
	files, err := fs.Sub(migrations, "migrations/"+s.dialect)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, pool, files, goose.WithTableName(versionsTable), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if err := s.firstVersion(ctx, pool); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if n := len(results); n > 0 {
		took := time.Duration(0)
		for _, r := range results {
			took += r.Duration
		}
		s.log.Info("schema migrated", "version", results[n-1].Source.Version, "steps", n, "took", took.String())
	}
	return nil
}

// firstVersion writes the row of version 0 where it is missing: goose makes its table and then that row, which are two steps
// where DDL commits by itself, and would refuse for ever what a program that was killed between them left.
func (s *Store) firstVersion(ctx context.Context, pool *sql.DB) error {
	if !s.mysql() {
		return nil
	}
	_, err := pool.ExecContext(ctx, "INSERT INTO "+versionsTable+" (version_id, is_applied) SELECT 0, TRUE FROM schema_lease WHERE NOT EXISTS (SELECT 1 FROM "+versionsTable+")")
	if err != nil && !missingTable(err) {
		return fmt.Errorf("write version 0: %w", err)
	}
	return nil
}

// lockSchema takes the schema's lease by compare and set, waiting while another program has it. GET_LOCK is no lock on
// Galera: it is granted once on each node.
func (s *Store) lockSchema(ctx context.Context, pool *sql.DB) (string, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return "", err
	}
	owner := hex.EncodeToString(id)
	ignore := map[bool]string{true: "INSERT IGNORE INTO", false: "INSERT OR IGNORE INTO"}[s.mysql()]
	for {
		taken, err := s.tryLockSchema(ctx, pool, owner, ignore)
		if err != nil && !passing(err) && !duplicate(err) {
			return "", err
		}
		if taken {
			return owner, nil
		}
		s.log.Info("another program migrates the database, waiting")
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tryLockSchema keeps the end of the lease as microseconds by the database's clock.
func (s *Store) tryLockSchema(ctx context.Context, pool *sql.DB, owner, ignore string) (bool, error) {
	for _, text := range []string{
		"CREATE TABLE IF NOT EXISTS schema_lease (id INTEGER NOT NULL PRIMARY KEY, owner VARCHAR(64) NOT NULL, until BIGINT NOT NULL)",
		ignore + " schema_lease (id, owner, until) VALUES (1, '', 0)",
	} {
		if _, err := pool.ExecContext(ctx, text); err != nil {
			return false, err
		}
	}
	clock := s.microClock()
	result, err := pool.ExecContext(ctx, "UPDATE schema_lease SET owner = ?, until = "+clock+" + ? WHERE id = 1 AND until <= "+clock,
		owner, schemaTTL.Microseconds())
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

func (s *Store) keepSchema(ctx context.Context, lost context.CancelFunc, pool *sql.DB, owner string) {
	ticker := time.NewTicker(schemaTTL / 4)
	defer ticker.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_, err := pool.ExecContext(ctx, "UPDATE schema_lease SET until = "+s.microClock()+" + ? WHERE id = 1 AND owner = ?",
			schemaTTL.Microseconds(), owner)
		if err == nil {
			renewed = time.Now()
		} else if time.Since(renewed) > schemaTTL*2/3 {
			lost()
			return
		}
	}
}

// microClock is the database's clock in microseconds.
func (s *Store) microClock() string {
	if s.mysql() {
		return "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)"
	}
	return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
}

func missingTable(err error) bool {
	if number(err) == 1146 {
		return true
	}
	return code(err) == 1 // SQLITE_ERROR: the statement itself is constant, so only its table can be missing
}
