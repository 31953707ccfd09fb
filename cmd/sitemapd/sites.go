package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/schedule"
)

func (a *app) sitesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sites", Short: "The sites that are followed: add, list, rm, export, apply", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.sitesAdd(), a.sitesList(), a.sitesRemove(), a.sitesExport(), a.sitesApply())
	return cmd
}

// siteFile is what is said of a site that is added.
type siteFile struct {
	URL      string
	Name     string
	Roots    []string
	Hosts    []string
	Tags     []string
	Schedule string
	TimeZone string
	Paused   bool
}

func (a *app) sitesAdd() *cobra.Command {
	var f siteFile
	cmd := &cobra.Command{
		Use:   "add URL",
		Short: "Follow a site: its home page is enough, its sitemaps are found",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			f.URL = args[0]
			site, err := a.newSite(cmd.Context(), f)
			if err != nil {
				return err
			}
			added, err := s.AddSite(cmd.Context(), site)
			if errors.Is(err, models.ErrConflict) {
				return fmt.Errorf("%s: a site with this name or root is there already: %w", site.Name, err)
			}
			if err != nil {
				return err
			}
			return a.object(added, func(w io.Writer) {
				fmt.Fprintf(w, "site %d: %s, starting at %s, schedule %s\n", added.ID, added.Name, added.Root, orDefault(added.Schedule, "off"))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Name, "name", "", "unique name; the host unless chosen")
	flags.StringVar(&f.Schedule, "schedule", "", "cron specification, @hourly, @every 15m ... or off; the configured default unless chosen")
	flags.StringVar(&f.TimeZone, "time-zone", "", "IANA time zone of the schedule")
	flags.StringArrayVar(&f.Roots, "root", nil, "sitemap to start from; may be repeated; found by probing unless given")
	flags.StringArrayVar(&f.Tags, "tag", nil, "group that the site belongs to, such as a client; may be repeated")
	flags.StringArrayVar(&f.Hosts, "host", nil, "further host whose URLs belong to the site; may be repeated")
	return cmd
}

// newSite makes a site of what a user says, probing where the sitemaps are not given.
func (a *app) newSite(ctx context.Context, f siteFile) (models.Site, error) {
	spec, zone := orDefault(f.Schedule, a.config.Sync.Schedule), orDefault(f.TimeZone, a.config.Sync.TimeZone)
	if _, err := schedule.Parse(spec, zone); err != nil {
		return models.Site{}, models.Invalid("schedule", "", "%s", err)
	}
	var site models.Site
	if len(f.Roots) > 0 {
		site = models.Site{Home: withScheme(f.URL), Root: f.Roots[0]}
		if u, _, err := syncer.Discover(ctx, nil, f.Roots[0]+"?sitemap", false); err == nil {
			site.Name = u.Name
		}
		for _, root := range f.Roots {
			site.Roots = append(site.Roots, models.Root{URL: root, Discovery: "direct_URL"})
		}
	} else {
		client := a.client()
		defer client.Close()
		found, _, err := syncer.Discover(ctx, client, f.URL, false)
		if err != nil {
			return site, err
		}
		site = found
	}
	tags, problem := models.CleanTags(f.Tags)
	if problem != "" {
		return site, models.Invalid("tag", "for example --tag clients", "%s", problem)
	}
	site.Settings.Tags = tags
	site.Name = orDefault(f.Name, site.Name)
	site.Schedule, site.TimeZone, site.Paused, site.Settings.Hosts = spec, zone, f.Paused, f.Hosts
	return site, nil
}

func (a *app) sitesList() *cobra.Command {
	var tag string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "All sites",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			sites, err := s.Sites(cmd.Context())
			if err != nil {
				return err
			}
			out := a.printer("id", "name", "root", "schedule", "current_run", "live", "tags")
			for i := range sites {
				x := &sites[i]
				if !x.Tagged(tag) {
					continue
				}
				if err := out.row(x, strconv.FormatInt(x.ID, 10), x.Name, x.Root, x.Schedule, strconv.FormatInt(x.CurrentRun, 10), strconv.FormatInt(x.Live, 10), strings.Join(x.Settings.Tags, ", ")); err != nil {
					return err
				}
			}
			return out.close()
		},
	}
	cmd.Flags().StringVar(&tag, "tag", "", "the sites of one group alone")
	return cmd
}

func (a *app) sitesRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm SITE",
		Short: "Stop following a site; what is recorded stays in the database",
		Args:  cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			if err := s.RemoveSite(ctx, site.ID); err != nil {
				return err
			}
			return a.object(map[string]any{"id": site.ID, "name": site.Name, "removed": true}, func(w io.Writer) {
				fmt.Fprintf(w, "%s is not followed any more\n", site.Name)
			})
		}),
	}
}
