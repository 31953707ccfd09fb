package notify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// told is the part of events' data that tests look at.
type told struct {
	Type    string
	Summary string
	Site    struct{ Name string }
	Run     json.RawMessage
	Pages   int
	URLs    []string
	Changes []models.Change
	More    bool
	Cursor  string

	Findings []struct{ Code string }
	Opened   []struct{ Rule, Text string }
	Resolved []struct{ Rule, Text string }
}

// events gives what was stored after a number.
func (w *world) events(after int64) []told {
	w.t.Helper()
	stored, err := w.s.Events(w.t.Context(), after, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []told
	for _, e := range stored {
		var d told
		if err := json.Unmarshal(e.Data, &d); err != nil {
			w.t.Fatal(err)
		}
		if len(e.Data) > 18<<10 {
			w.t.Errorf("event %s has %d bytes", e.Type, len(e.Data))
		}
		d.Type = e.Type
		out = append(out, d)
	}
	return out
}

// run makes a run that ends with a verdict and counts, adds pages to document 1 and has findings.
func (w *world) run(verdict models.Verdict, counts models.Counts, pages []string, findings ...models.Finding) models.Run {
	w.t.Helper()
	run := w.Begin()
	w.SaveDocument(run, 1, models.VerdictComplete, findings...)
	var add []models.Declaration
	for _, page := range pages {
		add = append(add, storetest.Page(page, fmt.Sprint(run.ID)))
	}
	w.Stage(run, 1, nil, add)
	at := w.At(run.ID)
	run.Verdict, run.FinishedAt, run.Counts, run.Reason = verdict, &at, counts, "because"
	if err := w.s.Finish(w.t.Context(), w.Lease, run, nil, nil); err != nil {
		w.t.Fatal(err)
	}
	return run
}

func (w *world) tell() {
	w.t.Helper()
	if err := w.teller.Runs(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func kinds(all []told) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.Type)
	}
	return out
}

func TestTeller_AFirstRunIsABeginningAndNothingIsToldTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.channel("https://example.com/in")
	w.run(models.VerdictComplete, models.Counts{Live: 2, Added: 2}, []string{"https://example.com/a", "https://example.com/b"})
	w.tell()
	w.tell()
	if diff := cmp.Diff([]string{"run.finished"}, kinds(w.events(0))); diff != "" {
		t.Error(diff)
	}
	w.run(models.VerdictComplete, models.Counts{Live: 3, Added: 1}, []string{"https://example.com/c"}, models.Finding{Code: "empty-loc", Severity: "error", Text: "x"})
	w.tell()
	got := w.events(1)
	if diff := cmp.Diff([]string{"run.finished", "pages.changed", "finding.opened"}, kinds(got)); diff != "" {
		t.Fatal(diff)
	}
	if c := got[1]; len(c.Changes) != 1 || c.Changes[0].URL != "https://example.com/c" || c.More || c.Cursor != c.Changes[0].Cursor || c.Summary != "example.com: 1 added" {
		t.Errorf("%+v", c)
	}
	if got[2].Findings[0].Code != "empty-loc" {
		t.Errorf("%+v", got[2])
	}
	w.run(models.VerdictUnavailable, models.Counts{Live: 3, Held: 0}, nil)
	w.run(models.VerdictComplete, models.Counts{Live: 3, Held: 2}, nil)
	w.run(models.VerdictComplete, models.Counts{Live: 3}, nil)
	w.tell()
	if diff := cmp.Diff([]string{"run.finished", "finding.closed", "site.unavailable", "run.finished", "held.created", "site.recovered", "run.finished", "held.resolved"},
		kinds(w.events(4))); diff != "" {
		t.Error(diff)
	}
}

func TestTeller_NothingIsToldOfARunThatReadersDoNotSee(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.channel("https://example.com/in")
	run := w.Begin()
	w.SaveDocument(run, 1, models.VerdictComplete)
	w.tell()
	if got := w.events(0); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if err := w.s.FailRun(t.Context(), w.Lease, w.Site.ID, run.ID, "the disk is full"); err != nil {
		t.Fatal(err)
	}
	w.tell()
	if got := w.events(0); len(got) != 1 || got[0].Summary != "example.com: run 1 failed" || !bytes.Contains(got[0].Run, []byte("the disk is full")) {
		t.Errorf("%+v", got)
	}
}

func TestTeller_StoresNothingThatNobodyWants(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.channel("https://example.com/in", models.EventHeldCreated)
	w.run(models.VerdictComplete, models.Counts{Live: 1, Added: 1}, []string{"https://example.com/a"})
	w.run(models.VerdictComplete, models.Counts{Live: 2, Added: 1}, []string{"https://example.com/b"})
	w.tell()
	if got := w.events(0); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// A channel that comes later is told of what happens from then on.
	w.channel("https://example.com/two")
	w.run(models.VerdictComplete, models.Counts{Live: 3, Added: 1}, []string{"https://example.com/c"})
	w.tell()
	if diff := cmp.Diff([]string{"run.finished", "pages.changed"}, kinds(w.events(0))); diff != "" {
		t.Error(diff)
	}
}

// However many pages change and however long their addresses are, an event stays small and says where to go on.
func TestTeller_LargeChangesAreToldInPart(t *testing.T) {
	t.Parallel()
	for _, length := range []int{10, 2000} {
		w := newWorld(t, nil)
		w.channel("https://example.com/in", models.EventPagesChanged)
		w.run(models.VerdictComplete, models.Counts{}, []string{"https://example.com/a"})
		var pages []string
		for i := range 300 {
			pages = append(pages, fmt.Sprintf("https://example.com/%s/%d", strings.Repeat("x", length), i))
		}
		w.run(models.VerdictComplete, models.Counts{Added: 300}, pages)
		w.tell()
		got := w.events(0)
		if len(got) != 1 || !got[0].More || len(got[0].Changes) > 100 || len(got[0].Changes) == 0 || got[0].Cursor == "" {
			t.Fatalf("%d events", len(got))
		}
		seen := map[string]bool{}
		for _, c := range got[0].Changes {
			seen[c.URL] = true
		}
		// The feed goes on where the event ends: together they are everything.
		err := w.s.Changes(t.Context(), w.Site.ID, models.ChangeFilter{Run: 2, After: got[0].Cursor}, func(c *models.Change) error {
			if seen[c.URL] {
				t.Errorf("%s is in the event and after its cursor", c.URL)
			}
			seen[c.URL] = true
			return nil
		})
		if err != nil || len(seen) != 300 {
			t.Errorf("%d pages in all, %v", len(seen), err)
		}
	}
}

// Several daemons see the same run: it is told once.
func TestTeller_SeveralDaemonsTellARunOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.channel("https://example.com/in", models.EventRunFinished)
	for range 5 {
		w.run(models.VerdictComplete, models.Counts{}, nil)
	}
	failed := make(chan error)
	for range 4 {
		teller := notify.NewTeller(notify.TellerOptions{Store: w.open()})
		go func() { failed <- teller.Runs(t.Context()) }()
	}
	for range 4 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	w.tell() // what was left to whoever was overtaken
	var runs []string
	for _, e := range w.events(0) {
		var r struct{ ID int64 }
		_ = json.Unmarshal(e.Run, &r)
		runs = append(runs, fmt.Sprint(r.ID))
	}
	if want := []string{"1", "2", "3", "4", "5"}; !slices.Equal(runs, want) {
		t.Errorf("told of runs %v", runs)
	}
}
