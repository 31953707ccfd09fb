package handlers_test

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/handlers/client"
	"github.com/sitemapd/sitemapd/models"
)

// office is the storage and the desk of channels and alert rules, with one of each.
type office struct {
	bad   string // when given, what stands in every text
	calls []string

	changed models.ChannelSpec // what the last change of a channel said
	asked   models.AlertRuleSpec
	saved   models.AlertRule
}

func (o *office) channel() models.Channel {
	c := aChannel
	if o.bad != "" {
		c.Name, c.Kind, c.Address, c.Types, c.Digest, c.TimeZone, c.DisabledReason, c.DisabledAt = o.bad, o.bad, o.bad, []string{o.bad}, o.bad, o.bad, o.bad, &now
	}
	return c
}

func (o *office) rule() models.AlertRule {
	r := aRule
	if o.bad != "" {
		r.Name, r.Trigger, r.Severity, r.Code, r.Filter, r.SilenceReason, r.SilencedUntil = o.bad, o.bad, o.bad, o.bad, o.bad, o.bad, ptr(now.Add(time.Hour))
	}
	return r
}

// text is a foreign text: hostile in any case.
func (o *office) text() string { return cmp.Or(o.bad, hostileText) }

func (o *office) note(call string) { o.calls = append(o.calls, call) }

var (
	aChannel = models.Channel{ID: 3, Name: "ops", Kind: models.ChannelWebhook, Address: "https://u:SECRET@example.com/in?key=SECRET", Types: []string{"*"}, CreatedAt: now,
		FailingSince: &now, Digest: "0 8 * * 1", DigestDue: &now}
	aRule   = models.AlertRule{ID: 4, Name: "mass", Trigger: models.AlertPagesRemoved, Threshold: 50, Filter: "prefix=x", Channels: []int64{3}, CreatedAt: now, Within: time.Hour}
	anAlert = models.Alert{ID: 5, RuleID: 4, Rule: "mass", Trigger: models.AlertPagesRemoved, SiteID: 1, OpenedAt: now, OpenedRun: 7, Value: 60, Text: hostileText, Told: true}
)

const hostileText = `<script>alert("x")</script>`

func (o *office) Channels(context.Context) ([]models.Channel, error) {
	return []models.Channel{o.channel()}, nil
}
func (o *office) FindChannel(_ context.Context, name string) (models.Channel, error) {
	switch name {
	case "3", "ops":
		return o.channel(), nil
	case "file":
		c := o.channel()
		c.Origin = models.OriginConfig
		return c, nil
	}
	return models.Channel{}, models.ErrNotFound
}
func (o *office) RemoveChannel(context.Context, int64) error { o.note("remove"); return nil }
func (o *office) EnableChannel(context.Context, int64) error { o.note("enable"); return nil }
func (o *office) DisableChannel(context.Context, int64, time.Time, string) error {
	o.note("disable")
	return nil
}
func (o *office) RotateChannelKey(context.Context, int64, string, time.Duration) (models.ChannelKey, error) {
	return models.ChannelKey{ID: "k", Secret: "whsec_new"}, nil
}
func (o *office) Queues(context.Context) ([]models.Queue, error) {
	return []models.Queue{{Channel: 3, Waiting: 2, Oldest: &now}}, nil
}
func (o *office) Attempts(_ context.Context, _ int64, f models.AttemptFilter) ([]models.Attempt, error) {
	var all []models.Attempt
	for id := int64(9); id > 6; id-- {
		if f.Before == 0 || id < f.Before {
			all = append(all, models.Attempt{ID: id, EventUID: "evt_1", Type: models.EventRunFinished, SiteID: 1, Run: 7, At: now, Try: 1, Outcome: models.AttemptFailed, Status: 500,
				TookMS: 12.5, Error: o.text(), Excerpt: o.text()})
		}
	}
	return all[:min(len(all), f.Limit)], nil
}
func (o *office) Resend(_ context.Context, _ int64, event string, _ time.Time) error {
	if event != "evt_1" {
		return models.ErrNotFound
	}
	o.note("resend")
	return nil
}
func (o *office) Recover(context.Context, int64, time.Time, time.Time) (int, error) { return 2, nil }

