package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/internal/metrics"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// verifier wires what looks at pages, with what counts its work; m may be nil.
func (a *app) verifier(s *store.Store, client *fetch.Client, engine *syncer.Engine, m *metrics.Verify) (*syncer.Verifier, error) {
	c := a.config.Verify
	o := syncer.VerifierOptions{Engine: engine, Store: s, Web: client, Logger: a.log, PerDay: int64(c.PerDay), Delay: noneIfZero(c.Delay)}
	if m != nil {
		o.Observe, o.GraphAudited, o.MassChanged = m.Look, m.Audited, m.Mass
	}
	return syncer.NewVerifier(o)
}

// reader is a verifier that only reads what is stored.
func (a *app) reader(s *store.Store) (*syncer.Verifier, func(), error) {
	client := a.client()
	engine, err := a.engine(s, client, syncer.Options{})
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	v, err := a.verifier(s, client, engine, nil)
	return v, client.Close, err
}

func (a *app) verifyCommand() *cobra.Command {
	var limit int
	var pace time.Duration
	var graph bool
	cmd := &cobra.Command{
		Use:   "verify SITE [URL…]",
		Short: "Looks at listed pages and records what they say of their canonical URL",
		Long: `Fetches pages of a site one at a time, politely (robots.txt, a pause of at least a second, only the beginning of each
page), records the evidence for and against each canonical URL and prints one line for each relationship of a page.
Without URLs every listed page is looked at, those never looked at first. What the pages name as canonical is looked at
as well.

With --graph no page is fetched: where canonical links and permanent redirects lead is computed anew and compared with what
is on record; differences are put right and printed. The daemon does that once a week.

Exit codes: 0 every page answered · 3 some gave no answer that says anything of the page · 4 none did`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			site, err := a.site(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			if graph {
				return a.auditGraph(cmd.Context(), s, site, args[1:])
			}
			if cmd.Flags().Changed("pace") {
				if err := a.pace(site, pace); err != nil {
					return err
				}
			}
			return a.verify(cmd.Context(), s, syncer.VerifyRequest{SiteID: site.ID, URLs: args[1:], Limit: limit, Busy: 30 * time.Second})
		},
	}
	f := cmd.Flags()
	f.IntVar(&limit, "limit", 0, "at most this many pages, 0 for all")
	f.BoolVar(&graph, "graph", false, "check where canonical links lead against a full computation instead; nothing is fetched")
	f.DurationVar(&pace, "pace", time.Second, "pause between two pages; below 1s only for a site on this machine")
	return cmd
}

// pace sets the pause between pages. Nobody else's server is hurried.
func (a *app) pace(site models.Site, pause time.Duration) error {
	if pause < time.Second {
		u, err := url.Parse(site.Root)
		if err != nil {
			return err
		}
		host := u.Hostname()
		if address, err := netip.ParseAddr(host); (err != nil || !address.IsLoopback()) && host != "localhost" {
			return usage("--pace %s: less than 1s is for sites on this machine alone, not for %s", pause, host)
		}
	}
	a.config.Fetch.PageDelay, a.config.Verify.Delay = pause, pause
	return nil
}

