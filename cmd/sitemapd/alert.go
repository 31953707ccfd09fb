package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) alertCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "alert", Aliases: []string{"alerts"}, Short: "Alert rules: what is worth a message, from how much on, and who gets it",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.alertAdd(), a.alertList(), a.alertTest(), a.alertLog(), a.alertSilence(), a.alertPause(true), a.alertPause(false), a.alertRemove())
	return cmd
}

// ruleFlags are what a rule is made of on the command line.
type ruleFlags struct {
	name, severity, code, within, site, filter string
	threshold                                  float64
	channels                                   []string
}

func (f *ruleFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "what to call it; the trigger when left out")
	flags.Float64Var(&f.threshold, "threshold", 0, "reached or passed; of lastmod_trust: fallen below")
	flags.StringVar(&f.severity, "severity", "", "of the trigger finding: this one or worse (error, warning, info)")
	flags.StringVar(&f.code, "code", "", "of the trigger finding: this code alone")
	flags.StringVar(&f.within, "within", "", "how far back not_fresh, expectation_expired and incident look (24h, 7d)")
	flags.StringVar(&f.site, "site", "", "this site alone; every site when left out")
	flags.StringVar(&f.filter, "filter", "", "the inventory's query: pages that it selects alone, such as prefix=https://example.com/blog/")
	flags.StringSliceVar(&f.channels, "channel", nil, "who is told: names or numbers of channels")
}

func (a *app) ruleSpec(ctx context.Context, s *store.Store, cmd *cobra.Command, f *ruleFlags, trigger string) (models.AlertRuleSpec, error) {
	spec := models.AlertRuleSpec{Trigger: &trigger, Name: &f.name}
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	if given("threshold") {
		spec.Threshold = &f.threshold
	}
	if given("severity") {
		spec.Severity = &f.severity
	}
	if given("code") {
		spec.Code = &f.code
	}
	if given("filter") {
		spec.Filter = &f.filter
	}
	if given("within") {
		d, err := longTime(f.within)
		if err != nil {
			return spec, usage("--within %q: want for example 24h or 7d", f.within)
		}
		spec.Within = &d
	}
	if f.site != "" {
		site, err := a.site(ctx, s, f.site)
		if err != nil {
			return spec, err
		}
		spec.SiteID = &site.ID
	}
	ids, err := channelIDs(ctx, s, f.channels)
	spec.Channels = &ids
	return spec, err
}

func channelIDs(ctx context.Context, s *store.Store, names []string) ([]int64, error) {
	ids := []int64{}
	for _, name := range names {
		c, err := s.FindChannel(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%w; `sitemapd webhook list` shows what there is", err)
		}
		ids = append(ids, c.ID)
	}
	return ids, nil
}

