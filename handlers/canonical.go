package handlers

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// canonicalReader is what the API needs of the canonical evidence.
type canonicalReader interface {
	// Canonical streams lines in the order of their pages; all lines of one page come together.
	Canonical(ctx context.Context, siteID int64, f models.CanonicalFilter, fn func(*models.Canonical) error) error
	// CanonicalAnswers streams the ontology's outputs for the same lines, each relationship as linked data.
	CanonicalAnswers(ctx context.Context, siteID int64, f models.CanonicalFilter, fn func(answer json.RawMessage) error) error
	// Audit streams findings on pages by code and id.
	Audit(ctx context.Context, siteID int64, f models.AuditFilter, fn func(*models.Audited) error) error
	// AuditGroups counts them by code and path template, the largest group first.
	AuditGroups(ctx context.Context, siteID int64, f models.AuditFilter) ([]models.AuditGroup, error)
}

// CanonicalInput has the inputs of the ontology's query model as filters.
type CanonicalInput struct {
	SiteInput
	PageInput
	FormatInput
	SourceURL      string `query:"source_url" maxLength:"4096" doc:"Of this page."`
	CanonicalURL   string `query:"canonical_url" maxLength:"4096" doc:"With this canonical URL."`
	Method         string `query:"declaration_method" enum:"html_link_element,http_link_header,structured_system_configuration,inferred_from_consistent_signals"`
	TargetStatus   int    `query:"target_status" minimum:"100" maximum:"599" doc:"Whose target answered with this HTTP status."`
	RedirectTarget string `query:"redirect_target" maxLength:"4096" doc:"Of pages that redirect to this URL."`
	SitemapSignal  string `query:"sitemap_signal" maxLength:"4096" doc:"Of pages that a sitemap lists as this loc."`
	OpenGraph      string `query:"og_url" maxLength:"4096" doc:"Of pages with this og:url."`
	Schema         string `query:"schema_url" maxLength:"4096" doc:"Of pages with this schema.org url."`
	At             string `query:"as_of" maxLength:"40" doc:"What was on record at this time (RFC 3339, or a day): relationships that were valid, judged as they were then, and pages that looks had found without any." example:"2026-11-30T12:00:00Z"`
	Status         string `query:"status" enum:"unknown,declared,validated,conflicting,stale,superseded,invalid"`
	Resolution     string `query:"resolution" enum:"self,none,chain,loop,into_loop,conflict,too_long"`
	Unlisted       bool   `query:"unlisted" doc:"Also of pages that no sitemap lists: targets, and pages that left."`
	Resolved
}

func (in *CanonicalInput) filter() (models.CanonicalFilter, error) {
	f := models.CanonicalFilter{Source: in.SourceURL, Target: in.CanonicalURL, Method: in.Method, TargetStatus: in.TargetStatus,
		RedirectTarget: in.RedirectTarget, Sitemap: in.SitemapSignal, OpenGraph: in.OpenGraph, Schema: in.Schema, Status: in.Status,
		Resolution: in.Resolution, Unlisted: in.Unlisted}
	if in.At != "" {
		at, err := parseTime(in.At)
		if err != nil {
			return f, models.Invalid("query.as_of", "for example 2026-11-30 or 2026-11-30T12:00:00Z", "not a time")
		}
		f.At = at
	}
	return f, nil
}

func (s *Server) canonicalRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-canonical", Method: "GET", Path: "/sites/{site}/canonical", Tags: []string{"canonical"}, Errors: []int{404, 422, 501},
		Summary: "What pages say of their canonical URL, with evidence, validation, conflicts and confidence",
		Description: "One line for each relationship of a page, and one for a page without any. A canonical URL is a preferred locator: nothing here says " +
			"that two URLs are the same resource. A page of the list may be longer than page_size, for lines of one page stay together.",
		Responses: listResponses[list[models.Canonical], models.Canonical](s),
	}, func(ctx context.Context, in *CanonicalInput) (*huma.StreamResponse, error) {
		if s.deps.Canonical == nil {
			return nil, unavailable("canonical evidence")
		}
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
			return streamed(s, format, canonicalColumns, func(ctx context.Context, emit func(*models.Canonical) error) error {
				return s.deps.Canonical.Canonical(ctx, site.ID, f, emit)
			}), nil
		}
		at, err := readPosition(in.PageToken, in.hash(site))
		if err != nil {
			return nil, err
		}
		size := in.size()
		f.After, f.Limit = at.Cursor, size
		page := list[models.Canonical]{Items: []models.Canonical{}, Run: site.CurrentRun}
		err = s.deps.Canonical.Canonical(ctx, site.ID, f, func(c *models.Canonical) error {
			page.Items = append(page.Items, *c)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n := len(page.Items); n >= size {
			page.NextPageToken = encodePosition(position{Filter: in.hash(site), Cursor: page.Items[n-1].Cursor})
		}
		return in.linked(page, page.NextPageToken), nil
	})
	s.canonicalMetadataRoute()
	s.auditRoutes()
}