func (a *app) verify(ctx context.Context, s *store.Store, req syncer.VerifyRequest) error {
	client := a.client()
	defer client.Close()
	engine, err := a.engine(s, client, syncer.Options{})
	if err != nil {
		return err
	}
	v, err := a.verifier(s, client, engine, nil)
	if err != nil {
		return err
	}
	n, silent := 0, ""
	req.Looked = func(url string, reading canonical.Reading) {
		if why := saysNothing[reading]; why != "" && silent == "" {
			silent = url + ": " + why
		}
		if n++; terminal(a.errOut) {
			fmt.Fprintf(a.errOut, "\r\x1b[K%d pages; %s: %s", n, plain(url), reading)
		}
	}
	result, failure := v.Verify(ctx, req)
	if terminal(a.errOut) {
		fmt.Fprint(a.errOut, "\r\x1b[K")
	}
	if errors.Is(failure, models.ErrBusy) {
		return &models.HintedError{Err: failure, Hint: "a daemon or another command is at this host; try again when it is done"}
	}
	// What was found before an end or a fault is told all the same.
	out := a.canonicalPrinter()
	err = v.LinesOf(context.WithoutCancel(ctx), req.SiteID, result.Keys, func(c *models.Canonical) error { return canonicalRow(out, c) })
	if err == nil {
		err = out.close()
	}
	switch {
	case failure != nil || err != nil:
		return errors.Join(failure, err)
	case len(result.Foreign) > 0:
		return usage("%s: not a page of this site", strings.Join(result.Foreign, " "))
	case result.Unread > 0:
		code := exitPartial
		if result.Unread == len(result.Keys) {
			code = exitUnavailable
		}
		return &exitError{code, fmt.Errorf("%d of %d pages gave no answer that says anything of them; the first is %s", result.Unread, len(result.Keys), silent)}
	}
	return nil
}

// saysNothing tells of looks that say nothing of a page what was the matter.
var saysNothing = map[canonical.Reading]string{
	canonical.ReadingUnverified:  "its address is not a public one (--allow-private names those that may be asked), or its redirects do not end",
	canonical.ReadingUnreachable: "no connection, no answer in time, or a robots.txt that cannot be read",
	canonical.ReadingTempFail:    "the server answers with an error",
	canonical.ReadingMaintenance: "the site is in maintenance",
	canonical.ReadingChallenge:   "a wall against robots answers",
	canonical.ReadingTruncated:   "the answer ended early",
	canonical.ReadingEmpty:       "the answer is empty",
	canonical.ReadingUndecodable: "the answer cannot be decoded",
}

func (a *app) canonicalPrinter() *printer {
	return a.printer("source_url", "canonical_url", "declaration_method", "relationship_scope", "status", "reason", "confidence", "rule", "resolution",
		"final_url", "reading", "source_status", "valid_from", "valid_until", "observed_at")
}

func canonicalRow(out *printer, c *models.Canonical) error {
	at := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return when(*t)
	}
	return out.row(c, c.SourceURL, c.CanonicalURL, c.Method, c.Scope, c.Status, c.Reason, strconv.FormatFloat(c.Confidence, 'f', 2, 64), c.Rule,
		c.Resolution, c.FinalURL, c.Reading, strconv.Itoa(c.SourceStatus), at(c.ValidFrom), at(c.ValidUntil), at(c.ObservedAt))
}

func (a *app) canonicalCommand() *cobra.Command {
	var f models.CanonicalFilter
	var asOf string
	cmd := &cobra.Command{
		Use:   "canonical SITE [URL]",
		Short: "What is on record of canonical URLs, now or at any earlier time; nothing is fetched",
		Args:  cobra.RangeArgs(1, 2),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, args []string) error {
			if len(args) > 0 {
				f.Source = withScheme(args[0])
			}
			moment, err := parseAsOf(asOf)
			if err != nil {
				return err
			}
			if moment.Run > 0 {
				run, err := s.Run(ctx, site.ID, moment.Run)
				if err != nil {
					return err
				}
				if run.FinishedAt != nil {
					moment.Time = *run.FinishedAt
				}
			}
			f.At = moment.Time
			v, done, err := a.reader(s)
			if err != nil {
				return err
			}
			defer done()
			out := a.canonicalPrinter()
			if err := v.Canonical(ctx, site.ID, f, func(c *models.Canonical) error { return canonicalRow(out, c) }); err != nil {
				return err
			}
			return out.close()
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&asOf, "as-of", "", "what was on record at a moment: a time (2026-11-30 or RFC 3339) or a run's number")
	flags.StringVar(&f.Target, "target", "", "with this canonical URL")
	flags.StringVar(&f.Method, "method", "", "declaration method, for example html_link_element")
	flags.StringVar(&f.Status, "status", "", "unknown, declared, validated, conflicting, stale, superseded or invalid")
	flags.StringVar(&f.Resolution, "resolution", "", "self, none, chain, loop, into_loop, conflict or too_long")
	flags.IntVar(&f.TargetStatus, "target-status", 0, "whose target answered with this HTTP status")
	flags.StringVar(&f.RedirectTarget, "redirect-target", "", "that redirect to this URL")
	flags.StringVar(&f.OpenGraph, "og-url", "", "with this og:url")
	flags.StringVar(&f.Schema, "schema-url", "", "with this schema.org url")
	flags.StringVar(&f.Sitemap, "sitemap-loc", "", "listed as this loc")
	flags.BoolVar(&f.Unlisted, "all", false, "also pages that no sitemap lists: targets, and those that left")
	flags.IntVar(&f.Limit, "limit", 0, "stop after this many lines, 0 for all")
	oneOf(flags, "method", "html_link_element", "http_link_header", "structured_system_configuration", "inferred_from_consistent_signals")
	oneOf(flags, "status", "unknown", "declared", "validated", "conflicting", "stale", "superseded", "invalid")
	oneOf(flags, "resolution", "self", "none", "chain", "loop", "into_loop", "conflict", "too_long")
	return cmd
}