func (a *app) alertAdd() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{
		Use:   "add TRIGGER",
		Short: "Add a rule",
		Long: `TRIGGER is what is measured: ` + strings.Join(models.AlertTriggers, ", ") + `.
docs/alerts.md says how, and what is usual. ` + "`sitemapd alert test`" + ` says what a rule would have sent.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
		spec, err := a.ruleSpec(ctx, s, cmd, &f, args[0])
		if err != nil {
			return err
		}
		rule, err := a.desk(s).Rule(ctx, models.AlertRule{}, spec)
		if err != nil {
			return err
		}
		if rule, err = s.SaveAlertRule(ctx, rule); err != nil {
			return err
		}
		return a.object(rule, func(w io.Writer) { fmt.Fprintf(w, "rule %d: %s\n", rule.ID, rule.Name) })
	})
	f.bind(cmd)
	return cmd
}

// withRule opens the database and finds the rule that the first argument names.
func (a *app) withRule(fn func(ctx context.Context, s *store.Store, rule models.AlertRule, args []string) error) func(*cobra.Command, []string) error {
	return a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
		rule, err := s.FindAlertRule(ctx, args[0])
		if err != nil {
			return fmt.Errorf("%w; `sitemapd alert list` shows what there is", err)
		}
		return fn(ctx, s, rule, args[1:])
	})
}

func (a *app) alertList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "All rules and whether they hold now",
		Args:  cobra.NoArgs,
		RunE: a.withStore(func(ctx context.Context, s *store.Store, _ []string) error {
			rules, err := s.AlertRules(ctx)
			if err != nil {
				return err
			}
			states, err := s.AlertStates(ctx, 0)
			if err != nil {
				return err
			}
			open := map[int64]int{}
			for _, state := range states {
				if state.Alert != nil {
					open[state.RuleID]++
				}
			}
			out := a.printer("id", "name", "trigger", "threshold", "within", "site", "filter", "channels", "open", "state")
			for i := range rules {
				r := &rules[i]
				shown := struct {
					*models.AlertRule
					Within string `json:"within,omitempty"`
					Open   int    `json:"open"`
				}{r, lengthOf(r.Within), open[r.ID]}
				if err := out.row(shown, strconv.FormatInt(r.ID, 10), r.Name, r.Trigger, strconv.FormatFloat(r.Threshold, 'g', -1, 64), shown.Within,
					numberOrNone(r.SiteID), r.Filter, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(r.Channels)), " "), "[]"), strconv.Itoa(shown.Open), ruleState(r)); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
}

func lengthOf(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

func ruleState(r *models.AlertRule) string {
	switch {
	case r.Paused:
		return "paused"
	case r.Silent(time.Now()):
		return "silent until " + when(*r.SilencedUntil)
	}
	return "ok"
}

func (a *app) alertTest() *cobra.Command {
	var f ruleFlags
	var since string
	cmd := &cobra.Command{
		Use:   "test RULE|TRIGGER",
		Short: "Say what a rule would have sent since a time, without sending anything",
		Long: `RULE is a stored rule. A TRIGGER with the flags of ` + "`alert add`" + ` tries a rule that nobody has yet. Silences do not count.
A rule with a trigger's name hides the trigger.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
		at, err := sinceTime(since, time.Now())
		if err != nil {
			return err
		}
		rule, err := s.FindAlertRule(ctx, args[0])
		if err != nil {
			spec, err2 := a.ruleSpec(ctx, s, cmd, &f, args[0])
			if err2 != nil {
				return err2
			}
			if rule, err2 = a.desk(s).Rule(ctx, models.AlertRule{}, spec); err2 != nil {
				return fmt.Errorf("%w, and it is no trigger either: %w", err, err2)
			}
		}
		messages, err := a.desk(s).Preview(ctx, rule, at)
		if err != nil {
			return err
		}
		out := a.printer("at", "site", "run", "message", "value", "text")
		for i := range messages {
			m := &messages[i]
			word := map[bool]string{true: "opened", false: "resolved"}[m.Open]
			if err := out.row(m, when(m.At), m.Site, numberOrNone(m.Run), word, strconv.FormatFloat(m.Value, 'g', 4, 64), m.Text); err != nil {
				return err
			}
		}
		return out.close()
	})
	f.bind(cmd)
	cmd.Flags().StringVar(&since, "since", "30d", "a time (RFC 3339), or how long ago (12h, 30d)")
	return cmd
}

