package export

import (
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// appendLastmod writes a lastmod as it was published where that is what the protocol prescribes, the W3C's profile of
// ISO 8601, and otherwise the instant that was understood, no more precise than it was written.
func appendLastmod(dst []byte, l *models.Lastmod) []byte {
	if isW3C(l.Raw) {
		if read := sitemap.ParseDate([]byte(l.Raw)); read.State == sitemap.Valid && read.Instant == l.Instant.UnixMicro() {
			return append(dst, l.Raw...)
		}
	}
	at := l.Instant.UTC()
	if at.Year() < 1 || at.Year() > 9999 { // cannot be written otherwise
		return appendText(dst, l.Raw)
	}
	switch l.Precision {
	case models.PrecisionYear:
		return at.AppendFormat(dst, "2006")
	case models.PrecisionMonth:
		return at.AppendFormat(dst, "2006-01")
	case models.PrecisionDay:
		return at.AppendFormat(dst, time.DateOnly)
	case models.PrecisionMinute:
		return at.AppendFormat(dst, "2006-01-02T15:04Z07:00")
	}
	return at.AppendFormat(dst, "2006-01-02T15:04:05.999999Z07:00")
}

// isW3C tells whether a text has one of the six shapes of www.w3.org/TR/NOTE-datetime: a date as far as it is known, or
// one with a time of day and a zone.
func isW3C(s string) bool {
	switch len(s) {
	case 4, 7, 10:
		return shaped(s, "0000-00-00"[:len(s)])
	}
	if len(s) < 17 || !shaped(s[:16], "0000-00-00T00:00") {
		return false
	}
	if s = s[16:]; s[0] == ':' {
		if len(s) < 4 || !shaped(s[:3], ":00") {
			return false
		}
		if s = s[3:]; s[0] == '.' {
			n := 1
			for n < len(s) && s[n] >= '0' && s[n] <= '9' {
				n++
			}
			if n == 1 {
				return false
			}
			s = s[n:]
		}
	}
	return s == "Z" || shaped(s, "+00:00") || shaped(s, "-00:00")
}

// shaped compares a text with a pattern in which 0 stands for any digit.
func shaped(s, pattern string) bool {
	if len(s) != len(pattern) {
		return false
	}
	for i := range len(s) {
		if pattern[i] == '0' {
			if s[i] < '0' || s[i] > '9' {
				return false
			}
		} else if s[i] != pattern[i] {
			return false
		}
	}
	return true
}
