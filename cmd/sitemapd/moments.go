package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) diffCommand() *cobra.Command {
	var from, to string
	var filter models.DiffFilter
	cmd := &cobra.Command{
		Use:   "diff SITE --from TIME|RUN [--to TIME|RUN]",
		Short: "What is different between two moments",
		Long: `Compares a site's pages at two moments: added, removed, moved, changed with old and new values, and pages that are
pending, held, stale or fresh now and were not then. What happened and was undone in between is not told; the change
feed tells it. Without --to the later moment is now.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			if from == "" {
				return usage("--from is missing: name a run or a time")
			}
			var err error
			if filter.From, err = parseMoment("--from", from); err != nil {
				return err
			}
			if filter.To, err = parseMoment("--to", to); err != nil {
				return err
			}
			out := a.printer("kind", "url", "what")
			err = s.Diff(ctx, site.ID, filter, func(c *models.Change) error {
				return out.row(c, c.Kind, c.URL, whatChanged(c))
			})
			if err != nil {
				return err
			}
			return out.close()
		}),
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "the earlier moment: a run's number or a time (2026-11-30 or RFC 3339)")
	f.StringVar(&to, "to", "", "the later moment; empty: now")
	f.StringSliceVar(&filter.Kinds, "kind", nil, "added, changed, moved, removed, pending, held, stale or fresh")
	oneOf(f, "kind", "added", "changed", "moved", "removed", "pending", "held", "stale", "fresh")
	f.BoolVar(&filter.Shifts, "shifts", false, "also pages that another document lists now, with the same content")
	f.IntVar(&filter.Limit, "limit", 0, "at most this many, 0 for all")
	return cmd
}

// whatChanged puts the fields of a change and its reason into one line.
func whatChanged(c *models.Change) string {
	var what []string
	for _, f := range c.Fields {
		what = append(what, fmt.Sprintf("%s: %s -> %s", f.Field, text(f.Old), text(f.New)))
	}
	if c.Reason != "" {
		what = append(what, c.Reason)
	}
	return strings.Join(what, "; ")
}

func (a *app) pruneCommand() *cobra.Command {
	var before string
	var yes bool
	cmd := &cobra.Command{
		Use:   "prune SITE --before TIME|RUN --yes",
		Short: "Forgets what was superseded before a moment",
		Long: `History is kept for ever unless this command is called. It forgets superseded declarations, document versions and
findings that no moment from --before on shows. Every later moment, and the change feed behind it, stays what it
was; earlier ones are refused. What was declared last of a page that is gone is kept. It cannot be undone.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			if before == "" {
				return usage("--before is missing: name a run or a time")
			}
			if !yes {
				return usage("pruning cannot be undone: say --yes")
			}
			at, err := parseMoment("--before", before)
			if err != nil {
				return err
			}
			return a.prune(ctx, s, site, at)
		}),
	}
	cmd.Flags().StringVar(&before, "before", "", "the oldest moment to keep: a run's number or a time")
	cmd.Flags().BoolVar(&yes, "yes", false, "really forget")
	return cmd
}

func (a *app) prune(ctx context.Context, s *store.Store, site models.Site, at models.AsOf) error {
	run, err := s.PruneBefore(ctx, site.ID, at)
	if err != nil {
		return err
	}
	pruned, err := forget(ctx, s, site, run)
	if errors.Is(err, models.ErrBusy) {
		return &models.HintedError{Err: err, Hint: "a daemon or another command is walking this host; try again when it is done"}
	}
	if err != nil {
		return err
	}
	return a.object(pruned, func(w io.Writer) {
		fmt.Fprintf(w, "%s: everything from run %d on is kept; forgotten: %d declarations, %d document versions, %d findings, %d versions of removals\n",
			site.Name, pruned.Run, pruned.Declarations, pruned.Versions, pruned.Findings, pruned.Removals)
	})
}
