package handlers

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// documentStore is what the API needs of the stored documents.
type documentStore interface {
	DocumentsAt(ctx context.Context, siteID int64, at models.AsOf) ([]models.Document, error)
	DocumentHistory(ctx context.Context, siteID int64, document int32) ([]models.Document, error)
}

type documentsInput struct {
	SiteInput
	AsOfInput
	PageInput
	FormatInput
	Type       string `query:"type" enum:"urlset,sitemapindex,text,feed,none" doc:"Type by the root element."`
	Verdict    string `query:"verdict" enum:"complete,partial,unavailable,not_a_sitemap,unchanged,gone"`
	Freshness  string `query:"freshness" enum:"current_unknown,fresh,stale,changed,unavailable"`
	URL        string `query:"url" maxLength:"4096" doc:"Exactly this document."`
	ObjectType string `query:"object_type" maxLength:"100" doc:"Documents that list this, as far as their address tells: post, page, product, category, author ...; none for those whose address does not tell."`
	Parent     int32  `query:"parent" minimum:"1" doc:"Documents that this index lists."`
	Resolved
}

// documents reads those of a site that a filter selects, in the order of their numbers.
func (s *Server) documents(ctx context.Context, site models.Site, at models.AsOf, keep func(*models.Document) bool) ([]models.Document, error) {
	all, err := s.deps.Documents.DocumentsAt(ctx, site.ID, at)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for i := range all {
		normalDocument(&all[i])
		if keep(&all[i]) {
			kept = append(kept, all[i])
		}
	}
	return kept, nil
}

// normalDocument leaves out the end of a version that has none.
func normalDocument(d *models.Document) {
	if d.ToRun == models.Open {
		d.ToRun = 0
	}
}

func (in *documentsInput) keep(run int64) func(*models.Document) bool {
	return func(d *models.Document) bool {
		return (in.Type == "" || d.Type == in.Type) && (in.Verdict == "" || string(d.Verdict) == in.Verdict) &&
			(in.Freshness == "" || d.FreshnessAt(run) == in.Freshness) && (in.Parent == 0 || d.Parent == in.Parent) &&
			(in.ObjectType == "" || d.ObjectType == in.ObjectType || d.ObjectType == "" && in.ObjectType == models.NoObjectType) && (in.URL == "" || d.URL == in.URL || d.FinalURL == in.URL)
	}
}

func (s *Server) documentRoutes() {
	tags := []string{"sitemaps"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-documents", Method: "GET", Path: "/sites/{site}/documents", Tags: tags,
		Summary: "Sitemap files with their hierarchy, verdicts and validators", Errors: []int{404, 422},
		Responses: listResponses[list[models.Document], models.Document](s),
	}, func(ctx context.Context, in *documentsInput) (*huma.StreamResponse, error) {
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
		documents, err := s.documents(ctx, site, asOf, in.keep(asOf.Run))
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			if in.PageSize > 0 {
				documents = documents[:min(in.PageSize, len(documents))]
			}
			return streamed(s, format, documentColumns, each(documents)), nil
		}
		page := list[models.Document]{Items: documents, Run: asOf.Run}
		page.Items, page.NextPageToken = cutDocuments(documents, at.Number, in.size(), position{Filter: in.hash(site), Run: asOf.Run})
		if page.Items == nil {
			page.Items = []models.Document{}
		}
		return in.linked(page, page.NextPageToken), nil
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "document-history", Method: "GET", Path: "/sites/{site}/documents/{document}/history", Tags: tags,
		Summary: "Every version of one document, oldest first", Errors: []int{404},
	}, func(ctx context.Context, in *struct {
		SiteInput
		Document int32 `path:"document" minimum:"1"`
	}) (*jsonOut[list[models.Document]], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		versions, err := s.deps.Documents.DocumentHistory(ctx, site.ID, in.Document)
		if isNotFound(err) || err == nil && len(versions) == 0 {
			return nil, notFound("document of this site")
		}
		for i := range versions {
			normalDocument(&versions[i])
		}
		return &jsonOut[list[models.Document]]{list[models.Document]{Items: versions, Run: site.CurrentRun}}, err
	})

}

// cutDocuments takes one page after the document with the given number.
func cutDocuments(all []models.Document, after int64, size int, at position) (page []models.Document, next string) {
	start := 0
	for start < len(all) && int64(all[start].Number) <= after {
		start++
	}
	page = all[start:]
	if len(page) > size {
		page = page[:size]
		at.Number = int64(page[size-1].Number)
		next = encodePosition(at)
	}
	return page, next
}

var documentColumns = []column[models.Document]{
	{"id", func(r *models.Document) string { return number(int64(r.Number)) }},
	{"url", func(r *models.Document) string { return r.URL }},
	{"parent", func(r *models.Document) string {
		if r.Parent == 0 {
			return ""
		}
		return number(int64(r.Parent))
	}},
	{"type", func(r *models.Document) string { return r.Type }},
	{"verdict", func(r *models.Document) string { return string(r.Verdict) }},
	{"reason", func(r *models.Document) string { return r.Reason }},
	{"status", func(r *models.Document) string { return number(int64(r.Status)) }},
	{"entries", func(r *models.Document) string { return number(r.Entries) }},
	{"children", func(r *models.Document) string { return number(r.Children) }},
	{"bytes", func(r *models.Document) string { return number(r.Bytes) }},
	{"bytes_inflated", func(r *models.Document) string { return number(r.BytesInflated) }},
	{"compression", func(r *models.Document) string { return r.Compression }},
	{"encoding", func(r *models.Document) string { return r.Encoding }},
	{"generator", func(r *models.Document) string { return r.Generator }},
	{"namespaces", func(r *models.Document) string { return strings.Join(r.Namespaces, " ") }},
	{"discovery_method", func(r *models.Document) string { return r.Discovery }},
	{"fetched_at", func(r *models.Document) string { return moment(&r.FetchedAt) }},
	{"stale_since", func(r *models.Document) string { return moment(r.StaleSince) }},
	{"first_run", func(r *models.Document) string { return number(r.FirstRun) }},
	{"from_run", func(r *models.Document) string { return number(r.FromRun) }},
}
