package sitemap

import (
	"bytes"
	"time"
)

// dateForm says how well a date keeps to the W3C profile of ISO 8601 that the protocol prescribes.
type dateForm uint8

const (
	dateW3C         dateForm = iota
	dateNoZone               // a time without a zone
	dateNonstandard          // understood all the same
	dateBad                  // not understood
	dateZero                 // a zero date, as PHP and MySQL write it
	dateSeveral              // more than one date
)

// ParseDate reads a date as sitemaps and their extensions write it, the forms met in the wild included. Raw is kept as
// it is; State is Absent for an empty text.
func ParseDate(raw []byte) Lastmod {
	l, _ := parseDate(bytes.TrimSpace(raw))
	return l
}

func parseDate(raw []byte) (Lastmod, dateForm) {
	l := Lastmod{Raw: raw}
	if len(raw) == 0 {
		return l, dateW3C
	}
	if parseW3C(raw, &l) {
		form := dateW3C
		if l.Precision >= Minute && !l.Zone {
			form = dateNoZone
		}
		return l, form
	}
	l = Lastmod{Raw: raw, State: Invalid}
	if isZeroDate(raw) {
		return l, dateZero
	}
	if l.parseWild() {
		l.State = Valid
		return l, dateNonstandard
	}
	if severalDates(raw) {
		return l, dateSeveral
	}
	return l, dateBad
}

func digits(b []byte, n int) (int, bool) {
	if len(b) < n {
		return 0, false
	}
	v := 0
	for _, c := range b[:n] {
		if c -= '0'; c > 9 {
			return 0, false
		} else {
			v = v*10 + int(c)
		}
	}
	return v, true
}

// parseW3C reads YYYY, YYYY-MM, YYYY-MM-DD, and the last with Thh:mm, Thh:mm:ss or Thh:mm:ss.f and a zone, which may
// lack.
func parseW3C(b []byte, l *Lastmod) bool {
	year, ok := digits(b, 4)
	if !ok || year == 0 {
		return false
	}
	month, day := 1, 1
	l.Precision = Year
	if b = b[4:]; len(b) > 0 {
		if b[0] != '-' {
			return false
		}
		if month, ok = digits(b[1:], 2); !ok || month < 1 || month > 12 {
			return false
		}
		l.Precision = Month
		if b = b[3:]; len(b) > 0 {
			if b[0] != '-' {
				return false
			}
			if day, ok = digits(b[1:], 2); !ok || day < 1 || day > daysIn(year, month) {
				return false
			}
			l.Precision = Day
			b = b[3:]
		}
	}
	var micros int64
	if len(b) > 0 {
		if b[0] != 'T' || l.Precision != Day {
			return false
		}
		if micros, ok = parseClock(b[1:], l); !ok {
			return false
		}
	}
	l.Instant = daysSinceEpoch(year, month, day)*86_400_000_000 + micros
	l.State = Valid
	return true
}

// parseClock reads hh:mm[:ss[.f]][zone] and returns microseconds since midnight UTC.
func parseClock(b []byte, l *Lastmod) (int64, bool) {
	hour, ok := digits(b, 2)
	if !ok || hour > 24 || len(b) < 5 || b[2] != ':' {
		return 0, false
	}
	minute, ok := digits(b[3:], 2)
	if !ok || minute > 59 {
		return 0, false
	}
	b = b[5:]
	second, fraction := 0, int64(0)
	l.Precision = Minute
	if len(b) > 0 && b[0] == ':' {
		if second, ok = digits(b[1:], 2); !ok || second > 60 {
			return 0, false
		}
		l.Precision = Second
		if b = b[3:]; len(b) > 1 && (b[0] == '.' || b[0] == ',') {
			n, unit := 1, int64(100_000)
			for ; n < len(b) && b[n]-'0' <= 9; n++ {
				fraction += int64(b[n]-'0') * unit
				unit /= 10
			}
			if n == 1 {
				return 0, false
			}
			l.Precision = Fraction
			b = b[n:]
		}
	}
	if hour == 24 && (minute > 0 || second > 0 || fraction > 0) {
		return 0, false
	}
	offset, ok := parseZone(b, l)
	return (int64(hour)*3600+int64(minute)*60+int64(second)-offset)*1_000_000 + fraction, ok
}

