package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/schedule"
)

func parse(t *testing.T, spec, zone string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(spec, zone)
	if err != nil {
		t.Fatalf("parse %q in %q: %v", spec, zone, err)
	}
	return s
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

func TestParse_RefusesWithTheReason(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, zone, want string }{
		{"", "", `the schedule is empty (write five cron fields, @hourly, or "off")`},
		{"   ", "", `the schedule is empty (write five cron fields, @hourly, or "off")`},
		{"every 5", "", `"every 5" is not a cron expression: it has 2 of the 5 fields minute, hour, day of month, month, day of week`},
		{"0 0 * * * *", "", `"0 0 * * * *" is not a cron expression: it has 6 fields, and seconds are not supported (write minute, hour, day of month, month, day of week)`},
		{"TZ=UTC", "", `"TZ=UTC" names a time zone in the schedule (write it in time_zone)`},
		{"CRON_TZ=UTC 0 0 * * *", "", `"CRON_TZ=UTC 0 0 * * *" names a time zone in the schedule (write it in time_zone)`},
		{"0 0 30 2 *", "", `"0 0 30 2 *" never fires: no such date exists`},
		{"0 0 31 2,4,6,9,11 *", "", `"0 0 31 2,4,6,9,11 *" never fires: no such date exists`},
		{"0 0 * * 7", "", `"0 0 * * 7" is not a cron expression: days of the week are 0 to 6, Sunday is 0`},
		{"0 0 * * 1-7", "", `"0 0 * * 1-7" is not a cron expression: days of the week are 0 to 6, Sunday is 0`},
		{", * * * *", "", `", * * * *" is not a cron expression: its minute matches nothing`},
		{"* , * * *", "", `"* , * * *" is not a cron expression: its hour matches nothing`},
		{"60 * * * *", "", `"60 * * * *" is not a cron expression: end of range (60) above maximum (59): 60`},
		{"*/0 * * * *", "", `"*/0 * * * *" is not a cron expression: step of range should be a positive number: */0`},
		{"0 0 L * *", "", `"0 0 L * *" is not a cron expression: failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax`},
		{"@reboot", "", `"@reboot" is not a cron expression: known words are @hourly, @daily, @weekly, @monthly, @yearly and @every`},
		{"@Hourly", "", `"@Hourly" is not a cron expression: known words are @hourly, @daily, @weekly, @monthly, @yearly and @every`},
		{"@every", "", `"@every" has no duration (write for example @every 30m)`},
		{"@every5m", "", `"@every5m" has no duration (write for example @every 30m)`},
		{"@every soon", "", `"@every soon" has no duration (write for example @every 30m)`},
		{"@every 1s", "", `"@every 1s" is more often than every 10s`},
		{"@every -1h", "", `"@every -1h" is more often than every 10s`},
		{"@every 9000h", "", `"@every 9000h" is less often than once a year`},
		{"@every 10500ms", "", `"@every 10500ms" is no whole number of seconds`},
		{strings.Repeat("1,", 150) + "1 * * * *", "", `the schedule has 309 characters, 200 are allowed`},
		{"@hourly", "Vienna", `"Vienna" is no time zone (write an IANA name such as Europe/Vienna)`},
		{"@hourly", "Local", `"Local" is no time zone (write an IANA name such as Europe/Vienna)`},
		{"@hourly", "../../etc/passwd", `"../../etc/passwd" is no time zone (write an IANA name such as Europe/Vienna)`},
	} {
		_, err := schedule.Parse(test.spec, test.zone)
		if err == nil {
			t.Errorf("parse %q in %q: no error", test.spec, test.zone)
		} else if diff := cmp.Diff(test.want, err.Error()); diff != "" {
			t.Errorf("parse %q in %q: %s", test.spec, test.zone, diff)
		}
	}
}

