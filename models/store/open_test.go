package store_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm/schema"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// refused opens a database that cannot be opened and wants an error that says what is wrong and what to do.
func refused(t *testing.T, name, dsn string, parts ...string) {
	t.Helper()
	s, err := store.Open(t.Context(), dsn, store.Options{})
	if err == nil {
		t.Errorf("%s: it opened: %v", name, s.Close())
		return
	}
	var hinted *models.HintedError
	var invalid *models.InvalidError
	if !errors.As(err, &hinted) && !errors.As(err, &invalid) {
		t.Errorf("%s: no hint in %v", name, err)
	}
	for _, part := range append(parts, "database") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q is not in %v", name, part, err)
		}
	}
	if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: a password or a second line in %v", name, err)
	}
}

func TestOpen_RefusesBadInputWithAHint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, dsn := range []string{"", "x.db", "postgres://u:s3cret@h/d", "sqlite:", "sqlite::memory:", "mysql://u:s3cret@h:3306/", "mysql://h/d",
		"mysql://u:s3cret@/d", "mysql://u:s3cret%zz@h/d", "mysql://u:s3cret@h/d?charset=latin1", "mysql://u:s3cret@h/d?tls=perhaps"} {
		refused(t, dsn, dsn)
	}
	refused(t, "missing directory", "sqlite:"+filepath.Join(dir, "none", "x.db"), "no directory", "make it")
	refused(t, "a directory", "sqlite:"+dir, "is a directory")
	for name, content := range map[string]string{"text": "<html>not a database, longer than a header</html>", "short": "x"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, name, "sqlite:"+path, "not an SQLite database")
		if left, err := os.ReadFile(path); err != nil || string(left) != content {
			t.Errorf("%s was changed to %q, %v", name, left, err)
		}
	}
	damaged := filepath.Join(dir, "damaged")
	if err := os.WriteFile(damaged, append([]byte("SQLite format 3\x00"), make([]byte, 4096)...), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, "a damaged file", "sqlite:"+damaged)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, "a closed port", "mysql://u:s3cret@"+closed+"/d", "running", closed)
	refused(t, "an unknown host", "mysql://u:s3cret@nowhere.invalid/d", "host")
}

func TestOpen_RefusesBadServersWithAHint(t *testing.T) {
	t.Parallel()
	good, err := url.Parse(storetest.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	wrong := *good
	wrong.User = url.UserPassword(good.User.Username(), "s3cret")
	refused(t, "wrong password", wrong.String(), "password")
	wrong.User = url.UserPassword("nobody-of-this-name", "s3cret")
	refused(t, "unknown user", wrong.String(), "user")
	unknown := *good
	unknown.Path = "/sitemapd_test_unknown"
	refused(t, "unknown database", unknown.String(), "CREATE DATABASE")
}

func TestOpen_RefusesAReadOnlyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	handles(t, "sqlite:"+path)()
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
		_ = f.Close()
		t.Skip("this user may write what is read-only")
	}
	refused(t, "a read-only file", "sqlite:"+path, "writable")
}

func TestOpen_MakesItsFileForItsUserAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c%20#é.db")
	handles(t, "sqlite:"+path)()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "a b?c%20#é.db") {
			t.Errorf("another file appeared: %s, %v", e.Name(), err)
		}
	}
}

func TestOpen_RefusesANewerSchema(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		status, err := s.MigrationStatus(t.Context())
		if err != nil || status.Current != status.Latest || status.Latest < 1 {
			t.Fatalf("after opening: %+v, %v", status, err)
		}
		if err := s.DB().Exec("INSERT INTO schema_versions (version_id, is_applied) VALUES (?, ?)", status.Latest+1, true).Error; err != nil {
			t.Fatal(err)
		}
		refused(t, "a newer schema", dsn, "newer")
	})
}

