package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/schedule"
)

func (a *app) syncCommand() *cobra.Command {
	var confirm string
	cmd := &cobra.Command{
		Use:   "sync SITE|URL",
		Short: "One full run: read the site's sitemaps and record what changed",
		Long: `Reads every sitemap of a site and records additions, changes and removals. A URL that is not known yet is added
first: a sitemap is taken as it is, for a home page the sitemaps are found.

A page that is not listed any more is pending until a second complete walk agrees. --confirm now makes that walk
at once, within the same run; otherwise a later run (after sync.confirm_after) does it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if confirm != "now" && confirm != "later" {
				return usage("--confirm %q: want now or later", confirm)
			}
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			untrace, err := a.trace()
			if err != nil {
				return err
			}
			defer untrace()
			return a.sync(cmd.Context(), s, args[0], confirm == "now")
		},
	}
	cmd.Flags().StringVar(&confirm, "confirm", "later", "when removals are confirmed by a second walk: now or later")
	return cmd
}

func (a *app) sync(ctx context.Context, s *store.Store, name string, confirm bool) error {
	client := a.client()
	defer client.Close()
	site, err := a.siteOrNew(ctx, s, client, name)
	if err != nil {
		return err
	}
	engine, err := a.engine(s, client, syncer.Options{Progress: a.bar()})
	if err != nil {
		return err
	}
	run, err := engine.Run(ctx, syncer.Request{SiteID: site.ID, Cause: models.CauseManual, Confirm: confirm, Busy: 30 * time.Second})
	if err != nil {
		if errors.Is(err, models.ErrBusy) {
			return &models.HintedError{Err: err, Hint: "a daemon or another command is walking this host; try again when it is done"}
		}
		return err
	}
	if err := a.object(run, func(w io.Writer) { runTable(w, run) }); err != nil {
		return err
	}
	return runExit(run)
}

// runExit gives a run its exit code.
func runExit(run models.Run) error {
	switch {
	case run.Verdict == models.VerdictPartial:
		return &exitError{code: exitPartial}
	case run.Verdict == models.VerdictUnavailable && strings.HasPrefix(run.Reason, string(models.VerdictNotSitemap)):
		return &exitError{code: exitNotSitemap}
	case run.Verdict == models.VerdictUnavailable:
		return &exitError{code: exitUnavailable}
	case run.Counts.Held > 0:
		return &exitError{code: exitHeld}
	}
	return nil
}

func runTable(w io.Writer, run models.Run) {
	c := run.Counts
	fmt.Fprintf(w, "%s: run %d, %s", run.Site, run.ID, run.Verdict)
	if run.Reason != "" {
		fmt.Fprintf(w, " (%s)", plain(run.Reason))
	}
	fmt.Fprintf(w, "\n%d listed: %d added, %d changed, %d removed, %d restored, %d moved, %d unchanged\n",
		c.Live, c.Added, c.Changed, c.Removed, c.Restored, c.Moved, c.Unchanged)
	if c.Pending+c.Held+c.Stale > 0 {
		fmt.Fprintf(w, "%d pending (a second walk decides), %d held (`sitemapd held %s list`), %d stale\n", c.Pending, c.Held, run.Site, c.Stale)
	}
	fmt.Fprintf(w, "documents: %d read, %d unchanged, %d failed; %d requests\n",
		run.Documents.Read, run.Documents.Unchanged, run.Documents.Failed, run.Requests)
	for i, f := range run.Findings {
		if i == 20 {
			fmt.Fprintf(w, "and %d more findings (`sitemapd findings %s`)\n", len(run.Findings)-i, run.Site)
			break
		}
		fmt.Fprintf(w, "%s %s: %s %s\n", f.Severity, f.Code, f.Document, plain(f.Text))
	}
}

// siteOrNew finds a site, or makes one of a URL that is not known yet.
func (a *app) siteOrNew(ctx context.Context, s *store.Store, client *fetch.Client, name string) (models.Site, error) {
	site, err := a.site(ctx, s, name)
	if err == nil || !errors.Is(err, models.ErrNotFound) || !looksLikeURL(name) {
		return site, err
	}
	site, probe, err := syncer.Discover(ctx, client, name, false)
	if err != nil {
		return site, err
	}
	for _, c := range probe.Candidates {
		if c.Chosen {
			a.log.Info("sitemap found", "url", c.URL, "by", c.Discovery, "root", c.Root)
		}
	}
	site.Schedule, site.TimeZone = a.config.Sync.Schedule, a.config.Sync.TimeZone
	return addSite(ctx, s, site)
}

// addSite stores a new site; when its host is a site already, the name tells the sitemap too.
func addSite(ctx context.Context, s *store.Store, site models.Site) (models.Site, error) {
	added, err := s.AddSite(ctx, site)
	if !errors.Is(err, models.ErrConflict) {
		return added, err
	}
	if existing, found := s.FindSite(ctx, site.Root); found == nil {
		return existing, nil
	}
	if u, parse := url.Parse(site.Root); parse == nil {
		site.Name += strings.TrimSuffix(u.RequestURI(), "/")
		return s.AddSite(ctx, site)
	}
	return added, err
}

// engine wires a run engine. The callbacks are the caller's, the rest is the configuration's.
func (a *app) engine(s *store.Store, client *fetch.Client, o syncer.Options) (*syncer.Engine, error) {
	c := a.config.Sync
	o.Store, o.Web, o.Logger, o.Owner, o.LeaseTTL = s, client, a.log, owner(), c.LeaseTTL
	o.Fetches, o.Workers, o.MaxDepth, o.MaxDocuments = a.config.Fetch.PerHost, c.Workers, c.MaxDepth, c.MaxDocuments
	o.MaxBody = int64(a.config.Fetch.MaxDocumentBytes)
	o.Policy = syncer.Policy{ConfirmAfter: c.ConfirmAfter, ReleaseAfter: c.ReleaseAfter,
		GuardPages: int64(c.GuardPages), GuardPercent: int64(c.GuardPercent)}
	o.NextDue = nextDue(c)
	if a.tracer != nil {
		o.Span, o.Link = a.tracer.Span, a.linkTraces(s)
	}
	return syncer.New(o)
}

// nextDue gives a site's next run by its schedule.
func nextDue(c config.Sync) func(models.Site, time.Time) *time.Time {
	return func(site models.Site, after time.Time) *time.Time {
		plan, err := schedule.Parse(orDefault(site.Schedule, c.Schedule), orDefault(site.TimeZone, c.TimeZone))
		if err != nil || plan.IsOff() {
			return nil
		}
		next := plan.WithJitter(site.Root, c.Jitter).Next(after).UTC()
		if next.IsZero() {
			return nil
		}
		return &next
	}
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// bar shows the walk on a terminal; nil elsewhere.
func (a *app) bar() func(models.Progress) {
	if !terminal(a.errOut) {
		return nil
	}
	return func(p models.Progress) {
		if p.Phase == "finished" {
			fmt.Fprint(a.errOut, "\r\x1b[K")
			return
		}
		const width = 24
		done := 0
		if p.Known > 0 {
			done = int(min(width, p.Documents*width/p.Known))
		}
		fmt.Fprintf(a.errOut, "\r\x1b[K%-10s [%s%s] %d/%d documents, %d pages, %.1f MB", p.Phase,
			strings.Repeat("#", done), strings.Repeat(".", width-done), p.Documents, p.Known, p.Pages, float64(p.Bytes)/1e6)
	}
}
