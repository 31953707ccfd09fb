package notify_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// patience is how long a test waits for what must come; nothing is measured by it.
const patience = time.Minute

var programFolder string

var buildProgram = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SITEMAPD_TEST_BIN"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "sitemapd-notify")
	if err != nil {
		return "", err
	}
	programFolder = dir
	path := filepath.Join(dir, "sitemapd")
	command := exec.Command("go", "build", "-o", path, "github.com/sitemapd/sitemapd/cmd/sitemapd")
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
	t        *testing.T
	path     string
	database string
	allow    string // private networks, "" for none
	config   string // file, "" for none
}

// onEach runs a test on SQLite and, when a server is named, on MariaDB.
func onEach(t *testing.T, test func(t *testing.T, p *program)) {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, &program{t, path, "sqlite:" + filepath.Join(t.TempDir(), "s.db"), "127.0.0.0/8", ""})
	})
	if dsn := os.Getenv("SITEMAPD_TEST_MYSQL"); dsn != "" {
		t.Run("mariadb", func(t *testing.T) {
			t.Parallel()
			test(t, &program{t, path, newDatabase(t, dsn), "127.0.0.0/8", ""})
		})
	}
}

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
	name := fmt.Sprintf("notify_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = db.Exec("DROP DATABASE " + name)
		_ = db.Close()
	})
	return strings.TrimSuffix(dsn, "/") + "/" + name
}

func (p *program) command(arguments ...string) *exec.Cmd {
	arguments = append(arguments, "--database", p.database, "--log-level", "warn")
	if p.allow != "" {
		arguments = append(arguments, "--allow-private", p.allow)
	}
	if p.config != "" {
		arguments = append(arguments, "--config", p.config)
	}
	return exec.Command(p.path, arguments...)
}

// run gives what a command prints; its exit code must be one of codes.
func (p *program) run(codes []int, arguments ...string) []byte {
	p.t.Helper()
	command := p.command(arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	code := command.ProcessState.ExitCode()
	for _, c := range codes {
		if c == code {
			return out
		}
	}
	p.t.Fatalf("sitemapd %q: exit code %d: %s%s", arguments, code, out, problems.String())
	return nil
}

func decode[T any](t *testing.T, out []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return v
}

// daemon is a running `sitemapd serve`.
type daemon struct {
	t       *testing.T
	command *exec.Cmd
	done    chan struct{}
	log     bytes.Buffer
}

func (p *program) serve() *daemon {
	p.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	d := &daemon{t: p.t, command: p.command("serve", "--listen", address), done: make(chan struct{})}
	d.command.Stderr = &d.log
	if err := d.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = d.command.Wait()
		close(d.done)
	}()
	p.t.Cleanup(func() { d.end(syscall.SIGKILL) })
	return d
}

// end signals the daemon and waits until it is gone.
func (d *daemon) end(signal syscall.Signal) {
	d.t.Helper()
	_ = d.command.Process.Signal(signal)
	select {
	case <-d.done:
	case <-time.After(patience):
		d.t.Error("the daemon does not end")
		_ = d.command.Process.Kill()
		<-d.done
	}
	if d.t.Failed() && d.log.Len() > 0 {
		d.t.Logf("the daemon's log: %s", d.log.String())
	}
}

// site is a sitemap with pages that the test chooses.
type site struct {
	mu    sync.Mutex
	pages []string
	url   string
}

func newSite(t *testing.T, pages ...string) *site {
	t.Helper()
	s := &site{pages: pages}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sitemap.xml" {
			http.NotFound(w, r)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for _, page := range s.pages {
			fmt.Fprintf(w, "<url><loc>http://%s/%s</loc></url>", r.Host, page)
		}
		fmt.Fprint(w, "</urlset>")
	}))
	t.Cleanup(server.Close)
	s.url = server.URL + "/sitemap.xml"
	return s
}

func (s *site) set(pages ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = pages
}

// receiver is the other end of a webhook. It verifies what it gets once it knows the secret.
type receiver struct {
	t      *testing.T
	url    string
	got    chan request
	mu     sync.Mutex
	secret string
}

type request struct {
	id, kind string
	run      int64
	body     []byte
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, got request)) *receiver {
	t.Helper()
	rc := &receiver{t: t, got: make(chan request, 1000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		rc.verify(content, r.Header)
		var body struct {
			Type string
			Data struct{ Run json.RawMessage }
		}
		_ = json.Unmarshal(content, &body)
		got := request{id: r.Header.Get("Webhook-Id"), kind: body.Type, body: content}
		var run struct{ ID int64 }
		if json.Unmarshal(body.Data.Run, &run) == nil {
			got.run = run.ID
		}
		rc.got <- got
		if answer != nil {
			answer(w, r, got)
		}
	}))
	t.Cleanup(server.Close)
	rc.url = server.URL + "/in"
	return rc
}

func (rc *receiver) verify(content []byte, header http.Header) {
	rc.mu.Lock()
	secret := rc.secret
	rc.mu.Unlock()
	if secret == "" {
		return
	}
	hook, err := standard.NewWebhook(secret)
	if err == nil {
		err = hook.Verify(content, header)
	}
	if err != nil {
		rc.t.Errorf("the receiver refuses %s: %v", header.Get("Webhook-Id"), err)
	}
}

func (rc *receiver) next() request {
	rc.t.Helper()
	select {
	case r := <-rc.got:
		return r
	case <-time.After(patience):
		rc.t.Fatal("nothing was delivered")
	}
	return request{}
}

// subscribe adds the receiver as a channel.
func (p *program) subscribe(rc *receiver, types string) string {
	p.t.Helper()
	made := decode[struct {
		ID     int64
		Secret string
	}](p.t, p.run([]int{0}, "webhook", "add", rc.url, "--type", types, "-o", "json"))
	rc.mu.Lock()
	rc.secret = made.Secret
	rc.mu.Unlock()
	return fmt.Sprint(made.ID)
}