func (o *office) AddChannel(_ context.Context, spec models.ChannelSpec) (models.Channel, *models.ChannelKey, error) {
	if spec.Address == nil || !strings.HasPrefix(*spec.Address, "https://") {
		return models.Channel{}, nil, models.Invalid("address", "https://…", "no address")
	}
	return o.channel(), &models.ChannelKey{ID: "k", Secret: "whsec_first"}, nil
}
func (o *office) ChangeChannel(_ context.Context, _ int64, spec models.ChannelSpec) (models.Channel, error) {
	o.changed = spec
	if spec.Address != nil && !strings.HasPrefix(*spec.Address, "https://") {
		return models.Channel{}, models.Invalid("address", "https://…", "no address")
	}
	return o.channel(), nil
}
func (o *office) Test(context.Context, int64) (models.Attempt, error) {
	return models.Attempt{ID: 10, EventUID: "evt_2", Type: models.EventTest, At: now, Try: 1, Outcome: models.AttemptDelivered, Status: 200, TookMS: 3}, nil
}
func (o *office) Shown(c *models.Channel) string {
	return strings.NewReplacer("u:SECRET@", "", "?key=SECRET", "?…").Replace(c.Address)
}
func (o *office) Rule(_ context.Context, rule models.AlertRule, spec models.AlertRuleSpec) (models.AlertRule, error) {
	if o.asked = spec; rule.ID == 0 {
		rule = aRule
	}
	if spec.Threshold != nil && *spec.Threshold < 1 {
		return rule, models.Invalid("threshold", "", "a threshold below 1 would hold always")
	}
	return rule, nil
}
func (o *office) Preview(context.Context, models.AlertRule, time.Time) ([]models.AlertPreview, error) {
	return []models.AlertPreview{{At: now, SiteID: 1, Site: "example.com", Run: 7, Open: true, Value: 60, Text: o.text()}}, nil
}
func (o *office) Digest(context.Context, int64, time.Time, time.Time) (models.Digest, []string, error) {
	d := models.Digest{From: now.Add(-time.Hour), To: now, Total: models.SiteDigest{Site: "1 site"}, Sites: []models.SiteDigest{{ID: 1, Site: cmp.Or(o.bad, "example.com"), Pages: 5, FindingsNew: []string{cmp.Or(o.bad, "x (1)")}}}}
	return d, []string{"example.com: 5 pages", o.text()}, nil
}

func (o *office) AlertRules(context.Context) ([]models.AlertRule, error) {
	return []models.AlertRule{o.rule()}, nil
}
func (o *office) FindAlertRule(_ context.Context, name string) (models.AlertRule, error) {
	switch name {
	case "4", "mass":
		return o.rule(), nil
	case "file":
		r := o.rule()
		r.Origin = models.OriginConfig
		return r, nil
	}
	return models.AlertRule{}, models.ErrNotFound
}
func (o *office) SaveAlertRule(_ context.Context, rule models.AlertRule) (models.AlertRule, error) {
	if o.saved = rule; rule.SilencedUntil != nil {
		o.note("silence " + rule.SilenceReason)
	}
	return rule, nil
}
func (o *office) RemoveAlertRule(context.Context, int64, time.Time) error {
	o.note("remove rule")
	return nil
}
func (o *office) AlertStates(context.Context, int64) ([]models.AlertState, error) {
	return []models.AlertState{{RuleID: 4, SiteID: 1, Version: 1, Alert: &anAlert}, {RuleID: 4, SiteID: 2, Version: 2}}, nil
}
func (o *office) Alerts(_ context.Context, _, before int64, limit int) ([]models.Alert, error) {
	if before != 0 {
		return nil, nil
	}
	opened := anAlert
	opened.Text, opened.Rule = o.text(), cmp.Or(o.bad, opened.Rule)
	closed := opened
	closed.ID, closed.ResolvedAt, closed.ResolvedRun, closed.Told = 4, &now, 8, false
	all := []models.Alert{opened, closed}
	return all[:min(len(all), limit)], nil
}

