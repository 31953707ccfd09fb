package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// withSite wraps what reading commands share: open, find the site, run, close.
func (a *app) withSite(fn func(ctx context.Context, s *store.Store, site models.Site, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.open(cmd)
		if err != nil {
			return err
		}
		defer s.Close()
		site, err := a.site(cmd.Context(), s, args[0])
		if err != nil {
			return err
		}
		err = fn(cmd.Context(), s, site, args[1:])
		var missing *models.NotFoundError
		if errors.As(err, &missing) && missing.What == "run" {
			err = fmt.Errorf("%w; `sitemapd runs %s` lists them", err, site.Name)
		}
		return err
	}
}

func (a *app) urlsCommand() *cobra.Command {
	var flags pageFlags
	cmd := &cobra.Command{
		Use:   "urls SITE",
		Short: "The inventory: every page with what is declared of it, now or at any earlier moment",
		Example: `  sitemapd urls example.org --prefix https://example.org/blog/ --sort=-lastmod --limit 20
  sitemapd urls example.org --object-type page --lastmod-to=-12m
  sitemapd urls example.org --state removed --as-of 2026-11-30
  sitemapd urls example.org --segment "new this week"`,
		Args: cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			filter, err := flags.filter(ctx, s, site)
			if err != nil {
				return err
			}
			out := a.pagePrinter()
			if err := s.Pages(ctx, site.ID, filter, func(p *models.Page) error { return pageRow(out, p) }); err != nil {
				return err
			}
			return out.close()
		}),
	}
	flags.add(cmd.Flags())
	return cmd
}

func (a *app) pagePrinter() *printer {
	return a.printer("url", "state", "lastmod", "changefreq", "priority", "document", "first_seen", "last_seen")
}

func pageRow(out *printer, p *models.Page) error {
	priority := ""
	if p.Priority != nil {
		priority = strconv.FormatFloat(*p.Priority, 'f', -1, 64)
	}
	return out.row(p, p.URL, string(p.State), lastmodText(p.Lastmod), p.Changefreq, priority, p.Document, when(p.FirstSeen), when(p.LastSeen))
}

// parseAsOf reads the moment of --as-of.
func parseAsOf(text string) (models.AsOf, error) { return parseMoment("--as-of", text) }

// parseMoment reads a run's number or a time; a date means its first instant in UTC.
func parseMoment(flag, text string) (models.AsOf, error) {
	if text == "" {
		return models.AsOf{}, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return models.AsOf{Run: n}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return models.AsOf{Time: t.UTC()}, nil
		}
	}
	return models.AsOf{}, usage("%s %q: want a run's number or a time such as 2026-11-30 or 2026-11-30T12:00:00Z", flag, text)
}