func (a *app) alertLog() *cobra.Command {
	var site string
	var limit int
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Alerts that opened, newest first, and when they were resolved",
		Args:  cobra.NoArgs,
		RunE: a.withStore(func(ctx context.Context, s *store.Store, _ []string) error {
			id := int64(0)
			if site != "" {
				found, err := a.site(ctx, s, site)
				if err != nil {
					return err
				}
				id = found.ID
			}
			alerts, err := s.Alerts(ctx, id, 0, limit)
			if err != nil {
				return err
			}
			out := a.printer("opened_at", "rule", "site", "run", "resolved_at", "told", "text")
			for i := range alerts {
				t := &alerts[i]
				resolved := ""
				if t.ResolvedAt != nil {
					resolved = when(*t.ResolvedAt)
				}
				if err := out.row(t, when(t.OpenedAt), t.Rule, strconv.FormatInt(t.SiteID, 10), numberOrNone(t.OpenedRun), resolved, strconv.FormatBool(t.Told), t.Text); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
	cmd.Flags().StringVar(&site, "site", "", "of this site alone")
	cmd.Flags().IntVar(&limit, "limit", 100, "at most this many, 0 for all")
	return cmd
}

func (a *app) alertSilence() *cobra.Command {
	var length, reason string
	cmd := &cobra.Command{
		Use:   "silence RULE",
		Short: "Tell nobody of a rule for a while; --for 0 ends the silence",
		Long: `While a rule is silent its alerts open and are resolved as ever, and nobody is told. What is open still when the silence
ends is told then.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withRule(func(ctx context.Context, s *store.Store, rule models.AlertRule, _ []string) error {
			d, err := longTime(length)
			if err != nil || d < 0 {
				return usage("--for %q: want for example 8h or 2d", length)
			}
			rule.SilencedUntil, rule.SilenceReason = nil, ""
			if d > 0 {
				until := time.Now().UTC().Add(d)
				rule.SilencedUntil, rule.SilenceReason = &until, reason
			}
			if rule, err = s.SaveAlertRule(ctx, rule); err != nil {
				return err
			}
			return a.object(rule, func(w io.Writer) { fmt.Fprintf(w, "rule %s: %s\n", rule.Name, ruleState(&rule)) })
		}),
	}
	cmd.Flags().StringVar(&length, "for", "8h", "how long (30m, 8h, 2d)")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever wonders")
	return cmd
}

func (a *app) alertPause(pause bool) *cobra.Command {
	use, short := "resume", "Look at a rule again"
	if pause {
		use, short = "pause", "Do not look at a rule"
	}
	return &cobra.Command{Use: use + " RULE", Short: short, Args: cobra.ExactArgs(1),
		RunE: a.withRule(func(ctx context.Context, s *store.Store, rule models.AlertRule, _ []string) error {
			rule.Paused = pause
			rule, err := s.SaveAlertRule(ctx, rule)
			if err != nil {
				return err
			}
			return a.object(rule, func(w io.Writer) { fmt.Fprintf(w, "rule %s: %s\n", rule.Name, ruleState(&rule)) })
		})}
}

func (a *app) alertRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm RULE",
		Short: "Delete a rule; its alerts stay in the log",
		Args:  cobra.ExactArgs(1),
		RunE: a.withRule(func(ctx context.Context, s *store.Store, rule models.AlertRule, _ []string) error {
			if err := s.RemoveAlertRule(ctx, rule.ID, time.Now()); err != nil {
				return err
			}
			return a.object(map[string]any{"rule": rule.ID, "removed": true}, func(w io.Writer) { fmt.Fprintf(w, "rule %s is removed\n", rule.Name) })
		}),
	}
}

func (a *app) digestCommand() *cobra.Command {
	var site, since string
	cmd := &cobra.Command{
		Use:   "digest",
		Short: "What happened in a span of time: growth, changes, findings, what waits for a person",
		Long:  `Prints what channels with a digest get (` + "`webhook add ADDRESS --digest CRON`" + `), of one site or of all.`,
		Args:  cobra.NoArgs,
		RunE: a.withStore(func(ctx context.Context, s *store.Store, _ []string) error {
			now := time.Now().UTC()
			from, err := sinceTime(since, now)
			if err != nil {
				return err
			}
			id := int64(0)
			if site != "" {
				found, err := a.site(ctx, s, site)
				if err != nil {
					return err
				}
				id = found.ID
			}
			d, err := a.teller(s).Digest(ctx, id, from, now)
			if err != nil {
				return err
			}
			return a.object(d, func(w io.Writer) {
				fmt.Fprintf(w, "%s to %s\n\n", when(d.From), when(d.To))
				for _, line := range notify.Lines(&d) {
					fmt.Fprintln(w, line)
				}
			})
		}),
	}
	cmd.Flags().StringVar(&site, "site", "", "of this site alone")
	cmd.Flags().StringVar(&since, "since", "7d", "a time (RFC 3339), or how long ago (24h, 7d)")
	return cmd
}
