package handlers

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// ontologyURL names the vocabulary whose query model this file answers.
const ontologyURL = "https://kirethresearch.org/booksai-core/ontologies/metadata-ontologies/web-metadata/sitemap-ontology.html"

const mediaJSONLD = "application/ld+json"

// metadataInput is the ontology's query model: every one of its inputs is a filter.
type metadataInput struct {
	SiteInput
	AsOfInput
	PageInput
	Accept        string `header:"Accept" hidden:"true"`
	Identifier    int32  `query:"sitemap_identifier" minimum:"1" doc:"Number of one document."`
	SitemapURL    string `query:"sitemap_url" maxLength:"4096"`
	SitemapType   string `query:"sitemap_type" enum:"urlset,sitemapindex"`
	ListedURL     string `query:"listed_url" maxLength:"4096" doc:"Documents that list this page, and only that page of them."`
	LastmodFrom   string `query:"lastmod_from" maxLength:"40" doc:"Listed resources with a declared lastmod at or after this time."`
	LastmodTo     string `query:"lastmod_to" maxLength:"40"`
	Language      string `query:"language" maxLength:"40" doc:"Listed resources with an alternate in this language."`
	Extension     string `query:"media_extension" enum:"image,video,news" doc:"Listed resources with such a block."`
	Freshness     string `query:"freshness_state" enum:"current_unknown,fresh,stale,changed,unavailable"`
	RetrievedFrom string `query:"retrieval_time_from" maxLength:"40" doc:"Documents retrieved at or after this time."`
	RetrievedTo   string `query:"retrieval_time_to" maxLength:"40"`
	Listed        int    `query:"listed" minimum:"0" maximum:"1000" default:"20" doc:"At most so many listed resources of each document; the href has all of them."`
	Resolved
}

// metadataPage is one page of sitemap resources with what is known of each.
type metadataPage struct {
	OntologyEntity string            `json:"ontology_entity" example:"SitemapMetadata"`
	Ontology       string            `json:"ontology"`
	SourceSite     string            `json:"source_site"`
	Run            int64             `json:"run"`
	Items          []sitemapMetadata `json:"items"`
	NotClaimed     []string          `json:"not_claimed" doc:"What a sitemap says nothing about, whatever it lists."`
	NextPageToken  string            `json:"next_page_token,omitempty"`
}

// sitemapMetadata is the ontology's output for one document.
type sitemapMetadata struct {
	Resource   sitemapResource    `json:"sitemap_resource"`
	Type       string             `json:"sitemap_type"`
	URL        string             `json:"sitemap_url"`
	Listed     listedResources    `json:"listed_resources"`
	Children   []childSitemap     `json:"child_sitemaps"`
	Lastmod    lastmodMetadata    `json:"lastmod_metadata"`
	Alternates []listedBlock      `json:"alternates"`
	Media      mediaBlocks        `json:"media_extensions"`
	Validation validationReport   `json:"validation"`
	Freshness  freshnessReport    `json:"freshness"`
	Provenance provenanceReport   `json:"provenance"`
	Confidence map[string]float64 `json:"confidence"`
}

type sitemapResource struct {
	Identifier int32  `json:"sitemap_identifier"`
	Class      string `json:"class" doc:"URLSetSitemap or SitemapIndex by the root element; SitemapResource when that is unknown."`
	Parent     int32  `json:"parent,omitempty"`
	Depth      int    `json:"depth"`
}

type listedResources struct {
	Count      int64         `json:"count" doc:"url entries read in the document."`
	Duplicates int64         `json:"duplicates"`
	Foreign    int64         `json:"foreign" doc:"Entries on other hosts, kept apart."`
	Items      []models.Page `json:"items"`
	Complete   bool          `json:"complete" doc:"items holds everything that matches."`
	Href       string        `json:"href" doc:"All of them."`
}

type childSitemap struct {
	Identifier int32           `json:"sitemap_identifier"`
	URL        string          `json:"sitemap_url"`
	Type       string          `json:"sitemap_type"`
	Lastmod    *models.Lastmod `json:"lastmod,omitempty"`
}

type lastmodMetadata struct {
	Sitemap   *models.Lastmod `json:"sitemap,omitempty" doc:"What the parent index declared for this document."`
	Resources []listedLastmod `json:"resources" doc:"What the document declares for its listed resources; a publisher's claim, never a verified event."`
}

type listedLastmod struct {
	Loc        string          `json:"loc"`
	Lastmod    *models.Lastmod `json:"lastmod,omitempty"`
	Changefreq string          `json:"changefreq,omitempty"`
	Priority   *float64        `json:"priority,omitempty"`
}

type listedBlock struct {
	Loc    string          `json:"loc"`
	Blocks json.RawMessage `json:"blocks"`
}

