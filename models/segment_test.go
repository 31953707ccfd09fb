package models_test

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 8, 31, 23, 30, 0, 0, time.FixedZone("", -3*3600)) // already September in UTC
	for text, want := range map[string]string{
		"-0d": "2024-09-01", "-1d": "2024-08-31", "-90d": "2024-06-03", "-6m": "2024-03-01", "-1y": "2023-09-01", "-1200m": "1924-09-01",
		"2024-02-29": "2024-02-29", "2024-02-29T23:30:00-01:00": "2024-03-01",
		"-": "", "-d": "", "-m": "", "90d": "", "--1d": "", "-+1d": "", "-1.5m": "", "-1201m": "", "-101y": "", "-36501d": "", "-9999999999m": "", "-6w": "",
		"2023-02-29": "", "": "", "yesterday": "",
	} {
		at, ok := models.ParseMoment(text, now)
		if ok != (want != "") || ok && at.Truncate(24*time.Hour).Format(time.DateOnly) != want {
			t.Errorf("ParseMoment(%q) = %s, %v; want %s", text, at, ok, want)
		}
	}
	for _, month := range []struct{ day, ago, want string }{
		{"2024-08-31", "-6m", "2024-02-29"}, {"2023-08-31", "-6m", "2023-02-28"}, {"2024-02-29", "-12m", "2023-02-28"}, {"2024-02-29", "-1y", "2023-02-28"},
		{"2024-03-31", "-1m", "2024-02-29"}, {"2024-01-15", "-1m", "2023-12-15"}, {"2024-12-31", "-18m", "2023-06-30"}, {"2024-05-31", "-0m", "2024-05-31"},
	} {
		day, err := time.Parse(time.DateOnly, month.day)
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := models.ParseMoment(month.ago, day); !ok || at.Format(time.DateOnly) != month.want {
			t.Errorf("%s of %s is %s, %v; want %s", month.ago, month.day, at, ok, month.want)
		}
	}
}
