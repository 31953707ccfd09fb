package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

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

// siteFile is one site in `sites export` and `sites apply`.
type siteFile struct {
	URL      string   `yaml:"url"`
	Name     string   `yaml:"name,omitempty"`
	Roots    []string `yaml:"roots,omitempty"`
	Hosts    []string `yaml:"hosts,omitempty"`
	Schedule string   `yaml:"schedule,omitempty"`
	TimeZone string   `yaml:"time_zone,omitempty"`
	Paused   bool     `yaml:"paused,omitempty"`
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
	site.Name = orDefault(f.Name, site.Name)
	site.Schedule, site.TimeZone, site.Paused, site.Settings.Hosts = spec, zone, f.Paused, f.Hosts
	return site, nil
}

func (a *app) sitesList() *cobra.Command {
	return &cobra.Command{
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
			out := a.printer("id", "name", "root", "schedule", "current_run", "live")
			for i := range sites {
				x := &sites[i]
				if err := out.row(x, strconv.FormatInt(x.ID, 10), x.Name, x.Root, x.Schedule, strconv.FormatInt(x.CurrentRun, 10), strconv.FormatInt(x.Live, 10)); err != nil {
					return err
				}
			}
			return out.close()
		},
	}
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

func (a *app) sitesExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "All sites as YAML for `sites apply` or the configuration file",
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
			out := struct {
				Sites []siteFile `yaml:"sites"`
			}{Sites: []siteFile{}}
			for _, x := range sites {
				f := siteFile{URL: x.Home, Name: x.Name, Hosts: x.Settings.Hosts, Schedule: x.Schedule, TimeZone: x.TimeZone, Paused: x.Paused}
				for _, root := range x.Roots {
					f.Roots = append(f.Roots, root.URL)
				}
				out.Sites = append(out.Sites, f)
			}
			e := yaml.NewEncoder(a.out)
			e.SetIndent(2)
			return e.Encode(out)
		},
	}
}

func (a *app) sitesApply() *cobra.Command {
	return &cobra.Command{
		Use:   "apply FILE",
		Short: "Add or change sites as a YAML file says; sites that it does not name stay as they are",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := readSites(args[0])
			if err != nil {
				return err
			}
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			out := a.printer("name", "done")
			for _, f := range files {
				name, done, err := a.applySite(cmd.Context(), s, f)
				if err != nil {
					return fmt.Errorf("site %s: %w", orDefault(f.Name, f.URL), err)
				}
				if err := out.row(map[string]string{"name": name, "done": done}, name, done); err != nil {
					return err
				}
			}
			return out.close()
		},
	}
}

func readSites(path string) ([]siteFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("read sites: %w", err)
	}
	defer f.Close()
	var in struct {
		Sites []siteFile `yaml:"sites"`
	}
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&in); err != nil {
		return nil, usage("%s: %w; want a list `sites:` with url, name, roots, hosts, schedule, time_zone, paused", path, err)
	}
	return in.Sites, nil
}

// applySite adds a site or brings an existing one to what f says.
func (a *app) applySite(ctx context.Context, s *store.Store, f siteFile) (name, done string, err error) {
	existing, err := s.FindSite(ctx, orDefault(f.Name, f.URL))
	if errors.Is(err, models.ErrNotFound) {
		site, err := a.newSite(ctx, f)
		if err != nil {
			return "", "", err
		}
		site, err = s.AddSite(ctx, site)
		return site.Name, "added", err
	}
	if err != nil {
		return "", "", err
	}
	before := fmt.Sprintf("%+v", existing)
	if len(f.Roots) > 0 {
		existing.Root, existing.Roots = f.Roots[0], nil
		for _, root := range f.Roots {
			existing.Roots = append(existing.Roots, models.Root{URL: root, Discovery: "direct_URL"})
		}
	}
	existing.Schedule, existing.TimeZone = orDefault(f.Schedule, existing.Schedule), orDefault(f.TimeZone, existing.TimeZone)
	existing.Paused, existing.Settings.Hosts = f.Paused, f.Hosts
	if _, err := schedule.Parse(orDefault(existing.Schedule, "off"), existing.TimeZone); err != nil {
		return "", "", models.Invalid("schedule", "", "%s", err)
	}
	if fmt.Sprintf("%+v", existing) == before {
		return existing.Name, "unchanged", nil
	}
	// A changed schedule starts from now.
	now := time.Now().UTC()
	existing.NextDue = nextDue(a.config.Sync)(existing, now)
	return existing.Name, "changed", s.SaveSite(ctx, existing)
}
