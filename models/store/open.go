package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/sitemapd/sitemapd/models"
)

// Dialects of SQL that the store speaks.
const (
	SQLite = "sqlite"
	MySQL  = "mysql" // MySQL, MariaDB and their clusters
)

// Options of Open; the zero value migrates and logs nothing.
type Options struct {
	Logger *slog.Logger
	// NoMigrate leaves the schema as it is; Migrate brings it up to date later.
	NoMigrate bool
}

// Store is an open database. Its methods may be called from any number of goroutines.
type Store struct {
	dialect string
	log     *slog.Logger

	db    *gorm.DB // writes and, on MySQL, everything
	reads *gorm.DB // ordinary reads
	bulk  *sql.DB  // reads of many rows
	pools []*sql.DB
	// migrating opens the handle that migrations run on; they need connections of their own.
	migrating func() (*sql.DB, error)

	statements statements
	index      pageIndex
	counts     countCache
	orders     orders
}

// Open opens the database that dsn names and brings its schema up to date:
// "sqlite:PATH" or "mysql://USER:PASSWORD@HOST:PORT/NAME". What an operator can mend is a *models.InvalidError
// or *models.HintedError.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	source, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{log: o.Logger.With("component", "store")}
	if source.path != "" {
		err = s.openSQLite(ctx, source.path)
	} else {
		err = s.openMySQL(ctx, source)
	}
	if err == nil {
		err = s.checkSchema(ctx)
	}
	if err == nil && !o.NoMigrate {
		err = s.Migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", source, explain(err, source)), s.Close())
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() error {
	s.orders.close()
	errs := []error{s.statements.close()}
	for _, pool := range s.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// Ping asks the database for an answer.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.reads.WithContext(ctx).Raw("SELECT 1").Scan(&one).Error; err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// Dialect names the SQL dialect: SQLite or MySQL.
func (s *Store) Dialect() string { return s.dialect }

func (s *Store) mysql() bool { return s.dialect == MySQL }

func (s *Store) gormConfig() *gorm.Config {
	return &gorm.Config{
		SkipDefaultTransaction:                   true, // our own transactions, each with its fence
		PrepareStmt:                              false,
		DisableAutomaticPing:                     true,
		DisableForeignKeyConstraintWhenMigrating: true,
		TranslateError:                           true,
		NowFunc:                                  func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
		Logger:                                   logger.Discard, // errors are returned; SQL with values is never logged
	}
}

// now is the moment in the precision that both dialects keep.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// statements keeps the few prepared statements of the bulk writes.
type statements struct {
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

// get gives a statement that is prepared once for all connections of a pool. No lock is held while the pool is waited
// for: transactions that hold its connections ask known.
func (s *statements) get(ctx context.Context, pool *sql.DB, text string) (*sql.Stmt, error) {
	if stmt := s.known(text); stmt != nil {
		return stmt, nil
	}
	stmt, err := pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.all[text]; other != nil { // prepared by two at once
		return other, stmt.Close()
	}
	if s.all == nil {
		s.all = map[string]*sql.Stmt{}
	}
	s.all[text] = stmt
	return stmt, nil
}

// known gives a statement that get prepared before, or nil.
func (s *statements) known(text string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[text]
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	s.all = nil
	return errors.Join(errs...)
}

// notFound tells which thing is missing.
func notFound(what string, id any) error {
	return &models.NotFoundError{What: what, Name: fmt.Sprint(id)}
}
