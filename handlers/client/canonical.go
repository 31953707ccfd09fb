package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"

	"github.com/sitemapd/sitemapd/models"
)

// ListCanonical gives what pages say of their canonical URL. The filter has the API's own names: source_url,
// canonical_url, declaration_method, status, as_of, ...
func (c *Client) ListCanonical(ctx context.Context, name string, filter url.Values) iter.Seq2[models.Canonical, error] {
	return all[models.Canonical](ctx, c, site(name)+"/canonical", filter)
}

// CanonicalMetadata gives the ontology's ten outputs for each relationship of a page, as JSON.
func (c *Client) CanonicalMetadata(ctx context.Context, name, link string) ([]json.RawMessage, error) {
	type metadata struct {
		Answers []json.RawMessage `json:"answers"`
	}
	m, err := answer[metadata](ctx, c, http.MethodGet, site(name)+"/canonical-metadata", url.Values{"url": {link}}, nil, nil)
	return m.Answers, err
}

// ListAudit gives findings on pages: code, severity, state, since, template, url.
func (c *Client) ListAudit(ctx context.Context, name string, filter url.Values) iter.Seq2[models.Audited, error] {
	return all[models.Audited](ctx, c, site(name)+"/audit", filter)
}

// GroupAudit counts them by code and path template, the largest group first.
func (c *Client) GroupAudit(ctx context.Context, name string, filter url.Values) ([]models.AuditGroup, error) {
	p, err := answer[page[models.AuditGroup]](ctx, c, http.MethodGet, site(name)+"/audit-groups", filter, nil, nil)
	return p.Items, err
}
