package canonical

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

const day = 24 * time.Hour

// Bounds of the clock-driven interval between looks at one page.
const (
	FirstInterval = day
	MinInterval   = 6 * time.Hour
	MaxInterval   = 30 * day
	minCross      = 7 * day // between looks at a target on another site
)

// Offsets of the looks that an event asks for, from the event on.
var (
	publishedOffsets = []time.Duration{time.Minute, time.Hour, day}
	listedOffsets    = []time.Duration{5 * time.Minute}
	removedOffsets   = []time.Duration{0, day, 7 * day, 30 * day, 90 * day}
	trouble          = []time.Duration{6 * time.Hour, day, 3 * day}
	targetOffsets    = []time.Duration{0}
	// failureDelays are the waits after the n-th failed look in a row; beyond
	// them a look each day for a week, then one a week.
	failureDelays = []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, day}
)

// Watch is the history that decides when a page is looked at next. Zero
// instants are events that did not happen.
type Watch struct {
	Key           Key
	LastLook      time.Time     // of any outcome
	Interval      time.Duration // as NextInterval gave it; 0 is FirstInterval
	Failures      Failures
	RetryAfter    time.Time // the host asked for
	Published     time.Time // a hook said so
	Listed        time.Time // new in a sitemap, or its lastmod moved
	Removed       time.Time // left the sitemap
	TargetChanged time.Time
	TroubleSince  time.Time // conflict, loop or invalid
	CrossDomain   bool      // a target on another site: looked at seldom whatever happens
}

// Due is when and why.
type Due struct {
	At     time.Time
	Reason string // first, published, listed, removed, target, trouble, failure, clock; "" never again
}

// NextLook says when the page is to be looked at next, seen from now. Events
// come before the clock; a failing page is left alone for longer and longer;
// one that left the sitemap is watched for 90 days and then let go.
func NextLook(w Watch, now time.Time) Due {
	due := Due{}
	propose := func(at time.Time, reason string) {
		if d := (Due{at, reason}); !at.IsZero() && (due.At.IsZero() || d.before(due, now)) {
			due = d
		}
	}
	if w.LastLook.IsZero() {
		propose(now, "first")
	}
	propose(after(w.Published, publishedOffsets, w.LastLook), "published")
	if at := after(w.Listed, listedOffsets, w.LastLook); !at.IsZero() {
		propose(at.Add(spread(w, 10*time.Minute)), "listed")
	}
	propose(after(w.TargetChanged, targetOffsets, w.LastLook), "target")
	if w.TroubleSince.After(w.Published) || w.Failures.Count == 0 {
		propose(after(w.TroubleSince, trouble, w.LastLook), "trouble")
	}
	propose(after(w.Removed, removedOffsets, w.LastLook), "removed")
	if w.Failures.Count == 0 && w.RetryAfter.After(w.LastLook) { // maintenance, which is no failure yet
		propose(w.RetryAfter, "failure")
	}
	switch {
	case w.LastLook.IsZero():
	case w.Failures.Count > 0:
		at := w.Failures.Last.Add(failureDelay(w.Failures.Count))
		if due.Reason == "" || due.Reason == "clock" || due.Reason == "trouble" || due.At.Before(at) && w.Failures.Last.After(w.Published) {
			due = Due{at, "failure"}
		}
	case w.Removed.IsZero():
		i := w.interval()
		propose(w.LastLook.Add(i-i/5+spread(w, 2*i/5)), "clock")
	}
	if due.At.IsZero() {
		return due
	}
	if w.CrossDomain && !w.LastLook.IsZero() && due.At.Before(w.LastLook.Add(minCross)) {
		due.At = w.LastLook.Add(minCross)
	}
	if due.At.Before(w.RetryAfter) {
		due.At = w.RetryAfter
	}
	return due
}

// urgency is the order of work on looks that are due at the same time, as callers class them.
var urgency = map[string]int{"published": 0, "listed": 1, "target": 2, "removed": 2, "trouble": 2, "first": 3, "failure": 4, "clock": 4}

// soon is how far ahead a look may be to count as due: it is within what an event's first look waits.
const soon = 15 * time.Minute

// before says whether a look is the one to make. Of those that are due the most urgent is: a page whose turn by the clock
// is overdue must not wait in the clock's queue when a hook names it. Else it is the first.
func (d Due) before(other Due, now time.Time) bool {
	limit := now.Add(soon)
	if !d.At.After(limit) && !other.At.After(limit) && urgency[d.Reason] != urgency[other.Reason] {
		return urgency[d.Reason] < urgency[other.Reason]
	}
	return d.At.Before(other.At)
}

func (w Watch) interval() time.Duration {
	if w.Interval <= 0 {
		return FirstInterval
	}
	return min(max(w.Interval, MinInterval), MaxInterval)
}

// NextInterval is the clock-driven interval after a look that changed
// something, or nothing.
func NextInterval(interval time.Duration, changed bool) time.Duration {
	if interval <= 0 {
		interval = FirstInterval
	}
	if changed {
		return max(interval/2, MinInterval)
	}
	return min(interval*2, MaxInterval)
}

// StaleAfter is how long a relationship that nothing confirmed still stands.
func StaleAfter(interval time.Duration) time.Duration { return max(3*interval, 45*day) }

// after is the first of the event's looks that the last one did not cover; zero if all were made.
func after(event time.Time, offsets []time.Duration, lastLook time.Time) time.Time {
	if event.IsZero() {
		return event
	}
	for _, o := range offsets {
		if at := event.Add(o); at.After(lastLook) || o == 0 && at.Equal(lastLook) && lastLook.IsZero() {
			return at
		}
	}
	return time.Time{}
}

func failureDelay(n int) time.Duration {
	switch {
	case n <= len(failureDelays):
		return failureDelays[n-1]
	case n <= len(failureDelays)+6:
		return day
	}
	return 7 * day
}

// spread is a time below width that differs from page to page and look to
// look, and is always the same for one history: jitter without a dice.
func spread(w Watch, width time.Duration) time.Duration {
	if width <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(w.Key[:])
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(w.LastLook.UnixNano()))
	_, _ = h.Write(b[:])
	return time.Duration(h.Sum64() % uint64(width))
}
