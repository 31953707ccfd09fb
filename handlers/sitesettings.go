package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// siteBody is what may be said of a site when it is added or changed; what is left out stays as it is. Its names are
// those of the configuration file's `sites`.
type siteBody struct {
	_            struct{}  `additionalProperties:"false"`
	Name         *string   `json:"name,omitempty" minLength:"1" maxLength:"190" doc:"Unique; the host when left out."`
	Home         *string   `json:"home,omitempty" format:"uri" maxLength:"2048" doc:"Home page; its sitemaps are found from it."`
	Roots        []string  `json:"roots,omitempty" minItems:"1" maxItems:"100" doc:"Sitemaps to start from instead of those found."`
	Hosts        *[]string `json:"hosts,omitempty" maxItems:"100" doc:"Further hosts whose URLs belong to the site, with a port only where it is unusual; an empty list for none."`
	Tags         *[]string `json:"tags,omitempty" maxItems:"50" doc:"Groups that the site belongs to, a client or a country: at most 10, in lower case; an empty list for none."`
	Schedule     *string   `json:"schedule,omitempty" maxLength:"200" doc:"Cron specification with five fields, @hourly, or off; empty for the daemon's own." example:"*/15 * * * *"`
	TimeZone     *string   `json:"time_zone,omitempty" maxLength:"100" doc:"IANA name; the daemon's own when empty." example:"Europe/Berlin"`
	Paused       *bool     `json:"paused,omitempty" doc:"A paused site is not scheduled; triggers still wake it."`
	ConfirmAfter *string   `json:"confirm_after,omitempty" maxLength:"40" doc:"Wait before a second walk may confirm a removal, at most 720h; empty for the daemon's own." example:"2m"`
	ReleaseAfter *string   `json:"release_after,omitempty" maxLength:"40" doc:"Held removals are released after agreeing walks over this time, at most 8760h; empty for the daemon's own." example:"72h"`
	Quiet        *string   `json:"quiet,omitempty" maxLength:"40" doc:"Silence to wait for after a hook, at most 24h; empty for the daemon's own." example:"10s"`
	MaxWait      *string   `json:"max_wait,omitempty" maxLength:"40" doc:"Longest wait since the first hook, 1s to 24h and not below quiet; empty for the daemon's own." example:"1m"`
	Retention    *string   `json:"retention,omitempty" maxLength:"40" doc:"Superseded history is forgotten after this time, 24h to 876000h; empty for the daemon's own." example:"9600h"`
	Username     *string   `json:"username,omitempty" maxLength:"255" doc:"Basic authentication of a site that is not public; empty for none."`
	Password     *string   `json:"password,omitempty" maxLength:"255" doc:"Written, never read back."`
	PublicBadges *bool     `json:"public_badges,omitempty" doc:"Show the site's badges to everybody."`
	SitePreference
}

// editableSite is a site as its settings can be written back, with what follows from them.
type editableSite struct {
	ID              int64       `json:"id"`
	Name            string      `json:"name"`
	Home            string      `json:"home"`
	Roots           []string    `json:"roots"`
	Hosts           []string    `json:"hosts"`
	Tags            []string    `json:"tags"`
	Schedule        string      `json:"schedule" doc:"Empty: the daemon's own, see defaults."`
	TimeZone        string      `json:"time_zone"`
	Paused          bool        `json:"paused"`
	ConfirmAfter    string      `json:"confirm_after" doc:"Go duration, for example 2m0s; empty: the daemon's own."`
	ReleaseAfter    string      `json:"release_after"`
	Quiet           string      `json:"quiet"`
	MaxWait         string      `json:"max_wait"`
	Retention       string      `json:"retention"`
	Username        string      `json:"username"`
	HasPassword     bool        `json:"has_password" doc:"Whether a password is stored; it is never shown."`
	PublicBadges    bool        `json:"public_badges"`
	PreferredScheme string      `json:"preferred_scheme"`
	PreferredHost   string      `json:"preferred_host"`
	TrailingSlash   string      `json:"trailing_slash"`
	Next            []time.Time `json:"next" doc:"When the schedule fires next, at most five; without the spread between sites."`
	Defaults        defaultsOut `json:"defaults" doc:"What holds where a setting is empty."`
}

