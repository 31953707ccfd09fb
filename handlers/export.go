package handlers

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
)

type exportInput struct {
	SiteInput
	PagesFilter
	Format string `query:"format" required:"true" enum:"csv,ndjson,xlsx,parquet,sitemap,sitemap-zip" doc:"What kind of file; sitemap is one document, sitemap-zip as many as are needed with their index."`
}

func (s *Server) exportRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "export-urls", Method: "GET", Path: "/sites/{site}/export", Tags: []string{"inventory"}, Summary: "The inventory as a file",
		Description: "The pages that the filter selects, at one run, streamed. If something fails after the first byte the connection is cut.",
		Errors:      []int{404, 422},
		Responses: map[string]*huma.Response{"200": {Description: "The file", Content: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}},
	}, func(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
		if s.deps.Export == nil {
			return nil, unavailable("exports")
		}
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		filter, err := s.pageFilter(ctx, site, in.PagesFilter)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			c := humaecho.Unwrap(hc)
			if err := s.writeExport(c, site, filter, in.Format); err != nil {
				writeProblem(c.Response(), s.problem(ctx, err))
			}
		}}, nil
	})
}
