package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// daemon is a running `sitemapd serve`.
type daemon struct {
	program
	address string
	hook    struct {
		URL     string `json:"url"`
		Secrets []struct {
			Secret   string `json:"secret"`
			TokenURL string `json:"token_url"`
		} `json:"secrets"`
	}
}

// serve starts the daemon on a site and waits until the first run is over.
func (p program) serve(t *testing.T, s site, environment ...string) *daemon {
	t.Helper()
	if r := p.sync(t, s.url); r.Verdict != "complete" {
		t.Fatalf("first run: %s (%s)", r.Verdict, r.Reason)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{program: p, address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	command := p.command("serve", "--listen", d.address)
	command.Env = append(append(command.Env, "SITEMAPD_LOG_LEVEL=info"), environment...)
	log, err := os.Create(filepath.Join(t.TempDir(), "daemon.log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.stop(t, command, log.Name()) })
	d.waitUntilReady(t)
	t.Setenv("SITEMAPD_LISTEN", d.address) // from which the hook's address is made
	out, _ := p.run(t, "hook", "secret", s.url, "-o", "json")
	if err := json.Unmarshal(out, &d.hook); err != nil || len(d.hook.Secrets) == 0 {
		t.Fatalf("hook secret printed %q: %v", out, err)
	}
	return d
}

func (d *daemon) waitUntilReady(t *testing.T) {
	t.Helper()
	client := http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if response, err := client.Get("http://" + d.address + "/readyz"); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatal("the daemon did not become ready")
}

func (d *daemon) stop(t *testing.T, command *exec.Cmd, log string) {
	t.Helper()
	_ = command.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	case <-time.After(15 * time.Second):
		_ = command.Process.Kill()
		t.Error("the daemon did not stop within 15 s")
	}
	if t.Failed() {
		text, _ := os.ReadFile(log)
		t.Logf("the daemon's log:\n%.8000s", text)
	}
}

// await asks the feed until a change of this kind and page is recorded, and says how long that took.
func (d *daemon) await(t *testing.T, s site, cursor *string, kinds []string, url string, since time.Time, limit time.Duration) time.Duration {
	t.Helper()
	seen := []string{}
	for time.Since(since) < limit {
		for _, c := range d.changes(t, s.url, *cursor) {
			*cursor = c.Cursor
			seen = append(seen, c.Kind+" "+c.URL)
			if slices.Contains(kinds, c.Kind) && c.URL == url {
				return time.Since(since)
			}
		}
	}
	t.Errorf("%s %s was not recorded within %s; recorded: %q", kinds, url, limit, seen)
	return limit
}

// end gives the cursor after everything recorded so far.
func (d *daemon) end(t *testing.T, s site) string {
	t.Helper()
	feed := d.changes(t, s.url, "")
	if len(feed) == 0 {
		return ""
	}
	return feed[len(feed)-1].Cursor
}

// TestWordPress_PublishToRecorded: from the editor's click to the row in the database, through plugin, hook and run.
func TestWordPress_PublishToRecorded(t *testing.T) {
	for _, test := range []struct {
		name   string
		env    []string
		rounds int
		p95    time.Duration
	}{
		{"no quiet time", []string{"SITEMAPD_SYNC_QUIET=0s"}, 12, 3 * time.Second},
		{"default quiet time", nil, 2, 15 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openSite(t)
			d := programs(t)["sqlite"].serve(t, s, test.env...)
			s.set(t, "plugin", "on")
			s.set(t, "configure", d.hook.URL, d.hook.Secrets[0].Secret)
			s.set(t, "outbox-clear")
			editor := s.rest(t)
			cursor := d.end(t, s)
			var took []time.Duration
			for i := range test.rounds {
				start := time.Now()
				made, _ := editor.send(http.MethodPost, "posts", map[string]any{"title": fmt.Sprintf("Recorded %d", i), "status": "publish"})
				took = append(took, d.await(t, s, &cursor, []string{"added"}, made["link"].(string), start, 60*time.Second))
				path, link := fmt.Sprintf("posts/%.0f", made["id"]), made["link"].(string)
				start = time.Now()
				editor.send(http.MethodDelete, path, nil)
				took = append(took, d.await(t, s, &cursor, []string{"removed"}, link, start, 60*time.Second))
			}
			slices.Sort(took)
			p95 := took[(len(took)*95+99)/100-1]
			t.Logf("publish or trash to recorded, %d times: median %s, p95 %s", len(took), took[len(took)/2], p95)
			if figures && p95 > test.p95 {
				t.Errorf("p95 is %s, want at most %s", p95, test.p95)
			}
			box := s.outbox(t)
			for _, row := range box.Rows {
				if row.State != "sent" {
					t.Errorf("message %s is %s: %s", row.ID, row.State, row.LastError)
				}
			}
			same(t, "inventory", s.list(t), d.live(t, s.url, 0))
		})
	}
}

// TestWordPress_UpdateServicesPing: stock WordPress without any plugin, Settings > Writing > Update Services.
func TestWordPress_UpdateServicesPing(t *testing.T) {
	s := openSite(t)
	d := programs(t)["sqlite"].serve(t, s, "SITEMAPD_SYNC_QUIET=0s")
	s.set(t, "plugin", "off")
	s.set(t, "ping-sites", d.hook.Secrets[0].TokenURL)
	t.Cleanup(func() { s.set(t, "ping-sites", "") })
	cursor := d.end(t, s)
	s.set(t, "cron", "all")
	start := time.Now()
	p := s.act(t, "publish", "Announced by a ping")
	s.set(t, "cron")
	took := d.await(t, s, &cursor, []string{"added"}, p.URL, start, 30*time.Second)
	t.Logf("publish to recorded by a ping: %s", took)
	causes := []string{}
	for _, r := range decodeLines[struct{ Cause string }](t, d.program, "runs", s.url, "-o", "ndjson") {
		causes = append(causes, r.Cause)
	}
	if !slices.Contains(causes, "ping") {
		t.Errorf("the causes of the runs are %q, want a ping among them", causes)
	}
	s.act(t, "delete", id(p))
}
