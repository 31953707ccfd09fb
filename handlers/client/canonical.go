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

// GetVerification says how far a site's pages are verified and what waits.
func (c *Client) GetVerification(ctx context.Context, name string) (models.Verification, error) {
	return answer[models.Verification](ctx, c, http.MethodGet, site(name)+"/verification", nil, nil, nil)
}

// ListIncidents gives the changes that many pages shared, those that were going on since a time (RFC 3339) unless it is "".
func (c *Client) ListIncidents(ctx context.Context, name, since string) ([]models.Incident, error) {
	query := url.Values{}
	if since != "" {
		query.Set("since", since)
	}
	p, err := answer[page[models.Incident]](ctx, c, http.MethodGet, site(name)+"/incidents", query, nil, nil)
	return p.Items, err
}

// ListMutes gives what is kept out of reports now.
func (c *Client) ListMutes(ctx context.Context, name string) ([]models.Mute, error) {
	p, err := answer[page[models.Mute]](ctx, c, http.MethodGet, site(name)+"/mutes", nil, nil, nil)
	return p.Items, err
}

// Mute keeps a code out of reports until m.Until, for ever if that is nil. An empty place is the whole site.
func (c *Client) Mute(ctx context.Context, name string, m models.Mute) (models.Mute, error) {
	body := map[string]any{"code": m.Code, "place": m.Place, "note": m.Note}
	if m.Until != nil {
		body["until"] = m.Until
	}
	return answer[models.Mute](ctx, c, http.MethodPost, site(name)+"/mutes", nil, nil, body)
}

// Unmute lets a code be heard again at the place where it was muted.
func (c *Client) Unmute(ctx context.Context, name, code, place string) error {
	query := url.Values{"code": {code}}
	if place != "" {
		query.Set("place", place)
	}
	return c.do(ctx, http.MethodDelete, site(name)+"/mutes", query, nil, nil, nil)
}
