package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // zones on machines that have none

	"github.com/robfig/cron/v3"
)

// Off is the specification of a schedule that never fires: only hooks and people start runs.
const Off = "off"

// MinEvery is the shortest period that @every may have.
const MinEvery = 10 * time.Second

// maxEvery and maxSpec bound what is worth reading at all.
const (
	maxEvery = 366 * 24 * time.Hour
	maxSpec  = 200
)

// leapEve is the day before a leap year: from here robfig/cron, which looks five years
// ahead, sees every date that exists.
var leapEve = time.Date(2027, 12, 31, 0, 0, 0, 0, time.UTC)

// Parse reads five cron fields (minute, hour, day of month, month, day of week), one of
// @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, "@every DURATION",
// or Off. zone is an IANA name; "" is UTC. The error says what is wrong and what to write instead.
func Parse(spec, zone string) (Schedule, error) {
	location, err := Zone(zone)
	if err != nil {
		return Schedule{}, err
	}
	s := Schedule{spec: spec, zone: location}
	switch {
	case spec == Off:
		return s, nil
	case strings.TrimSpace(spec) == "":
		return Schedule{}, errors.New(`the schedule is empty (write five cron fields, @hourly, or "off")`)
	case len(spec) > maxSpec:
		return Schedule{}, fmt.Errorf("the schedule has %d characters, %d are allowed", len(spec), maxSpec)
	case strings.Contains(spec, "TZ="):
		return Schedule{}, fmt.Errorf("%q names a time zone in the schedule (write it in time_zone)", spec)
	case strings.HasPrefix(spec, "@every"):
		s.every, err = parseEvery(spec)
		return s, err
	}
	s.wall, err = parseFields(spec)
	if err != nil {
		return Schedule{}, err
	}
	const allHours = 1<<24 - 1
	s.interval = s.wall.Hour&allHours == allHours
	if s.nextWall(leapEve).IsZero() {
		return Schedule{}, fmt.Errorf("%q never fires: no such date exists", spec)
	}
	return s, nil
}

// Zone loads an IANA time zone; "" is UTC. The machine's own zone has no name here: two
// daemons with one configuration must agree.
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone (write an IANA name such as Europe/Vienna)", name)
	}
	return location, nil
}

func parseEvery(spec string) (time.Duration, error) {
	text, found := strings.CutPrefix(spec, "@every ")
	every, err := time.ParseDuration(strings.TrimSpace(text))
	switch {
	case !found || err != nil:
		return 0, fmt.Errorf("%q has no duration (write for example @every 30m)", spec)
	case every < MinEvery:
		return 0, fmt.Errorf("%q is more often than every %s", spec, MinEvery)
	case every > maxEvery:
		return 0, fmt.Errorf("%q is less often than once a year", spec)
	case every%time.Second != 0:
		return 0, fmt.Errorf("%q is no whole number of seconds", spec)
	}
	return every, nil
}

// parseFields asks robfig/cron for the bit sets. Its panics (v3.0.1 has one on "TZ=UTC")
// become errors, and so do fields that match nothing, on which its Next would search five
// years minute by minute.
func parseFields(spec string) (parsed *cron.SpecSchedule, err error) {
	defer func() {
		if recover() != nil {
			parsed, err = nil, fmt.Errorf("%q is not a cron expression", spec)
		}
	}()
	schedule, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, fmt.Errorf("%q is not a cron expression: %s", spec, explain(spec, err))
	}
	parsed, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("%q is not a cron expression", spec)
	}
	parsed.Location = time.UTC
	for _, field := range []struct {
		name string
		bits uint64
	}{
		{"minute", parsed.Minute},
		{"hour", parsed.Hour},
		{"day of month", parsed.Dom},
		{"month", parsed.Month},
		{"day of week", parsed.Dow},
	} {
		if field.bits&^(1<<63) == 0 {
			return nil, fmt.Errorf("%q is not a cron expression: its %s matches nothing", spec, field.name)
		}
	}
	return parsed, nil
}

// explain puts robfig/cron's words for the usual mistakes into ones that say what to write.
func explain(spec string, err error) string {
	fields := strings.Fields(spec)
	switch {
	case strings.HasPrefix(spec, "@"):
		return "known words are @hourly, @daily, @weekly, @monthly, @yearly and @every"
	case len(fields) == 6:
		return "it has 6 fields, and seconds are not supported (write minute, hour, day of month, month, day of week)"
	case len(fields) != 5:
		return fmt.Sprintf("it has %d of the 5 fields minute, hour, day of month, month, day of week", len(fields))
	case fields[4] == "7" || strings.HasSuffix(fields[4], "-7"):
		return "days of the week are 0 to 6, Sunday is 0"
	}
	return err.Error()
}
