package notify_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
)

// alarmed is a world whose teller looks at alerts, at a time that tests set.
type alarmed struct {
	*world
	now time.Time
}

func newAlarmed(t *testing.T) *alarmed {
	t.Helper()
	w := &alarmed{world: newWorld(t, nil)}
	w.now = w.At(1)
	w.teller = notify.NewTeller(notify.TellerOptions{Store: w.s, Alerts: w.s, Digests: w.s, Now: func() time.Time { return w.now },
		Zone: func(spec, _ string, after time.Time) *time.Time {
			if spec != "@weekly" {
				return nil
			}
			next := after.Truncate(7 * 24 * time.Hour).Add(7 * 24 * time.Hour)
			return &next
		}})
	w.desk = notify.NewDesk(w.s, w.sender, w.teller)
	return w
}

func (w *alarmed) rule(spec models.AlertRuleSpec) models.AlertRule {
	w.t.Helper()
	rule, err := w.desk.Rule(w.t.Context(), models.AlertRule{}, spec)
	if err == nil {
		rule, err = w.s.SaveAlertRule(w.t.Context(), rule)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return rule
}

// messages gives the alert messages stored after a number, in short.
func (w *alarmed) messages(after int64) []string {
	w.t.Helper()
	stored, err := w.s.Events(w.t.Context(), after, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for i, d := range w.events(after) {
		if !strings.HasPrefix(d.Type, "alert.") {
			continue
		}
		var rules []string
		for _, a := range d.Opened {
			rules = append(rules, "+"+a.Rule)
		}
		for _, a := range d.Resolved {
			rules = append(rules, "-"+a.Rule)
		}
		out = append(out, fmt.Sprintf("%d: %s", stored[i].Channel, strings.Join(rules, " ")))
	}
	return out
}

func (w *alarmed) clock(at time.Time) {
	w.t.Helper()
	w.now = at
	if err := w.teller.Clock(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func complete(w *world, counts models.Counts, pages ...string) models.Run {
	return w.run(models.VerdictComplete, counts, pages)
}

func TestAlerts_OneMessageARunASiteAndAChannelNoRepeatAndResolved(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	one, _ := w.channel("mailto:a@example.com")
	two, _ := w.channel("mailto:b@example.com")
	w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertPagesRemoved), Threshold: ptr(10.0), Channels: &[]int64{one.ID}})
	w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertRemovalsHeld), Channels: &[]int64{one.ID, two.ID}})
	w.rule(models.AlertRuleSpec{Name: ptr("quiet"), Trigger: ptr(models.AlertPagesAdded), Threshold: ptr(1.0), Channels: &[]int64{}})
	complete(w.world, models.Counts{Removed: 500, Held: 500}) // a first run is a beginning
	complete(w.world, models.Counts{Removed: 10, Held: 2, Added: 5})
	w.tell()
	if diff := cmp.Diff([]string{"1: +pages_removed +removals_held", "2: +removals_held"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
	complete(w.world, models.Counts{Removed: 11, Held: 3})
	w.run(models.VerdictPartial, models.Counts{}, nil) // proves nothing
	w.tell()
	if got := w.messages(2); len(got) != 0 {
		t.Errorf("told again of what is open: %v", got)
	}
	complete(w.world, models.Counts{Held: 3})
	complete(w.world, models.Counts{})
	w.tell()
	if diff := cmp.Diff([]string{"1: -pages_removed", "1: -removals_held", "2: -removals_held"}, w.messages(2)); diff != "" {
		t.Error(diff)
	}
	all, err := w.s.Alerts(t.Context(), w.Site.ID, 0, 0)
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, a := range all {
		if a.ResolvedAt == nil || !a.Told {
			t.Errorf("%+v", a)
		}
	}
}

func TestAlerts_ASilenceHoldsMessagesBackNotAlerts(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	c, _ := w.channel("mailto:a@example.com")
	rule := w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertRemovalsHeld), Channels: &[]int64{c.ID}})
	until := w.At(100)
	rule.SilencedUntil = &until
	if _, err := w.s.SaveAlertRule(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	complete(w.world, models.Counts{})
	complete(w.world, models.Counts{Held: 5})
	w.tell()
	w.clock(w.At(50))
	if got := w.messages(0); len(got) != 0 {
		t.Errorf("told in silence: %v", got)
	}
	if all, err := w.s.Alerts(t.Context(), w.Site.ID, 0, 0); err != nil || len(all) != 1 || all[0].Told {
		t.Errorf("%+v, %v", all, err)
	}
	w.clock(w.At(101)) // what is open still when the silence ends is told then, once
	w.clock(w.At(102))
	if diff := cmp.Diff([]string{"1: +removals_held"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
}

func TestAlerts_WebhooksThatSubscribedHearOfEveryRule(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	w.channel("https://example.com/in", "alert.*")
	other, _ := w.channel("https://example.com/other", "alert.opened")
	other.SiteID = 99
	if err := w.s.SaveChannel(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertPagesStale)})
	complete(w.world, models.Counts{})
	w.run(models.VerdictPartial, models.Counts{Stale: 1}, nil)
	w.tell()
	if diff := cmp.Diff([]string{"1: +pages_stale"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
}

func TestAlerts_ASegmentCountsItsPagesAlone(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	c, _ := w.channel("mailto:a@example.com")
	for _, path := range []string{"blog", "shop"} {
		w.rule(models.AlertRuleSpec{Name: ptr(path), Trigger: ptr(models.AlertPagesAdded), Threshold: ptr(2.0), Filter: ptr("prefix=https://example.com/" + path + "/"), Channels: &[]int64{c.ID}})
	}
	complete(w.world, models.Counts{}, "https://example.com/")
	complete(w.world, models.Counts{Added: 3}, "https://example.com/blog/1", "https://example.com/blog/2", "https://example.com/shop/1")
	w.tell()
	if diff := cmp.Diff([]string{"1: +blog"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
	if all, err := w.s.Alerts(t.Context(), w.Site.ID, 0, 0); err != nil || len(all) != 1 || all[0].Text != "2 pages added in run 2 (prefix=https://example.com/blog/)" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAlerts_OfFindingsFailuresAndTime(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	c, _ := w.channel("mailto:a@example.com")
	to := &[]int64{c.ID}
	w.rule(models.AlertRuleSpec{Name: ptr("errors"), Trigger: ptr(models.AlertFinding), Severity: ptr("error"), Channels: to})
	w.rule(models.AlertRuleSpec{Name: ptr("code"), Trigger: ptr(models.AlertFinding), Code: ptr("invalid-priority"), Threshold: ptr(2.0), Channels: to})
	w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertRunFailed), Threshold: ptr(2.0), Channels: to})
	w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertNotFresh), Within: ptr(10 * time.Hour), Channels: to})
	complete(w.world, models.Counts{})
	w.run(models.VerdictComplete, models.Counts{}, nil, models.Finding{Code: "empty-loc", Severity: "error"}, models.Finding{Code: "invalid-priority", Severity: "warning"})
	w.run(models.VerdictUnavailable, models.Counts{}, nil)
	w.tell()
	w.clock(w.At(3))
	if diff := cmp.Diff([]string{"1: +errors"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
	run := w.Begin()
	if err := w.s.FailRun(t.Context(), w.Lease, w.Site.ID, run.ID, "disk full"); err != nil {
		t.Fatal(err)
	}
	w.tell()
	w.clock(w.At(12)) // the last complete run was the second
	w.clock(w.At(13))
	if diff := cmp.Diff([]string{"1: +errors", "1: +run_failed", "1: +not_fresh"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
	complete(w.world, models.Counts{})
	w.tell()
	w.clock(w.At(14))
	if diff := cmp.Diff([]string{"1: -errors -run_failed", "1: -not_fresh"}, w.messages(3)); diff != "" {
		t.Error(diff)
	}
}

func TestAlerts_OfExpectationsThatExpired(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	c, _ := w.channel("mailto:a@example.com")
	w.rule(models.AlertRuleSpec{Trigger: ptr(models.AlertExpectationExpired), Within: ptr(2 * time.Hour), Channels: &[]int64{c.ID}})
	at := w.At(5)
	e := models.Expectation{SiteID: w.Site.ID, Trigger: 1, URL: "https://example.com/new", Kind: models.ExpectListed, OpenedAt: at, Outcome: models.OutcomeOpen}
	w.clock(w.At(4))
	if err := w.s.OpenExpectations(t.Context(), w.Lease, []models.Expectation{e}); err != nil {
		t.Fatal(err)
	}
	e.Outcome, e.DecidedAt = models.OutcomeExpired, &at
	w.expire(e)
	w.clock(at.Add(time.Minute))
	w.clock(at.Add(time.Hour))
	w.clock(at.Add(3 * time.Hour))
	if diff := cmp.Diff([]string{"1: +expectation_expired", "1: -expectation_expired"}, w.messages(0)); diff != "" {
		t.Error(diff)
	}
}

func TestPreview_SaysWhatWouldHaveBeenSent(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	c, _ := w.channel("mailto:a@example.com")
	complete(w.world, models.Counts{Removed: 99})
	complete(w.world, models.Counts{Removed: 60})
	complete(w.world, models.Counts{Removed: 70})
	complete(w.world, models.Counts{})
	w.run(models.VerdictUnavailable, models.Counts{}, nil)
	complete(w.world, models.Counts{Removed: 50})
	w.now = w.At(30)
	lines := func(spec models.AlertRuleSpec, since time.Time) []string {
		spec.Channels = &[]int64{c.ID}
		rule, err := w.desk.Rule(t.Context(), models.AlertRule{}, spec)
		if err != nil {
			t.Fatal(err)
		}
		messages, err := w.desk.Preview(t.Context(), rule, since)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range messages {
			out = append(out, fmt.Sprintf("%s %d %v %s", m.At.Format("15:04"), m.Run, m.Open, m.Text))
		}
		return out
	}
	got := lines(models.AlertRuleSpec{Trigger: ptr(models.AlertPagesRemoved)}, w.At(0))
	if diff := cmp.Diff([]string{"02:30 2 true 60 pages removed in run 2", "04:30 4 false 0 pages removed in run 4", "06:30 6 true 50 pages removed in run 6"}, got); diff != "" {
		t.Error(diff)
	}
	if got := lines(models.AlertRuleSpec{Trigger: ptr(models.AlertPagesRemoved)}, w.At(5)); len(got) != 1 {
		t.Errorf("since run 5: %v", got)
	}
	got = lines(models.AlertRuleSpec{Trigger: ptr(models.AlertNotFresh), Within: ptr(90 * time.Minute)}, w.At(2))
	if diff := cmp.Diff([]string{"06:00 0 true no complete run since 2026-01-01 04:30 UTC", "06:30 0 false no complete run since 2026-01-01 06:30 UTC", "08:00 0 true no complete run since 2026-01-01 06:30 UTC"}, got); diff != "" {
		t.Error(diff)
	}
	if events, err := w.s.Events(t.Context(), 0, 10); err != nil || len(events) != 0 {
		t.Errorf("a preview sends: %+v, %v", events, err)
	}
}

func TestRules_ThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	w := newAlarmed(t)
	for name, spec := range map[string]models.AlertRuleSpec{
		"no trigger":            {},
		"unknown trigger":       {Trigger: ptr("x")},
		"threshold below one":   {Trigger: ptr(models.AlertPagesAdded), Threshold: ptr(0.5)},
		"trust above one":       {Trigger: ptr(models.AlertLastmodTrust), Threshold: ptr(2.0)},
		"no time":               {Trigger: ptr(models.AlertNotFresh), Within: ptr(time.Second)},
		"unknown severity":      {Trigger: ptr(models.AlertFinding), Severity: ptr("fatal")},
		"severity of pages":     {Trigger: ptr(models.AlertPagesAdded), Severity: ptr("error")},
		"filter of runs":        {Trigger: ptr(models.AlertRunFailed), Filter: ptr("prefix=x")},
		"unknown filter":        {Trigger: ptr(models.AlertPagesAdded), Filter: ptr("x=y")},
		"document of every one": {Trigger: ptr(models.AlertPagesAdded), Filter: ptr("document=3")},
		"name of digits":        {Trigger: ptr(models.AlertPagesAdded), Name: ptr("12")},
		"name of two lines":     {Trigger: ptr(models.AlertPagesAdded), Name: ptr("a\nb")},
	} {
		_, err := w.desk.Rule(t.Context(), models.AlertRule{}, spec)
		var invalid *models.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spec := range map[string]models.AlertRuleSpec{
		"unknown site":    {Trigger: ptr(models.AlertPagesAdded), SiteID: ptr(int64(99))},
		"unknown channel": {Trigger: ptr(models.AlertPagesAdded), Channels: &[]int64{99}},
	} {
		if _, err := w.desk.Rule(t.Context(), models.AlertRule{}, spec); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
