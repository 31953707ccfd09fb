package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/schedule"
)

// siteEntry is one site in the file of `sites export` and `sites apply`. A key that is left out leaves the setting as it
// is, an empty text is the daemon's own. Its keys are those of the configuration's `sites`; a password is never exported.
type siteEntry struct {
	URL          string    `yaml:"url"`
	Name         string    `yaml:"name,omitempty"`
	Roots        []string  `yaml:"roots,omitempty"`
	Hosts        *[]string `yaml:"hosts,omitempty"`
	Tags         *[]string `yaml:"tags,omitempty"`
	Schedule     *string   `yaml:"schedule,omitempty"`
	TimeZone     *string   `yaml:"time_zone,omitempty"`
	Paused       *bool     `yaml:"paused,omitempty"`
	ConfirmAfter *string   `yaml:"confirm_after,omitempty"`
	ReleaseAfter *string   `yaml:"release_after,omitempty"`
	Quiet        *string   `yaml:"quiet,omitempty"`
	MaxWait      *string   `yaml:"max_wait,omitempty"`
	Retention    *string   `yaml:"retention,omitempty"`
	Username     *string   `yaml:"username,omitempty"`
	PasswordFile string    `yaml:"password_file,omitempty"`
	PublicBadges *bool     `yaml:"public_badges,omitempty"`

	PreferredScheme *string `yaml:"preferred_scheme,omitempty"`
	PreferredHost   *string `yaml:"preferred_host,omitempty"`
	TrailingSlash   *string `yaml:"trailing_slash,omitempty"`

	password string // that PasswordFile holds
}

// textSetting is one setting that is a text: where an entry has it and where a site keeps it.
type textSetting struct {
	to **string
	of *string
}

func (f *siteEntry) texts(x *models.Site) []textSetting {
	s := &x.Settings
	return []textSetting{{&f.Schedule, &x.Schedule}, {&f.TimeZone, &x.TimeZone}, {&f.Username, &s.Username}, {&f.PreferredScheme, &s.PreferredScheme},
		{&f.PreferredHost, &s.PreferredHost}, {&f.TrailingSlash, &s.TrailingSlash}}
}

type sitesDocument struct {
	Sites []siteEntry `yaml:"sites"`
}

// durations names the entry's durations beside where a site keeps them and how long they may be.
func (f *siteEntry) durations(to *models.SiteSettings) []struct {
	name string
	text *string
	to   *time.Duration
	most time.Duration
} {
	const day = 24 * time.Hour
	return []struct {
		name string
		text *string
		to   *time.Duration
		most time.Duration
	}{
		{"confirm_after", f.ConfirmAfter, &to.ConfirmAfter, 30 * day}, {"release_after", f.ReleaseAfter, &to.ReleaseAfter, 365 * day},
		{"quiet", f.Quiet, &to.Quiet, day}, {"max_wait", f.MaxWait, &to.MaxWait, day}, {"retention", f.Retention, &to.Retention, 36500 * day},
	}
}

func (a *app) sitesExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "All sites as YAML for `sites apply` or the configuration file; passwords are left out",
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
			out := sitesDocument{Sites: []siteEntry{}}
			for i := range sites {
				out.Sites = append(out.Sites, exportedSite(&sites[i]))
			}
			e := yaml.NewEncoder(a.out)
			e.SetIndent(2)
			return e.Encode(out)
		},
	}
}

// exportedSite writes what is set of a site; what is not set is the daemon's own wherever it is applied.
func exportedSite(x *models.Site) siteEntry {
	f := siteEntry{URL: x.Home, Name: x.Name}
	for _, root := range x.Roots {
		f.Roots = append(f.Roots, root.URL)
	}
	for _, text := range f.texts(x) {
		if value := *text.of; value != "" {
			*text.to = &value
		}
	}
	set := func(d time.Duration, to **string) {
		if d != 0 {
			text := d.String()
			*to = &text
		}
	}
	set(x.Settings.ConfirmAfter, &f.ConfirmAfter)
	set(x.Settings.ReleaseAfter, &f.ReleaseAfter)
	set(x.Settings.Quiet, &f.Quiet)
	set(x.Settings.MaxWait, &f.MaxWait)
	set(x.Settings.Retention, &f.Retention)
	if len(x.Settings.Hosts) > 0 {
		hosts := slices.Clone(x.Settings.Hosts)
		f.Hosts = &hosts
	}
	if len(x.Settings.Tags) > 0 {
		tags := slices.Clone(x.Settings.Tags)
		f.Tags = &tags
	}
	if x.Paused {
		f.Paused = &x.Paused
	}
	if x.Settings.PublicBadges {
		f.PublicBadges = &x.Settings.PublicBadges
	}
	return f
}

