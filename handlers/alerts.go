package handlers

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// alertStore keeps alert rules and what came of them.
type alertStore interface {
	AlertRules(ctx context.Context) ([]models.AlertRule, error)
	FindAlertRule(ctx context.Context, name string) (models.AlertRule, error)
	SaveAlertRule(ctx context.Context, rule models.AlertRule) (models.AlertRule, error)
	RemoveAlertRule(ctx context.Context, id int64, at time.Time) error
	AlertStates(ctx context.Context, siteID int64) ([]models.AlertState, error)
	Alerts(ctx context.Context, siteID, before int64, limit int) ([]models.Alert, error)
}

// alertRule is a rule as it is answered.
type alertRule struct {
	models.AlertRule
	Within int64 `json:"within_seconds,omitempty" doc:"How far back not_fresh, expectation_expired and incident look."`
	Open   int   `json:"open" doc:"Sites for which it holds now."`
}

func shownRule(r models.AlertRule, open int) alertRule {
	return alertRule{r, int64(r.Within / time.Second), open}
}

type ruleBody struct {
	Name      *string  `json:"name,omitempty" maxLength:"100" doc:"The trigger when left out."`
	Trigger   *string  `json:"trigger,omitempty" enum:"removals_held,pages_removed,pages_added,pages_changed,pages_stale,finding,run_failed,not_fresh,lastmod_trust,expectation_expired,canonical_conflict,incident"`
	Threshold *float64 `json:"threshold,omitempty" doc:"Reached or passed; of lastmod_trust: fallen below. What is usual for the trigger when left out."`
	Severity  *string  `json:"severity,omitempty" enum:"error,warning,info" doc:"Of findings: this one or worse."`
	Code      *string  `json:"code,omitempty" maxLength:"190" doc:"Of findings: this code alone."`
	Within    *int64   `json:"within_seconds,omitempty" minimum:"60" maximum:"31622400"`
	SiteID    *int64   `json:"site_id,omitempty" minimum:"0" doc:"This site alone; 0 for every site."`
	Filter    *string  `json:"filter,omitempty" maxLength:"4096" doc:"The inventory's query: pages that it selects alone." example:"prefix=https://example.com/blog/"`
	Channels  *[]int64 `json:"channels,omitempty" maxItems:"50" doc:"Numbers of the channels that are told."`
	Paused    *bool    `json:"paused,omitempty" doc:"Not looked at."`
}

func (b *ruleBody) spec() models.AlertRuleSpec {
	spec := models.AlertRuleSpec{Name: b.Name, Trigger: b.Trigger, Threshold: b.Threshold, Severity: b.Severity, Code: b.Code, SiteID: b.SiteID, Filter: b.Filter,
		Channels: b.Channels, Paused: b.Paused}
	if b.Within != nil {
		within := time.Duration(*b.Within) * time.Second
		spec.Within = &within
	}
	return spec
}

// RuleInput names a rule.
type RuleInput struct {
	Rule string `path:"rule" maxLength:"100" doc:"Number or name of the rule."`
}

func (s *Server) rule(ctx context.Context, in RuleInput) (models.AlertRule, error) {
	if s.deps.AlertRules == nil || s.deps.Desk == nil {
		return models.AlertRule{}, unavailable("alerts")
	}
	r, err := s.deps.AlertRules.FindAlertRule(ctx, in.Rule)
	if isNotFound(err) {
		err = notFound("alert rule")
	}
	return r, err
}

func (s *Server) ruleList(ctx context.Context) ([]alertRule, error) {
	out := []alertRule{}
	if s.deps.AlertRules == nil || s.deps.Desk == nil {
		return out, unavailable("alerts")
	}
	rules, err := s.deps.AlertRules.AlertRules(ctx)
	if err != nil {
		return nil, err
	}
	states, err := s.deps.AlertRules.AlertStates(ctx, 0)
	if err != nil {
		return nil, err
	}
	open := map[int64]int{}
	for _, state := range states {
		if state.Alert != nil {
			open[state.RuleID]++
		}
	}
	for _, r := range rules {
		out = append(out, shownRule(r, open[r.ID]))
	}
	return out, nil
}

