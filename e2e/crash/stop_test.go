package crash_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// TestStop_GivesTheHostBack ends the daemon and a single run by SIGTERM in the middle of a walk: it is gone within 10 s,
// nothing of the run is visible, and the next program need not wait for the lease.
func TestStop_GivesTheHostBack(t *testing.T) {
	for _, mysql := range []bool{false, true} {
		if mysql && os.Getenv("SITEMAPD_TEST_MYSQL") == "" {
			continue
		}
		p := newProgram(t, mysql)
		origin := sitetest.New(sitetest.Options{Posts: 3000, PerFile: 100, Seed: 1})
		if err := origin.Listen("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = origin.Close() })
		p.sync(origin.Index())
		for _, arguments := range [][]string{
			{"sync", origin.Index(), "--confirm", "now"},
			{"serve", "--site", origin.Index(), "--listen", "127.0.0.1:0"},
		} {
			origin.BulkImport(500)
			p.stopAmidst(origin, arguments)
			started := time.Now()
			run := p.sync(origin.Index())
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("after %s: the next program waited; its run took %s", arguments[0], took)
			}
			if run.Verdict != models.VerdictComplete || run.Counts.Live != int64(len(origin.Inventory())) {
				t.Errorf("after %s: %s, counts %+v", arguments[0], run.Verdict, run.Counts)
			}
		}
	}
}

// stopAmidst starts a program, waits for its tenth request, and asks it to stop.
func (p *program) stopAmidst(origin *sitetest.Site, arguments []string) {
	p.Helper()
	before := p.current(origin.Index())
	// The walk hangs at the last document, so that it cannot end before it is stopped.
	undo := origin.Fail("/wp-sitemap-posts-post-3?.xml", sitetest.Hang())
	defer undo()
	reached := make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	origin.OnRequest(func(_ int, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "-post-31.xml") {
			once()
		}
	})
	command := p.command(arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	if err := command.Start(); err != nil {
		p.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	if arguments[0] == "serve" { // a person asks for a run
		p.trigger(origin.Index())
	}
	select {
	case <-reached:
	case err := <-ended:
		p.Fatalf("%v ended before it was stopped: %v\n%s", arguments, err, problems.String())
	case <-time.After(time.Minute):
		_ = command.Process.Kill()
		p.Fatalf("%v asked for nothing within a minute\n%s", arguments, problems.String())
	}
	asked := time.Now()
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		p.Fatal(err)
	}
	select {
	case <-ended:
		p.Logf("%s stopped after %s", arguments[0], time.Since(asked).Round(time.Millisecond))
	case <-time.After(10 * time.Second):
		_ = command.Process.Kill()
		p.Fatalf("%s did not stop within 10 s\n%s", arguments[0], problems.String())
	}
	if now := p.current(origin.Index()); now != before {
		p.Errorf("%s: run %d became visible, it was %d", arguments[0], now, before)
	}
}

func (p *program) current(root string) (run int64) {
	p.Helper()
	p.read(func(ctx context.Context, s *store.Store) {
		site, err := s.FindSite(ctx, root)
		if err != nil {
			p.Fatal(err)
		}
		run = site.CurrentRun
	})
	return run
}

func (p *program) trigger(root string) {
	p.Helper()
	p.read(func(ctx context.Context, s *store.Store) {
		site, err := s.FindSite(ctx, root)
		if err != nil {
			p.Fatal(err)
		}
		_, _, err = s.SaveTrigger(ctx, models.Trigger{SiteID: site.ID, Kind: models.CauseManual, Dialect: "none", ReceivedAt: time.Now()})
		if err != nil {
			p.Fatal(err)
		}
	})
}

// TestFullDisk_SQLite lets a run fill a small file system: it fails with a sentence, keeps what was stored, and goes on once
// there is room.
func TestFullDisk_SQLite(t *testing.T) {
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", folder).Run() })
	p := newProgram(t, false)
	_ = p.raw.Close()
	p.onSQLite(filepath.Join(folder, "sitemapd.db"))
	origin := sitetest.New(sitetest.Options{Posts: 2000, PerFile: 500, Seed: 1})
	if err := origin.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	first := p.sync(origin.Index())
	origin.BulkImport(40000)
	command := p.command("sync", origin.Index(), "-o", "json")
	var problems bytes.Buffer
	command.Stderr = &problems
	_ = command.Run()
	if code := command.ProcessState.ExitCode(); code != 1 || !strings.Contains(problems.String(), "full") {
		t.Errorf("exit code %d, %q: want 1 and a word about the full disk", code, problems.String())
	}
	if now := p.current(origin.Index()); now != first.ID {
		t.Errorf("run %d is visible, want %d", now, first.ID)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=200m", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.expire() // giving the lease back needed room as well
	if run := p.sync(origin.Index()); run.Counts.Live != int64(len(origin.Inventory())) {
		t.Errorf("with room again: %+v", run.Counts)
	}
}
