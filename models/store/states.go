package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Confidence by the sitemap ontology's table: a valid absolute loc, a declared lastmod, inferred membership, identity
// from a sitemap alone, and the ceiling of what is stale or not verified.
const (
	confidenceListing    = 0.99
	confidenceLastmod    = 0.90
	confidenceMembership = 0.85
	confidenceIdentity   = 0.75
	confidenceStale      = 0.60
)

// stateOf gives a listed page's state at a run and the reason for it: an undecided removal goes before the state of
// the document.
func stateOf(d *documentView, c *removalRow, run int64) (models.State, string) {
	if c != nil {
		switch stage := c.stageAt(run); stage {
		case models.StageHeld:
			return models.StateHeld, c.Reason
		case models.StageRejected:
		case models.StageLeftWindow:
			return models.StateStale, c.Reason
		case models.StageApproved:
			return models.StatePending, "its removal was approved: " + c.Reason
		default:
			return models.StatePending, c.Reason
		}
	}
	switch {
	case d == nil:
		return models.StateStale, "its document is not known at this run"
	case !d.good:
		return models.StateStale, d.Reason
	}
	return models.StateLive, ""
}

// extensions are the blocks as the stored object has them.
type extensions struct {
	Alternates json.RawMessage `json:"alternates"`
	Images     json.RawMessage `json:"images"`
	Videos     json.RawMessage `json:"videos"`
	News       json.RawMessage `json:"news"`
	Mobile     json.RawMessage `json:"mobile"`
	PageMap    json.RawMessage `json:"pagemap"`
}

// newPage fills in what the declaration itself says.
func newPage(row *models.Declaration) (*models.Page, error) {
	p := &models.Page{URL: row.URL, Lastmod: row.Lastmod, Changefreq: row.Changefreq, Priority: row.Priority, FromRun: row.FromRun, Key: row.Key}
	if len(row.Extensions) > 0 {
		var x extensions
		if err := json.Unmarshal(row.Extensions, &x); err != nil {
			return nil, fmt.Errorf("decode extensions of %s: %w", row.URL, err)
		}
		p.Alternates, p.Images, p.Videos, p.News, p.Mobile, p.PageMap = x.Alternates, x.Images, x.Videos, x.News, x.Mobile, x.PageMap
	}
	return p, nil
}

// listed makes the page of a declaration that is open at the moment.
func (m *moment) listed(ctx context.Context, row *models.Declaration, d *documentView, c *removalRow) (*models.Page, error) {
	p, err := newPage(row)
	if err != nil {
		return nil, err
	}
	p.State, p.Reason = stateOf(d, c, m.run)
	switch {
	case p.State != models.StateStale:
	case c != nil && c.stageAt(m.run) == models.StageLeftWindow:
		since := c.Since.UTC()
		p.StaleSince = &since
	case d != nil:
		p.StaleSince = d.staleSince
	}
	if c != nil {
		p.Removal = c.why(m.run)
	}
	if row.Role == models.RoleForeign {
		p.State = models.StateForeign
	}
	if row.ToRun <= m.site.CurrentRun {
		to := row.ToRun
		p.ToRun = &to
	}
	if p.FirstSeen, err = m.when(ctx, row.FirstRun); err != nil {
		return nil, err
	}
	began, err := m.when(ctx, row.FromRun)
	if err != nil {
		return nil, err
	}
	p.LastSeen = began
	if d != nil {
		p.Document = d.URL
		seen, err := m.seen(ctx, d)
		if err != nil {
			return nil, err
		}
		if c != nil && seen.After(began) { // its document no longer lists it
			if seen, err = m.seenBefore(ctx, c.Document, c.FromRun, true); err != nil {
				return nil, err
			}
		}
		p.LastSeen = latest(began, seen)
	}
	p.Freshness, p.Confidence = judge(p, d, m.run, row.FirstRun)
	return p, nil
}

func judge(p *models.Page, d *documentView, run, first int64) (string, models.Confidence) {
	c := models.Confidence{Listing: confidenceListing, Membership: confidenceMembership, Identity: confidenceIdentity}
	if p.Lastmod != nil {
		c.Lastmod = confidenceLastmod
		if d != nil && d.Trust > 0 {
			c.Lastmod *= d.Trust
		}
	}
	freshness := "fresh"
	switch {
	case d == nil || p.State == models.StateRemoved:
		freshness = "current_unknown"
	case d.Verdict == models.VerdictUnavailable || d.Verdict == models.VerdictGone:
		freshness = "unavailable"
	case p.State != models.StateLive && p.State != models.StateForeign:
		freshness = "stale"
	case p.FromRun == run && first < run:
		freshness = "changed"
	}
	if p.State != models.StateLive && p.State != models.StateForeign {
		c.Listing, c.Membership = min(c.Listing, confidenceStale), min(c.Membership, confidenceStale)
		c.Identity, c.Lastmod = min(c.Identity, confidenceStale), min(c.Lastmod, confidenceStale)
	}
	return freshness, c
}

// removed makes the page of an ended case: what was last declared, and why it is gone. row is nil when nothing of it
// is stored.
func (m *moment) removed(ctx context.Context, c *removalRow, row *models.Declaration, d *documentView) (*models.Page, error) {
	if row == nil {
		row = &models.Declaration{Key: models.Key(c.URLKey), URL: c.URL, FromRun: c.FromRun, FirstRun: c.FirstRun}
	}
	p, err := newPage(row)
	if err != nil {
		return nil, err
	}
	p.State, p.Reason, p.MovedTo, p.FromRun = models.StateRemoved, c.Reason, c.MovedTo, c.DecidedRun
	if !c.Since.IsZero() { // a page without a case ended before cases were kept
		p.Removal = c.why(m.run)
	}
	if d != nil {
		p.Document = d.URL
	}
	at, err := m.when(ctx, c.DecidedRun)
	if err != nil {
		return nil, err
	}
	p.RemovedAt = &at
	if p.FirstSeen, err = m.when(ctx, max(row.FirstRun, 1)); err != nil {
		return nil, err
	}
	began, err := m.when(ctx, row.FromRun)
	if err != nil {
		return nil, err
	}
	seen, err := m.seenBefore(ctx, c.Document, c.FromRun, true)
	if err != nil {
		return nil, err
	}
	p.LastSeen = latest(began, seen)
	p.Freshness, p.Confidence = judge(p, d, m.run, row.FirstRun)
	return p, nil
}

// within reports whether a moment lies in a range whose start is inclusive and whose end is not.
func within(t time.Time, from, to *time.Time) bool {
	return (from == nil || !t.Before(*from)) && (to == nil || t.Before(*to))
}
