package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// each runs a test on SQLite and, when there is a server, on MySQL.
func each(t *testing.T, fn func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); fn(t, storetest.SQLite(t)) })
	t.Run("mysql", func(t *testing.T) { t.Parallel(); fn(t, storetest.MySQL(t)) })
}

func insert(tx *gorm.DB, run int64) error {
	return tx.Exec("INSERT INTO touched (site_id, run, document) VALUES (1, ?, 1)", run).Error
}

func count(t *testing.T, s *store.Store) (n int64) {
	t.Helper()
	if err := s.DB().Raw("SELECT COUNT(*) FROM touched").Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWrite_RetriesTheWholeTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		for i, passing := range []error{&mysql.MySQLError{Number: 1213}, &mysql.MySQLError{Number: 1205}, &mysql.MySQLError{Number: 1047},
			driver.ErrBadConn, mysql.ErrInvalidConn} {
			tries := 0
			err := s.Write(t.Context(), func(tx *gorm.DB, try int) error {
				if tries++; try != tries-1 {
					t.Errorf("try %d is told %d", tries-1, try)
				}
				if err := insert(tx, int64(i+1)); err != nil {
					return err
				}
				if tries < 3 {
					return fmt.Errorf("in a statement: %w", passing)
				}
				return nil
			})
			if err != nil || tries != 3 || count(t, s) != int64(i+1) {
				t.Errorf("%v: %d tries, %v, %d rows", passing, tries, err, count(t, s))
			}
		}
	})
}

func TestWrite_GivesUpOnWhatDoesNotPass(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		for want, lasting := range map[int]error{1: models.ErrLeaseLost, 10: &mysql.MySQLError{Number: 1213}} {
			tries := 0
			err := s.Write(t.Context(), func(tx *gorm.DB, _ int) error {
				tries++
				if err := insert(tx, 1); err != nil {
					return err
				}
				return lasting
			})
			if !errors.Is(err, lasting) || tries != want || count(t, s) != 0 {
				t.Errorf("%v: %d tries, %v, %d rows", lasting, tries, err, count(t, s))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		tries := 0
		err := s.Write(ctx, func(*gorm.DB, int) error {
			tries++
			cancel()
			return &mysql.MySQLError{Number: 1213}
		})
		if !errors.Is(err, context.Canceled) || tries > 2 {
			t.Errorf("a cancelled write: %d tries, %v", tries, err)
		}
	})
}

func TestWrite_PanicsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		func() {
			defer func() { _ = recover() }() // the panic is the test's own
			_ = s.Write(t.Context(), func(tx *gorm.DB, _ int) error {
				if err := insert(tx, 1); err != nil {
					return err
				}
				panic("in a transaction")
			})
		}()
		if err := s.Write(t.Context(), func(tx *gorm.DB, _ int) error { return insert(tx, 2) }); err != nil || count(t, s) != 1 {
			t.Errorf("after a panic: %v, %d rows", err, count(t, s))
		}
	})
}

// Two programs and several goroutines write the same rows in opposite orders: deadlocks on one server, a locked file on
// the other. None of it reaches the caller, and no increment is lost.
func TestWrite_ConflictsEndWell(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		open := handles(t, dsn)
		stores := []*store.Store{open(), open()}
		for host := range 2 {
			if _, err := stores[0].AcquireLease(t.Context(), models.Key{byte(host)}, "x", time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		const writers, rounds = 6, 15
		for w := range writers {
			wg.Go(func() {
				for range rounds {
					err := stores[w%2].Write(t.Context(), func(tx *gorm.DB, _ int) error {
						for i := range 2 {
							host := models.Key{byte((i + w) % 2)}
							var beat int64
							if err := tx.Raw("SELECT beat FROM host_leases WHERE host = ?", host[:]).Scan(&beat).Error; err != nil {
								return err
							}
							if err := tx.Exec("UPDATE host_leases SET beat = beat + 1 WHERE host = ?", host[:]).Error; err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var total int64
		if err := stores[0].DB().Raw("SELECT SUM(beat) FROM host_leases").Scan(&total).Error; err != nil || total != 2*writers*rounds {
			t.Errorf("%d increments arrived, %v; want %d", total, err, 2*writers*rounds)
		}
	})
}

// A batch that the server finds too large is halved until it passes.
func TestStageDocument_HalvesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		run := f.Begin()
		f.SaveDocument(run, 1, models.VerdictComplete)
		refused := 0
		err := s.DB().Callback().Raw().Before("gorm:raw").Register("too-large", func(tx *gorm.DB) {
			// The mark of a batch is its first statement; the first seven batches are refused for their size.
			if strings.Contains(tx.Statement.SQL.String(), "touched") && refused < 7 {
				refused++
				_ = tx.AddError(&mysql.MySQLError{Number: []uint16{1105, 1180, 1153, 1390}[refused%4]})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var rows []models.Declaration
		for i := range 500 {
			rows = append(rows, storetest.Page(fmt.Sprint("https://example.com/", i), "1"))
		}
		f.Stage(run, 1, nil, rows)
		if err := s.DB().Callback().Raw().Remove("too-large"); err != nil {
			t.Fatal(err)
		}
		f.Finish(run)
		if got := len(f.Listed(1)); got != 500 || refused != 7 {
			t.Errorf("%d rows after %d refusals", got, refused)
		}
	})
}

func TestFitting_BoundsRowsAndBytes(t *testing.T) {
	t.Parallel()
	rows := make([]models.Declaration, 3000)
	if got := store.Fitting(rows, 2000); got != 2000 {
		t.Errorf("%d small rows fit, want 2000", got)
	}
	for i := range rows {
		rows[i].Extensions = make([]byte, 100<<10)
	}
	if got := store.Fitting(rows, 2000); got < 5 || got > 10 {
		t.Errorf("%d rows of 100 KiB fit into one MiB", got)
	}
	rows[0].Extensions = make([]byte, 8<<20)
	if got := store.Fitting(rows, 2000); got != 1 {
		t.Errorf("%d rows fit, want the large one alone", got)
	}
}

// Every error of a statement must end its transaction: a server may have rolled back already, and committing nothing
// succeeds (measured on Galera: 61 of 800 rounds). So no result of a statement may be dropped in this package.
func TestSources_DropNoStatementsError(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	dropped := regexp.MustCompile(`(?m)^\s*(_, _ = |_ = )?(tx|conn|s\.db|s\.reads)\.[^\n]*(Exec|Create|Updates|Save|Delete)\([^\n]*\)$`)
	for _, file := range files {
		if name := file.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range dropped.FindAllString(string(text), -1) {
				t.Errorf("%s drops an error: %s", name, strings.TrimSpace(line))
			}
		}
	}
}
