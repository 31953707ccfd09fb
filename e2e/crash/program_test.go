package crash_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

var folder string

// build builds the program once for all tests.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "sitemapd")
	command := exec.Command("go", "build", "-o", path, "github.com/sitemapd/sitemapd/cmd/sitemapd")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sitemapd: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sitemapd-crash")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	folder = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// program is sitemapd on one database, which the tests look into as well.
type program struct {
	testing.TB
	path string
	dsn  string
	raw  *sql.DB // the database itself, past the program
}

func newProgram(t testing.TB, mysql bool) *program {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{TB: t, path: path}
	if mysql {
		p.dsn, p.raw = newDatabase(t)
	} else {
		p.onSQLite(filepath.Join(t.TempDir(), "sitemapd.db"))
	}
	t.Cleanup(func() { _ = p.raw.Close() })
	return p
}

func (p *program) onSQLite(file string) {
	p.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		p.Fatal(err)
	}
	p.dsn, p.raw = "sqlite:"+file, db
}

// newDatabase creates an empty database on the server that the environment names.
func newDatabase(t testing.TB) (dsn string, db *sql.DB) {
	t.Helper()
	dsn = os.Getenv("SITEMAPD_TEST_MYSQL")
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	server := fmt.Sprintf("%s:%s@tcp(%s)/", u.User.Username(), password, u.Host)
	admin, err := sql.Open("mysql", server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("crash_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = admin.Exec("DROP DATABASE " + name)
		_ = admin.Close()
	})
	if db, err = sql.Open("mysql", server+name); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(dsn, "/") + "/" + name, db
}

func (p *program) mysql() bool { return strings.HasPrefix(p.dsn, "mysql:") }

func (p *program) command(arguments ...string) *exec.Cmd {
	command := exec.Command(p.path, append(arguments, "--database", p.dsn, "--allow-private", "127.0.0.0/8")...)
	command.Env = append(os.Environ(), "SITEMAPD_LOG_LEVEL=error", "SITEMAPD_FETCH_PAGE_DELAY=0s", "SITEMAPD_CONFIG=")
	return command
}

// sync makes one whole run.
func (p *program) sync(site string) models.Run {
	p.Helper()
	command := p.command("sync", site, "--confirm", "now", "-o", "json")
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		p.Fatalf("sync: %v\n%s%s", err, out, problems.String())
	}
	return p.runOf(out)
}

func (p *program) runOf(out []byte) (run models.Run) {
	p.Helper()
	if err := json.Unmarshal(out, &run); err != nil {
		p.Fatalf("sync: %v in %s", err, out)
	}
	return run
}

// kill starts a run and ends it with SIGKILL after a time. It reports whether the run was still going.
func (p *program) kill(site string, after time.Duration) bool {
	p.Helper()
	command := p.command("sync", site, "--confirm", "now", "-o", "json")
	var problems bytes.Buffer
	command.Stderr = &problems
	if err := command.Start(); err != nil {
		p.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = command.Process.Kill() })
	err := command.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() >= 0) {
		p.Fatalf("sync: %v\n%s", err, problems.String())
	}
	p.settle()
	return err != nil
}

// settle waits until the server has noticed that the killed client is gone: a commit may be under way there.
func (p *program) settle() {
	p.Helper()
	if !p.mysql() {
		return
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		var others int
		err := p.raw.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()").Scan(&others)
		var refused *mysql.MySQLError
		switch {
		case errors.As(err, &refused) && refused.Number == 3854: // MySQL cannot show a statement with bytes: one is under way
			others = math.MaxInt
		case err != nil:
			p.Fatal(err)
		}
		if others <= p.raw.Stats().OpenConnections-1 {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%d connections of the killed program are left after 20 s", others)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// expire ends the leases that the killed program left, as waiting for their time would.
func (p *program) expire() {
	for _, statement := range []string{"UPDATE host_leases SET until = ?", "UPDATE schema_lease SET until = ?"} {
		var past any = 0
		if p.mysql() && strings.Contains(statement, "host_leases") {
			past = "2000-01-01 00:00:00"
		}
		_, _ = p.raw.Exec(statement, past) // before the first migration there are no leases
	}
}

// read opens the database as a second program would.
func (p *program) read(fn func(ctx context.Context, s *store.Store)) {
	p.Helper()
	s, err := store.Open(p.Context(), p.dsn, store.Options{NoMigrate: true})
	if err != nil {
		p.Fatalf("open the database after a kill: %v", err)
	}
	fn(p.Context(), s)
	if err := s.Close(); err != nil {
		p.Fatal(err)
	}
}

func number(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
