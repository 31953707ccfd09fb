package handlers

import (
	"context"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

type diffInput struct {
	SiteInput
	PageInput
	FormatInput
	Resolved
	From   string   `query:"from" required:"true" maxLength:"40" doc:"The earlier moment: a run's number or a time (RFC 3339)." example:"12"`
	To     string   `query:"to" maxLength:"40" doc:"The later moment; now when absent." example:"2026-11-30T12:00:00Z"`
	Kinds  []string `query:"kind" doc:"Only these kinds, separated by commas." enum:"added,changed,moved,removed,pending,held,stale,fresh"`
	Shifts bool     `query:"shifts" doc:"Also pages that another document lists now, with the same content."`
}

// momentOf reads a run's number or a time of a parameter.
func momentOf(name, text string) (models.AsOf, error) {
	if text == "" {
		return models.AsOf{}, nil
	}
	if run, err := strconv.ParseInt(text, 10, 64); err == nil && run > 0 {
		return models.AsOf{Run: run}, nil
	}
	if at, err := parseTime(text); err == nil {
		return models.AsOf{Time: at}, nil
	}
	return models.AsOf{}, models.Invalid("query."+name, "a run's number, or a time such as 2026-11-30T12:00:00Z", "neither a run nor a time")
}

func (in *diffInput) filter() (models.DiffFilter, error) {
	f := models.DiffFilter{Kinds: in.Kinds, Shifts: in.Shifts}
	var err error
	if f.From, err = momentOf("from", in.From); err != nil {
		return f, err
	}
	f.To, err = momentOf("to", in.To)
	return f, err
}

// diffPage reads one page of a comparison. The first page's token fixes both moments for those after it.
func (s *Server) diffPage(ctx context.Context, siteID int64, f models.DiffFilter, token string, size int, hash []byte) (list[models.Change], error) {
	out := list[models.Change]{Items: []models.Change{}}
	at, err := readPosition(token, hash)
	if err != nil {
		return out, err
	}
	f.After, f.Limit = at.Cursor, size+1
	next, err := s.deps.Changes.DiffWithin(ctx, siteID, f, readingTime, func(c *models.Change) error {
		out.Items = append(out.Items, *c)
		return nil
	})
	if err != nil {
		return out, err
	}
	if len(out.Items) > 0 {
		out.Run = out.Items[0].Run
	}
	if len(out.Items) > size {
		out.Items = out.Items[:size]
		next = out.Items[size-1].Cursor
	}
	if next != "" {
		out.NextPageToken = encodePosition(position{Filter: hash, Cursor: next})
	}
	return out, nil
}

func (s *Server) diffRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "diff", Method: "GET", Path: "/sites/{site}/diff", Tags: []string{"inventory"},
		Summary: "What is different between two moments", Errors: []int{404, 410, 422}, Responses: listResponses[list[models.Change], models.Change](s),
		Description: "Pages that were added, removed, moved or changed (with old and new values) from one moment to another, and those whose " +
			"state is another. What happened and was undone in between is not told; the change feed tells it.",
	}, func(ctx context.Context, in *diffInput) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		f, err := in.filter()
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			f.Limit = in.PageSize
			return streamed(s, format, changeColumns, func(ctx context.Context, emit func(*models.Change) error) error {
				return s.deps.Changes.Diff(ctx, site.ID, f, emit)
			}), nil
		}
		page, err := s.diffPage(ctx, site.ID, f, in.PageToken, in.size(), in.hash(site))
		if err != nil {
			return nil, err
		}
		return in.linked(page, page.NextPageToken), nil
	})
}