type defaultsOut struct {
	Schedule     string `json:"schedule"`
	TimeZone     string `json:"time_zone"`
	ConfirmAfter string `json:"confirm_after"`
	ReleaseAfter string `json:"release_after"`
	Quiet        string `json:"quiet"`
	MaxWait      string `json:"max_wait"`
	Retention    string `json:"retention" doc:"Empty: history is kept for ever."`
}

// Limits of a site's durations, those of the configuration file.
const (
	mostConfirm = 30 * 24 * time.Hour
	mostRelease = 365 * 24 * time.Hour
	mostWait    = 24 * time.Hour
	leastWait   = time.Second

	leastRetention = 24 * time.Hour
	mostRetention  = 36500 * 24 * time.Hour
)

// apply edits a site as the body says and refuses what cannot be, each by the name of its field.
func (b *siteBody) apply(s *Server, site *models.Site) error {
	if b.Name != nil {
		site.Name = strings.TrimSpace(*b.Name)
		if site.Name == "" {
			return models.Invalid("body.name", "", "a site needs a name")
		}
		if _, err := strconv.ParseInt(site.Name, 10, 64); err == nil {
			return models.Invalid("body.name", "add a letter", "digits alone are the id of a site, not a name")
		}
	}
	if b.Home != nil {
		if !isWebURL(*b.Home) {
			return models.Invalid("body.home", "for example https://example.com/", "want an absolute http or https URL")
		}
		site.Home = *b.Home
	}
	if err := b.applyRoots(site); err != nil {
		return err
	}
	if b.Paused != nil {
		site.Paused = *b.Paused
	}
	if b.PublicBadges != nil {
		site.Settings.PublicBadges = *b.PublicBadges
	}
	if b.Tags != nil {
		tags, problem := models.CleanTags(*b.Tags)
		if problem != "" {
			return models.Invalid("body.tags", "for example clients, de or staging", "%s", problem)
		}
		site.Settings.Tags = tags
	}
	if err := b.applySchedule(s, site); err != nil {
		return err
	}
	if err := b.applyPreference(&site.Settings); err != nil {
		return err
	}
	return b.applySettings(s, &site.Settings)
}

// applyRoots keeps how each root was found that stays, and takes hosts as they are compared: in lower case, with their port if it is none of the usual.
func (b *siteBody) applyRoots(site *models.Site) error {
	if len(b.Roots) > 0 {
		old := site.Roots
		site.Roots = nil
		for i, root := range b.Roots {
			if !isWebURL(root) {
				return models.Invalid("body.roots["+strconv.Itoa(i)+"]", "for example https://example.com/wp-sitemap.xml", "want absolute http or https URLs")
			}
			next := models.Root{URL: root, Discovery: "direct_URL"}
			if at := slices.IndexFunc(old, func(r models.Root) bool { return r.URL == root }); at >= 0 {
				next = old[at]
			}
			site.Roots = append(site.Roots, next)
		}
		site.Root = site.Roots[0].URL
	}
	if b.Hosts == nil {
		return nil
	}
	site.Settings.Hosts = nil
	for i, host := range *b.Hosts {
		name := strings.ToLower(strings.TrimSpace(host))
		if u, err := url.Parse("https://" + name + "/"); err != nil || name == "" || u.Host != name || u.Hostname() == "" || strings.ContainsAny(name, " /@?#*") {
			return models.Invalid("body.hosts["+strconv.Itoa(i)+"]", "for example cdn.example.com", "%.80q is no host name", host)
		}
		if !slices.Contains(site.Settings.Hosts, name) {
			site.Settings.Hosts = append(site.Settings.Hosts, name)
		}
	}
	return nil
}