func TestNext_GivesTheNextTick(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, zone, after, want string }{
		{"@hourly", "", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"},
		{"@hourly", "", "2026-05-01T10:59:59.999999Z", "2026-05-01T11:00:00Z"},
		{"@daily", "Europe/Vienna", "2026-05-01T10:00:00Z", "2026-05-01T22:00:00Z"},
		{"@weekly", "", "2026-05-01T10:00:00Z", "2026-05-03T00:00:00Z"},
		{"@monthly", "", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"},
		{"@yearly", "", "2026-05-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"*/15 9-17 * * mon-fri", "", "2026-05-01T17:45:00Z", "2026-05-04T09:00:00Z"},
		{"30 6 1,15 * *", "", "2026-05-01T06:30:00Z", "2026-05-15T06:30:00Z"},
		// Both days restricted: either is enough, as in every cron.
		{"0 0 13 * 5", "", "2026-05-01T00:00:00Z", "2026-05-08T00:00:00Z"},
		{"0 0 29 2 *", "", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"@every 30m", "", "2026-05-01T10:00:00Z", "2026-05-01T10:30:00Z"},
		{"@every 30m", "", "2026-05-01T10:29:59.5Z", "2026-05-01T10:30:00Z"},
		{"@every 1h", "", "1969-12-31T22:30:00Z", "1969-12-31T23:00:00Z"},
	} {
		got := parse(t, test.spec, test.zone).Next(at(t, test.after))
		if want := at(t, test.want); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%q in %q after %s: got %s, want %s", test.spec, test.zone, test.after, got, test.want)
		}
	}
}

func TestNext_SkippedLocalTimeFiresAtTheNextValidInstant(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, zone, after, want string }{
		// New York, 8 March 2026: 02:00 EST is 03:00 EDT.
		{"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"},
		{"0 3 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"},
		// São Paulo, 4 November 2018: midnight does not exist.
		{"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z"},
		// Lord Howe, 4 October 2026: 02:00 is 02:30.
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"},
		// Apia had no 30 December 2011 at all.
		{"0 12 30 12 *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z"},
	} {
		if got, want := parse(t, test.spec, test.zone).Next(at(t, test.after)), at(t, test.want); !got.Equal(want) {
			t.Errorf("%q in %s after %s: got %s, want %s", test.spec, test.zone, test.after, got, want)
		}
	}
}

func TestNext_DoubledLocalTimeFiresOnceAtItsFirstOccurrence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, zone, after, first, second string }{
		// New York, 1 November 2026: 01:30 occurs at 05:30Z and at 06:30Z.
		{"30 1 * * *", "America/New_York", "2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		// Asked between the two occurrences.
		{"30 1 * * *", "America/New_York", "2026-11-01T06:00:00Z", "2026-11-02T06:30:00Z", "2026-11-03T06:30:00Z"},
		// São Paulo, 18 February 2018: 23:30 of the 17th occurs twice.
		{"30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00Z", "2018-02-18T01:30:00Z", "2018-02-19T02:30:00Z"},
		// Lord Howe, 5 April 2026: 01:30 to 02:00 occurs twice.
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"},
	} {
		got := parse(t, test.spec, test.zone).NextN(at(t, test.after), 2)
		want := []time.Time{at(t, test.first), at(t, test.second)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q in %s after %s: %s", test.spec, test.zone, test.after, diff)
		}
	}
}

// Every specification below is one tick a local day, or one an hour of elapsed time, on each of 366 days.
func TestNext_EveryDayOfALeapYear(t *testing.T) {
	t.Parallel()
	for _, place := range []struct {
		zone string
		year int // the last leap year in which the zone changed its clocks
	}{
		{"America/New_York", 2028},
		{"America/Sao_Paulo", 2016},
		{"Australia/Lord_Howe", 2028},
		{"UTC", 2028},
	} {
		zone, err := schedule.Zone(place.zone)
		if err != nil {
			t.Fatal(err)
		}
		for minute := 0; minute < 24*60; minute += 15 {
			spec := fmt.Sprintf("%d %d * * *", minute%60, minute/60)
			if got := ticksADay(t, spec, zone, place.year); got != "" {
				t.Errorf("%q in %s: %s", spec, place.zone, got)
			}
		}
		for _, spec := range []string{"@hourly", "30 * * * *", "*/15 * * * *", "7-59/10 * * * *"} {
			if got := evenly(t, spec, zone, place.year); got != "" {
				t.Errorf("%q in %s: %s", spec, place.zone, got)
			}
		}
	}
}

// ticksADay counts the ticks of each local day by asking one after the other.
func ticksADay(t *testing.T, spec string, zone *time.Location, year int) string {
	t.Helper()
	s := parse(t, spec, zone.String())
	begin := time.Date(year, 1, 1, 0, 0, 0, 0, zone)
	end := time.Date(year+1, 1, 1, 0, 0, 0, 0, zone)
	days := map[string]int{}
	for tick := s.Next(begin.Add(-time.Nanosecond)); tick.Before(end); tick = s.Next(tick) {
		days[tick.In(zone).Format(time.DateOnly)]++
	}
	if len(days) != 366 {
		return fmt.Sprintf("ticks on %d days of 366", len(days))
	}
	for day, n := range days {
		if n != 1 {
			return fmt.Sprintf("%d ticks on %s", n, day)
		}
	}
	return ""
}

