package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// usual is what a rule says that does not say it.
var usual = map[string]struct {
	threshold float64
	within    time.Duration
}{
	models.AlertRemovalsHeld: {threshold: 1}, models.AlertPagesRemoved: {threshold: 50}, models.AlertPagesAdded: {threshold: 500},
	models.AlertPagesChanged: {threshold: 1000}, models.AlertPagesStale: {threshold: 1}, models.AlertFinding: {threshold: 1},
	models.AlertRunFailed: {threshold: 3}, models.AlertNotFresh: {threshold: 1, within: 24 * time.Hour}, models.AlertLastmodTrust: {threshold: 0.5},
	models.AlertExpectationExpired: {threshold: 1, within: 24 * time.Hour}, models.AlertCanonicalConflict: {threshold: 1, within: time.Hour},
	models.AlertIncident: {threshold: 1, within: 24 * time.Hour},
}

// segmented are the triggers that look at pages and so at a segment of them.
var segmented = []string{models.AlertRemovalsHeld, models.AlertPagesRemoved, models.AlertPagesAdded, models.AlertPagesChanged, models.AlertPagesStale, models.AlertLastmodTrust}

// Rule fills in a rule from what a person said and refuses what makes no sense.
func (d *Desk) Rule(ctx context.Context, rule models.AlertRule, spec models.AlertRuleSpec) (models.AlertRule, error) {
	fresh := rule.Trigger == ""
	if fresh {
		rule.CreatedAt, rule.Origin, rule.Channels = d.teller.o.Now().UTC(), spec.Origin, []int64{}
	}
	if spec.Trigger != nil && (fresh || *spec.Trigger != rule.Trigger) {
		known, ok := usual[*spec.Trigger]
		if !ok {
			return rule, models.Invalid("trigger", strings.Join(models.AlertTriggers, ", "), "%q is no trigger", *spec.Trigger)
		}
		rule.Trigger, rule.Threshold, rule.Within = *spec.Trigger, known.threshold, known.within
	}
	if rule.Trigger == "" {
		return rule, models.Invalid("trigger", strings.Join(models.AlertTriggers, ", "), "is missing")
	}
	set(&rule.Threshold, spec.Threshold)
	set(&rule.Within, spec.Within)
	set(&rule.Severity, spec.Severity)
	set(&rule.Code, spec.Code)
	set(&rule.SiteID, spec.SiteID)
	set(&rule.Channels, spec.Channels)
	set(&rule.Paused, spec.Paused)
	set(&rule.Filter, spec.Filter)
	name := rule.Trigger
	if rule.Name != "" {
		name = rule.Name
	}
	if spec.Name != nil && *spec.Name != "" {
		name = *spec.Name
	}
	var err error
	if rule.Name, err = checkName(name); err != nil {
		return rule, err
	}
	if spec.Channels != nil { // those that it had may be gone meanwhile
		for _, id := range rule.Channels {
			if _, err := d.store.Channel(ctx, id); err != nil {
				return rule, fmt.Errorf("channels: %w", err)
			}
		}
	}
	return rule, d.checkRule(ctx, &rule)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

func (d *Desk) checkRule(ctx context.Context, rule *models.AlertRule) error {
	switch {
	case rule.Threshold < 0 || rule.Threshold > 1e12 || rule.Threshold != rule.Threshold:
		return models.Invalid("threshold", "", "%v is no threshold", rule.Threshold)
	case rule.Trigger == models.AlertLastmodTrust && (rule.Threshold <= 0 || rule.Threshold > 1):
		return models.Invalid("threshold", "trust is between 0 and 1", "%v is no trust", rule.Threshold)
	case rule.Trigger != models.AlertLastmodTrust && rule.Threshold < 1:
		return models.Invalid("threshold", "", "a threshold below 1 would hold always")
	case byTime(rule.Trigger) && (rule.Within < time.Minute || rule.Within > 366*24*time.Hour):
		return models.Invalid("within", "for example 24h or 7d", "%s is not within a minute and a year", rule.Within)
	case rule.Severity != "" && !slices.Contains(severityOrder, rule.Severity):
		return models.Invalid("severity", "error, warning or info", "%q is no severity", rule.Severity)
	case rule.Trigger != models.AlertFinding && (rule.Severity != "" || rule.Code != ""):
		return models.Invalid("severity", "use the trigger finding", "severity and code are of findings alone")
	case len(rule.Code) > 190 || oneLine(rule.Code) != rule.Code:
		return models.Invalid("code", "", "%q is no code", rule.Code)
	case rule.Filter != "" && !slices.Contains(segmented, rule.Trigger):
		return models.Invalid("filter", "leave it out", "the trigger %s looks at no pages", rule.Trigger)
	}
	if rule.Filter != "" {
		clean, err := models.CleanFilter(rule.Filter, d.teller.o.Now())
		if err != nil {
			return err
		}
		rule.Filter = clean
		f, err := segment(rule, d.teller.o.Now())
		if err != nil {
			return err
		}
		if f.Document != 0 && rule.SiteID == 0 {
			return models.Invalid("filter", "name the site too", "a document's number means something within one site alone")
		}
	}
	if rule.SiteID != 0 {
		if _, err := d.store.Site(ctx, rule.SiteID); err != nil {
			return err
		}
	}
	return nil
}

// maxPreview messages of one preview.
const maxPreview = 1000

// Preview says what a rule would have sent since a time, oldest first: what it cost to have it, before anybody has it.
func (d *Desk) Preview(ctx context.Context, rule models.AlertRule, since time.Time) ([]models.AlertPreview, error) {
	sites, err := d.teller.o.Store.Sites(ctx)
	if err != nil {
		return nil, err
	}
	out := []models.AlertPreview{}
	for i := range sites {
		if rule.SiteID != 0 && rule.SiteID != sites[i].ID {
			continue
		}
		p := preview{t: d.teller, site: &sites[i], rule: rule}
		if byTime(rule.Trigger) {
			err = p.byTime(ctx, since)
		} else {
			err = p.byRuns(ctx, since)
		}
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", sites[i].Name, err)
		}
		out = append(out, p.out...)
	}
	slices.SortStableFunc(out, func(a, b models.AlertPreview) int { return a.At.Compare(b.At) })
	return out[:min(len(out), maxPreview)], nil
}