// applySchedule takes over schedule and time zone; a changed one starts from now.
func (b *siteBody) applySchedule(s *Server, site *models.Site) error {
	before, zone := site.Schedule, site.TimeZone
	if b.TimeZone != nil {
		site.TimeZone = strings.TrimSpace(*b.TimeZone)
	}
	if b.Schedule != nil {
		site.Schedule = strings.TrimSpace(*b.Schedule)
	}
	if s.deps.CheckSchedule != nil {
		if b.TimeZone != nil && site.TimeZone != "" {
			if _, err := s.deps.CheckSchedule("off", site.TimeZone); err != nil {
				return models.Invalid("body.time_zone", "an IANA name, for example Europe/Vienna", "%s", err.Error())
			}
		}
		if site.Schedule != "" {
			if _, err := s.deps.CheckSchedule(site.Schedule, site.TimeZone); err != nil {
				return models.Invalid("body.schedule", "five fields, for example */15 * * * *", "%s", err.Error())
			}
		}
	}
	if site.Schedule != before || site.TimeZone != zone {
		site.NextDue = s.nextDue(*site)
	}
	return nil
}

// applySettings takes over durations and the login of a site that is not public.
func (b *siteBody) applySettings(s *Server, to *models.SiteSettings) error {
	for _, d := range []struct {
		field string
		text  *string
		to    *time.Duration
		most  time.Duration
	}{
		{"confirm_after", b.ConfirmAfter, &to.ConfirmAfter, mostConfirm},
		{"release_after", b.ReleaseAfter, &to.ReleaseAfter, mostRelease},
		{"quiet", b.Quiet, &to.Quiet, mostWait},
		{"max_wait", b.MaxWait, &to.MaxWait, mostWait},
		{"retention", b.Retention, &to.Retention, mostRetention},
	} {
		if d.text == nil {
			continue
		}
		*d.to = 0
		text := strings.TrimSpace(*d.text)
		if text == "" {
			continue
		}
		value, err := time.ParseDuration(text)
		if err != nil || value < 0 || value > d.most {
			return models.Invalid("body."+d.field, "for example 90s, 2m or 72h; empty for the daemon's own", "%.60q is no duration from 0s to %s", text, shortDuration(d.most))
		}
		*d.to = value
	}
	if to.Retention != 0 && to.Retention < leastRetention {
		return models.Invalid("body.retention", "for example 9600h, which is 400 days; empty for the daemon's own", "it must not be shorter than a day")
	}
	quiet := to.Quiet
	if quiet == 0 {
		quiet = s.deps.Defaults.Settings.Quiet
	}
	if to.MaxWait != 0 && (to.MaxWait < leastWait || to.MaxWait < quiet) {
		return models.Invalid("body.max_wait", "raise it, or lower quiet", "it must not be shorter than 1s or than quiet, which is %s", shortDuration(quiet))
	}
	if b.Username != nil {
		if to.Username = *b.Username; to.Username == "" {
			to.Password = ""
		}
	}
	if b.Password != nil {
		to.Password = *b.Password
	}
	if (to.Username == "") != (to.Password == "") {
		return models.Invalid("body.username", "give both, or both empty", "user name and password belong together: one of them is missing")
	}
	return nil
}

// shortDuration writes 2m and not 2m0s.
func shortDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (s *Server) siteSettings(site models.Site) editableSite {
	own, all := site.Settings, s.deps.Defaults
	out := editableSite{ID: site.ID, Name: site.Name, Home: site.Home, Roots: rootsOf(site), Hosts: own.Hosts, Tags: own.Tags, Schedule: site.Schedule,
		TimeZone: site.TimeZone, Paused: site.Paused, ConfirmAfter: shortDuration(own.ConfirmAfter), ReleaseAfter: shortDuration(own.ReleaseAfter),
		Quiet: shortDuration(own.Quiet), MaxWait: shortDuration(own.MaxWait), Retention: shortDuration(own.Retention), Username: own.Username, HasPassword: own.Password != "",
		PublicBadges: own.PublicBadges, PreferredScheme: own.PreferredScheme, PreferredHost: own.PreferredHost, TrailingSlash: own.TrailingSlash, Next: []time.Time{},
		Defaults: defaultsOut{Schedule: all.Schedule, TimeZone: all.TimeZone, ConfirmAfter: shortDuration(all.Settings.ConfirmAfter),
			ReleaseAfter: shortDuration(all.Settings.ReleaseAfter), Quiet: shortDuration(all.Settings.Quiet), MaxWait: shortDuration(all.Settings.MaxWait), Retention: shortDuration(all.Settings.Retention)}}
	if out.Roots == nil {
		out.Roots = []string{}
	}
	if out.Hosts == nil {
		out.Hosts = []string{}
	}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	spec, zone := site.Schedule, site.TimeZone
	if spec == "" {
		spec = all.Schedule
	}
	if zone == "" {
		zone = all.TimeZone
	}
	if s.deps.CheckSchedule != nil && spec != "" && !site.Paused {
		if next, err := s.deps.CheckSchedule(spec, zone); err == nil && len(next) > 0 {
			for _, at := range next[:min(5, len(next))] {
				out.Next = append(out.Next, at.UTC())
			}
		}
	}
	return out
}

