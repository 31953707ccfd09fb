package handlers

import (
	"context"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// segmentStore keeps named filters.
type segmentStore interface {
	Segments(ctx context.Context, siteID int64) ([]models.Segment, error) // a site's own and those of every site
	SaveSegment(ctx context.Context, segment models.Segment) (models.Segment, error)
	RemoveSegment(ctx context.Context, siteID, id int64) error
}

// segments gives the stored segments that a site has, then the presets.
func (s *Server) segments(ctx context.Context, site models.Site) ([]models.Segment, error) {
	var stored []models.Segment
	if s.deps.Segments != nil {
		var err error
		if stored, err = s.deps.Segments.Segments(ctx, site.ID); err != nil {
			return nil, err
		}
	}
	return models.WithPresets(stored), nil
}

// segment finds one by its name or number.
func (s *Server) segment(ctx context.Context, site models.Site, name string) (models.Segment, error) {
	all, err := s.segments(ctx, site)
	if err != nil {
		return models.Segment{}, err
	}
	if g, ok := models.FindSegment(all, name); ok {
		return g, nil
	}
	return models.Segment{}, models.Invalid("query.segment", "GET /api/v1/sites/{site}/segments lists them", "this site has no such segment")
}

// segmented puts a segment's parameters under those that were given: what is given by itself is stronger.
func (s *Server) segmented(ctx context.Context, site models.Site, name string, given url.Values) (url.Values, error) {
	if name == "" {
		return given, nil
	}
	g, err := s.segment(ctx, site, name)
	if err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(g.Filter)
	if err != nil {
		return nil, models.Invalid("query.segment", "save it anew", "the segment's filter cannot be read")
	}
	for name, values := range given {
		if len(values) > 0 && values[0] != "" {
			query[name] = values
		}
	}
	return query, nil
}

const maxSegmentName = 100

// saveSegment stores a filter under a name; the site's segment of this name gets the new filter.
func (s *Server) saveSegment(ctx context.Context, site models.Site, name, filter string, everywhere bool) (models.Segment, error) {
	if s.deps.Segments == nil {
		return models.Segment{}, unavailable("segments")
	}
	g := models.Segment{SiteID: site.ID, Name: strings.TrimSpace(name), CreatedAt: s.deps.Now().UTC()}
	if everywhere {
		g.SiteID = 0
	}
	if g.Name == "" || len(g.Name) > maxSegmentName {
		return g, models.Invalid("name", "", "a segment needs a name of at most %d bytes", maxSegmentName)
	}
	var err error
	if g.Filter, err = models.CleanFilter(filter, s.deps.Now()); err != nil {
		return g, err
	}
	if query, _ := url.ParseQuery(g.Filter); everywhere && query.Has("document") {
		return g, models.Invalid("filter", "leave the document out, or keep the segment to this site", "documents belong to one site")
	}
	stored, err := s.deps.Segments.Segments(ctx, site.ID)
	if err != nil {
		return g, err
	}
	for i := range stored {
		if stored[i].Name == g.Name && stored[i].SiteID == g.SiteID {
			g.ID = stored[i].ID
		}
	}
	if g, err = s.deps.Segments.SaveSegment(ctx, g); err != nil {
		return g, err
	}
	s.log.InfoContext(ctx, "segment saved", "site", site.ID, "segment", g.ID, "by", principalName(ctx))
	return g, nil
}

// removeSegment forgets one that a site has, by its number.
func (s *Server) removeSegment(ctx context.Context, site models.Site, id int64) error {
	if s.deps.Segments == nil {
		return unavailable("segments")
	}
	err := s.deps.Segments.RemoveSegment(ctx, site.ID, id)
	if isNotFound(err) {
		err = s.deps.Segments.RemoveSegment(ctx, 0, id)
	}
	if isNotFound(err) {
		return notFound("segment of this site")
	}
	return err
}

type segmentBody struct {
	_      struct{} `additionalProperties:"false"`
	Name   string   `json:"name" minLength:"1" maxLength:"100"`
	Filter string   `json:"filter" minLength:"3" maxLength:"4096" doc:"The inventory's query, such as contains=/blog/&lastmod_to=-365d."`
	All    bool     `json:"every_site,omitempty" doc:"Every site has it."`
}

func (s *Server) segmentRoutes() {
	tags := []string{"inventory"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-segments", Method: "GET", Path: "/sites/{site}/segments", Tags: tags, Errors: []int{404},
		Summary: "Named filters: the site's own, those of every site, then the presets (id 0)",
	}, func(ctx context.Context, in *SiteInput) (*jsonOut[list[models.Segment]], error) {
		site, err := s.site(ctx, *in)
		if err != nil {
			return nil, err
		}
		all, err := s.segments(ctx, site)
		return &jsonOut[list[models.Segment]]{list[models.Segment]{Items: all}}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "save-segment", Method: "POST", Path: "/sites/{site}/segments", Tags: tags, DefaultStatus: 201, Errors: []int{404, 422},
		Summary: "Save a filter under a name", Description: "A segment of the same name gets the new filter.",
	}, func(ctx context.Context, in *struct {
		SiteInput
		Body segmentBody
	}) (*jsonOut[models.Segment], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		g, err := s.saveSegment(ctx, site, in.Body.Name, in.Body.Filter, in.Body.All)
		return &jsonOut[models.Segment]{g}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "remove-segment", Method: "DELETE", Path: "/sites/{site}/segments/{segment}", Tags: tags, DefaultStatus: 204, Errors: []int{404},
		Summary: "Forget a segment", Description: "Nothing but the name is lost.",
	}, func(ctx context.Context, in *struct {
		SiteInput
		Segment int64 `path:"segment" minimum:"1"`
	}) (*struct{}, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		return nil, s.removeSegment(ctx, site, in.Segment)
	})
}
