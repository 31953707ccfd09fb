package handlers

import (
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

const day = 24 * time.Hour

// fromDays reads days, as people think of history, as the hours of a duration; any other text stays as it is.
func fromDays(text string) string {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseInt(strings.TrimSpace(days), 10, 32); err == nil && n >= 0 {
			return strconv.FormatInt(24*n, 10) + "h"
		}
	}
	return text
}

// daysOf writes a duration in days where it is whole ones, "" for none.
func daysOf(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return shortDuration(d)
}

// forgetsMore tells whether a change of settings makes the daemon forget history that it would have kept.
func (s *Server) forgetsMore(before, after models.Site) bool {
	keeps := func(site models.Site) time.Duration {
		if site.Settings.Retention != 0 {
			return site.Settings.Retention
		}
		return s.deps.Defaults.Settings.Retention
	}
	old, now := keeps(before), keeps(after)
	return now != 0 && (old == 0 || now < old)
}