// parseZone reads Z or +hh:mm and returns seconds east of UTC. "-00:00" says that the zone is not known.
func parseZone(b []byte, l *Lastmod) (int64, bool) {
	switch {
	case len(b) == 0:
		return 0, true
	case len(b) == 1 && b[0] == 'Z':
		l.Zone = true
		return 0, true
	case b[0] != '+' && b[0] != '-':
		return 0, false
	}
	hour, ok := digits(b[1:], 2)
	if !ok || hour > 15 || len(b) != 6 || b[3] != ':' {
		return 0, false
	}
	minute, ok := digits(b[4:], 2)
	if !ok || minute > 59 {
		return 0, false
	}
	offset := int64(hour)*3600 + int64(minute)*60
	l.Zone = true
	if b[0] == '-' {
		l.Zone = offset != 0
		offset = -offset
	}
	return offset, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSinceEpoch counts days from 1970-01-01 in the proleptic Gregorian calendar.
func daysSinceEpoch(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := year / 400
	yearOfEra := year - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return int64(era*146097+yearOfEra*365+yearOfEra/4-yearOfEra/100+dayOfYear) - 719468
}

// isZeroDate knows the dates that MySQL and PHP write for "none".
func isZeroDate(b []byte) bool {
	for _, prefix := range []string{"0000-00-00", "0000-01-01", "-0001-11-30", "-001-11-30", "0001-01-01", "0000"} {
		if bytes.HasPrefix(b, []byte(prefix)) {
			return true
		}
	}
	return len(b) == 1 && b[0] == '0'
}

// wildForms are the layouts met besides the W3C's; precision and zone follow from the layout. Dates whose order of day
// and month cannot be known are not among them.
var wildForms = []struct {
	layout    string
	precision Precision
	zone      bool
}{
	{"2006-01-02 15:04:05", Second, false},
	{"2006-01-02 15:04:05Z07:00", Second, true},
	{"2006-01-02 15:04:05 Z07:00", Second, true},
	{"2006-01-02 15:04:05 -0700", Second, true},
	{"2006-01-02 15:04:05 -0700 MST", Second, true},
	{"2006-01-02 15:04:05 UTC", Second, true},
	{"2006-01-02 15:04:05 GMT", Second, true},
	{"2006-01-02 15:04:05 PM", Second, false},
	{"2006-01-02 03:04:05 PM", Second, false},
	{"2006-01-02 3:04:05 PM", Second, false},
	{"2006-01-02 15:04", Minute, false},
	{"2006-01-02 3:04 PM", Minute, false},
	{"2006-01-02 15:04Z07:00", Minute, true},
	{"2006-01-02T15:04:05Z07:00", Second, true},
	{"2006-01-02T15:04:05 Z07:00", Second, true},
	{"2006-01-02T15:04:05-0700", Second, true},
	{"2006-01-02T15:04:05-07", Second, true},
	{"2006-01-02T15:04-0700", Minute, true},
	{"2006-01-02T15:04:05 -0700", Second, true},
	{"2006-01-02T15:04:05", Second, false},
	{"2006-01-02T15:04:05UTC", Second, true},
	{"2006-01-02T15:04:05 UTC", Second, true},
	{"2006-01-02T15:04:05GMT", Second, true},
	{"2006-01-02T15:04:05Z0700", Second, true},
	{"2006-01-02T15Z07:00", Minute, true},
	{"2006-01-02T15", Minute, false},
	{"2006-01-02Z07:00", Day, true},
	{"2006-01-02-0700", Day, true},
	{"2006-1-2", Day, false},
	{"2006-1-2 15:04:05", Second, false},
	{"2006/01/02", Day, false},
	{"2006/1/2", Day, false},
	{"2006/01/02 15:04:05", Second, false},
	{"2006/01/02 15:04", Minute, false},
	{"2006.01.02", Day, false},
	{"2006-002", Day, false},
	{"20060102", Day, false},
	{"20060102T150405Z", Second, true},
	{"20060102T150405Z0700", Second, true},
	{"20060102T150405", Second, false},
	{"20060102150405", Second, false},
	{"02.01.2006", Day, false},
	{"2.1.2006", Day, false},
	{"02.01.2006 15:04:05", Second, false},
	{"02.01.2006 15:04", Minute, false},
	{time.RFC1123Z, Second, true},
	{time.RFC1123, Second, true},
	{"Mon, 2 Jan 2006 15:04:05 -0700", Second, true},
	{"Mon, 2 Jan 2006 15:04:05 MST", Second, true},
	{"Mon, 2 Jan 2006 15:04:05 Z", Second, true},
	{"Mon, 2 Jan 2006 15:04 -0700", Minute, true},
	{"Mon, 2 Jan 2006 15:04 MST", Minute, true},
	{"Mon, 2 Jan 06 15:04:05 -0700", Second, true},
	{"Mon, 2 Jan 2006 15:04:05", Second, false},
	{"Mon, 2 Jan 2006", Day, false},
	{"2 Jan 2006 15:04:05 -0700", Second, true},
	{"2 Jan 2006 15:04:05 MST", Second, true},
	{"2 Jan 2006", Day, false},
	{"2-Jan-2006", Day, false},
	{"2 January 2006", Day, false},
	{"Jan 2, 2006", Day, false},
	{"January 2, 2006", Day, false},
	{"January 2, 2006 3:04 PM", Minute, false},
	{"January 2, 2006, 3:04 pm", Minute, false},
	{"Monday, January 2, 2006", Day, false},
	{"Mon Jan 2 15:04:05 2006", Second, false},
	{"Mon Jan 2 15:04:05 MST 2006", Second, true},
	{"Mon Jan 2 15:04:05 -0700 2006", Second, true},
	{"Mon Jan 2 2006 15:04:05 GMT-0700", Second, true},
}

// zones are the abbreviations with one usual meaning; others are refused, as their offset cannot be known.
var zones = map[string]int{
	"UTC": 0, "GMT": 0, "Z": 0, "UT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
	"PDT": -7, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3, "WET": 0, "WEST": 1, "BST": 1, "MSK": 3,
	"JST": 9, "AEST": 10, "AEDT": 11,
}

// parseWild tries the forms met in the wild, and Unix time in seconds or milliseconds.
func (l *Lastmod) parseWild() bool {
	if len(l.Raw) > 64 || len(l.Raw) < 6 {
		return false
	}
	if n, ok := digits(l.Raw, len(l.Raw)); ok {
		switch {
		case len(l.Raw) == 10 && n >= 500_000_000:
			l.Instant, l.Precision, l.Zone = int64(n)*1_000_000, Second, true
			return true
		case len(l.Raw) == 13:
			l.Instant, l.Precision, l.Zone = int64(n)*1000, Fraction, true
			return true
		}
	}
	text := cleanDate(l.Raw)
	for _, form := range wildForms {
		t, err := time.ParseInLocation(form.layout, text, time.UTC)
		if err != nil || t.Year() < 1 {
			continue
		}
		if name, offset := t.Zone(); form.zone && offset == 0 && name != "" && name != "UTC" {
			hours, known := zones[name]
			if !known {
				return false
			}
			t = t.Add(time.Duration(-hours) * time.Hour)
		}
		l.Instant, l.Precision, l.Zone = t.UnixMicro(), form.precision, form.zone && form.precision > Day
		if form.precision == Day { // a zone behind a date without a time says nothing of the day
			l.Instant = daysSinceEpoch(t.Year(), int(t.Month()), t.Day()) * 86_400_000_000
		}
		if l.Precision == Second && t.Nanosecond() > 0 {
			l.Precision = Fraction
		}
		return true
	}
	return false
}

// cleanDate folds what does not matter: white space, typographic dashes, the case of t, z, am and pm.
func cleanDate(raw []byte) string {
	b := bytes.Join(bytes.Fields(raw), []byte(" "))
	for _, dash := range []string{"\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212"} {
		b = bytes.ReplaceAll(b, []byte(dash), []byte("-"))
	}
	for _, suffix := range []string{"am", "pm", "a.m.", "p.m."} {
		if bytes.HasSuffix(b, []byte(suffix)) {
			b = append(append([]byte(nil), b[:len(b)-len(suffix)]...), suffix[0]-0x20, 'M')
		}
	}
	if len(b) > 10 && b[10] == 't' || len(b) > 0 && b[len(b)-1] == 'z' {
		b = append([]byte(nil), b...)
		if len(b) > 10 && b[10] == 't' {
			b[10] = 'T'
		}
		if b[len(b)-1] == 'z' {
			b[len(b)-1] = 'Z'
		}
	}
	return string(b)
}

// severalDates tells whether a text holds more than one date, separated by white space or a comma.
func severalDates(raw []byte) bool {
	n := 0
	for _, field := range bytes.FieldsFunc(raw, func(c rune) bool { return c <= ' ' || c == ',' || c == ';' || c == '|' }) {
		var l Lastmod
		if parseW3C(field, &l) {
			n++
		}
	}
	return n > 1
}
