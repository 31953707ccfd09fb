package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// applied says what became of one site, or would.
type applied struct {
	Name    string        `json:"name"`
	Done    string        `json:"done"` // added, changed, unchanged, removed
	DryRun  bool          `json:"dry_run,omitempty"`
	Changes []fieldChange `json:"changes,omitempty"`
}

type fieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

func (a *app) sitesApply() *cobra.Command {
	var dryRun, prune bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Add or change sites as a YAML file says; sites that it does not name stay as they are",
		Long: `Brings the stored sites to what a YAML file says ("-" reads standard input), the one that ` + "`sites export`" + ` writes. The file
is checked whole before anything is done. Applying it again changes nothing.

A site is found by its name, without one by its url. What an entry leaves out stays as it is; an empty text is the
daemon's own setting. With --prune, sites that the file does not name are followed no more; their history stays.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			entries, err := a.readSites(args[0])
			if err != nil {
				return err
			}
			return a.applySites(cmd.Context(), s, entries, dryRun, prune)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be done, field by field, and do nothing")
	cmd.Flags().BoolVar(&prune, "prune", false, "follow sites no more that the file does not name")
	return cmd
}

func (a *app) applySites(ctx context.Context, s *store.Store, entries []siteEntry, dryRun, prune bool) error {
	out := a.printer("done", "name", "changes")
	tell := func(done applied) error {
		done.DryRun = dryRun
		words := done.Done
		if dryRun && words != "unchanged" {
			words = "would be " + words
		}
		var changes []string
		for _, c := range done.Changes {
			changes = append(changes, fmt.Sprintf("%s: %s -> %s", c.Field, orDefault(c.Old, `""`), orDefault(c.New, `""`)))
		}
		return out.row(done, words, done.Name, strings.Join(changes, "; "))
	}
	named := map[int64]bool{}
	for i := range entries {
		done, id, err := a.applySite(ctx, s, &entries[i], dryRun)
		if err != nil {
			return fmt.Errorf("site %s: %w", orDefault(entries[i].Name, entries[i].URL), err)
		}
		named[id] = true
		if err := tell(done); err != nil {
			return err
		}
	}
	if prune {
		sites, err := s.Sites(ctx)
		if err != nil {
			return err
		}
		for _, site := range sites {
			if named[site.ID] {
				continue
			}
			if !dryRun {
				if err := s.RemoveSite(ctx, site.ID); err != nil {
					return err
				}
			}
			if err := tell(applied{Name: site.Name, Done: "removed"}); err != nil {
				return err
			}
		}
	}
	return out.close()
}

// applySite adds a site or brings an existing one to what the entry says.
func (a *app) applySite(ctx context.Context, s *store.Store, f *siteEntry, dryRun bool) (applied, int64, error) {
	existing, err := s.FindSite(ctx, orDefault(f.Name, withScheme(f.URL)))
	if errors.Is(err, models.ErrNotFound) {
		return a.applyNew(ctx, s, f, dryRun)
	}
	if err != nil {
		return applied{}, 0, err
	}
	after := existing
	after.Roots, after.Settings.Hosts = slices.Clone(existing.Roots), slices.Clone(existing.Settings.Hosts)
	f.edit(&after)
	done := applied{Name: existing.Name, Done: "unchanged", Changes: differences(&existing, &after)}
	if len(done.Changes) == 0 {
		return done, existing.ID, nil
	}
	done.Done = "changed"
	if dryRun {
		return done, existing.ID, nil
	}
	_, err = s.ChangeSite(ctx, existing.ID, func(site *models.Site) error {
		spec, zone := site.Schedule, site.TimeZone
		f.edit(site)
		if site.Schedule != spec || site.TimeZone != zone { // a changed schedule starts from now
			site.NextDue = nextDue(a.config.Sync)(*site, time.Now().UTC())
		}
		return nil
	})
	return done, existing.ID, err
}

func (a *app) applyNew(ctx context.Context, s *store.Store, f *siteEntry, dryRun bool) (applied, int64, error) {
	done := applied{Name: orDefault(f.Name, f.URL), Done: "added"}
	if dryRun { // its sitemaps are looked for when it is really added
		return done, 0, nil
	}
	site, err := a.newSite(ctx, siteFile{URL: f.URL, Name: f.Name, Roots: f.Roots})
	if err != nil {
		return done, 0, err
	}
	site.Schedule, site.TimeZone = "", ""
	f.edit(&site)
	if !site.Paused {
		now := time.Now().UTC()
		site.NextDue = &now
	}
	site, err = s.AddSite(ctx, site)
	done.Name = site.Name
	return done, site.ID, err
}

// differences lists the settings that differ, as texts; a password is never shown.
func differences(before, after *models.Site) []fieldChange {
	old, now := exportedSite(before), exportedSite(after)
	var out []fieldChange
	x, y := reflect.ValueOf(old), reflect.ValueOf(now)
	for i := range x.NumField() {
		name, ok := x.Type().Field(i).Tag.Lookup("yaml")
		if !ok {
			continue
		}
		from, to := settingText(x.Field(i)), settingText(y.Field(i))
		if from != to {
			name, _, _ = strings.Cut(name, ",")
			out = append(out, fieldChange{name, from, to})
		}
	}
	if before.Settings.Password != after.Settings.Password {
		out = append(out, fieldChange{"password", "(hidden)", "(hidden)"})
	}
	return out
}

func settingText(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, " ")
	}
	return fmt.Sprint(v.Interface())
}

// mostInput bounds what is read from standard input.
const mostInput = 16 << 20

func readAllInput() ([]byte, error) { return io.ReadAll(io.LimitReader(os.Stdin, mostInput)) }
