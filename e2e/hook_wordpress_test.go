package e2e_test

import (
	"bufio"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// arrived is one line of `sitemapd hook log`, as far as these tests read it.
type arrived struct {
	Result  string `json:"result"`
	Cause   string `json:"cause"`
	Dialect string `json:"dialect"`
	Trigger int64  `json:"trigger"`
	Run     int64  `json:"served_run"`
	Hints   []struct {
		Event       string `json:"event"`
		URL         string `json:"url"`
		PreviousURL string `json:"previous_url"`
	} `json:"hints"`
}

// arrivals gives what the plugin delivered, oldest first.
func (d *daemon) arrivals(t *testing.T, s site) []arrived {
	t.Helper()
	all := decodeLines[arrived](t, d.program, "hook", "log", s.url, "--limit", "0", "-o", "ndjson")
	all = slices.DeleteFunc(all, func(a arrived) bool { return a.Dialect != "standard_webhooks" })
	slices.Reverse(all)
	return all
}

// lines says what a delivery says as "type url [<- previous url]".
func (a arrived) lines() []string {
	out := []string{}
	for _, h := range a.Hints {
		line := h.Event + " " + h.URL
		if h.PreviousURL != "" {
			line += " <- " + h.PreviousURL
		}
		out = append(out, line)
	}
	return out
}

// awaitList asks the inventory until it is what WordPress lists.
func (d *daemon) awaitList(t *testing.T, s site, want inventory, since time.Time) time.Duration {
	t.Helper()
	for time.Since(since) < 30*time.Second {
		if maps.Equal(want, d.live(t, s.url, 0)) {
			return time.Since(since)
		}
	}
	same(t, "inventory after 30 s", want, d.live(t, s.url, 0))
	return time.Since(since)
}

// TestWordPress_EveryKindOfEditIsRecorded: with the plugin active each edit arrives once, says the right addresses, was
// served by a run, and stands in the inventory within seconds.
func TestWordPress_EveryKindOfEditIsRecorded(t *testing.T) {
	s := openSite(t)
	d := programs(t)["sqlite"].serve(t, s, "SITEMAPD_SYNC_QUIET=0s")
	s.set(t, "plugin", "on")
	s.set(t, "configure", d.hook.URL, d.hook.Secrets[0].Secret)
	s.set(t, "outbox-clear")
	var p, scheduled, moved post
	fresh, fresher := s.url+"category/hook-category/", s.url+"category/hook-renamed/"
	steps := []struct {
		name string
		act  func() []string
	}{
		{"publish", func() []string {
			p = s.act(t, "publish", "Hooked", "post", "", "Hook category")
			return []string{"term.created " + fresh, "post.published " + p.URL}
		}},
		{"update", func() []string { s.act(t, "edit", id(p)); return []string{"post.updated " + p.URL} }},
		{"slug", func() []string {
			moved = s.act(t, "slug", id(p), "hooked-elsewhere")
			return []string{"post.updated " + moved.URL + " <- " + p.URL}
		}},
		{"rename the term", func() []string {
			s.act(t, "term-slug", "hook-category", "hook-renamed")
			return []string{"term.updated " + fresher + " <- " + fresh}
		}},
		{"schedule", func() []string { scheduled = s.act(t, "schedule", "3600"); return nil }},
		{"scheduled time comes", func() []string {
			scheduled = s.act(t, "time-comes", id(scheduled))
			return []string{"post.published " + scheduled.URL}
		}},
		{"trash", func() []string { s.act(t, "trash", id(p)); return []string{"post.unpublished " + moved.URL} }},
		{"untrash and publish", func() []string {
			s.act(t, "untrash", id(p))
			again := s.act(t, "publish-draft", id(p))
			return []string{"post.published " + again.URL}
		}},
		{"delete", func() []string {
			gone := s.act(t, "post", id(p))
			s.act(t, "delete", id(p))
			return []string{"post.deleted " + gone.URL}
		}},
		{"delete the other", func() []string { s.act(t, "delete", id(scheduled)); return []string{"post.deleted " + scheduled.URL} }},
	}
	var took []time.Duration
	seen := 0
	for _, step := range steps {
		start := time.Now()
		want := step.act()
		took = append(took, d.awaitList(t, s, s.list(t), start))
		if want == nil {
			took = took[:len(took)-1]
		}
		all := d.arrivals(t, s)
		got := []string{}
		for _, a := range all[seen:] {
			got = append(got, a.lines()...)
			if a.Result != "accepted" {
				t.Errorf("%s: a delivery was %s (%s)", step.name, a.Result, a.Cause)
			}
		}
		if n := len(all) - seen; n > 1 {
			t.Errorf("%s: %d deliveries, want one", step.name, n)
		}
		seen = len(all)
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			t.Errorf("%s: wrong events (-want +got):\n%s", step.name, diff)
		}
		t.Logf("%-25s recorded within %s", step.name, time.Since(start).Round(time.Millisecond))
	}
	start := time.Now()
	s.set(t, "edit-many", "30")
	took = append(took, d.awaitList(t, s, s.list(t), start))
	if all := d.arrivals(t, s)[seen:]; len(all) != 1 || len(all[0].Hints) != 30 {
		t.Errorf("bulk edit of 30: %d deliveries, want one that names all: %+v", len(all), all)
	}
	// Where WordPress declares no lastmod there is nothing to see of an edit; its message is served all the same.
	waiting := func(a arrived) bool { return a.Run == 0 }
	for since := time.Now(); slices.ContainsFunc(d.arrivals(t, s), waiting); {
		if time.Since(since) > 30*time.Second {
			t.Error("a delivery was not served within 30 s")
			break
		}
	}
	slices.Sort(took)
	p95 := took[(len(took)*95+99)/100-1]
	t.Logf("edit to inventory, %d kinds, PHP's own start included: median %s, p95 %s", len(took), took[len(took)/2].Round(time.Millisecond), p95.Round(time.Millisecond))
	soon, all := d.recordedWithin(t, "3")
	t.Logf("by the daemon's own measure %.0f of %.0f messages came true within 3 s of their arrival", soon, all)
	if all == 0 {
		t.Error("the daemon measured nothing")
	}
	if figures && soon < 0.95*all {
		t.Errorf("%.0f of %.0f messages came true within 3 s, want 95 of 100", soon, all)
	}
}

// recordedWithin reads the daemon's histogram: how many messages came true within a bucket's bound, and how many at all.
func (d *daemon) recordedWithin(t *testing.T, bound string) (within, all float64) {
	t.Helper()
	response, err := http.Get("http://" + d.address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || !strings.HasPrefix(series, "sitemapd_publish_to_recorded_seconds_"):
		case strings.Contains(series, "_bucket") && strings.HasSuffix(series, `le="`+bound+`"`):
			within += n
		case strings.Contains(series, "_count"):
			all += n
		}
	}
	return within, all
}
