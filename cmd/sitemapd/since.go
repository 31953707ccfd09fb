package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// sinceTime reads a moment: RFC 3339, a day, or how long ago (90m, 12h, 7d).
func sinceTime(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), nil
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	ago, err := longTime(text)
	if err != nil || ago <= 0 {
		return time.Time{}, usage("%q: want a time (2026-11-30T12:00:00Z), a day, or how long ago (12h, 7d)", text)
	}
	return now.UTC().Add(-ago), nil
}

// longTime reads a duration in which d means 24 hours.
func longTime(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return 0, fmt.Errorf("%q is no number of days", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	return time.ParseDuration(text)
}

// readSecretFile reads a file that holds one value.
func readSecretFile(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", usage("%w", err)
	}
	return strings.TrimSpace(string(content)), nil
}