// settingsTag names a version of a site's settings: it changes when one of them does, not with the clock or with runs.
func (s *Server) settingsTag(site models.Site) string {
	out := s.siteSettings(site)
	out.Next = nil
	text, _ := json.Marshal(out) // plain fields
	return strongTag(append(text, site.Settings.Password...))
}

// changeSite edits a site in one transaction. ifMatch, when given, must be the tag of its settings as they are.
func (s *Server) changeSite(ctx context.Context, in SiteInput, ifMatch string, body *siteBody) (models.Site, error) {
	site, err := s.site(ctx, in)
	if err != nil {
		return site, err
	}
	return s.deps.Sites.ChangeSite(ctx, site.ID, func(site *models.Site) error {
		if ifMatch != "" && !matches(ifMatch, s.settingsTag(*site)) {
			p := newProblem(http.StatusPreconditionFailed, "the settings were changed by somebody else meanwhile")
			p.Hint = "read them again and repeat the change"
			return p
		}
		return body.apply(s, site)
	})
}

type settingsAnswer struct {
	ETag string `header:"ETag"`
	Body editableSite
}

func (s *Server) siteSettingsRoutes() {
	tags := []string{"sites"}
	register(s, ScopeWrite, huma.Operation{
		OperationID: "change-site", Method: "PATCH", Path: "/sites/{site}", Tags: tags, Summary: "Change a site's settings",
		Description: "What is left out stays as it is.", Errors: []int{404, 409, 422},
	}, func(ctx context.Context, in *struct {
		SiteInput
		Body siteBody
	}) (*jsonOut[models.Site], error) {
		site, err := s.changeSite(ctx, in.SiteInput, "", &in.Body)
		return &jsonOut[models.Site]{site}, err
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "get-site-settings", Method: "GET", Path: "/sites/{site}/settings", Tags: tags, Summary: "A site's settings as they can be written back",
		Description: "With the daemon's own where a setting is empty, and when the schedule fires next.", Errors: []int{404},
	}, func(ctx context.Context, in *SiteInput) (*settingsAnswer, error) {
		site, err := s.site(ctx, *in)
		return &settingsAnswer{s.settingsTag(site), s.siteSettings(site)}, err
	})

	register(s, ScopeWrite, huma.Operation{
		OperationID: "change-site-settings", Method: "PATCH", Path: "/sites/{site}/settings", Tags: tags, Summary: "Change a site's settings, if nobody else did",
		Description: "Like PATCH of the site, but it answers with the settings, and If-Match with the ETag of a reading refuses (412) what was decided on an old copy.",
		Errors:      []int{404, 409, 412, 422},
	}, func(ctx context.Context, in *struct {
		SiteInput
		IfMatch string `header:"If-Match" maxLength:"200" doc:"ETag of the settings that the change was decided on."`
		Body    siteBody
	}) (*settingsAnswer, error) {
		site, err := s.changeSite(ctx, in.SiteInput, in.IfMatch, &in.Body)
		if err != nil {
			return nil, err
		}
		return &settingsAnswer{s.settingsTag(site), s.siteSettings(site)}, nil
	})
}