// canonicalMetadata is the query model's answer for one page.
type canonicalMetadata struct {
	SourceURL string            `json:"source_url"`
	Answers   []json.RawMessage `json:"answers" doc:"One for each relationship: canonical_relationship as JSON-LD, source_url, canonical_url, declaration_method, validation_state, redirect_state, conflict_state, temporal_validity, provenance, confidence."`
}

func (s *Server) canonicalMetadataRoute() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "canonical-metadata", Method: "GET", Path: "/sites/{site}/canonical-metadata", Tags: []string{"canonical"}, Errors: []int{404, 422, 501},
		Summary:     "The ontology's ten outputs for one page, its relationships as JSON-LD",
		Description: "A canonical URL is a preferred locator: no sameAs is ever stated.",
	}, func(ctx context.Context, in *struct {
		SiteInput
		URL string `query:"url" required:"true" maxLength:"4096" doc:"The page."`
		At  string `query:"as_of" maxLength:"40" doc:"As it was at this time."`
	}) (*jsonOut[canonicalMetadata], error) {
		if s.deps.Canonical == nil {
			return nil, unavailable("canonical evidence")
		}
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		of := CanonicalInput{SourceURL: in.URL, At: in.At, Unlisted: true}
		f, err := of.filter()
		if err != nil {
			return nil, err
		}
		out := canonicalMetadata{SourceURL: in.URL}
		err = s.deps.Canonical.CanonicalAnswers(ctx, site.ID, f, func(answer json.RawMessage) error {
			out.Answers = append(out.Answers, answer)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(out.Answers) == 0 {
			return nil, notFound("page whose canonical URL is known")
		}
		return &jsonOut[canonicalMetadata]{out}, nil
	})
}

type auditInput struct {
	SiteInput
	PageInput
	FormatInput
	AuditInput
	Resolved
}

// AuditInput selects findings on pages.
type AuditInput struct {
	Code     []string `query:"code" maxItems:"60" doc:"Findings with these codes alone." example:"sitemap-lists-noindex"`
	Severity string   `query:"severity" enum:"error,warning,info"`
	State    string   `query:"state" enum:"new,open,reopened,fixed,all" doc:"Every one that is not fixed when absent."`
	Since    string   `query:"since" maxLength:"40" doc:"Findings whose state changed since this time: what became new, fixed or reopened. All states then, unless state is given."`
	Template string   `query:"template" maxLength:"1000" doc:"Of pages with this path template." example:"/{slug}/"`
	URL      string   `query:"url" maxLength:"4096" doc:"Of this page."`
	Muted    bool     `query:"muted" doc:"Muted ones as well."`
}

func (s *Server) auditFilter(in *AuditInput) (models.AuditFilter, error) {
	f := models.AuditFilter{Codes: in.Code, Severity: in.Severity, State: in.State, Template: in.Template, Muted: in.Muted}
	if in.Since != "" {
		at, err := parseTime(in.Since)
		if err != nil {
			return f, models.Invalid("query.since", "for example 2026-11-30 or 2026-11-30T12:00:00Z", "not a time")
		}
		f.Since = at
		if f.State == "" {
			f.State = "all"
		}
	}
	if in.URL != "" {
		key, err := s.deps.KeyFor(in.URL)
		if err != nil {
			return f, models.Invalid("query.url", "an absolute http or https URL", "not the address of a page")
		}
		f.Key = &key
	}
	return f, nil
}

