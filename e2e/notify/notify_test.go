package notify_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A daemon that is killed while a request is under way sends that event again, with its id, and everything behind it in
// its order. A receiver that keeps the ids sees each run once and in order.
func TestKill_NothingIsLostAndOrderHolds(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p *program) {
		s := newSite(t, "a")
		kills := map[int64]bool{2: true, 4: true, 5: true} // runs whose first delivery ends with the daemon's death
		var mu sync.Mutex
		var taken []int64
		took := make(chan struct{}, 1000)
		hang := make(chan request)
		rc := newReceiver(t, func(w http.ResponseWriter, r *http.Request, got request) {
			mu.Lock()
			kill := kills[got.run]
			delete(kills, got.run)
			mu.Unlock()
			if kill {
				hang <- got
				<-r.Context().Done() // until the daemon is gone
				return
			}
			mu.Lock()
			taken = append(taken, got.run)
			mu.Unlock()
			took <- struct{}{}
		})
		p.subscribe(rc, "run.finished")
		pages := []string{"a"}
		for i := range 6 {
			pages = append(pages, fmt.Sprint(i))
			s.set(pages...)
			p.run([]int{0}, "sync", s.url)
		}
		deaths := map[string]bool{}
		d := p.serve()
		for range 3 {
			got := <-hang
			deaths[got.id] = true
			d.end(syscall.SIGKILL)
			d = p.serve()
		}
		for range 6 {
			select {
			case <-took:
			case <-time.After(patience):
				t.Fatal("not every run was delivered")
			}
		}
		d.end(syscall.SIGTERM)
		var ids []string
		for len(rc.got) > 0 { // each is there before it is taken
			ids = append(ids, rc.next().id)
		}
		mu.Lock()
		defer mu.Unlock()
		if want := []int64{1, 2, 3, 4, 5, 6}; !slices.Equal(taken, want) {
			t.Errorf("runs in the order in which they were taken: %v, want %v", taken, want)
		}
		for id := range deaths {
			if n := len(slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other != id })); n < 2 {
				t.Errorf("event %s, whose delivery was cut, came %d times", id, n)
			}
		}
		if len(deaths) != 3 {
			t.Errorf("%d deliveries were cut", len(deaths))
		}
	})
}

// The guard stands before addresses that are chosen, whatever the sites may be.
func TestGuard_NoWebhookReachesAPrivateAddressThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p *program) {
		rc := newReceiver(t, nil)
		p.allow = ""
		id := p.subscribe(rc, "*")
		out := string(p.run([]int{1}, "webhook", "test", id, "-o", "json"))
		if !strings.Contains(out, "the host's address is private or reserved and not allowed") || strings.Contains(out, "127.0.0.1") {
			t.Errorf("%s", out)
		}
		if len(rc.got) != 0 {
			t.Error("the receiver was reached")
		}
		p.allow = "127.0.0.0/8"
		p.run([]int{0}, "webhook", "test", id)
		if r := rc.next(); r.kind != "test" {
			t.Errorf("%s", r.body)
		}
	})
}

// Channels and rules of a file: an alert opens when the guard holds a mass removal, once, and is resolved.
func TestAlerts_OfARulesFileOpenOnceAndAreResolved(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p *program) {
		rc := newReceiver(t, nil)
		dir := t.TempDir()
		write := func(name, content string) string {
			t.Helper()
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		write("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
		rc.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		rules := write("alerts.yaml", fmt.Sprintf(`channels:
  - name: hook
    address: %s
    secret_file: secret
    types: []
alerts:
  - name: mass removal
    trigger: removals_held
    channels: [hook]
`, rc.url))
		p.config = write("c.yaml", "notify:\n  rules: "+rules+"\n")
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprint("page-", i))
		}
		s := newSite(t, all...)
		p.run([]int{0}, "sync", s.url)
		s.set(all[:10]...)
		p.run([]int{0, 5}, "sync", s.url, "--confirm", "now")
		p.run([]int{0, 5}, "sync", s.url, "--confirm", "now")
		d := p.serve()
		opened := rc.next()
		if opened.kind != "alert.opened" || !strings.Contains(string(opened.body), "mass removal") || !strings.Contains(string(opened.body), "30 pages held") {
			t.Errorf("%s", opened.body)
		}
		d.end(syscall.SIGTERM)
		preview := string(p.run([]int{0}, "alert", "test", "mass removal", "--since", "1d", "-o", "ndjson"))
		if strings.Count(preview, `"open":true`) != 1 {
			t.Errorf("%s", preview)
		}
		s.set(all...)
		p.run([]int{0}, "sync", s.url)
		p.serve()
		if resolved := rc.next(); resolved.kind != "alert.resolved" {
			t.Errorf("%s", resolved.body)
		}
		log := string(p.run([]int{0}, "alert", "log", "-o", "ndjson"))
		if strings.Count(log, `"opened_at"`) != 1 || !strings.Contains(log, `"resolved_at"`) {
			t.Errorf("%s", log)
		}
		digest := string(p.run([]int{0}, "digest", "--since", "1d"))
		if !strings.Contains(digest, "40 pages; new here") || !strings.Contains(digest, "1 alert") {
			t.Errorf("%s", digest)
		}
	})
}

// What was passed over comes again when it is asked for, in the log and at the receiver.
func TestRecover_BringsBackWhatWasRefusedWhileDisabled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p *program) {
		s := newSite(t, "a")
		rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, got request) {
			if got.run == 1 {
				w.WriteHeader(http.StatusGone)
			}
		})
		id := p.subscribe(rc, "run.finished")
		p.run([]int{0}, "sync", s.url)
		d := p.serve()
		first := rc.next()
		d.end(syscall.SIGTERM)
		list := string(p.run([]int{0}, "webhook", "list", "-o", "json"))
		if !strings.Contains(list, "it answered 410 Gone") {
			t.Errorf("%s", list)
		}
		// Asked for by hand while it is disabled: it waits until the channel is enabled.
		p.run([]int{0}, "webhook", "resend", id, first.id)
		p.run([]int{0}, "webhook", "enable", id)
		p.run([]int{0}, "sync", s.url)
		p.serve()
		if again := rc.next(); again.id != first.id {
			t.Errorf("%s", again.body)
		}
	})
}
