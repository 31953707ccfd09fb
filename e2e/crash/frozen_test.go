package crash_test

import (
	"bytes"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// TestFrozen_SendsNothingMore stops a program by SIGSTOP in the middle of a walk until another one has its host, walks it
// and ends, then lets it go on: the site gets no request that was not on its way, and the run says that it lost its lease.
// Nothing changed on the site, so no write stands between the frozen program and its next request.
func TestFrozen_SendsNothingMore(t *testing.T) {
	p := newProgram(t, os.Getenv("SITEMAPD_TEST_MYSQL") != "") // one is enough: what is looked at is what is sent
	origin := sitetest.New(sitetest.Options{Posts: 3000, PerFile: 50, Seed: 1})
	if err := origin.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	first := p.sync(origin.Index())

	var seen atomic.Int64
	amidst, stopped := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(stopped) })
	t.Cleanup(release)
	origin.OnRequest(func(int, *http.Request) {
		if seen.Add(1) == 12 { // the only fetcher waits for this answer while its program is stopped
			close(amidst)
			<-stopped
		}
	})
	frozen := p.command("sync", origin.Index(), "-o", "json")
	frozen.Env = append(frozen.Env, "SITEMAPD_SYNC_LEASE_TTL=15s", "SITEMAPD_FETCH_PER_HOST=1", "SITEMAPD_LOG_LEVEL=info")
	var problems bytes.Buffer
	frozen.Stderr = &problems
	if err := frozen.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = frozen.Process.Kill() })
	<-amidst
	if err := frozen.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	release()
	second := p.patient(origin.Index())
	if second.Verdict != models.VerdictComplete || second.Counts.Live != first.Counts.Live {
		t.Errorf("the run of the successor: %s, %+v", second.Verdict, second.Counts)
	}
	origin.ResetLog()
	if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	_ = frozen.Wait()
	if code := frozen.ProcessState.ExitCode(); code != 1 || !bytes.Contains(problems.Bytes(), []byte("lease")) {
		t.Errorf("the frozen program ended with code %d: %s", code, problems.String())
	}
	if n := len(origin.Requests()); n > 0 {
		t.Errorf("the frozen program sent %d requests after another one had its host", n)
	}
	if now := p.current(origin.Index()); now != second.ID {
		t.Errorf("run %d is visible, want %d", now, second.ID)
	}
}

// patient makes one whole run as soon as the host is free.
func (p *program) patient(site string) models.Run {
	p.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		command := p.command("sync", site, "-o", "json")
		out, err := command.Output()
		if err == nil {
			return p.runOf(out)
		}
		if time.Now().After(deadline) {
			p.Fatalf("the host never became free: %v", err)
		}
	}
}
