package hooks_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

var folder string

// build builds the program once for all tests, unless SITEMAPD_TEST_BIN names it.
var build = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SITEMAPD_TEST_BIN"); path != "" {
		return path, nil
	}
	path := filepath.Join(folder, "sitemapd")
	command := exec.Command("go", "build", "-o", path, "github.com/sitemapd/sitemapd/cmd/sitemapd")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sitemapd: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sitemapd-hooks")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	folder = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func number(t *testing.T, name string, otherwise int) int {
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

func open(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newDatabase creates an empty database on a server and gives its address as sitemapd takes it.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	db := connect(t, server, "")
	name := fmt.Sprintf("hooks_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE " + name) })
	return strings.TrimSuffix(server, "/") + "/" + name
}

// connect reaches the server past the program. A server that says nothing for two minutes is given up.
func connect(t *testing.T, dsn, database string) *sql.DB {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/%s?parseTime=true&interpolateParams=true&timeout=10s&readTimeout=2m&writeTimeout=2m", u.User.Username(), password, u.Host, database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// daemon is `sitemapd serve` on an address of its own, started as often as it takes.
type daemon struct {
	*testing.T
	path, dsn, address string
	environment        []string
	log                *os.File

	mu      sync.Mutex
	command *exec.Cmd
	ended   chan error
}

func newDaemon(t *testing.T, dsn string, environment ...string) *daemon {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{T: t, path: path, dsn: dsn, address: listener.Addr().String(), environment: environment}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if d.log, err = os.CreateTemp(t.TempDir(), "daemon"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			text, _ := os.ReadFile(d.log.Name())
			t.Logf("the daemon's log ends with:\n%s", text[max(0, len(text)-4000):])
		}
		_ = d.log.Close()
	})
	return d
}

func (d *daemon) start() error {
	command := exec.Command(d.path, "serve", "--listen", d.address, "--database", d.dsn, "--allow-private", "127.0.0.0/8")
	command.Env = append(append(os.Environ(), "SITEMAPD_CONFIG=", "SITEMAPD_LOG_LEVEL=info", "SITEMAPD_SYNC_SCHEDULE=off"), d.environment...)
	command.Stdout, command.Stderr = d.log, d.log
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	d.mu.Lock()
	d.command, d.ended = command, ended
	d.mu.Unlock()
	return nil
}

// up starts the daemon and waits until it is ready.
func (d *daemon) up() {
	d.Helper()
	if err := d.start(); err != nil {
		d.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); !d.ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.Fatal("the daemon did not become ready within 60 s")
		}
	}
}

func (d *daemon) ready() bool {
	client := http.Client{Timeout: time.Second}
	response, err := client.Get("http://" + d.address + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// kill ends the process as a power cut would; false when none runs.
func (d *daemon) kill() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.command == nil {
		return false
	}
	_ = d.command.Process.Signal(syscall.SIGKILL)
	<-d.ended
	d.command = nil
	return true
}

func (d *daemon) signal(s syscall.Signal) {
	d.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.command.Process.Signal(s); err != nil {
		d.Fatal(err)
	}
}

func (d *daemon) pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.command.Process.Pid
}

// keepUp starts the daemon again whenever it has ended, until ctx does.
func (d *daemon) keepUp(ctx context.Context) (starts int) {
	for ctx.Err() == nil {
		d.mu.Lock()
		gone := d.command == nil
		if !gone {
			select {
			case <-d.ended: // by itself: its database is away
				d.command, gone = nil, true
			default:
			}
		}
		d.mu.Unlock()
		if gone && d.start() == nil {
			starts++
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return starts
}

// runsOf gives a site's runs, oldest first.
func runsOf(t *testing.T, s *store.Store, site int64) []models.Run {
	t.Helper()
	all, err := s.Runs(t.Context(), site, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// servedAll waits until every trigger of the sites was served, and fails unless each was by a run that began after it.
func servedAll(t *testing.T, s *store.Store, sites []models.Site, limit time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(200 * time.Millisecond) {
		left := 0
		for _, site := range sites {
			pending, err := s.PendingTriggers(t.Context(), site.ID)
			if err != nil {
				t.Fatal(err)
			}
			left += len(pending)
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d triggers were not served within %s", left, limit)
		}
	}
	for _, site := range sites {
		began := map[int64]time.Time{}
		for _, run := range runsOf(t, s, site.ID) {
			if run.Error == "" {
				began[run.ID] = run.StartedAt
			}
		}
		triggers, err := s.Triggers(t.Context(), site.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, trigger := range triggers {
			if at, ok := began[trigger.ServedRun]; !ok || at.Before(trigger.ReceivedAt.Truncate(time.Microsecond)) {
				t.Errorf("trigger %d of %s was served by run %d of %s", trigger.ID, trigger.ReceivedAt, trigger.ServedRun, at)
			}
		}
	}
}

// inventory fails unless a site's pages are what its origin lists.
func inventory(t *testing.T, s *store.Store, site models.Site, want map[string]string) {
	t.Helper()
	got := map[string]bool{}
	var wrong []string
	err := s.Pages(t.Context(), site.ID, models.PageFilter{}, func(p *models.Page) error {
		got[p.URL] = true
		if _, ok := want[p.URL]; !ok {
			wrong = append(wrong, p.URL+" is live but not listed")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for url := range want {
		if !got[url] {
			wrong = append(wrong, url+" is listed but not live")
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%s: %d pages are live, %d are listed: %q", site.Name, len(got), len(want), wrong[:min(5, len(wrong))])
	}
}