// reportFlags are the flags of report.
type reportFlags struct {
	filter  models.AuditFilter
	since   string
	forDays int
	note    string
}

func (a *app) reportCommand() *cobra.Command {
	var r reportFlags
	cmd := &cobra.Command{
		Use:   "report SITE [groups|incidents|mutes|mute CODE [PLACE]|unmute CODE [PLACE]]",
		Short: "What is wrong with listed pages: canonical URLs, redirects, noindex, missing pages",
		Long: `One row for each fault of a page, with a stable code and id (docs/canonical-findings.md). --since gives the deltas:
what became new, fixed or reopened. groups counts by code and path template: faults are mended in templates. mute keeps
a code out of reports for a time: everywhere, for a template such as /{slug}/, or for one page. incidents lists changes
that many pages shared.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, args []string) error {
			if r.since != "" {
				moment, err := parseAsOf(r.since)
				if err != nil || moment.Time.IsZero() {
					return usage("--since %q: want a time such as 2026-11-30 or 2026-11-30T12:00:00Z", r.since)
				}
				r.filter.Since = moment.Time
				if r.filter.State == "" {
					r.filter.State = "all"
				}
			}
			return a.report(ctx, s, site, &r, args)
		}),
	}
	f := cmd.Flags()
	f.StringSliceVar(&r.filter.Codes, "code", nil, "these codes alone")
	f.StringVar(&r.filter.Severity, "severity", "", "error, warning or info")
	f.StringVar(&r.filter.State, "state", "", "new, open, reopened, fixed or all; every one that is not fixed unless chosen")
	f.StringVar(&r.since, "since", "", "what changed since a time")
	f.StringVar(&r.filter.Template, "template", "", "pages of this path template, for example /{slug}/")
	f.BoolVar(&r.filter.Muted, "muted", false, "muted ones as well")
	f.IntVar(&r.filter.Limit, "limit", 0, "at most this many, 0 for all")
	f.IntVar(&r.forDays, "days", 30, "mute for so many days; 0 for ever")
	f.StringVar(&r.note, "note", "", "why something is muted")
	oneOf(f, "severity", severities...)
	oneOf(f, "state", "new", "open", "reopened", "fixed", "all")
	return cmd
}

func (a *app) report(ctx context.Context, s *store.Store, site models.Site, r *reportFlags, args []string) error {
	what := ""
	if len(args) > 0 {
		what = args[0]
	}
	v, done, err := a.reader(s)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case what == "" || what == "list":
		return a.reportList(ctx, v, site, r.filter)
	case what == "groups":
		groups, err := v.AuditGroups(ctx, site.ID, r.filter)
		if err != nil {
			return err
		}
		out := a.printer("pages", "code", "severity", "template", "example")
		for i := range groups {
			g := &groups[i]
			if err := out.row(g, strconv.FormatInt(g.Pages, 10), g.Code, g.Severity, g.Template, g.Example); err != nil {
				return err
			}
		}
		return out.close()
	case what == "incidents":
		return a.reportIncidents(ctx, s, site, r.filter.Since)
	case what == "mutes":
		return a.reportMutes(ctx, s, site)
	case (what == "mute" || what == "unmute") && len(args) > 1 && len(args) < 4:
		return a.mute(ctx, v, site, r, what == "mute", args[1:])
	}
	return usage("report SITE %s: want groups, incidents, mutes, mute CODE [PLACE] or unmute CODE [PLACE]", strings.Join(args, " "))
}

func (a *app) reportList(ctx context.Context, v *syncer.Verifier, site models.Site, f models.AuditFilter) error {
	for _, code := range f.Codes {
		if _, ok := canonical.FindingKindOf(code); !ok {
			return usage("--code %q: no such finding; docs/canonical-findings.md lists them", code)
		}
	}
	columns := canonical.FindingColumns
	if a.format == "table" {
		columns = []string{"severity", "code", "page", "target", "text", "state", "first_seen"}
	}
	out := a.printer(columns...)
	err := v.Audit(ctx, site.ID, f, func(x *models.Audited) error {
		n := strconv.Itoa
		if a.format == "table" {
			return out.row(x, x.Severity, x.Code, x.Page, x.Target, x.Text, x.State, when(x.FirstSeen))
		}
		return out.row(x, x.ID, x.Code, x.Report, x.Severity, x.Weight, x.Page, x.Template, x.Target, x.Text, x.Evidence, x.Place, n(x.Line), n(x.Offset),
			x.Rule, when(x.FirstSeen), when(x.LastSeen), strconv.FormatInt(x.Confirmed, 10), x.State, x.Do)
	})
	if err != nil {
		return err
	}
	return out.close()
}

func (a *app) reportIncidents(ctx context.Context, s *store.Store, site models.Site, since time.Time) error {
	incidents, err := s.Incidents(ctx, site.ID, since)
	if err != nil {
		return err
	}
	out := a.printer("started_at", "last_seen", "what", "pages", "looked")
	for i := range incidents {
		x := &incidents[i]
		if err := out.row(x, when(x.StartedAt), when(x.LastSeen), x.What, strconv.FormatInt(x.Pages, 10), strconv.FormatInt(x.Looked, 10)); err != nil {
			return err
		}
	}
	return out.close()
}

func (a *app) reportMutes(ctx context.Context, s *store.Store, site models.Site) error {
	mutes, err := s.Mutes(ctx, site.ID, time.Now())
	if err != nil {
		return err
	}
	out := a.printer("code", "place", "until", "note")
	for i := range mutes {
		m := &mutes[i]
		until := ""
		if m.Until != nil {
			until = when(*m.Until)
		}
		if err := out.row(m, m.Code, m.Place, until, m.Note); err != nil {
			return err
		}
	}
	return out.close()
}

func (a *app) mute(ctx context.Context, v *syncer.Verifier, site models.Site, r *reportFlags, on bool, args []string) error {
	m := models.Mute{Code: args[0], Note: r.note}
	if len(args) > 1 {
		m.Place = args[1]
	}
	if !on {
		err := v.Unmute(ctx, site.ID, m)
		if errors.Is(err, models.ErrNotFound) {
			return usage("%s is not muted there; `sitemapd report %s mutes` lists what is", m.Code, site.Name)
		}
		return err
	}
	if r.forDays > 0 {
		until := time.Now().UTC().AddDate(0, 0, r.forDays)
		m.Until = &until
	}
	m, err := v.Mute(ctx, site.ID, m)
	if err != nil {
		return err
	}
	return a.object(m, func(w io.Writer) { fmt.Fprintf(w, "%s is muted\n", m.Code) })
}