type preview struct {
	t    *Teller
	site *models.Site
	rule models.AlertRule
	open bool
	out  []models.AlertPreview
}

func (p *preview) see(at time.Time, run int64, s sight) {
	if s.holds == p.open || !s.holds && !s.settles {
		return
	}
	p.open = s.holds
	p.out = append(p.out, models.AlertPreview{At: at.UTC(), SiteID: p.site.ID, Site: p.site.Name, Run: run, Open: s.holds, Value: s.value, Text: s.text})
}

// previewRuns of one site are looked at.
const previewRuns = 5000

func (p *preview) byRuns(ctx context.Context, since time.Time) error {
	first := int64(0) // the last run before the time
	var runs []models.Run
	for before := int64(0); len(runs) < previewRuns && first == 0; {
		part, err := p.t.o.Store.Runs(ctx, p.site.ID, before, 200)
		if err != nil {
			return err
		}
		for i := range part {
			if before = part[i].ID; part[i].FinishedAt == nil {
				continue
			}
			if part[i].FinishedAt.Before(since) {
				first = part[i].ID
				break
			}
			runs = append(runs, part[i])
		}
		if len(part) < 200 {
			break
		}
	}
	slices.Reverse(runs)
	for i := range runs {
		if runs[i].Baseline {
			continue
		}
		v := &view{t: p.t, site: *p.site, run: runs[i]}
		s, ok, err := v.sees(ctx, &p.rule)
		if err != nil {
			return err
		}
		if ok {
			p.see(*runs[i].FinishedAt, runs[i].ID, s)
		}
	}
	return nil
}

func (p *preview) byTime(ctx context.Context, since time.Time) error {
	now := p.t.o.Now().UTC()
	steps, err := p.t.steps(ctx, p.site, &p.rule, since.Add(-p.rule.Within))
	if err != nil {
		return err
	}
	for _, at := range append([]time.Time{since}, steps.moments(&p.rule, since, now)...) {
		p.see(at, 0, steps.at(&p.rule, at))
	}
	return nil
}
