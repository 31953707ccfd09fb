package handlers

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// siteStore is what the API needs of the stored sites.
type siteStore interface {
	FindSite(ctx context.Context, nameOrURLOrID string) (models.Site, error)
	Sites(ctx context.Context) ([]models.Site, error)
	AddSite(ctx context.Context, site models.Site) (models.Site, error)
	SaveSite(ctx context.Context, site models.Site) error
	// ChangeSite edits a site in one transaction; change may be called again with a fresh copy.
	ChangeSite(ctx context.Context, id int64, change func(*models.Site) error) (models.Site, error)
	RemoveSite(ctx context.Context, id int64) error
}

// SiteInput names the site of an operation.
type SiteInput struct {
	Site string `path:"site" maxLength:"2048" doc:"Id, name or root URL of the site." example:"1"`
}

// site finds the site that a request names, in any of the three ways.
func (s *Server) site(ctx context.Context, in SiteInput) (models.Site, error) {
	name, err := url.PathUnescape(in.Site)
	if err != nil {
		return models.Site{}, notFound("site")
	}
	site, err := s.deps.Sites.FindSite(ctx, name)
	if isNotFound(err) {
		return models.Site{}, notFound("site")
	}
	return site, err
}

// Probe is what looking for the sitemaps of a home page gave, each try with its result.
type Probe struct {
	Home       string      `json:"home"`
	Generator  string      `json:"generator" doc:"Guess by the first sitemap that was chosen; unknown when there is none."`
	Candidates []Candidate `json:"candidates"`
}

// Candidate is one place where a sitemap was looked for.
type Candidate struct {
	URL       string `json:"url"`
	FinalURL  string `json:"final_url,omitempty" doc:"Where redirects led."`
	Discovery string `json:"discovery_method"`
	Status    int    `json:"status"`
	Root      string `json:"root" doc:"urlset, sitemapindex, text, feed or none"`
	Verdict   string `json:"verdict"`
	Reason    string `json:"reason,omitempty"`
	Entries   int    `json:"entries"`
	Children  int    `json:"children"`
	Chosen    bool   `json:"chosen"`
}

// newSite makes a site of what was said of it: probed where a probe is to be had, else with its host as name.
func (s *Server) newSite(ctx context.Context, body *siteBody) (models.Site, error) {
	var site models.Site
	switch {
	case body.Home == nil && len(body.Roots) == 0:
		return site, models.Invalid("body.home", "for example https://example.com/", "a home page or a root is needed")
	case body.Home != nil && !isWebURL(*body.Home):
		return site, models.Invalid("body.home", "for example https://example.com/", "want an absolute http or https URL")
	case len(body.Roots) == 0 && s.deps.Discover != nil:
		found, err := s.discover(ctx, *body.Home, false)
		if err != nil {
			return site, err
		}
		site = found.site
	}
	rest := *body
	if site.Home != "" {
		rest.Home = nil // as the site itself has it, after redirects
	}
	if err := rest.apply(s, &site); err != nil {
		return site, err
	}
	if site.Home == "" {
		u, _ := url.Parse(site.Root)
		site.Home = u.Scheme + "://" + u.Host + "/"
	}
	if site.Name == "" {
		u, _ := url.Parse(site.Home)
		site.Name = u.Host
	}
	site.CreatedAt = s.deps.Now().UTC()
	if !site.Paused {
		site.NextDue = &site.CreatedAt // its first run does not wait for the schedule
	}
	return site, nil
}

type found struct {
	site  models.Site
	probe Probe
}