// evenly compares the ticks with every whole minute of the year whose local minute matches.
func evenly(t *testing.T, spec string, zone *time.Location, year int) string {
	t.Helper()
	matches := map[string]func(minute int) bool{
		"@hourly":         func(m int) bool { return m == 0 },
		"30 * * * *":      func(m int) bool { return m == 30 },
		"*/15 * * * *":    func(m int) bool { return m%15 == 0 },
		"7-59/10 * * * *": func(m int) bool { return m%10 == 7 },
	}[spec]
	s := parse(t, spec, zone.String())
	begin := time.Date(year, 1, 1, 0, 0, 0, 0, zone)
	end := time.Date(year+1, 1, 1, 0, 0, 0, 0, zone)
	tick := s.Next(begin.Add(-time.Nanosecond))
	for minute := begin; minute.Before(end); minute = minute.Add(time.Minute) {
		if !matches(minute.Minute()) {
			continue
		}
		if !tick.Equal(minute) {
			return fmt.Sprintf("tick at %s, want %s", tick.In(zone), minute)
		}
		tick = s.Next(tick)
	}
	return ""
}

func TestWithJitter_MovesEveryTickByOneFixedTime(t *testing.T) {
	t.Parallel()
	after := at(t, "2026-05-01T00:00:00Z")
	for _, spec := range []string{"@hourly", "@every 30m", "15 4 * * *"} {
		plain := parse(t, spec, "America/New_York")
		moved := plain.WithJitter("example.com", 5*time.Minute)
		if again := plain.WithJitter("example.com", 5*time.Minute); again.Jitter() != moved.Jitter() {
			t.Errorf("%q: jitter %s, then %s", spec, moved.Jitter(), again.Jitter())
		}
		want := plain.NextN(after.Add(-moved.Jitter()), 50)
		for i, tick := range moved.NextN(after, 50) {
			if !tick.Equal(want[i].Add(moved.Jitter())) {
				t.Fatalf("%q: tick %d at %s, want %s later than %s", spec, i, tick, moved.Jitter(), want[i])
			}
		}
	}
}

func TestWithJitter_SpreadsSites(t *testing.T) {
	t.Parallel()
	hourly := parse(t, "@hourly", "")
	minutes := map[time.Duration]int{}
	for i := range 1000 {
		jitter := hourly.WithJitter(fmt.Sprintf("site-%d.example", i), 5*time.Minute).Jitter()
		if jitter < 0 || jitter >= 5*time.Minute || jitter%time.Second != 0 {
			t.Fatalf("site %d: jitter %s", i, jitter)
		}
		minutes[jitter.Truncate(time.Minute)]++
	}
	for minute := range 5 {
		if n := minutes[time.Duration(minute)*time.Minute]; n < 150 {
			t.Errorf("%d of 1000 sites in minute %d", n, minute)
		}
	}
	for _, most := range []time.Duration{0, time.Millisecond, -time.Hour} {
		if jitter := hourly.WithJitter("example.com", most).Jitter(); jitter != 0 {
			t.Errorf("at most %s: jitter %s", most, jitter)
		}
	}
}

func TestDue_MissedTicksAreDueOnce(t *testing.T) {
	t.Parallel()
	s := parse(t, "@hourly", "")
	last, now := at(t, "2026-05-01T10:00:00Z"), at(t, "2026-05-04T09:30:00Z")
	if !s.Due(last, now) {
		t.Error("not due after three days")
	}
	if s.Due(now, now) || s.Due(now, now.Add(29*time.Minute)) {
		t.Error("due again before the next tick")
	}
	if !s.Due(now, now.Add(30*time.Minute)) {
		t.Error("not due at the next tick")
	}
}

func TestOff_IsNeverDue(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]schedule.Schedule{
		"off": parse(t, schedule.Off, "Europe/Vienna"), "zero": {},
		"jitter": parse(t, schedule.Off, "").WithJitter("example.com", time.Hour),
	} {
		if next := s.Next(time.Unix(0, 0)); !s.IsOff() || !next.IsZero() || len(s.NextN(time.Unix(0, 0), 5)) != 0 ||
			s.Due(time.Unix(0, 0), time.Unix(1<<40, 0)) {
			t.Errorf("%s: next is %s", name, next)
		}
	}
}

// Whatever text arrives, Parse answers, and what it accepts fires later than it was asked.
func FuzzParse(f *testing.F) {
	for _, spec := range []string{"@hourly", "TZ=UTC", "CRON_TZ=", "@every 1h", "0 0 30 2 *", ", , , , ,", "*/5 1-3 ? jan-mar sun"} {
		f.Add(spec, "America/New_York", int64(1772953200))
	}
	f.Fuzz(func(t *testing.T, spec, zone string, unix int64) {
		s, err := schedule.Parse(spec, zone)
		if err != nil || s.IsOff() {
			return
		}
		after := time.Unix(unix%(1<<33), 0)
		if next := s.Next(after); !next.After(after) {
			t.Errorf("%q in %q after %s: next is %s", spec, zone, after, next)
		}
	})
}