func (s *Server) alertRoutes() {
	tags := []string{"alerts"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-alert-rules", Method: "GET", Path: "/alert-rules", Tags: tags, Summary: "All alert rules, and for how many sites each holds now",
	}, func(ctx context.Context, _ *struct{}) (*jsonOut[list[alertRule]], error) {
		items, err := s.ruleList(ctx)
		return &jsonOut[list[alertRule]]{list[alertRule]{Items: items}}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "add-alert-rule", Method: "POST", Path: "/alert-rules", Tags: tags, DefaultStatus: 201, Errors: []int{404, 409, 422}, Summary: "Add an alert rule",
	}, func(ctx context.Context, in *struct{ Body ruleBody }) (*jsonOut[alertRule], error) {
		if s.deps.AlertRules == nil || s.deps.Desk == nil {
			return nil, unavailable("alerts")
		}
		rule, err := s.deps.Desk.Rule(ctx, models.AlertRule{}, in.Body.spec())
		if err != nil {
			return nil, err
		}
		rule, err = s.deps.AlertRules.SaveAlertRule(ctx, rule)
		return &jsonOut[alertRule]{shownRule(rule, 0)}, err
	})
	register(s, ScopeRead, huma.Operation{
		OperationID: "get-alert-rule", Method: "GET", Path: "/alert-rules/{rule}", Tags: tags, Errors: []int{404}, Summary: "One alert rule",
	}, func(ctx context.Context, in *RuleInput) (*jsonOut[alertRule], error) {
		rule, err := s.rule(ctx, *in)
		return &jsonOut[alertRule]{shownRule(rule, 0)}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "change-alert-rule", Method: "PATCH", Path: "/alert-rules/{rule}", Tags: tags, Errors: []int{404, 409, 422},
		Summary: "Change an alert rule; what is left out stays",
	}, func(ctx context.Context, in *struct {
		RuleInput
		Body ruleBody
	}) (*jsonOut[alertRule], error) {
		rule, err := s.rule(ctx, in.RuleInput)
		if err == nil {
			err = changeable(rule.Origin)
		}
		if err == nil {
			rule, err = s.deps.Desk.Rule(ctx, rule, in.Body.spec())
		}
		if err == nil {
			rule, err = s.deps.AlertRules.SaveAlertRule(ctx, rule)
		}
		return &jsonOut[alertRule]{shownRule(rule, 0)}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "remove-alert-rule", Method: "DELETE", Path: "/alert-rules/{rule}", Tags: tags, DefaultStatus: 204, Errors: []int{404},
		Summary: "Delete an alert rule; its alerts stay",
	}, func(ctx context.Context, in *RuleInput) (*struct{}, error) {
		rule, err := s.rule(ctx, *in)
		if err != nil {
			return nil, err
		}
		return nil, s.deps.AlertRules.RemoveAlertRule(ctx, rule.ID, s.deps.Now())
	})
	s.alertActions(tags)
}

type silenceBody struct {
	Seconds int64  `json:"for_seconds" minimum:"0" maximum:"31622400" doc:"How long; 0 ends the silence."`
	Reason  string `json:"reason,omitempty" maxLength:"200"`
}

type previewBody struct {
	ruleBody
	Since string `json:"since" maxLength:"40" doc:"Messages since this time." example:"2026-11-01"`
}