func (a *app) changesCommand() *cobra.Command {
	var filter models.ChangeFilter
	cmd := &cobra.Command{
		Use:   "changes SITE",
		Short: "The change feed: what was added, changed, moved, removed, restored",
		Long: `The change feed of a site, oldest first. --run gives one run; --after continues behind a cursor, which stays valid
for ever. Without either the whole feed is given.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			out := a.printer("run", "at", "kind", "url", "what")
			err := s.Changes(ctx, site.ID, filter, func(c *models.Change) error {
				return out.row(c, strconv.FormatInt(c.Run, 10), when(c.At), c.Kind, c.URL, whatChanged(c))
			})
			if err != nil {
				return err
			}
			return out.close()
		}),
	}
	f := cmd.Flags()
	f.Int64Var(&filter.Run, "run", 0, "one run's number")
	f.StringVar(&filter.After, "after", "", "cursor of the last change already seen")
	f.StringSliceVar(&filter.Kinds, "kind", nil, "added, changed, moved, removed, restored, pending, held, stale or fresh")
	oneOf(f, "kind", "added", "changed", "moved", "removed", "restored", "pending", "held", "stale", "fresh")
	f.BoolVar(&filter.Shifts, "shifts", false, "also pages that only moved to another document, and lastmods that a time zone shifted")
	f.IntVar(&filter.Limit, "limit", 0, "at most this many, 0 for all")
	cmd.MarkFlagsMutuallyExclusive("run", "after")
	return cmd
}

// text shows one side of a changed field.
func text(v any) string {
	switch x := v.(type) {
	case nil:
		return "none"
	case string:
		return x
	}
	b, err := marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func (a *app) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "history SITE URL",
		Short: "Every state of one page, oldest first",
		Long: `Every state of one page, oldest first, with the reason and, for pages that are or were pending, held or removed, the
proof: which runs missed it in which document, the hash of the bytes that they read, and what a hook, the page itself or
a person said.`,
		Args: cobra.ExactArgs(2),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, args []string) error {
			u, problem := weburl.Parse(nil, []byte(withScheme(args[0])))
			if problem != weburl.None {
				return usage("%q is no usable URL: %s", args[0], problem)
			}
			pages, err := s.PageHistory(ctx, site.ID, models.Key(u.Key()))
			if err != nil {
				return err
			}
			if len(pages) == 0 {
				return usage("%s was never listed by %s", args[0], site.Name)
			}
			out := a.printer("from_run", "to_run", "state", "lastmod", "document", "reason", "proof")
			for i := range pages {
				p := &pages[i]
				to := ""
				if p.ToRun != nil {
					to = strconv.FormatInt(*p.ToRun, 10)
				}
				if err := out.row(p, strconv.FormatInt(p.FromRun, 10), to, string(p.State), lastmodText(p.Lastmod), p.Document, p.Reason, proof(p.Removal)); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
}

// proof puts what a removal rests on into one line.
func proof(r *models.PageRemoval) string {
	if r == nil {
		return ""
	}
	var parts []string
	for _, m := range r.Missing {
		text := fmt.Sprintf("run %d missed it in %s (%s", m.Run, m.Document, m.Verdict)
		if m.Walks > 1 {
			text += fmt.Sprintf(", %d walks", m.Walks)
		}
		if m.ByteHash != "" {
			text += ", bytes " + m.ByteHash
		}
		parts = append(parts, text+")")
	}
	if r.Hook {
		parts = append(parts, "a hook said that it is gone")
	}
	if r.Status != 0 {
		parts = append(parts, fmt.Sprintf("the page answers %d", r.Status))
	}
	if r.RuledAt != nil {
		parts = append(parts, fmt.Sprintf("ruled on by a person at run %d, %s", r.RuledRun, when(*r.RuledAt)))
	}
	return strings.Join(parts, "; ")
}

func whenever(t *time.Time) string {
	if t == nil {
		return ""
	}
	return when(*t)
}

func withScheme(raw string) string {
	if strings.Contains(raw, "://") {
		return raw
	}
	return "https://" + raw
}

func (a *app) runsCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "runs SITE",
		Short: "The runs of a site, newest first",
		Args:  cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			runs, err := s.Runs(ctx, site.ID, 0, limit)
			if err != nil {
				return err
			}
			out := a.printer("run", "started_at", "cause", "verdict", "live", "added", "changed", "removed", "pending", "held", "stale", "reason")
			for i := range runs {
				r, c := &runs[i], runs[i].Counts
				reason := r.Reason
				if r.Error != "" {
					reason = "failed: " + r.Error
				}
				n := func(v int64) string { return strconv.FormatInt(v, 10) }
				if err := out.row(r, n(r.ID), when(r.StartedAt), r.Cause, string(r.Verdict), n(c.Live), n(c.Added), n(c.Changed),
					n(c.Removed), n(c.Pending), n(c.Held), n(c.Stale), reason); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "at most this many, 0 for all")
	return cmd
}

func (a *app) documentsCommand() *cobra.Command {
	var asOf string
	cmd := &cobra.Command{
		Use:   "documents SITE",
		Short: "The sitemap files of a site with verdict, size and generator",
		Args:  cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			moment, err := parseAsOf(asOf)
			if err != nil {
				return err
			}
			documents, err := s.DocumentsAt(ctx, site.ID, moment)
			if err != nil {
				return err
			}
			out := a.printer("id", "url", "type", "verdict", "entries", "children", "bytes", "generator", "fetched_at", "freshness", "stale_since", "reason")
			for i := range documents {
				d := &documents[i]
				n := func(v int64) string { return strconv.FormatInt(v, 10) }
				if err := out.row(d, n(int64(d.Number)), strings.Repeat("  ", d.Depth)+d.URL, d.Type, string(d.Verdict), n(d.Entries),
					n(d.Children), n(d.Bytes), d.Generator, when(d.FetchedAt), d.Freshness, whenever(d.StaleSince), d.Reason); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
	cmd.Flags().StringVar(&asOf, "as-of", "", "a moment: a run's number or a time")
	return cmd
}

func (a *app) heldCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held SITE list|approve|reject [URL…]",
		Short: "Removals that the guard holds for a person",
		Long: `Removals of more than a tenth of a site or a document at once (and more than ten pages) are held. list shows them
with their reason; approve lets the next run that still misses the pages remove them, pending ones included;
reject keeps them listed. URLs limit approve and reject to these pages.`,
		Args: cobra.MinimumNArgs(2),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, args []string) error {
			switch args[0] {
			case "list":
				return a.heldList(ctx, s, site)
			case "approve", "reject":
				return a.heldDecide(ctx, s, site, args[0] == "approve", args[1:])
			}
			return usage("held SITE %s: want list, approve or reject", args[0])
		}),
	}
	return cmd
}

func (a *app) heldList(ctx context.Context, s *store.Store, site models.Site) error {
	removals, err := s.Removals(ctx, site.ID)
	if err != nil {
		return err
	}
	out := a.printer("url", "stage", "since", "from_run", "reason")
	for i := range removals {
		r := &removals[i]
		if err := out.row(r, r.URL, r.Stage, when(r.Since), strconv.FormatInt(r.FromRun, 10), r.Reason); err != nil {
			return err
		}
	}
	return out.close()
}

func (a *app) heldDecide(ctx context.Context, s *store.Store, site models.Site, approve bool, urls []string) error {
	var keys []models.Key
	for _, raw := range urls {
		u, problem := weburl.Parse(nil, []byte(withScheme(raw)))
		if problem != weburl.None {
			return usage("%q is no usable URL: %s", raw, problem)
		}
		keys = append(keys, models.Key(u.Key()))
	}
	waiting, err := s.Removals(ctx, site.ID)
	if err != nil {
		return err
	}
	n, err := s.DecideRemovals(ctx, site.ID, keys, approve)
	if err != nil {
		return err
	}
	var strangers []string
	for i, raw := range urls {
		if !slices.ContainsFunc(waiting, func(r models.Removal) bool { return r.Key == keys[i] }) {
			strangers = append(strangers, raw)
		}
	}
	word := map[bool]string{true: "approved", false: "rejected"}[approve]
	err = a.object(map[string]any{"site": site.Name, word: n}, func(w io.Writer) {
		fmt.Fprintf(w, "%d removals %s", n, word)
		if approve && n > 0 {
			fmt.Fprint(w, "; the next run that still misses the pages removes them")
		}
		fmt.Fprintln(w)
	})
	if err == nil && len(strangers) > 0 {
		return usage("%s: no removal of it waits; `sitemapd held %s list` shows those that do", strings.Join(strangers, " "), site.Name)
	}
	return err
}
