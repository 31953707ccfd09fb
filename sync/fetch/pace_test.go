package fetch_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

func TestTime_NoAnswerIsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		defer end()
		r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/"})
		if r.Outcome != fetch.Timeout || r.Attempts != 3 {
			t.Errorf("%q after %d attempts", r.Outcome, r.Attempts)
		}
		if r.Elapsed < 90*time.Second || r.Elapsed > 95*time.Second {
			t.Errorf("elapsed %v, want three times 30 s and short pauses", r.Elapsed)
		}
		r = c.Do(t.Context(), fetch.Request{URL: "http://site.test/", Kind: fetch.Page})
		if r.Outcome != fetch.Timeout || r.Elapsed != 75*time.Second {
			t.Errorf("page: %q after %v, want three times 20 s and pauses of 5 s and 10 s", r.Outcome, r.Elapsed)
		}
	})
}

func TestTime_DripIsTooSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		})
		defer end()
		start := time.Now()
		r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/"})
		_, err := io.Copy(io.Discard, r.Body)
		if took := time.Since(start); !errors.Is(err, fetch.ErrTooSlow) || r.BodyOutcome() != fetch.TooSlow || took > 21*time.Second {
			t.Errorf("%v, %q after %v", err, r.BodyOutcome(), took)
		}
	})
}

func TestTime_SteadyBodyEndsAtTheFetchTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 4096))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		})
		defer end()
		start := time.Now()
		r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/"})
		_, err := io.Copy(io.Discard, r.Body)
		if took := time.Since(start); !errors.Is(err, fetch.ErrTimeout) || r.BodyOutcome() != fetch.Timeout || took.Round(time.Second) != 120*time.Second {
			t.Errorf("%v, %q after %v", err, r.BodyOutcome(), took)
		}
	})
}

func TestTime_SlowReaderIsNotASlowServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100_000)) })
		defer end()
		r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/"})
		total := 0
		for {
			n, err := r.Body.Read(make([]byte, 1000))
			total += n
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("after %d bytes: %v", total, err)
			}
			time.Sleep(10 * time.Second)
		}
		if total != 100_000 {
			t.Errorf("read %d bytes", total)
		}
	})
}

// script answers with a status after the other, then 200.
func script(statuses []int, header ...string) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if len(statuses) == 0 {
			return
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(statuses[0])
		statuses = statuses[1:]
	}
}

func TestRetry_PausesAndRetryAfter(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		h          http.HandlerFunc
		status     int
		tries      int
		retryAfter time.Duration
		from, to   time.Duration
	}{
		"500 twice":       {script([]int{500, 502}), 200, 3, 0, 1500 * time.Millisecond, 4500 * time.Millisecond},
		"for ever":        {script([]int{503, 503, 503, 503}), 503, 3, 0, 1500 * time.Millisecond, 4500 * time.Millisecond},
		"short after":     {script([]int{429}, "Retry-After", "7"), 200, 2, 0, 7 * time.Second, 7 * time.Second},
		"long after":      {script([]int{503}, "Retry-After", "600"), 503, 1, 600 * time.Second, 0, 0},
		"date":            {script([]int{503}, "Retry-After", "Mon, 30 Nov 2026 10:10:00 GMT", "Date", "Mon, 30 Nov 2026 10:00:00 GMT"), 503, 1, 600 * time.Second, 0, 0},
		"absurd after":    {script([]int{503}, "Retry-After", "99999999"), 503, 1, 24 * time.Hour, 0, 0},
		"past date":       {script([]int{503}, "Retry-After", "Mon, 30 Nov 1998 10:10:00 GMT"), 200, 2, 0, 500 * time.Millisecond, 1500 * time.Millisecond},
		"nonsense after":  {script([]int{503}, "Retry-After", "-soon"), 200, 2, 0, 500 * time.Millisecond, 1500 * time.Millisecond},
		"no passing code": {script([]int{404}), 404, 1, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, end := inMemory(t, fetch.Options{}, row.h)
				defer end()
				r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/"})
				_ = r.Close()
				if r.Status != row.status || r.Attempts != row.tries || r.RetryAfter != row.retryAfter {
					t.Errorf("status %d after %d attempts, Retry-After %v", r.Status, r.Attempts, r.RetryAfter)
				}
				if r.Elapsed < row.from || r.Elapsed > row.to {
					t.Errorf("elapsed %v, want %v to %v", r.Elapsed, row.from, row.to)
				}
			})
		})
	}
}