type mediaBlocks struct {
	Images []listedBlock `json:"images"`
	Videos []listedBlock `json:"videos"`
	News   []listedBlock `json:"news"`
}

type validationReport struct {
	Verdict  models.Verdict   `json:"verdict"`
	Reason   string           `json:"reason,omitempty"`
	Report   json.RawMessage  `json:"report,omitempty" doc:"XML_well_formed, namespace_valid, root_valid, URL_valid, capacity_valid, extension_valid."`
	Capacity capacityReport   `json:"capacity"`
	Errors   []models.Finding `json:"errors"`
	Warnings []models.Finding `json:"warnings"`
}

type capacityReport struct {
	Entries  int64 `json:"entry_count"`
	Inflated int64 `json:"uncompressed_size"`
	Within   bool  `json:"within_limits" doc:"At most 50,000 entries and 52,428,800 bytes (sitemaps.org)."`
}

type freshnessReport struct {
	State      string          `json:"freshness_state"`
	Retrieved  time.Time       `json:"retrieval_time"`
	Observed   time.Time       `json:"observed_at" doc:"When an origin said it: Date minus Age."`
	Modified   *models.Lastmod `json:"sitemap_last_modified,omitempty"`
	StaleSince *time.Time      `json:"stale_since,omitempty"`
}

type provenanceReport struct {
	SitemapURL  string         `json:"sitemap_url"`
	FinalURL    string         `json:"final_url,omitempty"`
	SourceSite  string         `json:"source_site"`
	Retrieved   time.Time      `json:"retrieval_time"`
	Discovery   string         `json:"discovery_method"`
	Parser      string         `json:"parser"`
	Generator   string         `json:"generator,omitempty"`
	Status      int            `json:"status,omitempty"`
	ContentType string         `json:"content_type,omitempty"`
	Encoding    string         `json:"encoding,omitempty"`
	Compression string         `json:"compression,omitempty"`
	Namespaces  []string       `json:"namespaces,omitempty"`
	FirstRun    int64          `json:"first_run"`
	FromRun     int64          `json:"from_run"`
	Result      models.Verdict `json:"validation_result"`
}

var notClaimed = []string{"canonical", "crawled", "indexed", "exists", "independently_verified_change"}

func (in *metadataInput) pages() PagesFilter {
	return PagesFilter{URL: in.ListedURL, LastmodFrom: in.LastmodFrom, LastmodTo: in.LastmodTo, Language: in.Language, Extension: in.Extension}
}

// narrows reports whether the query asks for documents by what they list.
func (in *metadataInput) narrows() bool {
	return in.ListedURL != "" || in.LastmodFrom != "" || in.LastmodTo != "" || in.Language != "" || in.Extension != ""
}

func (in *metadataInput) keep(run int64) (func(*models.Document) bool, error) {
	var from, to time.Time
	for _, bound := range []struct {
		name, text string
		into       *time.Time
	}{{"retrieval_time_from", in.RetrievedFrom, &from}, {"retrieval_time_to", in.RetrievedTo, &to}} {
		if bound.text == "" {
			continue
		}
		at, err := parseTime(bound.text)
		if err != nil {
			return nil, models.Invalid("query."+bound.name, "for example 2026-11-30T12:00:00Z", "not a time")
		}
		*bound.into = at
	}
	return func(d *models.Document) bool {
		return (in.Identifier == 0 || d.Number == in.Identifier) && (in.SitemapURL == "" || d.URL == in.SitemapURL || d.FinalURL == in.SitemapURL) &&
			(in.SitemapType == "" || d.Type == in.SitemapType) && (in.Freshness == "" || d.FreshnessAt(run) == in.Freshness) &&
			(from.IsZero() || !d.FetchedAt.Before(from)) && (to.IsZero() || d.FetchedAt.Before(to))
	}, nil
}

