package e2e_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// programFolder holds the built program; TestMain removes it.
var programFolder string

// buildProgram builds sitemapd once for all tests, unless SITEMAPD_TEST_BIN names it.
var buildProgram = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SITEMAPD_TEST_BIN"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "sitemapd-e2e")
	if err != nil {
		return "", err
	}
	programFolder = dir
	path := filepath.Join(dir, "sitemapd")
	command := exec.Command("go", "build", "-o", path, "github.com/sitemapd/sitemapd/cmd/sitemapd")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sitemapd: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programFolder != "" {
		_ = os.RemoveAll(programFolder)
	}
	os.Exit(code)
}

// program is sitemapd on one database.
type program struct {
	path     string
	database string
}

// programs gives sitemapd on SQLite and, when a server is named, on MariaDB, each with an empty database.
func programs(t *testing.T) map[string]program {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]program{"sqlite": {path, "sqlite:" + filepath.Join(t.TempDir(), "sitemapd.db")}}
	if dsn := os.Getenv("SITEMAPD_TEST_MYSQL"); dsn != "" {
		all["mariadb"] = program{path, newDatabase(t, dsn)}
	}
	return all
}

// newDatabase creates an empty database on the server and gives its address as sitemapd takes it.
func newDatabase(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/", u.User.Username(), password, u.Host))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("e2e_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = db.Exec("DROP DATABASE " + name)
		_ = db.Close()
	})
	return strings.TrimSuffix(dsn, "/") + "/" + name
}

func (p program) command(arguments ...string) *exec.Cmd {
	command := exec.Command(p.path, append(arguments, "--database", p.database, "--allow-private", "127.0.0.0/8")...)
	command.Env = append(os.Environ(), "SITEMAPD_LOG_LEVEL=error")
	return command
}

// run runs a command and gives its standard output and exit code.
func (p program) run(t *testing.T, arguments ...string) ([]byte, int) {
	t.Helper()
	command := p.command(arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := command.ProcessState.ExitCode()
	if code == 1 || code == 2 {
		t.Fatalf("sitemapd %q: exit code %d: %s", arguments, code, problems.String())
	}
	return out, code
}

// lastmod is a declared time as CONTRACT shows it.
type lastmod struct {
	Raw     string    `json:"raw"`
	Instant time.Time `json:"instant"`
}

func (l *lastmod) utc() string {
	if l == nil {
		return ""
	}
	return l.Instant.UTC().Format(time.RFC3339)
}

// runResult is *Run* of CONTRACT, as far as these tests read it.
type runResult struct {
	ID      int64  `json:"id"`
	Site    string `json:"site"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Current bool   `json:"current"`
	Counts  struct {
		Live, Added, Removed, Changed, Moved, Unchanged, Pending, Held, Stale, Restored int
	} `json:"counts"`
	Findings []finding `json:"findings"`
	code     int
}

// finding is a finding of *Run*.
type finding struct {
	Code     string `json:"code"`
	Document string `json:"document"`
	Text     string `json:"text"`
}

// page is *Page* of CONTRACT, as far as these tests read it.
type page struct {
	URL     string   `json:"url"`
	State   string   `json:"state"`
	Lastmod *lastmod `json:"lastmod"`
	FromRun int64    `json:"from_run"`
	ToRun   *int64   `json:"to_run"`
}

// change is *Change* of CONTRACT, as far as these tests read it.
type change struct {
	Cursor string `json:"cursor"`
	Run    int64  `json:"run"`
	Kind   string `json:"kind"`
	URL    string `json:"url"`
	Reason string `json:"reason"`
	Fields []struct {
		Field          string          `json:"field"`
		Old            json.RawMessage `json:"old"`
		New            json.RawMessage `json:"new"`
		InstantChanged *bool           `json:"instant_changed"`
	} `json:"fields"`
}

// sync runs `sitemapd sync SITE --confirm now -o json`.
func (p program) sync(t *testing.T, site string) runResult {
	t.Helper()
	out, code := p.run(t, "sync", site, "--confirm", "now", "-o", "json")
	var r runResult
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("sync printed %q: %v", out, err)
	}
	r.code = code
	return r
}

// pages runs `sitemapd urls SITE` with further arguments.
func (p program) pages(t *testing.T, site string, arguments ...string) []page {
	t.Helper()
	return decodeLines[page](t, p, append([]string{"urls", site, "-o", "ndjson"}, arguments...)...)
}

// live is the inventory, now or as of an earlier run (0: now).
func (p program) live(t *testing.T, site string, asOf int64) inventory {
	t.Helper()
	arguments := []string{"--state", "live"}
	if asOf > 0 {
		arguments = append(arguments, "--as-of", strconv.FormatInt(asOf, 10))
	}
	found := inventory{}
	for _, line := range p.pages(t, site, arguments...) {
		if _, twice := found[line.URL]; twice {
			t.Errorf("urls printed %s twice", line.URL)
		}
		found[line.URL] = line.Lastmod.utc()
	}
	return found
}

// changes runs `sitemapd changes SITE --after CURSOR`.
func (p program) changes(t *testing.T, site, after string) []change {
	t.Helper()
	arguments := []string{"changes", site, "-o", "ndjson"}
	if after != "" {
		arguments = append(arguments, "--after", after)
	}
	return decodeLines[change](t, p, arguments...)
}

// history runs `sitemapd history SITE URL`.
func (p program) history(t *testing.T, site, url string) []page {
	t.Helper()
	return decodeLines[page](t, p, "history", site, url, "-o", "ndjson")
}

func decodeLines[T any](t *testing.T, p program, arguments ...string) []T {
	t.Helper()
	out, _ := p.run(t, arguments...)
	var all []T
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("sitemapd %q printed %q: %v", arguments, lines.Text(), err)
		}
		all = append(all, v)
	}
	return all
}
