package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// alertStore is what alerts need of the database.
type alertStore interface {
	AlertRules(ctx context.Context) ([]models.AlertRule, error)
	AlertStates(ctx context.Context, siteID int64) ([]models.AlertState, error)
	SaveAlerts(ctx context.Context, changes []models.AlertChange, events []models.Event) (bool, error)
	CountPages(ctx context.Context, siteID int64, filter models.PageFilter) (int64, error)
	DocumentsAt(ctx context.Context, siteID int64, at models.AsOf) ([]models.Document, error)
	ExpiredExpectations(ctx context.Context, siteID int64, since time.Time) ([]models.Expectation, error)
	ConflictSpans(ctx context.Context, siteID int64, since time.Time) ([]models.ConflictSpan, error)
	Incidents(ctx context.Context, siteID int64, since time.Time) ([]models.Incident, error)
}

// sight is what a rule sees at a moment.
type sight struct {
	holds   bool
	settles bool // what does not hold here is over: a part of a site that was read in part proves nothing
	value   float64
	text    string
	lines   []string
}

// decide makes of what rules see what changes: an alert opens, is told once its silence is over, or is resolved. One that
// is open stays so without another message.
func decide(rule models.AlertRule, state models.AlertState, siteID, run int64, at, now time.Time, s sight) (models.AlertChange, bool) {
	c := models.AlertChange{Rule: rule, SiteID: siteID, Version: state.Version, Open: s.holds}
	silent := rule.Silent(now)
	switch {
	case s.holds && state.Alert == nil:
		c.Tell = !silent
		c.Alert = models.Alert{OpenedAt: at, OpenedRun: run, Value: s.value, Text: s.text}
	case s.holds && !state.Alert.Told && !silent:
		c.Tell, c.Alert = true, *state.Alert
	case !s.holds && s.settles && state.Alert != nil:
		c.Alert = *state.Alert
		c.Tell = state.Alert.Told && !silent
		c.Alert.ResolvedAt, c.Alert.ResolvedRun = &at, run
	default:
		return c, false
	}
	return c, true
}

// judgeRun holds a run against the rules that runs decide.
func (t *Teller) judgeRun(ctx context.Context, v *view, rules []models.AlertRule, channels []models.Channel) ([]models.AlertChange, []models.Event, error) {
	if t.o.Alerts == nil || len(rules) == 0 || v.run.Baseline {
		return nil, nil, nil // a first run is a beginning, not an alarm
	}
	states, err := t.states(ctx, v.site.ID)
	if err != nil {
		return nil, nil, err
	}
	j := judgement{site: v.site, run: v.run.ID, at: v.run.FinishedAt.UTC(), channels: channels}
	for _, rule := range rules {
		s, ok, err := v.sees(ctx, &rule)
		if err != nil {
			return nil, nil, fmt.Errorf("rule %s: %w", rule.Name, err)
		}
		if !ok {
			continue
		}
		if c, changed := decide(rule, states[rule.ID], v.site.ID, v.run.ID, j.at, t.o.Now(), s); changed {
			j.add(c, s)
		}
	}
	return j.result()
}

func (t *Teller) states(ctx context.Context, site int64) (map[int64]models.AlertState, error) {
	all, err := t.o.Alerts.AlertStates(ctx, site)
	if err != nil {
		return nil, err
	}
	states := map[int64]models.AlertState{}
	for _, s := range all {
		states[s.RuleID] = s
	}
	return states, nil
}

// clockEvery is how often rules are looked at that time decides.
const clockEvery = 30 * time.Second