func (s *Server) metadata(ctx context.Context, in *metadataInput) (metadataPage, error) {
	site, err := s.site(ctx, in.SiteInput)
	if err != nil {
		return metadataPage{}, err
	}
	at, err := readPosition(in.PageToken, in.hash(site))
	if err != nil {
		return metadataPage{}, err
	}
	asOf := models.AsOf{Run: at.Run}
	if at.Run == 0 {
		if asOf, err = in.moment(); err != nil {
			return metadataPage{}, err
		}
		if asOf, err = s.fixed(ctx, site, asOf); err != nil {
			return metadataPage{}, err
		}
	}
	out := metadataPage{OntologyEntity: "SitemapMetadata", Ontology: ontologyURL, SourceSite: site.Home, Run: asOf.Run, Items: []sitemapMetadata{}, NotClaimed: notClaimed}
	filter, err := s.pageFilter(ctx, site, in.pages())
	if err != nil {
		return out, err
	}
	filter.AsOf = asOf
	keep, err := in.keep(asOf.Run)
	if err != nil {
		return out, err
	}
	listing, err := s.listing(ctx, site, filter)
	if err != nil {
		return out, err
	}
	all, err := s.deps.Documents.DocumentsAt(ctx, site.ID, asOf)
	if err != nil {
		return out, err
	}
	children := map[int32][]childSitemap{}
	for i := range all {
		d := &all[i]
		if d.Parent != 0 {
			children[d.Parent] = append(children[d.Parent], childSitemap{Identifier: d.Number, URL: d.URL, Type: d.Type, Lastmod: d.Lastmod})
		}
	}
	size := in.size()
	if in.PageSize == 0 {
		size = 20
	}
	enough, looked := time.Now().Add(readingTime), at.Number
	for i := range all {
		d := &all[i]
		if int64(d.Number) <= at.Number || !keep(d) || listing != nil && !listing[d.URL] {
			continue
		}
		if len(out.Items) == size || looked > at.Number && time.Now().After(enough) {
			out.NextPageToken = encodePosition(position{Filter: in.hash(site), Run: asOf.Run, Number: looked})
			break
		}
		looked = int64(d.Number)
		item, err := s.describe(ctx, site, d, filter, in)
		if err != nil {
			return out, err
		}
		if in.narrows() && listing == nil && len(item.Listed.Items) == 0 {
			continue
		}
		findings, err := s.deps.Findings.Findings(ctx, site.ID, models.FindingFilter{Run: asOf.Run, Document: d.Number, Limit: maxPageSize})
		if err != nil {
			return out, err
		}
		item.Validation = validation(d, findings)
		if item.Children = children[d.Number]; item.Children == nil {
			item.Children = []childSitemap{}
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// listing gives the documents that list the page that the filter names, by their URLs; nil when it names none.
func (s *Server) listing(ctx context.Context, site models.Site, filter models.PageFilter) (map[string]bool, error) {
	if filter.Key == nil {
		return nil, nil
	}
	listing := map[string]bool{}
	filter.State = models.StateAll
	err := s.deps.Pages.Pages(ctx, site.ID, filter, func(p *models.Page) error {
		if p.State == models.StateLive || p.State == models.StateStale {
			listing[p.Document] = true
			for _, document := range p.Listings {
				listing[document] = true
			}
		}
		return nil
	})
	return listing, err
}

func (s *Server) describe(ctx context.Context, site models.Site, d *models.Document, filter models.PageFilter, in *metadataInput) (sitemapMetadata, error) {
	item := sitemapMetadata{
		Resource:   sitemapResource{Identifier: d.Number, Class: ontologyClass(d.Type), Parent: d.Parent, Depth: d.Depth},
		Type:       d.Type,
		URL:        d.URL,
		Listed:     listedResources{Count: d.Entries, Duplicates: d.Duplicates, Foreign: d.Foreign, Items: []models.Page{}, Href: hrefOf(site, d, filter.AsOf)},
		Lastmod:    lastmodMetadata{Sitemap: d.Lastmod, Resources: []listedLastmod{}},
		Alternates: []listedBlock{},
		Media:      mediaBlocks{Images: []listedBlock{}, Videos: []listedBlock{}, News: []listedBlock{}},
		Freshness: freshnessReport{State: d.FreshnessAt(filter.AsOf.Run), Retrieved: d.FetchedAt, Observed: d.ObservedAt,
			Modified: d.Lastmod, StaleSince: d.StaleSince},
		Provenance: provenanceReport{
			SitemapURL: d.URL, FinalURL: d.FinalURL, SourceSite: site.Home, Retrieved: d.FetchedAt, Discovery: d.Discovery,
			Parser: "sitemapd " + s.deps.Version, Generator: d.Generator, Status: d.Status, ContentType: d.ContentType, Encoding: d.Encoding,
			Compression: d.Compression, Namespaces: d.Namespaces, FirstRun: d.FirstRun, FromRun: d.FromRun, Result: d.Verdict,
		},
		Confidence: confidence(d),
	}
	filter.Document, filter.Limit, filter.State = d.Number, in.Listed+1, listedState(d)
	// With nothing asked for, nothing is read; one row tells whether anything matches.
	if in.Listed == 0 && !in.narrows() {
		item.Listed.Complete = d.Entries == 0
		return item, nil
	}
	err := s.deps.Pages.Pages(ctx, site.ID, filter, func(p *models.Page) error {
		item.Listed.Items = append(item.Listed.Items, *p)
		return nil
	})
	if err != nil {
		return item, err
	}
	limit := max(in.Listed, 1)
	item.Listed.Complete = len(item.Listed.Items) <= in.Listed
	item.Listed.Items = item.Listed.Items[:min(limit, len(item.Listed.Items))]
	for i := range item.Listed.Items {
		item.add(&item.Listed.Items[i])
	}
	return item, nil
}

// add sorts what one listed resource declares into the ontology's outputs.
func (m *sitemapMetadata) add(p *models.Page) {
	if p.Lastmod != nil || p.Changefreq != "" || p.Priority != nil {
		m.Lastmod.Resources = append(m.Lastmod.Resources, listedLastmod{p.URL, p.Lastmod, p.Changefreq, p.Priority})
	}
	for _, block := range []struct {
		raw  json.RawMessage
		into *[]listedBlock
	}{{p.Alternates, &m.Alternates}, {p.Images, &m.Media.Images}, {p.Videos, &m.Media.Videos}, {p.News, &m.Media.News}} {
		if len(block.raw) > 0 {
			*block.into = append(*block.into, listedBlock{p.URL, block.raw})
		}
	}
}

func ontologyClass(kind string) string {
	switch kind {
	case "urlset":
		return "URLSetSitemap"
	case "sitemapindex":
		return "SitemapIndex"
	}
	return "SitemapResource"
}

// Limits of one file by sitemaps.org.
const (
	maxEntries  = 50000
	maxInflated = 52428800
)

func validation(d *models.Document, findings []models.Finding) validationReport {
	out := validationReport{
		Verdict: d.Verdict, Reason: d.Reason, Errors: []models.Finding{}, Warnings: []models.Finding{},
		Capacity: capacityReport{Entries: d.Entries + d.Children, Inflated: d.BytesInflated, Within: d.Entries+d.Children <= maxEntries && d.BytesInflated <= maxInflated},
	}
	if json.Valid(d.Validation) {
		out.Report = d.Validation
	}
	for _, f := range findings {
		switch f.Severity {
		case models.SeverityError:
			out.Errors = append(out.Errors, f)
		case models.SeverityWarning:
			out.Warnings = append(out.Warnings, f)
		}
	}
	return out
}

// confidence is the ontology's table; nothing of a stale or unread document is trusted above 0.60.
func confidence(d *models.Document) map[string]float64 {
	scores := map[string]float64{
		"explicit_sitemap_metadata": 1.00, "parser_validated_sitemap": 0.99, "valid_absolute_loc": 0.99, "valid_extension_metadata": 0.98,
		"declared_lastmod": 0.90, "inferred_site_membership": 0.85, "sitemap_only_resource_identity": 0.75,
	}
	if !d.Good() {
		for name, score := range scores {
			scores[name] = min(score, 0.60)
		}
	}
	return scores
}

// listedState is the state of the pages that a document lists: stale all together once it could not be read.
func listedState(d *models.Document) models.State {
	if d.Good() {
		return models.StateLive
	}
	return models.StateStale
}

func hrefOf(site models.Site, d *models.Document, at models.AsOf) string {
	return apiPrefix + "/sites/" + number(site.ID) + "/urls?state=" + string(listedState(d)) + "&document=" + number(int64(d.Number)) + "&as_of=" + number(at.Run)
}

func (s *Server) metadataRoutes() {
	responses := listResponses[metadataPage, metadataPage](s)
	responses["200"].Description = "One page of sitemap resources, as JSON or linked data"
	delete(responses["200"].Content, mediaNDJSON)
	delete(responses["200"].Content, "text/csv")
	responses["200"].Content[mediaJSONLD] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
	register(s, ScopeRead, huma.Operation{
		OperationID: "sitemap-metadata", Method: "GET", Path: "/sites/{site}/sitemap-metadata", Tags: []string{"sitemaps"},
		Summary: "What is known of the site's sitemaps, by the sitemap ontology", Errors: []int{404, 422}, Responses: responses,
		Description: "Identity, type, listed resources, children, lastmod and legacy hints, alternates, media, validation, freshness, " +
			"provenance and confidence of each document. With Accept: application/ld+json it is JSON-LD.",
	}, func(ctx context.Context, in *metadataInput) (*huma.StreamResponse, error) {
		page, err := s.metadata(ctx, in)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(in.Accept, mediaJSONLD) {
			return in.linked(page, page.NextPageToken), nil
		}
		linked, err := jsonLD(page)
		if err != nil {
			return nil, err
		}
		out := in.linked(linked, page.NextPageToken)
		body := out.Body
		out.Body = func(hc huma.Context) {
			hc.SetHeader("Content-Type", mediaJSONLD)
			body(hc)
		}
		return out, nil
	})
}
