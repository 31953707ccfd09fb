package canonical_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
	"pgregory.net/rapid"
)

func TestNextLook_EventsBeforeTheClock(t *testing.T) {
	t.Parallel()
	const h, d = time.Hour, 24 * time.Hour
	last := epoch
	now := epoch.Add(h)
	fails := func(n int) canonical.Failures {
		return canonical.Failures{Count: n, First: last.Add(-time.Duration(n) * h), Last: last}
	}
	for _, c := range []struct {
		name   string
		w      canonical.Watch
		reason string
		min    time.Duration // after the last look
		max    time.Duration
	}{
		{"nothing happened", canonical.Watch{LastLook: last}, "clock", d * 4 / 5, d * 6 / 5},
		{"long unchanged", canonical.Watch{LastLook: last, Interval: 90 * d}, "clock", 24 * d, 36 * d},
		{"published just now", canonical.Watch{LastLook: last, Published: now}, "published", h + time.Minute, h + time.Minute},
		{"published, looked at once", canonical.Watch{LastLook: now.Add(time.Minute), Published: now}, "published", h - time.Minute, h - time.Minute},
		{"published, looked at thrice", canonical.Watch{LastLook: now.Add(25 * h), Published: now}, "clock", d * 4 / 5, d * 6 / 5},
		{"lastmod moved", canonical.Watch{LastLook: last, Listed: now}, "listed", h + 5*time.Minute, h + 15*time.Minute},
		{"left the sitemap", canonical.Watch{LastLook: last, Removed: now}, "removed", h, h},
		{"left it a week ago", canonical.Watch{LastLook: last, Removed: last.Add(-6 * d)}, "removed", d, d},
		{"left it a year ago", canonical.Watch{LastLook: last, Removed: last.Add(-400 * d)}, "", 0, 0},
		{"target changed", canonical.Watch{LastLook: last, TargetChanged: now}, "target", h, h},
		{"conflict", canonical.Watch{LastLook: last, TroubleSince: last}, "trouble", 6 * h, 6 * h},
		{"old conflict", canonical.Watch{LastLook: last, TroubleSince: last.Add(-10 * d), Interval: 2 * d}, "clock", d, 3 * d},
		{"failed once", canonical.Watch{LastLook: last, Failures: fails(1)}, "failure", 5 * time.Minute, 5 * time.Minute},
		{"failed thrice", canonical.Watch{LastLook: last, Failures: fails(3)}, "failure", h, h},
		{"failed eight times", canonical.Watch{LastLook: last, Failures: fails(8)}, "failure", d, d},
		{"failed for weeks", canonical.Watch{LastLook: last, Failures: fails(20)}, "failure", 7 * d, 7 * d},
		{"failed, then published", canonical.Watch{LastLook: last, Failures: fails(8), Published: now}, "published", h + time.Minute, h + time.Minute},
		{"maintenance", canonical.Watch{LastLook: last, RetryAfter: last.Add(3 * h)}, "failure", 3 * h, 3 * h},
		{"overdue by the clock, then published", canonical.Watch{LastLook: last.Add(-9 * d), Published: now}, "published", 9*d + h + time.Minute, 9*d + h + time.Minute},
		{"overdue by the clock, then lastmod moved", canonical.Watch{LastLook: last.Add(-9 * d), Listed: now}, "listed", 9*d + h + 5*time.Minute, 9*d + h + 15*time.Minute},
		{"lastmod moved a day ago, then published", canonical.Watch{LastLook: last.Add(-9 * d), Listed: last.Add(-d), Published: now}, "published", 9*d + h + time.Minute, 9*d + h + time.Minute},
		{"in trouble, then published", canonical.Watch{LastLook: last.Add(-9 * d), TroubleSince: last.Add(-9 * d), Published: now}, "published", 9*d + h + time.Minute, 9*d + h + time.Minute},
		{"told to wait", canonical.Watch{LastLook: last, Failures: fails(1), RetryAfter: last.Add(3 * h)}, "failure", 3 * h, 3 * h},
		{"target on another site", canonical.Watch{LastLook: last, TargetChanged: now, CrossDomain: true}, "target", 7 * d, 7 * d},
	} {
		got := canonical.NextLook(c.w, now)
		after := got.At.Sub(c.w.LastLook)
		if got.Reason != c.reason || got.Reason != "" && (after < c.min || after > c.max) {
			t.Errorf("%s: %s after %s, want %s after %s to %s", c.name, got.Reason, after, c.reason, c.min, c.max)
		}
	}
	if got := canonical.NextLook(canonical.Watch{}, now); got.Reason != "first" || !got.At.Equal(now) {
		t.Errorf("never looked at: %+v", got)
	}
}

