package notify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Bounds of what a rule looks at.
const (
	countAtMost  = 100_000 // pages of a segment that changed: more are as many
	examplePages = 5
	failedRuns   = 200 // in a row that are counted
)

// byTime tells which triggers time decides and not a run.
func byTime(trigger string) bool {
	switch trigger {
	case models.AlertNotFresh, models.AlertExpectationExpired, models.AlertCanonicalConflict, models.AlertIncident:
		return true
	}
	return false
}

// sees holds the run against one rule; false: runs do not decide it, or this one says nothing of it.
func (v *view) sees(ctx context.Context, rule *models.AlertRule) (sight, bool, error) {
	if byTime(rule.Trigger) {
		return sight{}, false, nil
	}
	if rule.Trigger == models.AlertRunFailed {
		s, err := v.failures(ctx, rule)
		return s, true, err
	}
	if v.run.Error != "" {
		return sight{}, false, nil // a failure of ours says nothing of the site
	}
	c := v.run.Counts
	var s sight
	var err error
	switch rule.Trigger {
	case models.AlertPagesRemoved:
		s, err = v.changes(ctx, rule, c.Removed, models.KindRemoved)
	case models.AlertPagesAdded:
		s, err = v.changes(ctx, rule, c.Added, models.KindAdded)
	case models.AlertPagesChanged:
		s, err = v.changes(ctx, rule, c.Changed, models.KindChanged)
	case models.AlertRemovalsHeld:
		s, err = v.pages(ctx, rule, c.Held, models.StateHeld, models.KindHeld)
	case models.AlertPagesStale:
		s, err = v.pages(ctx, rule, c.Stale, models.StateStale, models.KindStale)
	case models.AlertFinding:
		s, err = v.found(ctx, rule)
	case models.AlertLastmodTrust:
		s, err = v.trust(ctx, rule)
	default:
		return s, false, nil
	}
	s.settles = v.run.Verdict.Read() && !v.run.Targeted
	return s, true, err
}

func segment(rule *models.AlertRule, now time.Time) (*models.PageFilter, error) {
	if rule.Filter == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(rule.Filter)
	if err != nil {
		return nil, models.Invalid("filter", "the query of an inventory's address, such as prefix=https://example.com/blog/", "not a query")
	}
	f, err := models.ParsePageFilter(query, now)
	return &f, err
}

