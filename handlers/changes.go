package handlers

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// changeStore is what the API needs of the change feed, and of the comparison of two moments.
type changeStore interface {
	Diff(ctx context.Context, siteID int64, filter models.DiffFilter, fn func(*models.Change) error) error
	DiffWithin(ctx context.Context, siteID int64, filter models.DiffFilter, budget time.Duration, fn func(*models.Change) error) (string, error)
	Changes(ctx context.Context, siteID int64, filter models.ChangeFilter, fn func(*models.Change) error) error
	// ChangesWithin stops looking after a time and gives the cursor at which to look on, "" for the end.
	ChangesWithin(ctx context.Context, siteID int64, filter models.ChangeFilter, budget time.Duration, fn func(*models.Change) error) (string, error)
}

// changePage is one reading of the feed. Its cursor is always there: give it as after next time, whether or not rows came.
type changePage struct {
	Items  []models.Change `json:"items"`
	Cursor string          `json:"cursor" doc:"Where this reading ended; give it as after to go on, now or next year."`
	More   bool            `json:"more" doc:"There are further changes already, or further runs to look through: a page may be short, even empty."`
}

type changesInput struct {
	SiteInput
	FormatInput
	After    string   `query:"after" maxLength:"200" doc:"Cursor of the last change that you have; from the beginning when absent."`
	Run      int64    `query:"run" minimum:"1" doc:"Changes of this run alone."`
	Kinds    []string `query:"kind" doc:"Only these kinds, separated by commas." enum:"added,changed,moved,removed,restored,pending,held,stale,fresh"`
	Segment  string   `query:"segment" maxLength:"100" doc:"Changes of the pages of this segment alone, by what was declared after the change, or before a page left."`
	Contains string   `query:"contains" maxLength:"1000" doc:"Part of the address, byte for byte."`
	Prefix   string   `query:"prefix" maxLength:"4096" doc:"Start of the address, byte for byte."`
	PageSize int      `query:"page_size" minimum:"1" maximum:"1000" doc:"At most so many rows; default 100 for JSON, everything for NDJSON and CSV."`
	LastID   string   `header:"Last-Event-ID" maxLength:"200" doc:"Cursor at which an event stream goes on; stronger than after."`
}

func (s *Server) changeFilter(ctx context.Context, site models.Site, in *changesInput) (models.ChangeFilter, error) {
	f := models.ChangeFilter{Run: in.Run, After: in.After, Kinds: in.Kinds}
	var err error
	f.Pages, err = s.pagesOf(ctx, site, PagesFilter{Segment: in.Segment, Contains: in.Contains, Prefix: in.Prefix})
	return f, err
}

// pagesOf gives the pages whose changes are wanted, nil for all.
func (s *Server) pagesOf(ctx context.Context, site models.Site, in PagesFilter) (*models.PageFilter, error) {
	if in == (PagesFilter{}) {
		return nil, nil
	}
	pages, err := s.pageFilter(ctx, site, in)
	return &pages, err
}

func (s *Server) changesPage(ctx context.Context, siteID int64, f models.ChangeFilter, size int) (changePage, error) {
	out := changePage{Items: []models.Change{}, Cursor: f.After}
	f.Limit = size + 1
	next, err := s.deps.Changes.ChangesWithin(ctx, siteID, f, readingTime, func(c *models.Change) error {
		if len(out.Items) == size {
			out.More = true
			return nil
		}
		out.Items = append(out.Items, *c)
		out.Cursor = c.Cursor
		return nil
	})
	if next != "" && !out.More {
		out.Cursor, out.More = next, true
	}
	return out, err
}

func (s *Server) changeRoutes() {
	responses := listResponses[changePage, models.Change](s)
	responses["200"].Content[mediaSSE] = &huma.MediaType{Schema: &huma.Schema{
		Type: huma.TypeString, Description: "Events named change; id is the cursor, data a Change.",
	}}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-changes", Method: "GET", Path: "/sites/{site}/changes", Tags: []string{"inventory"},
		Summary: "The change feed", Errors: []int{404, 410, 422}, Responses: responses,
		Description: "Every change in order, each at least once. With Accept: text/event-stream it stays open and sends changes as they " +
			"happen; Last-Event-ID goes on where a connection broke.",
	}, func(ctx context.Context, in *changesInput) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		f, err := s.changeFilter(ctx, site, in)
		if err != nil {
			return nil, err
		}
		if in.Format == "" && strings.HasPrefix(in.Accept, mediaSSE) {
			if in.LastID != "" {
				f.After = in.LastID
			}
			return s.changeStream(site.ID, f), nil
		}
		if format := in.chosen(); format != formatJSON {
			f.Limit = in.PageSize
			return streamed(s, format, changeColumns, func(ctx context.Context, emit func(*models.Change) error) error {
				return s.deps.Changes.Changes(ctx, site.ID, f, emit)
			}), nil
		}
		page, err := s.changesPage(ctx, site.ID, f, PageInput{PageSize: in.PageSize}.size())
		if err != nil {
			return nil, err
		}
		return jsonBody(page), nil
	})
}

var changeColumns = []column[models.Change]{
	{"cursor", func(r *models.Change) string { return r.Cursor }},
	{"run", func(r *models.Change) string { return number(r.Run) }},
	{"at", func(r *models.Change) string { return moment(&r.At) }},
	{"kind", func(r *models.Change) string { return r.Kind }},
	{"url", func(r *models.Change) string { return r.URL }},
	{"reason", func(r *models.Change) string { return r.Reason }},
	{"fields", func(r *models.Change) string {
		if len(r.Fields) == 0 {
			return ""
		}
		text, _ := json.Marshal(r.Fields)
		return string(text)
	}},
}