// readSites reads a file whole and tells everything that is wrong with it at once; "-" is standard input.
func (a *app) readSites(path string) ([]siteEntry, error) {
	text, err := readFileOrInput(path)
	if err != nil {
		return nil, usage("read sites: %w", err)
	}
	var in sitesDocument
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&in); err != nil {
		return nil, usage("%s: %w; want a list `sites:` with the keys that `sites export` writes", path, err)
	}
	var problems []string
	names, homes := map[string]int{}, map[string]int{}
	for i := range in.Sites {
		f := &in.Sites[i]
		say := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("sites[%d] %s: ", i, orDefault(f.Name, f.URL))+fmt.Sprintf(format, args...))
		}
		a.checkEntry(f, say)
		for key, seen := range map[string]map[string]int{f.Name: names, f.URL: homes} {
			if first, twice := seen[key]; twice && key != "" {
				say("%s is listed already, as sites[%d]", key, first)
			}
			seen[key] = i
		}
	}
	if len(problems) > 0 {
		return nil, usage("%s: nothing was changed:\n  %s", path, strings.Join(problems, "\n  "))
	}
	return in.Sites, nil
}

func readFileOrInput(path string) ([]byte, error) {
	if path == "-" {
		return readAllInput()
	}
	return os.ReadFile(path)
}

func (a *app) checkEntry(f *siteEntry, say func(string, ...any)) {
	for _, link := range append([]string{withScheme(f.URL)}, f.Roots...) {
		if u, err := url.Parse(link); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			say("%q is no http or https URL", link)
		}
	}
	zone, spec := a.config.Sync.TimeZone, a.config.Sync.Schedule
	if f.TimeZone != nil {
		zone = orDefault(*f.TimeZone, zone)
	}
	if f.Schedule != nil {
		spec = orDefault(*f.Schedule, spec)
	}
	if _, err := schedule.Parse(spec, zone); err != nil {
		say("%s", err)
	}
	if f.Tags != nil {
		tags, problem := models.CleanTags(*f.Tags)
		if problem != "" {
			say("tags: %s", problem)
		}
		*f.Tags = tags
	}
	var to models.SiteSettings
	for _, d := range f.durations(&to) {
		if d.text == nil || *d.text == "" {
			continue
		}
		if value, err := time.ParseDuration(*d.text); err != nil || value < 0 || value > d.most {
			say("%s: %q is no duration from 0s to %s", d.name, *d.text, d.most)
		}
	}
	for name, set := range map[string]struct {
		text *string
		may  []string
	}{"preferred_scheme": {f.PreferredScheme, []string{"", "http", "https"}}, "trailing_slash": {f.TrailingSlash, []string{"", models.SlashAdd, models.SlashRemove}}} {
		if set.text != nil && !slices.Contains(set.may, *set.text) {
			say("%s: %q is none of %s", name, *set.text, strings.Join(set.may[1:], ", "))
		}
	}
	if f.PasswordFile != "" {
		text, err := os.ReadFile(f.PasswordFile)
		if err != nil {
			say("password_file: %s", err)
		}
		f.password = strings.TrimRight(string(text), "\r\n")
		if f.Username == nil || *f.Username == "" {
			say("password_file needs username")
		}
	}
}

// edit brings a site to what the entry says; everything was checked before.
func (f *siteEntry) edit(site *models.Site) {
	if f.Name != "" {
		site.Name = f.Name
	}
	if len(f.Roots) > 0 {
		old := site.Roots
		site.Root, site.Roots = f.Roots[0], nil
		for _, root := range f.Roots {
			next := models.Root{URL: root, Discovery: "direct_URL"}
			if at := slices.IndexFunc(old, func(r models.Root) bool { return r.URL == root }); at >= 0 {
				next = old[at] // how it was found stays
			}
			site.Roots = append(site.Roots, next)
		}
	}
	if f.Hosts != nil {
		site.Settings.Hosts = nil
		site.Settings.Hosts = append(site.Settings.Hosts, *f.Hosts...)
	}
	if f.Tags != nil {
		site.Settings.Tags = slices.Clone(*f.Tags)
	}
	for _, text := range f.texts(site) {
		if *text.to != nil {
			*text.of = **text.to
		}
	}
	for _, d := range f.durations(&site.Settings) {
		if d.text != nil {
			*d.to, _ = time.ParseDuration(orDefault(*d.text, "0s")) // checked
		}
	}
	for _, flag := range []struct{ from, to *bool }{{f.Paused, &site.Paused}, {f.PublicBadges, &site.Settings.PublicBadges}} {
		if flag.from != nil {
			*flag.to = *flag.from
		}
	}
	switch {
	case site.Settings.Username == "":
		site.Settings.Password = ""
	case f.PasswordFile != "":
		site.Settings.Password = f.password
	}
}