func (s *Server) discover(ctx context.Context, link string, all bool) (found, error) {
	site, probe, err := s.deps.Discover(ctx, link, all)
	var invalid *models.InvalidError
	if err != nil && !errors.As(err, &invalid) && ctx.Err() == nil {
		err = models.Invalid("body.home", "sitemapd probe shows every try", "%s", err.Error())
	}
	if probe.Candidates == nil {
		probe.Candidates = []Candidate{}
	}
	return found{site, probe}, err
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

func (s *Server) siteRoutes() {
	tags := []string{"sites"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-sites", Method: "GET", Path: "/sites", Tags: tags, Summary: "List the sites",
		Responses: listResponses[list[models.Site], models.Site](s),
	}, func(ctx context.Context, in *struct {
		FormatInput
		Tag string `query:"tag" maxLength:"100" doc:"The sites of one group alone."`
	}) (*huma.StreamResponse, error) {
		sites, err := s.deps.Sites.Sites(ctx)
		if err != nil {
			return nil, err
		}
		sites = slices.DeleteFunc(sites, func(site models.Site) bool { return !site.Tagged(in.Tag) })
		if format := in.chosen(); format != formatJSON {
			return streamed(s, format, siteColumns, each(sites)), nil
		}
		return jsonPage(list[models.Site]{Items: sites}), nil
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "get-site", Method: "GET", Path: "/sites/{site}", Tags: tags, Summary: "One site", Errors: []int{404},
	}, func(ctx context.Context, in *SiteInput) (*jsonOut[models.Site], error) {
		site, err := s.site(ctx, *in)
		return &jsonOut[models.Site]{site}, err
	})

	register(s, ScopeWrite, huma.Operation{
		OperationID: "add-site", Method: "POST", Path: "/sites", Tags: tags, Summary: "Follow a site",
		Description: "Name its home page; the first run finds the sitemaps.", DefaultStatus: 201, Errors: []int{409, 422},
	}, func(ctx context.Context, in *struct{ Body siteBody }) (*jsonOut[models.Site], error) {
		site, err := s.newSite(ctx, &in.Body)
		if err != nil {
			return nil, err
		}
		site, err = s.deps.Sites.AddSite(ctx, site)
		return &jsonOut[models.Site]{site}, err
	})

	register(s, ScopeWrite, huma.Operation{
		OperationID: "remove-site", Method: "DELETE", Path: "/sites/{site}", Tags: tags, Summary: "Stop following a site",
		Description: "Its rows are hidden, not erased.", DefaultStatus: 204, Errors: []int{404},
	}, func(ctx context.Context, in *SiteInput) (*struct{}, error) {
		site, err := s.site(ctx, *in)
		if err != nil {
			return nil, err
		}
		return nil, s.deps.Sites.RemoveSite(ctx, site.ID)
	})
	s.siteSettingsRoutes()
	s.exportRoutes()
}

func (s *Server) probeRoutes() {
	register(s, ScopeWrite, huma.Operation{
		OperationID: "probe", Method: "POST", Path: "/probe", Tags: []string{"sites"}, Summary: "Look for the sitemaps of a home page",
		Description: "Every place that was tried, with its result. Nothing is stored.", Errors: []int{422},
	}, func(ctx context.Context, in *struct {
		Body struct {
			_   struct{} `additionalProperties:"false"`
			URL string   `json:"url" format:"uri" maxLength:"2048" example:"https://example.com/"`
		}
	}) (*jsonOut[Probe], error) {
		if s.deps.Discover == nil {
			return nil, unavailable("probing")
		}
		if !isWebURL(in.Body.URL) {
			return nil, models.Invalid("body.url", "for example https://example.com/", "want an absolute http or https URL")
		}
		found, err := s.discover(ctx, in.Body.URL, true)
		// A probe that found nothing still says where it looked.
		if err != nil && len(found.probe.Candidates) == 0 {
			return nil, err
		}
		return &jsonOut[Probe]{found.probe}, nil
	})
}

// each turns a list in memory into rows.
func each[T any](items []T) rows[T] {
	return func(_ context.Context, emit func(*T) error) error {
		for i := range items {
			if err := emit(&items[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

var siteColumns = []column[models.Site]{
	{"id", func(r *models.Site) string { return number(r.ID) }},
	{"name", func(r *models.Site) string { return r.Name }},
	{"home", func(r *models.Site) string { return r.Home }},
	{"root", func(r *models.Site) string { return r.Root }},
	{"schedule", func(r *models.Site) string { return r.Schedule }},
	{"current_run", func(r *models.Site) string { return number(r.CurrentRun) }},
	{"live", func(r *models.Site) string { return number(r.Live) }},
	{"next_due", func(r *models.Site) string { return moment(r.NextDue) }},
	{"created_at", func(r *models.Site) string { return moment(&r.CreatedAt) }},
	{"tags", func(r *models.Site) string { return strings.Join(r.Settings.Tags, ", ") }},
}

func moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
