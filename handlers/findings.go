package handlers

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// findingStore is what the API needs of the stored findings.
type findingStore interface {
	Findings(ctx context.Context, siteID int64, filter models.FindingFilter) ([]models.Finding, error)
}

type findingsInput struct {
	SiteInput
	AsOfInput
	PageInput
	FormatInput
	Document int32  `query:"document" minimum:"1" doc:"Findings of this document alone."`
	Severity string `query:"severity" enum:"error,warning,info"`
	Code     string `query:"code" maxLength:"100" doc:"Findings with this code alone." example:"lastmod-in-future"`
	Resolved
}

func (s *Server) findingRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-findings", Method: "GET", Path: "/sites/{site}/findings", Tags: []string{"sitemaps"},
		Summary: "What is wrong, or worth knowing, in documents and runs", Errors: []int{404, 422},
		Responses: listResponses[list[models.Finding], models.Finding](s),
	}, func(ctx context.Context, in *findingsInput) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		at, err := readPosition(in.PageToken, in.hash(site))
		if err != nil {
			return nil, err
		}
		asOf := models.AsOf{Run: at.Run}
		if at.Run == 0 {
			if asOf, err = in.moment(); err != nil {
				return nil, err
			}
			if asOf, err = s.fixed(ctx, site, asOf); err != nil {
				return nil, err
			}
		}
		f := models.FindingFilter{Run: asOf.Run, Document: in.Document, Severity: in.Severity, Code: in.Code}
		if format := in.chosen(); format != formatJSON {
			f.Limit = in.PageSize
			findings, err := s.deps.Findings.Findings(ctx, site.ID, f)
			if err != nil {
				return nil, err
			}
			return streamed(s, format, findingColumns, each(findings)), nil
		}
		// Findings of one run never change, so a place among them is as good as a key.
		start, size := int(at.Number), in.size()
		f.Limit = start + size + 1
		findings, err := s.deps.Findings.Findings(ctx, site.ID, f)
		if err != nil {
			return nil, err
		}
		page := list[models.Finding]{Items: []models.Finding{}, Run: asOf.Run}
		page.Items = append(page.Items, findings[min(start, len(findings)):min(start+size, len(findings))]...)
		if len(findings) > start+size {
			page.NextPageToken = encodePosition(position{Filter: in.hash(site), Number: int64(start + size), Run: asOf.Run})
		}
		return in.linked(page, page.NextPageToken), nil
	})
}

var findingColumns = []column[models.Finding]{
	{"severity", func(r *models.Finding) string { return r.Severity }},
	{"code", func(r *models.Finding) string { return r.Code }},
	{"text", func(r *models.Finding) string { return r.Text }},
	{"document", func(r *models.Finding) string { return r.Document }},
	{"page", func(r *models.Finding) string { return r.Page }},
	{"line", func(r *models.Finding) string { return number(int64(r.Line)) }},
	{"offset", func(r *models.Finding) string { return number(r.Offset) }},
	{"rule", func(r *models.Finding) string { return r.Rule }},
	{"from_run", func(r *models.Finding) string { return number(r.FromRun) }},
}
