package syncer

import (
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// negative is what looks told that left no relationship on record, as long as they tell the same. It is what a page's line
// says of it: "looked at then, declared nothing", or why nobody could tell.
type negative struct {
	From    time.Time         `json:"from"`
	Status  string            `json:"status"`
	Reason  string            `json:"reason,omitempty"`
	Reading canonical.Reading `json:"reading"`
	HTTP    int               `json:"http_status,omitempty"`
}

func (a *negative) row(until *time.Time, seen time.Time) *models.CanonicalNegative {
	return &models.CanonicalNegative{From: a.From, Until: until, Seen: seen, Status: a.Status, Reason: a.Reason, Reading: string(a.Reading), HTTPStatus: a.HTTP}
}

// follow notes in a look's rows that a page has no relationship (now is nil where it has one). Now is what was found at
// now.From; last is the look before that.
func (m *memory) follow(look *models.Look, now *negative, at, last time.Time) {
	before := m.Negative
	if now != nil && before != nil {
		same := *now
		same.From = before.From
		if same == *before {
			return
		}
	}
	if before != nil {
		if last.Before(before.From) {
			last = before.From
		}
		look.Ended = before.row(&at, last)
	}
	if m.Negative = now; now != nil {
		look.Negative = now.row(nil, at)
	}
}

// absent is what a look told that left no relationship; nil where there is one.
func absent(current []canonical.Relationship, head *models.CanonicalHead, ev *canonical.Evidence, at time.Time) *negative {
	if len(current) > 0 {
		return nil
	}
	return &negative{From: at, Status: head.Status, Reason: head.Reason, Reading: ev.Reading, HTTP: ev.Status}
}