func TestChannels_NoAnswerHoldsAnAddressesSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	for _, path := range []string{"/channels", "/channels/3", "/channels/3/attempts", "/alert-rules", "/alerts"} {
		r := f.request("GET", "/api/v1"+path, "", "Authorization", "Bearer "+f.token)
		wantStatus(t, r, 200)
		if body := text(t, r); strings.Contains(body, "SECRET") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestChannels_WhatTheFileSaysIsChangedThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	for _, path := range []string{"/channels/file", "/alert-rules/file"} {
		r := f.request("PATCH", "/api/v1"+path, `{"name":"x"}`, "Authorization", "Bearer "+f.token, "Content-Type", "application/json")
		wantStatus(t, r, 422)
		if body := text(t, r); !strings.Contains(body, "notify.rules") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestAttempts_AreReadPageByPage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	var ids []int64
	token := ""
	for range 5 {
		r := f.request("GET", "/api/v1/channels/ops/attempts?page_size=2&page_token="+token, "", "Authorization", "Bearer "+f.token)
		wantStatus(t, r, 200)
		page := decode[struct {
			Items         []models.Attempt
			NextPageToken string `json:"next_page_token"`
		}](t, r)
		for _, a := range page.Items {
			ids = append(ids, a.ID)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if len(ids) != 3 || ids[0] != 9 || ids[2] != 7 {
		t.Errorf("%v", ids)
	}
}

// The client's methods against the real routes.
func TestClient_ChannelsAndAlerts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	base, _ := f.serve(t)
	c, ctx := &client.Client{Base: base, Token: f.token}, context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	if all := collect(t, c.ListChannels(ctx)); len(all) != 1 || all[0].Waiting != 2 || all[0].Address != "https://example.com/in?…" {
		t.Errorf("%+v", all)
	}
	made, err := c.AddChannel(ctx, client.ChannelSettings{Address: ptr("https://example.com/in")})
	if err != nil || made.Secret != "whsec_first" {
		t.Errorf("%+v, %v", made, err)
	}
	_, err = c.GetChannel(ctx, "ops")
	must(err)
	_, err = c.ChangeChannel(ctx, "ops", client.ChannelSettings{Name: ptr("x")})
	must(err)
	if a, err := c.TestChannel(ctx, "ops"); err != nil || a.Outcome != models.AttemptDelivered {
		t.Errorf("%+v, %v", a, err)
	}
	must(c.EnableChannel(ctx, "ops"))
	must(c.DisableChannel(ctx, "ops"))
	if id, secret, err := c.RotateChannelSecret(ctx, "ops", time.Minute); err != nil || id != "k" || secret != "whsec_new" {
		t.Errorf("%s %s %v", id, secret, err)
	}
	if all := collect(t, c.ListAttempts(ctx, "ops", url.Values{"page_size": {"1"}})); len(all) != 3 {
		t.Errorf("%+v", all)
	}
	must(c.ResendEvent(ctx, "ops", "evt_1"))
	var problem *client.Problem
	if err := c.ResendEvent(ctx, "ops", "evt_9"); !errors.As(err, &problem) || problem.Status != 404 {
		t.Errorf("%v", err)
	}
	if n, err := c.RecoverChannel(ctx, "ops", now); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	must(c.RemoveChannel(ctx, "ops"))
	if all := collect(t, c.ListAlertRules(ctx)); len(all) != 1 || all[0].Open != 1 || all[0].WithinSeconds != 3600 {
		t.Errorf("%+v", all)
	}
	if _, err := c.AddAlertRule(ctx, client.RuleSettings{Trigger: ptr(models.AlertFinding), Threshold: ptr(0.0)}); !errors.As(err, &problem) || problem.Status != 422 {
		t.Errorf("%v", err)
	}
	_, err = c.GetAlertRule(ctx, "mass")
	must(err)
	_, err = c.ChangeAlertRule(ctx, "mass", client.RuleSettings{Threshold: ptr(5.0)})
	must(err)
	if r, err := c.SilenceAlertRule(ctx, "mass", time.Hour, "x"); err != nil || r.SilencedUntil == nil || !r.SilencedUntil.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v, %v", r, err)
	}
	if all, err := c.PreviewAlertRule(ctx, client.RuleSettings{Trigger: ptr(models.AlertFinding)}, now); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if all := collect(t, c.ListAlerts(ctx, "1")); len(all) != 2 {
		t.Errorf("%+v", all)
	}
	if d, err := c.Digest(ctx, "", now); err != nil || d.Total.Site != "1 site" {
		t.Errorf("%+v, %v", d, err)
	}
	must(c.RemoveAlertRule(ctx, "mass"))
}

// Every button of the screens, without JavaScript: what it does and where it leads.
func TestDashboard_ChannelsAndAlerts(t *testing.T) {
	t.Parallel()
	outbox := &office{}
	f := newFixture(t, rich, func(f *fixture) { f.deps.Channels, f.deps.AlertRules, f.deps.Desk = outbox, outbox, outbox })
	post := func(path, form string, status int, want string) {
		t.Helper()
		r := f.request("POST", path, form, "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
		wantStatus(t, r, status)
		if body := text(t, r) + r.Header.Get("Location"); !strings.Contains(body, want) || strings.Contains(body, "SECRET") {
			t.Errorf("%s: want %q in %s", path, want, body)
		}
	}
	post("/settings/channels", "address=https://example.com/in&type=held.created", 201, "whsec_first")
	post("/settings/channels", "address=ftp://x", 422, "no address")
	post("/settings/channels/3/test", "", 200, "Test:")
	post("/settings/channels/3/secret", "", 200, "whsec_new")
	post("/settings/channels/3/enable", "", 303, "/settings/channels/3?done=saved")
	post("/settings/channels/3/disable", "", 303, "/settings/channels/3?done=saved")
	post("/settings/channels/3/recover", "days=7", 303, "done=resent")
	post("/settings/channels/3/recover", "days=x", 422, "number of days")
	post("/settings/channels/3/resend", "event=evt_1", 303, "done=resent")
	post("/settings/channels/3/resend", "event=evt_9", 404, "event")
	post("/settings/channels/3/remove", "name=other", 422, "nothing was done")
	post("/settings/channels/3/remove", "name=ops", 303, "done=channel-removed")
	post("/settings/channels/3/nothing", "", 404, "")
	post("/settings/channels/99/test", "", 404, "channel")
	post("/settings/alerts", "do=preview&trigger=pages_removed&channel=3", 200, "&lt;script&gt;")
	post("/settings/alerts", "do=add&trigger=pages_removed&threshold=0", 422, "would hold always")
	post("/settings/alerts", "do=add&trigger=pages_removed&threshold=x", 422, "no number")
	post("/settings/alerts", "do=add&trigger=pages_removed&hours=9&site=1", 303, "/settings/alerts?done=saved")
	post("/settings/alerts/4/silence", "hours=8", 303, "done=saved")
	post("/settings/alerts/4/silence", "hours=-1", 422, "number of hours")
	post("/settings/alerts/4/remove", "", 303, "done=saved")
	got := strings.Join(outbox.calls, ", ")
	if !strings.HasPrefix(got, "enable, disable, resend, remove, silence by ") || !strings.HasSuffix(got, ", remove rule") {
		t.Error(got)
	}
}
