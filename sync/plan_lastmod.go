package syncer

import (
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Lastmod is a claim. What a document claimed over time is its track record, and that gives a trust score: 1 for a
// record without fault, less for each kind of dishonesty seen. Nobody is told of 5,000 edits that were none.

// lastmodNow is how close before the fetch an instant counts as "now".
const lastmodNow = 5 * time.Minute

// lastmodSample sums up the lastmod values of one reading of a document.
type lastmodSample struct {
	Dated   int64     `json:"dated"`
	Now     int64     `json:"now"`     // within lastmodNow before the origin said it
	Future  int64     `json:"future"`  // more than a day after
	Largest int64     `json:"largest"` // entries that share the most frequent instant among those looked at
	Oldest  time.Time `json:"oldest"`
	Newest  time.Time `json:"newest"`
	Zero    bool      `json:"zero,omitempty"` // a zero date stands somewhere for one that is not known
}

// lastmodMoves sums up how lastmod changed between two readings of a document.
type lastmodMoves struct {
	Compared  int64         `json:"compared"` // pages listed in both with a lastmod in both
	Moved     int64         `json:"moved"`    // another instant
	Backwards int64         `json:"backwards"`
	Frozen    int64         `json:"frozen,omitempty"` // the same instant, though the page says something else
	Shift     time.Duration `json:"shift"`            // all moved by exactly this, a time zone's offset; else 0
}

// TrackRecord is kept with each document version, as JSON.
type trackRecord struct {
	Readings  int64 `json:"readings"`   // that changed something
	AlwaysNow int64 `json:"always_now"` // of these, with nearly every lastmod at the time of the fetch
	OneDate   int64 `json:"one_date"`   // with one instant for all: the time the file was built
	Future    int64 `json:"future"`
	Backwards int64 `json:"backwards"`
	Shifts    int64 `json:"shifts"`
	Everyone  int64 `json:"everyone"`         // moved for nearly all pages at once, without a shift
	Frozen    int64 `json:"frozen,omitempty"` // stayed for nearly all pages that changed otherwise
	Zero      int64 `json:"zero,omitempty"`   // with a zero date

	Sample lastmodSample `json:"sample"`
	Moves  lastmodMoves  `json:"moves"`
}

const nearlyAll = 0.9

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// extend adds one reading that changed something to the record.
func (t trackRecord) extend(s lastmodSample, m lastmodMoves) trackRecord {
	t.Sample, t.Moves = s, m
	if s.Dated == 0 {
		return t
	}
	t.Readings++
	few := s.Dated < 3 // one post published just now is honest
	if !few && share(s.Now, s.Dated) >= nearlyAll {
		t.AlwaysNow++
	}
	if s.Dated >= 10 && share(s.Largest, s.Dated) >= nearlyAll {
		t.OneDate++
	}
	if s.Zero {
		t.Zero++
	}
	if m.Frozen >= 3 && share(m.Frozen, m.Frozen+m.Moved) >= nearlyAll {
		t.Frozen++
	}
	if share(s.Future, s.Dated) >= 0.1 {
		t.Future++
	}
	switch {
	case m.Shift != 0:
		t.Shifts++
	case m.Moved >= 3 && share(m.Backwards, m.Moved) >= 0.2:
		t.Backwards++
	}
	if m.Shift == 0 && m.Compared >= 10 && share(m.Moved, m.Compared) >= nearlyAll {
		t.Everyone++
	}
	return t
}

// trust gives the score, 0.1 to 1, and the reasons for every deduction.
func (t trackRecord) trust() (score float64, reasons []string) {
	score = 1
	deduct := func(times int64, factor float64, reason string) {
		if times > 0 {
			score *= factor
			reasons = append(reasons, fmt.Sprintf("%s (in %d of %d readings)", reason, times, t.Readings))
		}
	}
	// One reading may have caught a site just after an import; two are a habit.
	if t.AlwaysNow >= 2 {
		deduct(t.AlwaysNow, 0.2, "lastmod is the time of the request")
	}
	deduct(t.OneDate, 0.3, "one lastmod for all pages: the time the file was built")
	deduct(t.Future, 0.5, "lastmod lies in the future")
	deduct(t.Backwards, 0.5, "lastmod moves backwards")
	if t.Everyone >= 2 {
		deduct(t.Everyone, 0.4, "lastmod moves for nearly all pages at once")
	}
	if t.Frozen >= 2 { // once may be images that a program filled in later
		deduct(t.Frozen, 0.5, "pages change and their lastmod does not")
	}
	deduct(t.Zero, 0.9, "a zero date stands for one that is not known")
	deduct(t.Shifts, 0.9, "every lastmod was shifted by a time zone's offset")
	return max(score, 0.1), reasons
}

// zoneShift tells whether a difference can be that of two time zones: a multiple of 15 minutes up to 26 hours.
func zoneShift(d time.Duration) bool {
	return d != 0 && d%(15*time.Minute) == 0 && d.Abs() <= 26*time.Hour
}

// compareLastmods looks at the pages whose declarations changed, old and new ascending by key, out of kept others that
// say the same. Rows without a lastmod in both are left out.
func compareLastmods(old, now []models.Declaration, kept int64) lastmodMoves {
	m := lastmodMoves{Compared: kept}
	var shift time.Duration
	var first time.Time
	same, several := true, false
	j := 0
	for i := range old {
		for j < len(now) && string(now[j].Key[:]) < string(old[i].Key[:]) {
			j++
		}
		if j == len(now) || now[j].Key != old[i].Key || old[i].Lastmod == nil || now[j].Lastmod == nil {
			continue
		}
		m.Compared++
		d := now[j].Lastmod.Instant.Sub(old[i].Lastmod.Instant)
		if d == 0 {
			m.Frozen++
			continue
		}
		if m.Moved++; d < 0 {
			m.Backwards++
		}
		if m.Moved == 1 {
			shift, first = d, old[i].Lastmod.Instant
		}
		several = several || !old[i].Lastmod.Instant.Equal(first)
		same = same && d == shift
	}
	// One instant for all pages is the time of a build, and another one is another build.
	if same && several && m.Moved >= 3 && zoneShift(shift) && share(m.Moved, m.Compared) >= nearlyAll {
		m.Shift = shift
	}
	return m
}
