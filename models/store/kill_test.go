package store_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// writeForEver makes this test binary a program that makes runs on a database until it is killed, and tells each step.
const writeForEver = "STORE_TEST_WRITE"

// statesAt stands for everything that readers see at a run.
func statesAt(ctx context.Context, s *store.Store, site, run int64) (string, error) {
	sum := sha256.New()
	err := s.Pages(ctx, site, models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: run}}, func(p *models.Page) error {
		_, err := fmt.Fprintln(sum, p.URL, p.State, p.Changefreq, p.Document, p.FirstSeen)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)[:8]), err
}

// endless is the program: random runs of one site, each page declared by one document at most.
func endless(dsn string, out io.Writer) error {
	ctx := context.Background()
	s, err := store.Open(ctx, dsn, store.Options{})
	if err != nil {
		return err
	}
	site, err := s.FindSite(ctx, "killed")
	if err != nil {
		return err
	}
	lease, err := s.AcquireLease(ctx, models.Key{1}, fmt.Sprint(os.Getpid()), time.Microsecond)
	if err != nil {
		return err
	}
	for {
		run, err := s.BeginRun(ctx, lease, site.ID, models.Run{Cause: models.CauseManual, StartedAt: time.Now()})
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "began", run.ID)
		for number := range int32(3) {
			if err := endlessDocument(ctx, s, lease, run, number+1); err != nil {
				return err
			}
			fmt.Fprintln(out, "staged", run.ID)
		}
		if err := s.Finish(ctx, lease, run, nil, nil); err != nil {
			return err
		}
		sum, err := statesAt(ctx, s, site.ID, run.ID)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "finished", run.ID, sum)
	}
}

func endlessDocument(ctx context.Context, s *store.Store, lease models.Lease, run models.Run, number int32) error {
	d := models.Document{Number: number, URL: fmt.Sprint("https://killed.example/", number), Key: models.Key{byte(number)}}
	d.Verdict, d.FetchedAt = models.VerdictComplete, time.Now()
	if err := s.SaveDocument(ctx, lease, run.SiteID, run.ID, &d, []models.Finding{{Code: "x", Severity: models.SeverityInfo}}); err != nil {
		return err
	}
	listed := map[models.Key]models.Listing{}
	if err := s.Listings(ctx, run.SiteID, number, func(l models.Listing) error { listed[l.Key] = l; return nil }); err != nil {
		return err
	}
	var closing []models.Key
	var adding []models.Declaration
	var cases []models.Removal
	for i := range 300 {
		page := storetest.Page(fmt.Sprintf("https://killed.example/%d/%d", number, i), fmt.Sprint(run.ID))
		old, was := listed[page.Key]
		switch rand.IntN(6) {
		case 0: // removed
			if was {
				closing = append(closing, page.Key)
				cases = append(cases, models.Removal{Key: page.Key, URL: page.URL, Document: number, FromRun: run.ID, FirstRun: old.FirstRun, DecidedRun: run.ID,
					Stage: models.StageRemoved, Since: time.Now()})
			}
		case 1, 2: // added or changed
			page.FirstRun = run.ID
			if was {
				closing, page.FirstRun = append(closing, page.Key), old.FirstRun
			}
			adding = append(adding, page)
		}
	}
	if err := s.SaveRemovals(ctx, lease, run.SiteID, run.ID, cases); err != nil {
		return err
	}
	return s.StageDocument(ctx, lease, run.SiteID, run.ID, number, closing, adding)
}

// However often the program is killed: no half of a run is ever seen, and no run that was seen ever reads otherwise.
func TestKill_LeavesWholeRunsAlone(t *testing.T) {
	t.Parallel()
	rounds := map[string]int{"sqlite": 15, "mysql": 5}
	if testing.Short() {
		rounds = map[string]int{"sqlite": 5, "mysql": 2}
	}
	each(t, func(t *testing.T, dsn string) {
		s := handles(t, dsn)()
		site, err := s.AddSite(t.Context(), models.Site{Name: "killed", Root: "https://killed.example/sitemap.xml"})
		if err != nil {
			t.Fatal(err)
		}
		finished := map[string]string{} // run -> states
		for range rounds[s.Dialect()] {
			kill(t, dsn, rand.IntN(25), finished)
			for run, want := range finished {
				var number int64
				if _, err := fmt.Sscan(run, &number); err != nil {
					t.Fatal(err)
				}
				if got, err := statesAt(t.Context(), s, site.ID, number); err != nil || got != want {
					t.Fatalf("run %s reads as %s, %v; it was %s", run, got, err, want)
				}
			}
			wholeHistories(t, s, site.ID)
		}
		if len(finished) == 0 {
			t.Error("no run ever finished: the test kills too early")
		}
	})
}

// kill starts the program, reads so many of its lines, kills it and notes the runs that it told to be finished.
func kill(t *testing.T, dsn string, lines int, finished map[string]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writeForEver+"="+dsn)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for n := 0; n <= lines && scanner.Scan(); n++ {
		if words := strings.Fields(scanner.Text()); words[0] == "finished" {
			finished[words[1]] = words[2]
		} else if words[0] == "error" {
			t.Errorf("the program ended by itself: %s", scanner.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for scanner.Scan() { // what it told before the signal came
		if words := strings.Fields(scanner.Text()); len(words) == 3 && words[0] == "finished" {
			finished[words[1]] = words[2]
		}
	}
	_ = cmd.Wait() // it was killed
}

// wholeHistories wants each page's history without gap and overlap, and at most one open row of a page.
func wholeHistories(t *testing.T, s *store.Store, site int64) {
	t.Helper()
	for i := range 5 {
		url := fmt.Sprintf("https://killed.example/%d/%d", i%3+1, rand.IntN(300))
		pages, err := s.PageHistory(t.Context(), site, storetest.KeyOf(url))
		if err != nil {
			t.Fatal(err)
		}
		for j := range pages {
			if last := j == len(pages)-1; last != (pages[j].ToRun == nil) || !last && *pages[j].ToRun != pages[j+1].FromRun {
				t.Fatalf("history of %s: %+v", url, pages)
			}
		}
	}
	seen := map[models.Key]bool{}
	err := s.Pages(t.Context(), site, models.PageFilter{State: models.StateAll}, func(p *models.Page) error {
		if seen[p.Key] {
			t.Errorf("%s is in the inventory twice", p.URL)
		}
		seen[p.Key] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