func TestNextInterval_DoublesAndHalvesWithinBounds(t *testing.T) {
	t.Parallel()
	i := time.Duration(0)
	for n := 0; n < 10; n++ {
		i = canonical.NextInterval(i, false)
	}
	if i != canonical.MaxInterval {
		t.Errorf("unchanged ten times: %s", i)
	}
	for n := 0; n < 12; n++ {
		i = canonical.NextInterval(i, true)
	}
	if i != canonical.MinInterval {
		t.Errorf("changed twelve times: %s", i)
	}
}

func TestNextLook_IsSpreadButReproducible(t *testing.T) {
	t.Parallel()
	hours := map[int]int{}
	for i := 0; i < 2000; i++ {
		w := canonical.Watch{Key: canonical.KeyOf(fmt.Sprintf("https://example.com/%d", i)), LastLook: epoch, Interval: 10 * 24 * time.Hour}
		a, b := canonical.NextLook(w, epoch), canonical.NextLook(w, epoch)
		if a != b {
			t.Fatal("the same history gives two answers")
		}
		hours[int(a.At.Sub(epoch).Hours())]++
	}
	for h, n := range hours {
		if n > 2000/96*4 {
			t.Errorf("%d of 2,000 pages fall due in hour %d", n, h)
		}
	}
}

// TestNextLook_NeverStormsAHost: whatever the history, a look that was just
// made is not repeated at once, and a page is not let go while it is listed.
func TestNextLook_NeverStormsAHost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		instant := func(name string) time.Time {
			if rapid.Bool().Draw(t, name+" unset") {
				return time.Time{}
			}
			return epoch.Add(-time.Duration(rapid.IntRange(0, 3000).Draw(t, name)) * time.Hour)
		}
		w := canonical.Watch{LastLook: epoch, Interval: time.Duration(rapid.IntRange(0, 2000).Draw(t, "interval")) * time.Hour, Published: instant("published"),
			Listed: instant("listed"), Removed: instant("removed"), TargetChanged: instant("target"), TroubleSince: instant("trouble"),
			Failures: canonical.Failures{Count: rapid.IntRange(0, 30).Draw(t, "failures"), First: epoch, Last: epoch}}
		due := canonical.NextLook(w, epoch)
		if due.Reason == "" {
			if w.Removed.IsZero() {
				t.Fatalf("a listed page is let go: %+v", w)
			}
			return
		}
		if !due.At.After(epoch) {
			t.Fatalf("due %s (%s), not after the look that was just made", due.At, due.Reason)
		}
		if due.At.Sub(epoch) > 120*24*time.Hour {
			t.Fatalf("due only in %s (%s)", due.At.Sub(epoch), due.Reason)
		}
	})
}

func TestSweep_TellsOneEventFromManyChanges(t *testing.T) {
	t.Parallel()
	staging := func(i int) (canonical.Step, string) {
		page := fmt.Sprintf("https://example.com/%d", i)
		return canonical.Step{Action: canonical.ActionSupersede, Opened: []canonical.Relationship{{Source: page, Target: fmt.Sprintf("https://staging.example.com/%d", i), Scope: canonical.ScopeSameSite}}}, page
	}
	var s canonical.Sweep
	for i := 0; i < 240; i++ {
		step, page := staging(i)
		if i >= 60 {
			step = canonical.Step{Action: canonical.ActionConfirm}
		}
		s.Add(page, canonical.Alike(step, nil, nil))
	}
	got := s.Incidents()
	if len(got) != 1 || got[0].Change != "target https://staging.example.com/*" || got[0].Pages != 60 || got[0].Looked != 240 || len(got[0].Examples) != 10 {
		t.Errorf("60 of 240 pages went to the staging host: %+v", got)
	}
	if s.HoldAbsence() {
		t.Error("absences are held without any")
	}
	var few canonical.Sweep
	absent := canonical.Step{Action: canonical.ActionHold, Reason: canonical.ReasonAbsentOnce}
	for i := 0; i < 49; i++ {
		few.Add("p", canonical.Alike(absent, nil, nil))
	}
	if len(few.Incidents()) != 0 {
		t.Error("49 pages are an incident")
	}
	few.Add("p", canonical.Alike(absent, nil, nil))
	if !few.HoldAbsence() {
		t.Error("50 of 50 absent pages are none")
	}
	for i := 0; i < 200; i++ {
		few.Add("q", nil)
	}
	if few.HoldAbsence() {
		t.Error("50 of 250 is more than 20 percent")
	}
	before, after := canonical.Evidence{}, canonical.Evidence{Robots: canonical.Robots{NoIndex: true}}
	if got := canonical.Alike(canonical.Step{}, &before, &after); len(got) != 1 || got[0] != "noindex" {
		t.Errorf("noindex appeared: %v", got)
	}
}