func TestRetry_NegativeMeansNever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{Retries: -1}, script([]int{500, 500}))
		defer end()
		if r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/"}); r.Attempts != 1 || r.Status != 500 {
			t.Errorf("%d attempts", r.Attempts)
		}
	})
}

// gauge counts how many requests run at once.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func (g *gauge) around(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.now++
		g.most = max(g.most, g.now)
		g.mu.Unlock()
		f(w, r)
		g.mu.Lock()
		g.now--
		g.mu.Unlock()
	}
}

func (g *gauge) reset() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	most := g.most
	g.most = g.now
	return most
}

// flood fetches n documents at once and reads them.
func flood(t *testing.T, c *fetch.Client, n int, req fetch.Request) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			r := c.Do(t.Context(), req)
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Close()
		})
	}
	wg.Wait()
}

func TestPace_DocumentsAdaptToTheHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		var mu sync.Mutex
		status, latency := 200, 100*time.Millisecond
		c, end := inMemory(t, fetch.Options{Retries: -1}, g.around(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			code, wait := status, latency
			mu.Unlock()
			time.Sleep(wait)
			w.WriteHeader(code)
			_, _ = w.Write(make([]byte, 1000))
		}))
		defer end()
		set := func(code int, wait time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			status, latency = code, wait
		}
		req := fetch.Request{URL: "http://site.test/wp-sitemap.xml"}
		flood(t, c, 40, req)
		if most := g.reset(); most != 4 {
			t.Errorf("a quick host was asked %d at once, want 4", most)
		}
		set(429, 0)
		flood(t, c, 4, req)
		set(200, 100*time.Millisecond)
		g.reset()
		flood(t, c, 2, req)
		if most := g.reset(); most != 1 {
			t.Errorf("after 429 the host was asked %d at once, want 1", most)
		}
		flood(t, c, 40, req)
		if most := g.reset(); most != 4 {
			t.Errorf("a host that recovered was asked %d at once, want 4 again", most)
		}
		set(200, 6*time.Second)
		flood(t, c, 4, req)
		g.reset()
		flood(t, c, 4, req)
		if most := g.reset(); most != 1 {
			t.Errorf("a slow host was asked %d at once, want 1", most)
		}
	})
}

func TestPace_SlotIsHeldUntilTheBodyIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{PerHost: 1}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 10)) })
		defer end()
		first := c.Do(t.Context(), fetch.Request{URL: "http://site.test/1"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r := c.Do(ctx, fetch.Request{URL: "https://site.test/2"}); r.Outcome != fetch.Cancelled {
			t.Errorf("a second document of the host: %q", r.Outcome)
		}
		if r := c.Do(t.Context(), fetch.Request{URL: "http://other.test/"}); r.Outcome != fetch.OK || r.Close() != nil {
			t.Errorf("another host waited: %q", r.Outcome)
		}
		_, _ = io.Copy(io.Discard, first.Body) // the end frees the slot, Close comes late
		if r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/2"}); r.Outcome != fetch.OK || r.Close() != nil || r.Elapsed > 0 {
			t.Errorf("after the end of the body: %q after %v", r.Outcome, r.Elapsed)
		}
		_ = first.Close()
	})
}

func TestPace_PagesComeOneAtATimeWithAPause(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		latency, crawlDelay, pause time.Duration
		status                     int
	}{
		"quick":       {0, 0, time.Second, 200},
		"slow":        {3 * time.Second, 0, 6 * time.Second, 200},
		"crawl delay": {0, 10 * time.Second, 10 * time.Second, 200},
		"absurd":      {0, time.Hour, time.Minute, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var g gauge
				var mu sync.Mutex
				var starts, ends []time.Time
				c, end := inMemory(t, fetch.Options{}, g.around(func(w http.ResponseWriter, _ *http.Request) {
					mu.Lock()
					starts = append(starts, time.Now())
					mu.Unlock()
					time.Sleep(row.latency)
					w.WriteHeader(row.status)
					mu.Lock()
					ends = append(ends, time.Now())
					mu.Unlock()
				}))
				defer end()
				flood(t, c, 5, fetch.Request{URL: "http://site.test/a/", Kind: fetch.Page, CrawlDelay: row.crawlDelay})
				if g.reset() != 1 {
					t.Error("pages were fetched at once")
				}
				for i := 1; i < len(starts); i++ {
					if pause := starts[i].Sub(ends[i-1]); pause != row.pause {
						t.Errorf("pause %v, want %v", pause, row.pause)
					}
				}
			})
		})
	}
}