func (s *Server) alertActions(tags []string) {
	register(s, ScopeWrite, huma.Operation{
		OperationID: "silence-alert-rule", Method: "POST", Path: "/alert-rules/{rule}/silence", Tags: tags, Errors: []int{404, 422},
		Summary: "Tell nobody of a rule for a while", Description: "Its alerts open and are resolved as ever. What is open still when the silence ends is told then.",
	}, func(ctx context.Context, in *struct {
		RuleInput
		Body silenceBody
	}) (*jsonOut[alertRule], error) {
		rule, err := s.rule(ctx, in.RuleInput)
		if err != nil {
			return nil, err
		}
		rule, err = s.silence(ctx, rule, time.Duration(in.Body.Seconds)*time.Second, in.Body.Reason)
		return &jsonOut[alertRule]{shownRule(rule, 0)}, err
	})
	register(s, ScopeRead, huma.Operation{
		OperationID: "preview-alert-rule", Method: "POST", Path: "/alert-rules/preview", Tags: tags, Errors: []int{404, 422},
		Summary: "What a rule would have sent since a time, without sending or storing anything",
	}, func(ctx context.Context, in *struct{ Body previewBody }) (*jsonOut[list[models.AlertPreview]], error) {
		if s.deps.Desk == nil {
			return nil, unavailable("alerts")
		}
		since, err := parseTime(in.Body.Since)
		if err != nil {
			return nil, models.Invalid("body.since", "for example 2026-11-30 or 2026-11-30T12:00:00Z", "not a time")
		}
		rule, err := s.deps.Desk.Rule(ctx, models.AlertRule{}, in.Body.spec())
		if err != nil {
			return nil, err
		}
		items, err := s.deps.Desk.Preview(ctx, rule, since)
		return &jsonOut[list[models.AlertPreview]]{list[models.AlertPreview]{Items: items}}, err
	})
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-alerts", Method: "GET", Path: "/alerts", Tags: tags, Errors: []int{404, 422}, Summary: "Alerts that opened, newest first, and when they were resolved",
	}, func(ctx context.Context, in *struct {
		PageInput
		Site string `query:"site" maxLength:"200" doc:"Of this site alone: its number or name."`
		Resolved
	}) (*jsonOut[list[models.Alert]], error) {
		if s.deps.AlertRules == nil {
			return nil, unavailable("alerts")
		}
		site, err := s.siteOrAll(ctx, in.Site)
		if err != nil {
			return nil, err
		}
		page, err := s.alerts(ctx, site, in.PageToken, in.size(), filterHash(in.url.Query(), in.url.Path))
		return &jsonOut[list[models.Alert]]{page}, err
	})
	register(s, ScopeRead, huma.Operation{
		OperationID: "digest", Method: "GET", Path: "/digest", Tags: tags, Errors: []int{404, 422}, Summary: "What happened in a span of time, of one site or of all",
	}, func(ctx context.Context, in *struct {
		Site  string `query:"site" maxLength:"200" doc:"Of this site alone: its number or name."`
		Since string `query:"since" required:"true" maxLength:"40" doc:"Beginning of the span; it ends now." example:"2026-11-23"`
	}) (*jsonOut[models.Digest], error) {
		if s.deps.Desk == nil {
			return nil, unavailable("digests")
		}
		site, err := s.siteOrAll(ctx, in.Site)
		if err != nil {
			return nil, err
		}
		since, err := parseTime(in.Since)
		if err != nil {
			return nil, models.Invalid("query.since", "for example 2026-11-30 or 2026-11-30T12:00:00Z", "not a time")
		}
		d, _, err := s.deps.Desk.Digest(ctx, site, since, s.deps.Now())
		return &jsonOut[models.Digest]{d}, err
	})
}

// siteOrAll finds a site's number; 0 for none named.
func (s *Server) siteOrAll(ctx context.Context, name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	site, err := s.site(ctx, SiteInput{Site: name})
	return site.ID, err
}

func (s *Server) silence(ctx context.Context, rule models.AlertRule, length time.Duration, reason string) (models.AlertRule, error) {
	rule.SilencedUntil, rule.SilenceReason = nil, ""
	if length > 0 {
		until := s.deps.Now().UTC().Add(length)
		rule.SilencedUntil, rule.SilenceReason = &until, reason
	}
	return s.deps.AlertRules.SaveAlertRule(ctx, rule)
}

// alerts gives one page of the alerts of a site, or of all.
func (s *Server) alerts(ctx context.Context, site int64, token string, size int, hash []byte) (list[models.Alert], error) {
	out := list[models.Alert]{Items: []models.Alert{}}
	at, err := readPosition(token, hash)
	if err != nil {
		return out, err
	}
	all, err := s.deps.AlertRules.Alerts(ctx, site, at.Number, size+1)
	if err != nil {
		return out, err
	}
	if len(all) > size {
		all = all[:size]
		out.NextPageToken = encodePosition(position{Filter: hash, Number: all[size-1].ID})
	}
	out.Items = append(out.Items, all...)
	return out, nil
}