func TestMigrate_WaitsUntilItIsAsked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s, err := store.Open(t.Context(), dsn, store.Options{NoMigrate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if status, err := s.MigrationStatus(t.Context()); err != nil || status.Current != 0 {
			t.Errorf("an empty database: %+v, %v", status, err)
		}
		for range 2 {
			if err := s.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if status, err := s.MigrationStatus(t.Context()); err != nil || status.Current != status.Latest {
			t.Errorf("a migrated database: %+v, %v", status, err)
		}
	})
}

// Three programs start on an empty database at once: each step is applied once, and all of them work afterwards.
func TestMigrate_ThreeProgramsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), openAlone+"="+dsn)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		wg.Wait()
		s := handles(t, dsn)()
		var applied, distinct int64
		row := s.DB().Raw("SELECT COUNT(*), COUNT(DISTINCT version_id) FROM schema_versions WHERE is_applied").Row()
		if err := row.Scan(&applied, &distinct); err != nil || applied != distinct {
			t.Errorf("%d steps applied, %d of them distinct, %v", applied, distinct, err)
		}
	})
}

// A migration that died half-way is repeated: every statement may run again.
func TestMigrate_IsRepeatable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		f := storetest.NewFixture(t, s)
		if err := s.DB().Exec("DELETE FROM schema_versions WHERE version_id > 0").Error; err != nil {
			t.Fatal(err)
		}
		if err := s.DB().Exec("DROP TABLE expectations").Error; err != nil {
			t.Fatal(err)
		}
		again := handles(t, dsn)()
		if _, err := again.Site(t.Context(), f.Site.ID); err != nil {
			t.Errorf("rows survive a repeated migration: %v", err)
		}
		if _, err := again.Expectations(t.Context(), f.Site.ID); err != nil {
			t.Errorf("the missing table is made: %v", err)
		}
	})
}

// A program that was killed between the table of versions and its first row, which are two steps on a server, left a database
// that can be migrated.
func TestMigrate_WithoutTheFirstVersion(t *testing.T) {
	t.Parallel()
	dsn := storetest.MySQL(t)
	s := handles(t, dsn)()
	f := storetest.NewFixture(t, s)
	if err := s.DB().Exec("DELETE FROM schema_versions").Error; err != nil {
		t.Fatal(err)
	}
	if _, err := handles(t, dsn)().Site(t.Context(), f.Site.ID); err != nil {
		t.Errorf("after the migration: %v", err)
	}
}

// The migrated schema and the rows' types name the same columns.
func TestMigrate_AgreesWithTheRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		compare := func(table string, want []string) {
			types, err := s.DB().Migrator().ColumnTypes(table)
			if err != nil {
				t.Errorf("%s: %v", table, err)
				return
			}
			var got []string
			for _, c := range types {
				got = append(got, c.Name())
			}
			sort.Strings(got)
			sort.Strings(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("columns of %s (-row +table):\n%s", table, diff)
			}
		}
		for _, row := range store.Rows() {
			parsed, err := schema.Parse(row, &sync.Map{}, s.DB().NamingStrategy)
			if err != nil {
				t.Fatal(err)
			}
			compare(row.TableName(), append([]string{}, parsed.DBNames...))
		}
		compare("declarations", strings.Split(store.DeclarationColumns, ", "))
	})
}

func TestExplain_KnowsWhatOperatorsMeet(t *testing.T) {
	t.Parallel()
	for _, err := range []error{os.ErrPermission, context.DeadlineExceeded, &net.DNSError{}, &net.OpError{Err: os.ErrDeadlineExceeded}} {
		var hinted *models.HintedError
		if got := store.Explain(err); !errors.As(got, &hinted) || hinted.Hint == "" || !errors.Is(got, err) {
			t.Errorf("no hint for %v: %v", err, got)
		}
	}
	// What SQLite says of a file that it may not write; root, as whom tests often run, may write every file.
	readonly := handles(t, storetest.SQLite(t))().Reads().Exec("DELETE FROM touched").Error
	if got := store.Explain(readonly); readonly == nil || !strings.Contains(got.Error(), "writable") {
		t.Errorf("no hint for %v: %v", readonly, got)
	}
	if got := store.Explain(context.Canceled); got != context.Canceled {
		t.Errorf("a hint where there is none: %v", got)
	}
}
