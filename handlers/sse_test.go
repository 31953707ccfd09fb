package handlers_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// events opens a stream on a running server and gives its events one by one.
func events(t *testing.T, address string, header ...string) (next func() (name, id, data string, ok bool), response *http.Response) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err = http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	return func() (name, id, data string, ok bool) {
		for lines.Scan() {
			line := lines.Text()
			switch {
			case strings.HasPrefix(line, "event: "):
				name = line[7:]
			case strings.HasPrefix(line, "id: "):
				id = line[4:]
			case strings.HasPrefix(line, "data: "):
				data = line[6:]
			case line == "" && name != "":
				return name, id, data, true
			}
		}
		return "", "", "", false
	}, response
}

// broadcast is an engine whose walk the test moves.
type broadcast struct {
	mu       sync.Mutex
	watchers []chan models.Progress
	current  *models.Progress
	watched  chan struct{}
}

func newBroadcast(f *fixture) *broadcast {
	b := &broadcast{watched: make(chan struct{}, 100)}
	f.walker.ProgressFunc = func(int64) (models.Progress, bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.current == nil {
			return models.Progress{}, false
		}
		return *b.current, true
	}
	f.walker.WatchFunc = func(ctx context.Context, _ int64) <-chan models.Progress {
		c := make(chan models.Progress, 100)
		b.mu.Lock()
		b.watchers = append(b.watchers, c)
		b.mu.Unlock()
		b.watched <- struct{}{}
		return c
	}
	return b
}

func (b *broadcast) send(p models.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = &p
	if p.Phase == "finished" {
		b.current = nil
	}
	for _, c := range b.watchers {
		c <- p
	}
}

func TestSSE_RunProgressEndsWithTheRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	b := newBroadcast(f)
	f.store.RunFunc = func(_, id int64) (models.Run, error) { return models.Run{ID: id}, nil }
	base, _ := f.serve(t)
	b.current = &models.Progress{SiteID: 1, Run: 8, Phase: "walking", Documents: 1}
	next, r := events(t, base+"/api/v1/sites/1/runs/8/progress")
	if r.Header.Get("Content-Type") != "text/event-stream" || r.Header.Get("X-Accel-Buffering") != "no" || r.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v", r.Header)
	}
	name, _, data, _ := next()
	if name != "progress" || !strings.Contains(data, `"documents":1`) {
		t.Errorf("%s %s", name, data)
	}
	<-b.watched
	b.send(models.Progress{SiteID: 1, Run: 8, Phase: "walking", Documents: 2, Document: "https://example.com/\n\nevent: evil"})
	if name, _, data, _ = next(); name != "progress" || !strings.Contains(data, `"documents":2`) {
		t.Errorf("%s %s", name, data)
	}
	b.send(models.Progress{SiteID: 1, Run: 8, Phase: "finished", Verdict: "complete"})
	if name, _, data, _ = next(); name != "finished" || !strings.Contains(data, `"complete"`) {
		t.Errorf("%s %s", name, data)
	}
	if name, _, _, ok := next(); ok {
		t.Errorf("%s after the end", name)
	}
}

func TestSSE_FinishedRunIsToldAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	f.store.RunFunc = func(_, id int64) (models.Run, error) {
		return models.Run{ID: id, FinishedAt: &now, Verdict: models.VerdictPartial}, nil
	}
	base, _ := f.serve(t)
	next, _ := events(t, base+"/api/v1/sites/1/runs/3/progress")
	if name, _, data, _ := next(); name != "finished" || !strings.Contains(data, "partial") {
		t.Errorf("%s %s", name, data)
	}
	if _, _, _, ok := next(); ok {
		t.Error("still open")
	}
	next, _ = events(t, base+"/api/v1/sites/1/progress")
	if name, _, _, _ := next(); name != "idle" {
		t.Errorf("%s", name)
	}
}

func TestSSE_ChangeFeedGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	b := newBroadcast(f)
	var mu sync.Mutex
	last := 3
	f.store.ChangesFunc = func(_ int64, filter models.ChangeFilter, fn func(*models.Change) error) error {
		mu.Lock()
		defer mu.Unlock()
		if len(filter.Kinds) != 1 || filter.Kinds[0] != "added" {
			t.Errorf("kinds %v", filter.Kinds)
		}
		for i := 1; i <= last; i++ {
			cursor := fmt.Sprintf("7.%02d", i)
			if cursor > filter.After {
				if err := fn(&models.Change{Cursor: cursor, Kind: models.KindAdded, URL: "https://example.com/" + cursor}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	base, _ := f.serve(t)
	// A reconnecting browser repeats the first address; its Last-Event-ID is newer.
	next, _ := events(t, base+"/api/v1/sites/1/changes?kind=added&after=7.00", "Last-Event-ID", "7.01")
	for _, want := range []string{"7.02", "7.03"} {
		if name, id, data, _ := next(); name != "change" || id != want || !strings.Contains(data, want) {
			t.Errorf("%s %s %s, want %s", name, id, data, want)
		}
	}
	<-b.watched
	mu.Lock()
	last = 5
	mu.Unlock()
	b.send(models.Progress{SiteID: 1, Run: 8, Phase: "finished"})
	for _, want := range []string{"7.04", "7.05"} {
		if _, id, _, _ := next(); id != want {
			t.Errorf("%s, want %s", id, want)
		}
	}
}

func TestServe_StopsWithOpenStreams(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	base, stop := f.serve(t)
	next, open := events(t, base+"/api/v1/sites/1/progress")
	if name, _, _, _ := next(); name != "idle" {
		t.Fatal(name)
	}
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, _, _, ok := next(); ok {
		t.Error("the stream goes on")
	}
	if _, err := io.ReadAll(open.Body); err != nil {
		t.Errorf("the stream was cut, not ended: %v", err)
	}
	r := f.request("GET", "/readyz", "")
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("ready while stopped: %d", r.StatusCode)
	}
	wantStatus(t, f.request("GET", "/livez", ""), 200)
}

func TestSSE_OneCallerHasOnlySoManyStreams(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	base, _ := f.serve(t)
	var last *http.Response
	for range 33 {
		next, r := events(t, base+"/api/v1/sites/1/progress", "Accept-Encoding", "gzip")
		if last = r; r.StatusCode == 200 {
			next()
		}
	}
	if last.StatusCode != 429 || last.Header.Get("Retry-After") == "" {
		t.Errorf("the 33rd: %d", last.StatusCode)
	}
}
