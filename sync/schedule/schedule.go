package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule says when something is due. The zero value is never due.
type Schedule struct {
	spec string
	zone *time.Location

	wall  *cron.SpecSchedule // in UTC, read as wall clock; nil for @every and for Off
	every time.Duration      // of @every; 0 otherwise

	// interval tells "every hour" from "at an hour": a specification that leaves the hour
	// open follows elapsed time, so a doubled hour has its ticks in both passes and a skipped
	// one has none. One that names hours means times of day, and each of those fires once a day.
	interval bool

	offset time.Duration // the jitter, >= 0
}

// IsOff reports whether the schedule never fires because somebody said so.
func (s Schedule) IsOff() bool { return s.wall == nil && s.every == 0 }

// WithJitter gives the schedule with every tick moved later by a fixed time in
// [0, most), in whole seconds, that key (a site's name) alone decides. Sites with one
// schedule thus spread out, and each keeps its place for ever.
func (s Schedule) WithJitter(key string, most time.Duration) Schedule {
	s.offset = 0
	if seconds := uint64(most / time.Second); most > 0 && seconds > 0 {
		sum := sha256.Sum256([]byte(key))
		s.offset = time.Duration(binary.BigEndian.Uint64(sum[:8])%seconds) * time.Second
	}
	return s
}

// Jitter is the time that WithJitter added to every tick.
func (s Schedule) Jitter() time.Duration { return s.offset }

// Due reports whether a tick lies in (last, now]. However many were missed, it is one
// answer: after the work is done, last is now and nothing is left over.
func (s Schedule) Due(last, now time.Time) bool {
	next := s.Next(last)
	return !next.IsZero() && !next.After(now)
}

// NextN gives the next n ticks after the given time, fewer if the schedule is off.
func (s Schedule) NextN(after time.Time, n int) []time.Time {
	ticks := make([]time.Time, 0, max(n, 0))
	for range n {
		after = s.Next(after)
		if after.IsZero() {
			break
		}
		ticks = append(ticks, after)
	}
	return ticks
}

// Next gives the first tick later than the given time, in UTC, or the zero time if the
// schedule is off.
func (s Schedule) Next(after time.Time) time.Time {
	if s.IsOff() {
		return time.Time{}
	}
	after = after.Add(-s.offset)
	var next time.Time
	switch {
	case s.every > 0:
		next = s.nextEvery(after)
	case s.interval:
		next = s.nextInterval(after)
	default:
		next = s.nextTimeOfDay(after)
	}
	if next.IsZero() {
		return next
	}
	return next.Add(s.offset).UTC()
}

// nextEvery counts from a fixed epoch, not from the last run: several daemons, and one
// daemon before and after a restart, agree on the ticks.
func (s Schedule) nextEvery(after time.Time) time.Time {
	seconds := int64(s.every / time.Second)
	periods := after.Unix() / seconds
	if after.Unix()%seconds < 0 {
		periods--
	}
	return time.Unix((periods+1)*seconds, 0)
}

// nextInterval looks for the next instant whose wall clock matches, one stretch of
// constant UTC offset after the other.
func (s Schedule) nextInterval(after time.Time) time.Time {
	within := after.In(s.zone)
	for range maxStretches {
		_, seconds := within.Zone()
		_, end := within.ZoneBounds()
		offset := time.Duration(seconds) * time.Second
		next := s.nextWall(after.UTC().Add(offset))
		if next.IsZero() {
			return next
		}
		next = next.Add(-offset)
		if end.IsZero() || next.Before(end) {
			return next
		}
		// The next stretch may have a tick at its very first second.
		after, within = end.Add(-time.Second), end
	}
	return time.Time{}
}

// maxStretches bounds the search: two changes of offset a year, twenty years.
const maxStretches = 40

// nextTimeOfDay walks the matching wall-clock times and gives the first whose instant
// is later than after. instant never decreases along the wall clock, so the first is the next.
func (s Schedule) nextTimeOfDay(after time.Time) time.Time {
	local := after.In(s.zone)
	wall := time.Date(local.Year(), local.Month(), local.Day(),
		local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
	for {
		wall = s.nextWall(wall)
		if wall.IsZero() {
			return wall
		}
		if t := instant(wall, s.zone); t.After(after) {
			return t
		}
	}
}

// nextWall asks robfig/cron in UTC alone, where it is free of faults. It gives up after
// five years; 29 February can be eight years away, so it is asked twice.
func (s Schedule) nextWall(wall time.Time) time.Time {
	next := s.wall.Next(wall)
	if next.IsZero() {
		next = s.wall.Next(wall.AddDate(5, 0, 0))
	}
	return next
}

// instant says when a zone's clocks show the wall-clock time (given in UTC). A time
// that is skipped is the moment of the change; one that occurs twice is its first occurrence.
func instant(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	shown := wallOf(t)
	start, end := t.ZoneBounds()
	switch {
	case shown.After(wall): // time.Date used the offset before the change and landed behind it
		return start
	case shown.Before(wall): // it used the offset after the change and landed before it
		return end
	}
	if start.IsZero() {
		return t
	}
	_, before := start.Add(-time.Second).Zone()
	if first := wall.Add(-time.Duration(before) * time.Second).In(zone); first.Before(start) && wallOf(first).Equal(wall) {
		return first
	}
	return t
}

func wallOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