// A page that hangs until our own timeout keeps the host's other pages waiting for 5 s, each further one in a row for twice
// as long, up to twice the time spent; an answer ends that. A longer Crawl-delay counts as ever.
func TestPace_PagesThatHangHoldNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{Retries: -1}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hangs/" {
				<-r.Context().Done()
			} else if r.URL.Path == "/busy/" {
				w.WriteHeader(503)
			}
		})
		defer end()
		for i, page := range []struct {
			path       string
			crawlDelay time.Duration
			waited     time.Duration
		}{
			{"/a/", 0, 0}, {"/hangs/", 0, 1}, {"/a/", 0, 5}, {"/a/", 0, 1}, {"/hangs/", 0, 1}, {"/hangs/", 0, 5}, {"/hangs/", 0, 10}, {"/hangs/", 0, 20}, {"/hangs/", 0, 40},
			{"/a/", 0, 40}, {"/hangs/", 7, 1}, {"/a/", 0, 7}, {"/busy/", 0, 1}, {"/busy/", 0, 2}, {"/hangs/", 0, 4}, {"/a/", 0, 5}, {"/a/", 0, 4},
		} {
			r := c.Do(t.Context(), fetch.Request{URL: "http://site.test" + page.path, Kind: fetch.Page, CrawlDelay: page.crawlDelay * time.Second})
			_ = r.Close()
			waited := r.Elapsed
			if page.path == "/hangs/" {
				waited -= 20 * time.Second
			}
			if waited != page.waited*time.Second {
				t.Errorf("page %d, %s: waited %v, want %v s", i, page.path, waited, int64(page.waited))
			}
		}
	})
}

func TestPace_BusyPagesHalveTheRateForADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{Retries: -1}, script([]int{200, 503, 200, 200}))
		defer end()
		req := fetch.Request{URL: "http://site.test/a/", Kind: fetch.Page}
		for i, want := range []time.Duration{0, 1 * time.Second, 2 * time.Second, 2 * time.Second} {
			r := c.Do(t.Context(), req)
			_ = r.Close()
			if r.Elapsed != want {
				t.Errorf("page %d waited %v, want %v", i, r.Elapsed, want)
			}
		}
		time.Sleep(25 * time.Hour)
		_ = c.Do(t.Context(), req).Close()
		if r := c.Do(t.Context(), req); r.Elapsed != time.Second {
			t.Errorf("after a day a page waited %v, want 1 s", r.Elapsed)
		}
	})
}

func TestPace_RetryAfterHoldsTheWholeHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{Retries: -1}, script([]int{429}, "Retry-After", "8"))
		defer end()
		_ = c.Do(t.Context(), fetch.Request{URL: "http://site.test/1"}).Close()
		if r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/2"}); r.Elapsed != 8*time.Second || r.Status != 200 {
			t.Errorf("the next document came after %v", r.Elapsed)
		}
	})
}

func TestPace_CancelledWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, end := inMemory(t, fetch.Options{}, func(w http.ResponseWriter, r *http.Request) {
			if n, _ := strconv.Atoi(r.URL.Query().Get("busy")); n > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(n))
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		defer end()
		for _, req := range []fetch.Request{
			{URL: "http://site.test/?busy=9"},                   // in the pause before a repetition
			{URL: "http://page.test/?busy=9", Kind: fetch.Page}, // the same in the pages' lane
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			r := c.Do(ctx, req)
			cancel()
			if r.Outcome != fetch.Cancelled || r.Elapsed != 5*time.Second || r.Close() != nil {
				t.Errorf("%s: %q after %v", req.URL, r.Outcome, r.Elapsed)
			}
		}
		// Nothing is held by the waits that ended.
		for _, kind := range []fetch.Kind{fetch.Document, fetch.Page} {
			if r := c.Do(t.Context(), fetch.Request{URL: "http://site.test/", Kind: kind}); r.Outcome != fetch.OK {
				t.Errorf("afterwards: %q", r.Outcome)
			}
		}
	})
}
