package notify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// steps is a number that grows and falls at moments: what time decides is read off it, now or in the past.
type steps struct {
	all   []step
	fresh []time.Time // ends of complete runs, oldest first, for not_fresh
	start time.Time   // when the site was added, if it never had one
	code  string
}

type step struct {
	at   time.Time
	by   float64
	what string
}

func (s *steps) rise(at, until time.Time, by float64, what string) {
	s.all = append(s.all, step{at, by, what})
	if !until.IsZero() {
		s.all = append(s.all, step{until, -by, what})
	}
}

// steps reads what a rule by time needs to know of a site since a moment.
func (t *Teller) steps(ctx context.Context, site *models.Site, rule *models.AlertRule, since time.Time) (*steps, error) {
	s := &steps{code: rule.Trigger, start: site.CreatedAt}
	switch rule.Trigger {
	case models.AlertNotFresh:
		var err error
		s.fresh, err = t.completed(ctx, site.ID, since)
		return s, err
	case models.AlertExpectationExpired:
		all, err := t.o.Alerts.ExpiredExpectations(ctx, site.ID, since)
		for _, e := range all {
			s.rise(*e.DecidedAt, e.DecidedAt.Add(rule.Within), 1, e.URL+": "+e.Text)
		}
		return s, err
	case models.AlertCanonicalConflict:
		all, err := t.o.Alerts.ConflictSpans(ctx, site.ID, since)
		for _, c := range all {
			var until time.Time
			if c.ClosedAt != nil {
				until = *c.ClosedAt
			}
			s.rise(c.OpenedAt, until, 1, c.URL)
		}
		return s, err
	case models.AlertIncident:
		all, err := t.o.Alerts.Incidents(ctx, site.ID, since)
		for _, i := range all {
			s.rise(i.StartedAt, i.LastSeen.Add(rule.Within), float64(i.Pages), fmt.Sprintf("%s: %s", i.What, pages(i.Pages)))
		}
		return s, err
	}
	return s, nil
}

// completed gives when a site's complete runs ended: the last one before a moment and those after it.
func (t *Teller) completed(ctx context.Context, site int64, since time.Time) ([]time.Time, error) {
	var ends []time.Time
	for before := int64(0); ; {
		runs, err := t.o.Store.Runs(ctx, site, before, 100)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			r := &runs[i]
			before = r.ID
			if r.FinishedAt == nil || r.Error != "" || !r.Verdict.Read() {
				continue
			}
			if ends = append(ends, *r.FinishedAt); r.FinishedAt.Before(since) {
				slices.Reverse(ends)
				return ends, nil
			}
		}
		if len(runs) < 100 {
			slices.Reverse(ends)
			return ends, nil
		}
	}
}

// at reads off what a rule sees at a moment.
func (s *steps) at(rule *models.AlertRule, now time.Time) sight {
	if s.code == models.AlertNotFresh {
		last := s.start
		for _, end := range s.fresh {
			if !end.After(now) {
				last = end
			}
		}
		age := now.Sub(last)
		return sight{holds: age >= rule.Within, settles: true, value: age.Seconds(), text: fmt.Sprintf("no complete run since %s", last.UTC().Format("2006-01-02 15:04 MST"))}
	}
	value, lines := 0.0, []string{}
	for _, p := range s.all {
		if p.at.After(now) {
			continue
		}
		if value += p.by; p.by > 0 && len(lines) < examplePages {
			lines = append(lines, oneLine(p.what))
		}
	}
	said := map[string]string{
		models.AlertExpectationExpired: "%s announced and never declared", models.AlertCanonicalConflict: "%s with contradicting canonical statements",
		models.AlertIncident: "%s changed alike",
	}[s.code]
	out := reached(rule, value, fmt.Sprintf(said, pages(int64(value))), lines)
	out.settles = true
	return out
}

// moments are when what a rule sees may change, after a moment and up to another.
func (s *steps) moments(rule *models.AlertRule, after, until time.Time) []time.Time {
	var out []time.Time
	add := func(at time.Time) {
		if at.After(after) && !at.After(until) {
			out = append(out, at)
		}
	}
	for _, p := range s.all {
		add(p.at)
	}
	for _, end := range append([]time.Time{s.start}, s.fresh...) {
		if s.code == models.AlertNotFresh {
			add(end)
			add(end.Add(rule.Within))
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}