// Clock looks at the alerts that time opens and ends, now and then.
func (t *Teller) Clock(ctx context.Context) error {
	if t.o.Alerts == nil {
		return nil
	}
	now := t.o.Now().UTC()
	t.mu.Lock()
	due := now.Sub(t.clock) >= clockEvery
	if due {
		t.clock = now
	}
	t.mu.Unlock()
	if !due {
		return nil
	}
	w, err := t.wanted(ctx)
	if err != nil || len(w.rules) == 0 {
		return err
	}
	sites, err := t.o.Store.Sites(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for i := range sites {
		if err := t.judgeTime(ctx, &sites[i], w.rulesOf(sites[i].ID), w.channels, now); err != nil {
			problems = append(problems, fmt.Errorf("alerts of site %d: %w", sites[i].ID, err))
		}
	}
	return errors.Join(problems...)
}

// judgeTime holds a site against the rules that time decides, and tells what was silent until now.
func (t *Teller) judgeTime(ctx context.Context, site *models.Site, rules []models.AlertRule, channels []models.Channel, now time.Time) error {
	states, err := t.states(ctx, site.ID)
	if err != nil {
		return err
	}
	j := judgement{site: *site, run: site.CurrentRun, at: now, channels: channels}
	for _, rule := range rules {
		state := states[rule.ID]
		if !byTime(rule.Trigger) {
			if state.Alert == nil || state.Alert.Told || rule.Silent(now) {
				continue
			}
			s := sight{holds: true, value: state.Alert.Value, text: state.Alert.Text}
			if c, changed := decide(rule, state, site.ID, state.Alert.OpenedRun, now, now, s); changed {
				j.add(c, s)
			}
			continue
		}
		if site.Paused && rule.Trigger == models.AlertNotFresh {
			continue // nobody expects a run
		}
		steps, err := t.steps(ctx, site, &rule, now.Add(-rule.Within))
		if err != nil {
			return fmt.Errorf("rule %s: %w", rule.Name, err)
		}
		s := steps.at(&rule, now)
		if c, changed := decide(rule, state, site.ID, site.CurrentRun, now, now, s); changed {
			j.add(c, s)
		}
	}
	changes, events, err := j.result()
	if err != nil || len(changes) == 0 {
		return err
	}
	_, err = t.o.Alerts.SaveAlerts(ctx, changes, events) // not saved: another daemon was first
	return err
}

// judgement gathers what changes for one site at one moment, so that each channel gets one message.
type judgement struct {
	site     models.Site
	run      int64
	at       time.Time
	channels []models.Channel

	changes []models.AlertChange
	sights  []sight
}

func (j *judgement) add(c models.AlertChange, s sight) {
	j.changes, j.sights = append(j.changes, c), append(j.sights, s)
}

// shownAlert is an alert in events.
type shownAlert struct {
	Rule      string     `json:"rule"`
	Trigger   string     `json:"trigger"`
	Threshold float64    `json:"threshold"`
	Value     float64    `json:"value"`
	Text      string     `json:"text"`
	OpenedAt  time.Time  `json:"opened_at"`
	Resolved  *time.Time `json:"resolved_at,omitempty"`
	Pages     []string   `json:"pages,omitempty"`
}

// result gives the changes with one event for each channel that is to hear of any of them.
func (j *judgement) result() ([]models.AlertChange, []models.Event, error) {
	var events []models.Event
	for i := range j.channels {
		e, err := j.event(&j.channels[i])
		if err != nil {
			return nil, nil, err
		}
		if e != nil {
			events = append(events, *e)
		}
	}
	return j.changes, events, nil
}

func (j *judgement) event(channel *models.Channel) (*models.Event, error) {
	opened, resolved, lines := []shownAlert{}, []shownAlert{}, []string{}
	for i, c := range j.changes {
		kind := models.EventAlertOpened
		if !c.Open {
			kind = models.EventAlertResolved
		}
		subscribed := channel.Subscribed(kind) && (channel.SiteID == 0 || channel.SiteID == j.site.ID)
		if !c.Tell || !subscribed && !slices.Contains(c.Rule.Channels, channel.ID) {
			continue
		}
		s := j.sights[i]
		a := shownAlert{Rule: c.Rule.Name, Trigger: c.Rule.Trigger, Threshold: c.Rule.Threshold, Value: c.Alert.Value, Text: oneLine(c.Alert.Text), OpenedAt: c.Alert.OpenedAt, Resolved: c.Alert.ResolvedAt}
		if c.Open {
			a.Pages = s.lines
			opened = append(opened, a)
			lines = append(append(lines, c.Rule.Name+": "+a.Text), s.lines...)
		} else {
			resolved = append(resolved, a)
			lines = append(lines, c.Rule.Name+": resolved, "+cmp.Or(s.text, "it holds no more"))
		}
	}
	if len(opened)+len(resolved) == 0 {
		return nil, nil
	}
	kind, word := models.EventAlertOpened, plural(len(opened), "alert")
	if len(opened) == 0 {
		kind, word = models.EventAlertResolved, plural(len(resolved), "alert")+" resolved"
	}
	data, err := json.Marshal(map[string]any{"site": siteOf(&j.site), "run": j.run, "summary": j.site.Name + ": " + word + headline(opened, resolved),
		"lines": lines, "opened": opened, "resolved": resolved})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", kind, err)
	}
	return &models.Event{SiteID: j.site.ID, Run: j.run, Type: kind, At: j.at, Channel: channel.ID, Data: data}, nil
}

// headline says the first of several alerts, so that a subject tells what it is about.
func headline(opened, resolved []shownAlert) string {
	if len(opened) > 0 {
		return ": " + opened[0].Text
	}
	return ": " + strings.TrimSpace(resolved[0].Rule)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