func (s *Server) auditRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-audit", Method: "GET", Path: "/sites/{site}/audit", Tags: []string{"canonical"}, Errors: []int{404, 422, 501},
		Summary:   "What is wrong with listed pages: canonical URLs, redirects, noindex, missing pages",
		Responses: listResponses[list[models.Audited], models.Audited](s),
	}, func(ctx context.Context, in *auditInput) (*huma.StreamResponse, error) {
		if s.deps.Canonical == nil {
			return nil, unavailable("the audit of pages")
		}
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		f, err := s.auditFilter(&in.AuditInput)
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			f.Limit = in.PageSize
			return streamed(s, format, auditColumns, func(ctx context.Context, emit func(*models.Audited) error) error {
				return s.deps.Canonical.Audit(ctx, site.ID, f, emit)
			}), nil
		}
		at, err := readPosition(in.PageToken, in.hash(site))
		if err != nil {
			return nil, err
		}
		size := in.size()
		f.After, f.Limit = at.Cursor, size+1
		page := list[models.Audited]{Items: []models.Audited{}, Run: site.CurrentRun}
		err = s.deps.Canonical.Audit(ctx, site.ID, f, func(a *models.Audited) error {
			page.Items = append(page.Items, *a)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(page.Items) > size {
			page.Items = page.Items[:size]
			page.NextPageToken = encodePosition(position{Filter: in.hash(site), Cursor: page.Items[size-1].Cursor})
		}
		return in.linked(page, page.NextPageToken), nil
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "group-audit", Method: "GET", Path: "/sites/{site}/audit-groups", Tags: []string{"canonical"}, Errors: []int{404, 422, 501},
		Summary:     "The same counted by code and path template: faults are mended in templates",
		Description: "Without a filter these are the last counts; those older than a minute are made anew in the background.",
	}, func(ctx context.Context, in *struct {
		SiteInput
		AuditInput
	}) (*jsonOut[list[models.AuditGroup]], error) {
		if s.deps.Canonical == nil {
			return nil, unavailable("the audit of pages")
		}
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		groups, err := s.faultGroups(ctx, site, &in.AuditInput)
		if err != nil {
			return nil, err
		}
		if groups == nil {
			groups = []models.AuditGroup{}
		}
		return &jsonOut[list[models.AuditGroup]]{list[models.AuditGroup]{Items: groups, Run: site.CurrentRun}}, nil
	})
}

func stampOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return moment(t)
}

var canonicalColumns = []column[models.Canonical]{
	{"source_url", func(r *models.Canonical) string { return r.SourceURL }},
	{"canonical_url", func(r *models.Canonical) string { return r.CanonicalURL }},
	{"declaration_method", func(r *models.Canonical) string { return r.Method }},
	{"relationship_scope", func(r *models.Canonical) string { return r.Scope }},
	{"status", func(r *models.Canonical) string { return r.Status }},
	{"reason", func(r *models.Canonical) string { return r.Reason }},
	{"confidence", func(r *models.Canonical) string { return strconv.FormatFloat(r.Confidence, 'f', 2, 64) }},
	{"rule", func(r *models.Canonical) string { return r.Rule }},
	{"resolution", func(r *models.Canonical) string { return r.Resolution }},
	{"final_url", func(r *models.Canonical) string { return r.FinalURL }},
	{"hints", func(r *models.Canonical) string { return strings.Join(r.Hints, " ") }},
	{"reading", func(r *models.Canonical) string { return r.Reading }},
	{"source_status", func(r *models.Canonical) string { return number(int64(r.SourceStatus)) }},
	{"valid_from", func(r *models.Canonical) string { return stampOf(r.ValidFrom) }},
	{"valid_until", func(r *models.Canonical) string { return stampOf(r.ValidUntil) }},
	{"observed_at", func(r *models.Canonical) string { return stampOf(r.ObservedAt) }},
	{"validation", func(r *models.Canonical) string { return string(r.Validation) }},
	{"conflict", func(r *models.Canonical) string { return string(r.Conflict) }},
}

// auditColumns are those of the program's own report, in the same order.
var auditColumns = []column[models.Audited]{
	{"id", func(r *models.Audited) string { return r.ID }},
	{"code", func(r *models.Audited) string { return r.Code }},
	{"report", func(r *models.Audited) string { return r.Report }},
	{"severity", func(r *models.Audited) string { return r.Severity }},
	{"weight", func(r *models.Audited) string { return r.Weight }},
	{"page", func(r *models.Audited) string { return r.Page }},
	{"template", func(r *models.Audited) string { return r.Template }},
	{"target", func(r *models.Audited) string { return r.Target }},
	{"text", func(r *models.Audited) string { return r.Text }},
	{"evidence", func(r *models.Audited) string { return r.Evidence }},
	{"place", func(r *models.Audited) string { return r.Place }},
	{"line", func(r *models.Audited) string { return number(int64(r.Line)) }},
	{"offset", func(r *models.Audited) string { return number(int64(r.Offset)) }},
	{"rule", func(r *models.Audited) string { return r.Rule }},
	{"first_seen", func(r *models.Audited) string { return moment(&r.FirstSeen) }},
	{"last_seen", func(r *models.Audited) string { return moment(&r.LastSeen) }},
	{"confirmed", func(r *models.Audited) string { return number(r.Confirmed) }},
	{"state", func(r *models.Audited) string { return r.State }},
	{"do", func(r *models.Audited) string { return r.Do }},
}