// changes counts what a run did to pages of the rule's segment.
func (v *view) changes(ctx context.Context, rule *models.AlertRule, all int64, kind string) (sight, error) {
	filter, err := segment(rule, *v.run.FinishedAt)
	if err != nil {
		return sight{}, err
	}
	n := all
	if float64(n) < rule.Threshold { // a part of it is not more
		filter = nil
	}
	var lines []string
	if filter != nil || float64(n) >= rule.Threshold {
		n = 0
		err := v.t.o.Store.Changes(ctx, v.site.ID, models.ChangeFilter{Run: v.run.ID, Kinds: []string{kind}, Pages: filter}, func(c *models.Change) error {
			if n++; len(lines) < examplePages {
				lines = append(lines, oneLine(c.URL))
			}
			if filter == nil && n == examplePages || n == countAtMost {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return sight{}, err
		}
		if filter == nil {
			n = all
		}
	}
	return reached(rule, float64(n), fmt.Sprintf("%s %s in run %d%s", pages(n), kind, v.run.ID, within(rule)), lines), nil
}

// pages counts the pages of the rule's segment that are in a state at the run.
func (v *view) pages(ctx context.Context, rule *models.AlertRule, all int64, state models.State, kind string) (sight, error) {
	filter, err := segment(rule, *v.run.FinishedAt)
	if err != nil {
		return sight{}, err
	}
	n := all
	if filter != nil && n > 0 {
		f := *filter
		f.State, f.AsOf = state, models.AsOf{Run: v.run.ID}
		if n, err = v.t.o.Alerts.CountPages(ctx, v.site.ID, f); err != nil {
			return sight{}, err
		}
	}
	var lines []string
	if float64(n) >= rule.Threshold {
		urls, err := v.urls(ctx, kind)
		if err != nil {
			return sight{}, err
		}
		for _, u := range urls[:min(len(urls), examplePages)] {
			lines = append(lines, oneLine(u))
		}
	}
	said := "%s held: their removal waits for a person%s"
	if state == models.StateStale {
		said = "%s stale: their documents cannot be read%s"
	}
	return reached(rule, float64(n), fmt.Sprintf(said, pages(n), within(rule)), lines), nil
}

var severityOrder = []string{models.SeverityError, models.SeverityWarning, models.SeverityInfo}

func (v *view) found(ctx context.Context, rule *models.AlertRule) (sight, error) {
	groups, err := v.t.o.Store.FindingGroups(ctx, v.site.ID, v.run.ID)
	if err != nil {
		return sight{}, err
	}
	n, lines, most := int64(0), []string{}, len(severityOrder)-1
	if at := slices.Index(severityOrder, rule.Severity); at >= 0 {
		most = at
	}
	for _, g := range groups {
		if rule.Code != "" && g.Code != rule.Code || slices.Index(severityOrder, g.Severity) > most {
			continue
		}
		if n += g.Count; len(lines) < examplePages {
			lines = append(lines, oneLine(fmt.Sprintf("%s %s (%d): %s", g.Severity, g.Code, g.Count, shortened(g.Text, 200))))
		}
	}
	what := rule.Code
	if what == "" {
		what = "of severity " + severityOrder[most]
		if most > 0 {
			what += " or worse"
		}
	}
	return reached(rule, float64(n), fmt.Sprintf("%d findings %s", n, what), lines), nil
}

// trust finds the document whose lastmod is trusted least; the rule holds below its threshold.
func (v *view) trust(ctx context.Context, rule *models.AlertRule) (sight, error) {
	documents, err := v.t.o.Alerts.DocumentsAt(ctx, v.site.ID, models.AsOf{Run: v.run.ID})
	if err != nil {
		return sight{}, err
	}
	filter, err := segment(rule, *v.run.FinishedAt)
	if err != nil {
		return sight{}, err
	}
	s := sight{value: math.Inf(1)}
	for i := range documents {
		d := &documents[i]
		if d.LastmodTrust == 0 || d.Verdict == models.VerdictGone || filter != nil && (filter.Document != 0 && filter.Document != d.Number || !filter.Lists(d.URL)) {
			continue
		}
		if d.LastmodTrust < s.value {
			s.value, s.lines = d.LastmodTrust, []string{oneLine(d.URL)}
		}
	}
	if math.IsInf(s.value, 1) {
		return sight{value: 1, text: "no lastmod to judge"}, nil
	}
	s.holds = s.value < rule.Threshold
	s.text = fmt.Sprintf("trust in a document's lastmod is %.2f", s.value)
	return s, nil
}

// failures counts the runs in a row, this one included, that were not complete.
func (v *view) failures(ctx context.Context, rule *models.AlertRule) (sight, error) {
	if v.run.Error == "" && v.run.Verdict.Read() {
		return sight{settles: true, text: fmt.Sprintf("run %d is complete", v.run.ID)}, nil
	}
	n, before := 1, v.run.ID
	for n < failedRuns && float64(n) < rule.Threshold {
		runs, err := v.t.o.Store.Runs(ctx, v.site.ID, before, 20)
		if err != nil {
			return sight{}, err
		}
		if len(runs) == 0 {
			break
		}
		for i := range runs {
			before = runs[i].ID
			if runs[i].Error == "" && runs[i].Verdict.Read() {
				return reached(rule, float64(n), failing(n, v), nil), nil
			}
			n++
		}
	}
	return reached(rule, float64(n), failing(n, v), nil), nil
}

func failing(n int, v *view) string {
	why := v.run.Reason
	if v.run.Error != "" {
		why = v.run.Error
	}
	said := fmt.Sprintf("%s in a row not complete: %s", plural(n, "run"), v.run.Verdict)
	if why != "" {
		said += ", " + shortened(why, 300)
	}
	return oneLine(said)
}

func reached(rule *models.AlertRule, value float64, text string, lines []string) sight {
	return sight{holds: value >= rule.Threshold, value: value, text: text, lines: lines}
}

func within(rule *models.AlertRule) string {
	if rule.Filter == "" {
		return ""
	}
	if text, err := url.QueryUnescape(rule.Filter); err == nil {
		return " (" + oneLine(text) + ")"
	}
	return ""
}
