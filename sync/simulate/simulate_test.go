package simulate_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models/store/storetest"
)

var (
	count    = flag.Int("histories", 400, "how many histories to live")
	onMySQL  = flag.Int("mysql-histories", 36, "how many histories to live on MySQL or MariaDB, when there is a server")
	first    = flag.Int("first", 1, "seed of the first history; the next ones count up")
	parallel = flag.Int("workers", runtime.GOMAXPROCS(0), "histories at a time")
	verbose  = flag.Bool("trace", false, "print every step")
	keep     = flag.String("keep", "", "directory for the smallest histories that broke a promise")
	replay   = flag.String("replay", "", "a file with one history to live")
)

const fixtures = "../testdata/simulation"

// TestHistories_KeepEveryPromise lives random histories and counts those that broke a promise.
func TestHistories_KeepEveryPromise(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("histories take minutes; the fixtures are lived nevertheless")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	live(t, *count, func(n int) *worker { return newWorker(t, 10+n) })
}

// TestHistories_OnMySQL lives some of the same histories on MySQL or MariaDB.
func TestHistories_OnMySQL(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Server) == "" || testing.Short() {
		t.Skip(storetest.Server + " is not set, or tests are to be short")
	}
	live(t, *onMySQL, func(n int) *worker { return newWorkerOnMySQL(t, 30+n) })
}

// live lives histories on several workers and counts those that broke a promise.
func live(t *testing.T, limit int, hire func(int) *worker) {
	start := time.Now()
	happened := newEvents()
	var next, lived, broken atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range max(1, *parallel) {
		w := hire(n)
		w.events = happened
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= limit {
					return
				}
				h := made(*first + i)
				err := w.safely(h, tracer(*verbose))
				if done := lived.Add(1); done%100 == 0 {
					t.Logf("%d histories, %d violations, %s", done, broken.Load(), time.Since(start).Round(time.Second))
				}
				if err != nil {
					broken.Add(1)
					mu.Lock()
					t.Errorf("seed %d: %v", h.Seed, err)
					mu.Unlock()
					w.keepSmallest(h, err)
				}
			}
		}()
	}
	wg.Wait()
	happened.print(os.Stdout)
	happened.check(t, lived.Load())
	fmt.Printf("%d histories, %d violations (seeds from %d, %s)\n", lived.Load(), broken.Load(), *first, time.Since(start).Round(time.Second))
}

// TestFixtures_KeepEveryPromise lives the histories that broke a promise once.
func TestFixtures_KeepEveryPromise(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(fixtures, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if *replay != "" {
		files = []string{*replay}
	}
	w := newWorker(t, 0)
	w.thorough = true
	for _, file := range files {
		h := load(t, file)
		if err := w.safely(h, tracer(*verbose)); err != nil {
			t.Errorf("%s (%s): %v", filepath.Base(file), h.Note, err)
		}
	}
}

func load(t testing.TB, file string) history {
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var h history
	if err := json.Unmarshal(body, &h); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return h
}

func tracer(on bool) func(string, ...any) {
	if !on {
		return nil
	}
	return func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
}

var errPanicked = errors.New("panic")

// safely is play that turns a panic into a broken promise.
func (w *worker) safely(h history, trace func(string, ...any)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			stack := make([]byte, 8<<10)
			err = fmt.Errorf("%w: %v\n%s", errPanicked, r, stack[:runtime.Stack(stack, false)])
		}
	}()
	return w.play(h, trace)
}

// keepSmallest takes away steps as long as the history still breaks a promise, and writes down what is left.
func (w *worker) keepSmallest(h history, broke error) {
	if *keep == "" {
		return
	}
	counting := w.events
	w.thorough, w.events = true, newEvents()
	h, broke = w.shrink(h, broke)
	w.thorough, w.events = false, counting
	h.Note = broke.Error()
	body, err := json.MarshalIndent(h, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(*keep, fmt.Sprintf("seed-%d.json", h.Seed)), body, 0o600)
	}
	if err != nil {
		w.t.Error(err)
	}
}

func (w *worker) shrink(h history, broke error) (history, error) {
	tries := 0
	try := func(smaller history) bool {
		if tries++; tries > 150 {
			return false
		}
		if err := w.safely(smaller, nil); err != nil {
			h, broke = smaller, err
			return true
		}
		return false
	}
	for size := len(h.Steps) / 2; size > 0; size /= 2 {
		for at := 0; at < len(h.Steps); {
			smaller := h
			smaller.Steps = slices.Delete(slices.Clone(h.Steps), at, min(at+size, len(h.Steps)))
			if !try(smaller) {
				at += size
			}
		}
	}
	for i := range h.Steps {
		simpler := []func(o *op){func(o *op) { o.Torn = nil }, func(o *op) { o.Fail = nil }, func(o *op) { o.B = 0 }, func(o *op) { o.C = 0 }}
		for _, simplify := range simpler {
			smaller := h
			smaller.Steps = slices.Clone(h.Steps)
			simplify(&smaller.Steps[i])
			try(smaller)
		}
	}
	for _, simplify := range []func(s *setup){func(s *setup) { s.Categories, s.Tags, s.Users = 0, 0, 0 }, func(s *setup) { s.Gzip = false },
		func(s *setup) { s.Conditional = false }, func(s *setup) { s.Pages = 0 }, func(s *setup) { s.Posts /= 2 }, func(s *setup) { s.Posts /= 2 },
		func(s *setup) { s.BlogPage, s.NoPosts404 = 0, false }, func(s *setup) { s.GuardPages = 0 }} {
		smaller := h
		simplify(&smaller.Setup)
		try(smaller)
	}
	return h, broke
}
