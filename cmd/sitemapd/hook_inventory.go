package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) hookInventoryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inventory SITE",
		Short: "What the site's companion plugin says is published, as it was last read",
		Long: `Shows the last reading of the plugin's signed list of posts: how it ended, how many posts it names, how many of them no
document lists and how many are gone but listed still. A full run reads it where the site has a hook secret and the list
is switched on in the plugin. It corroborates removals and moves; it declares no page.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			p, err := s.PluginInventory(ctx, site.ID, false)
			if errors.Is(err, models.ErrNotFound) {
				return fmt.Errorf("%s: its plugin's inventory was never read: it needs `sitemapd hook secret %s`, the list switched on in the plugin, and a run: %w",
					site.Name, site.Name, models.ErrNotFound)
			}
			if err != nil {
				return err
			}
			return a.object(p, func(w io.Writer) {
				fmt.Fprintf(w, "%s in run %d, %s", p.Outcome, p.Run, when(p.ReadAt))
				if p.Reason != "" {
					fmt.Fprintf(w, ": %s", p.Reason)
				}
				fmt.Fprintf(w, "\nposts          %d\nnot declared   %d\ndeclared, gone %d\n", p.Posts, p.NotDeclared, p.DeclaredGone)
				if p.System != "" {
					fmt.Fprintf(w, "system         %s, home %s, permalinks %s\n", p.System, p.Home, orDefault(p.PermalinkStructure, "plain"))
				}
			})
		}),
	}
}
