package syncer

import (
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func dated(page string, instant time.Time) models.Declaration {
	return models.Declaration{Key: key(page), Lastmod: &models.Lastmod{Instant: instant}}
}

func TestCompareLastmods_RecognisesATimeZonesOffset(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	pages := []string{"a", "b", "c", "d"}
	tests := []struct {
		name  string
		by    func(i int) time.Duration
		shift time.Duration
	}{
		{"all by one hour", func(int) time.Duration { return time.Hour }, time.Hour},
		{"all by minus five and a half hours", func(int) time.Duration { return -330 * time.Minute }, -330 * time.Minute},
		{"all by seven minutes is an edit", func(int) time.Duration { return 7 * time.Minute }, 0},
		{"each by another hour", func(i int) time.Duration { return time.Duration(i+1) * time.Hour }, 0},
		{"all by three days is a rebuild", func(int) time.Duration { return 72 * time.Hour }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var old, now []models.Declaration
			for i, page := range pages {
				at := day.AddDate(0, 0, i)
				old, now = append(old, dated(page, at)), append(now, dated(page, at.Add(tt.by(i))))
			}
			if m := compareLastmods(old, now, 0); m.Shift != tt.shift || m.Moved != 4 {
				t.Errorf("shift %s of %d moved, want %s of 4", m.Shift, m.Moved, tt.shift)
			}
		})
	}
}

func TestTrackRecord(t *testing.T) {
	t.Parallel()
	honest := lastmodSample{Dated: 100, Now: 1, Largest: 2}
	tests := []struct {
		name     string
		readings []lastmodSample
		moves    lastmodMoves
		most     float64
		least    float64
		reason   string
	}{
		{name: "honest", readings: []lastmodSample{honest, honest, honest}, moves: lastmodMoves{Compared: 100, Moved: 1}, least: 1, most: 1},
		{name: "always now", readings: []lastmodSample{{Dated: 100, Now: 100, Largest: 3}, {Dated: 100, Now: 99, Largest: 3}}, least: 0.1, most: 0.2, reason: "time of the request"},
		{name: "once now is an import", readings: []lastmodSample{{Dated: 100, Now: 100, Largest: 3}}, least: 1, most: 1},
		{name: "build time", readings: []lastmodSample{{Dated: 50, Largest: 50}}, least: 0.2, most: 0.3, reason: "file was built"},
		{name: "future", readings: []lastmodSample{{Dated: 50, Future: 20}}, least: 0.5, most: 0.5, reason: "future"},
		{name: "backwards", readings: []lastmodSample{honest}, moves: lastmodMoves{Compared: 100, Moved: 10, Backwards: 5}, least: 0.5, most: 0.5, reason: "backwards"},
		{name: "a shift costs little", readings: []lastmodSample{honest}, moves: lastmodMoves{Compared: 100, Moved: 100, Backwards: 100, Shift: -time.Hour}, least: 0.9, most: 0.9, reason: "offset"},
		{name: "no lastmod, nothing to distrust", readings: []lastmodSample{{}}, least: 1, most: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var record trackRecord
			for _, s := range tt.readings {
				record = record.extend(s, tt.moves)
			}
			score, reasons := record.trust()
			if score < tt.least || score > tt.most {
				t.Errorf("trust %.2f, want %.2f to %.2f; %v", score, tt.least, tt.most, reasons)
			}
			if all := strings.Join(reasons, "; "); !strings.Contains(all, tt.reason) || (tt.reason == "") != (all == "") {
				t.Errorf("reasons %q, want %q among them", all, tt.reason)
			}
		})
	}
}
