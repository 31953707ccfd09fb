package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// outbox is the plugin's table as the driver shows it, newest row first.
type outbox struct {
	Rows []struct {
		ID        string `json:"id"`
		MessageID string `json:"message_id"`
		State     string `json:"state"`
		Attempts  string `json:"attempts"`
		NextAt    string `json:"next_at"`
		LastCode  string `json:"last_code"`
		LastError string `json:"last_error"`
	} `json:"rows"`
	Seq  int   `json:"seq"`
	Cron int64 `json:"cron"`
}

func (s site) outbox(t *testing.T) outbox {
	t.Helper()
	var box outbox
	s.do(t, &box, "outbox")
	return box
}

func TestPlugin_KeepsWhatTheDaemonDidNotTakeAndTriesAgain(t *testing.T) {
	s, r := withPlugin(t)
	r.answer(http.StatusServiceUnavailable, "")
	p := s.act(t, "publish", "Kept")
	first := r.take()
	box := s.outbox(t)
	if len(first) != 1 || len(box.Rows) != 1 || box.Rows[0].State != "waiting" || box.Rows[0].LastCode != "503" {
		t.Fatalf("after 503: %d requests, outbox %+v", len(first), box)
	}
	if wait := time.Until(time.Unix(box.Cron, 0)); wait < 50*time.Second || wait > 80*time.Second {
		t.Errorf("the next attempt is planned in %s, want about a minute", wait)
	}
	s.set(t, "cron")
	if got := r.take(); len(got) != 0 {
		t.Errorf("tried again before its time: %d requests", len(got))
	}

	// Its time has come, and the daemon is still away: the wait grows.
	s.set(t, "outbox-due")
	s.set(t, "cron", "all")
	second := r.take()
	box = s.outbox(t)
	if len(second) != 1 || box.Rows[0].Attempts != "2" {
		t.Fatalf("second attempt: %d requests, outbox %+v", len(second), box)
	}
	next, err := time.Parse(time.DateTime, box.Rows[0].NextAt)
	if err != nil || time.Until(next) < 4*time.Minute {
		t.Errorf("after two attempts the next is at %s, want five minutes from now", box.Rows[0].NextAt)
	}

	r.answer(http.StatusOK, "")
	s.set(t, "outbox-due")
	s.set(t, "cron", "all")
	third := r.take()
	if len(third) != 1 {
		t.Fatalf("%d requests, want the third attempt", len(third))
	}
	if third[0].id != first[0].id || third[0].body != first[0].body {
		t.Errorf("the message changed between attempts: %q %q, then %q %q", first[0].id, first[0].body, third[0].id, third[0].body)
	}
	if box = s.outbox(t); box.Rows[0].State != "sent" {
		t.Errorf("outbox says %q, want sent", box.Rows[0].State)
	}
	s.act(t, "delete", id(p))
}

func TestPlugin_GivesUpOnlyWhatCannotArrive(t *testing.T) {
	tests := []struct {
		name       string
		status     int
		retryAfter string
		state      string
		atLeast    time.Duration // until the next attempt, for what waits
	}{
		{"refused signature is tried again", http.StatusUnauthorized, "", "waiting", 50 * time.Second},
		{"busy daemon says when", http.StatusTooManyRequests, "1000", "waiting", 990 * time.Second},
		{"redirect is no delivery", http.StatusFound, "", "waiting", 50 * time.Second},
		{"too large stays too large", http.StatusRequestEntityTooLarge, "", "failed", 0},
		{"unknown for good", http.StatusGone, "", "failed", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, r := withPlugin(t)
			r.answer(test.status, test.retryAfter)
			p := s.act(t, "publish", "Judged")
			box := s.outbox(t)
			if len(box.Rows) != 1 || box.Rows[0].State != test.state {
				t.Fatalf("outbox %+v, want one row %s", box.Rows, test.state)
			}
			if test.state == "waiting" {
				next, err := time.Parse(time.DateTime, box.Rows[0].NextAt)
				if err != nil || time.Until(next) < test.atLeast {
					t.Errorf("next attempt at %s, want not before %s from now", box.Rows[0].NextAt, test.atLeast)
				}
			}
			r.answer(http.StatusOK, "")
			r.take()
			s.act(t, "delete", id(p))
			if got := len(r.take()); (got == 0) != (test.status == http.StatusGone) {
				t.Errorf("%d requests after status %d", got, test.status)
			}
		})
	}
}

func TestPlugin_SurvivesAnAbsentDaemon(t *testing.T) {
	s, r := withPlugin(t)
	r.server.Close()
	p := s.act(t, "publish", "Nobody there")
	box := s.outbox(t)
	if len(box.Rows) != 1 || box.Rows[0].State != "waiting" || box.Rows[0].LastError == "" {
		t.Fatalf("outbox %+v, want one waiting row with its error", box.Rows)
	}
	var health map[string]any
	s.do(t, &health, "health")
	if status := health["sitemapd_delivery"].(map[string]any)["status"]; status != "critical" {
		t.Errorf("Site Health says %v, want critical", status)
	}

	// Another daemon takes its place; the first success brings the rest along.
	again := newReceiver(t)
	s.set(t, "configure", again.server.URL+"/hooks/test", secret)
	var answer struct{ Lines []string }
	s.do(t, &answer, "wp-cli", "push")
	if got := said(again.take()); len(got) != 2 || got[0] != "site.push "+s.url && got[1] != "site.push "+s.url {
		t.Errorf("pushed %q (%q), want the post and the push", got, answer.Lines)
	}
	s.do(t, &health, "health")
	if status := health["sitemapd_delivery"].(map[string]any)["status"]; status != "good" {
		t.Errorf("Site Health says %v, want good", status)
	}
	s.act(t, "delete", id(p))
}

func TestPlugin_CommandLine(t *testing.T) {
	s, r := withPlugin(t)
	run := func(arguments ...string) string {
		t.Helper()
		var answer struct{ Lines []string }
		s.do(t, &answer, "wp-cli", arguments...)
		return strings.Join(answer.Lines, "\n")
	}
	if got := run("test"); !strings.HasPrefix(got, "Success: taken in ") {
		t.Errorf("test said %q", got)
	}
	expect(t, r, "test", "site.test "+s.url)
	p := s.act(t, "find", "middle")
	if got := run("push", id(p)); got != "Success: nothing is waiting" && !strings.HasPrefix(got, "Success:") {
		t.Errorf("push said %q", got)
	}
	expect(t, r, "push of a post", "post.updated "+p.URL)
	if got := run("status"); !strings.Contains(got, r.server.URL) || strings.Contains(got, secret) {
		t.Errorf("status said %q, want the address and no secret", got)
	}
	r.answer(http.StatusRequestEntityTooLarge, "")
	run("push")
	r.answer(http.StatusOK, "")
	r.take()
	if got := run("resend"); got != "Success: 1 taken" {
		t.Errorf("resend said %q", got)
	}
	expect(t, r, "resend", "site.push "+s.url)
	s.set(t, "configure", "", "")
	if got := run("test"); !strings.HasPrefix(got, "Error: ") {
		t.Errorf("test without settings said %q", got)
	}
}

func TestPlugin_UninstallLeavesNothing(t *testing.T) {
	s, _ := withPlugin(t)
	var left struct {
		Tables, Options []string
		Cron            int
	}
	s.do(t, &left, "uninstall")
	if len(left.Tables) > 0 || len(left.Options) > 0 || left.Cron != 0 {
		t.Errorf("left behind: %+v", left)
	}
}
