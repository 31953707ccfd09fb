package syncer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// healthStorage is what the state of verification, mutes and incidents need of the database.
type healthStorage interface {
	Verification(ctx context.Context, site int64, at time.Time) (models.Verification, error)
	Spent(ctx context.Context, host models.Key, day string) (int64, error)
	Incidents(ctx context.Context, site int64, since time.Time) ([]models.Incident, error)
	Mutes(ctx context.Context, site int64, at time.Time) ([]models.Mute, error)
	MuteFinding(ctx context.Context, site int64, m models.Mute) error
	UnmuteFinding(ctx context.Context, site int64, m models.Mute) (bool, error)
}

// Verification says how far a site's pages are verified and what waits. It takes about a second for a million pages.
func (v *Verifier) Verification(ctx context.Context, siteID int64) (models.Verification, error) {
	site, err := v.o.Store.Site(ctx, siteID)
	if err != nil {
		return models.Verification{}, fmt.Errorf("read site %d: %w", siteID, err)
	}
	now := v.now()
	out, err := v.o.Store.Verification(ctx, siteID, now)
	if err != nil {
		return out, err
	}
	home := orElse(site.Home, site.Root)
	out.Host, out.Budget = hostOf(home), v.o.PerDay
	if out.GraphAudit, err = v.o.Store.LastGraphAudit(ctx, siteID); err != nil {
		return out, err
	}
	out.Spent, err = v.o.Store.Spent(ctx, HostKey(home), now.Format(time.DateOnly))
	return out, err
}

// Incidents gives the changes that many pages shared and that were going on since a time, newest first.
func (v *Verifier) Incidents(ctx context.Context, site int64, since time.Time) ([]models.Incident, error) {
	return v.o.Store.Incidents(ctx, site, since)
}

// Mutes gives the mutes in force now, by code and place.
func (v *Verifier) Mutes(ctx context.Context, site int64) ([]models.Mute, error) {
	return v.o.Store.Mutes(ctx, site, v.now())
}

// Mute keeps a code out of reports until a time, for ever if that is nil: everywhere, for a path template (place begins
// with "/") or for one page. It gives the mute as it is kept; a *models.InvalidError says what cannot be one.
func (v *Verifier) Mute(ctx context.Context, site int64, m models.Mute) (models.Mute, error) {
	m, err := placed(m)
	if err != nil {
		return m, err
	}
	m.CreatedAt = v.now()
	if m.Until != nil {
		if !m.Until.After(m.CreatedAt) {
			return m, models.Invalid("until", "give a time to come, or none to mute for ever", "%s is over", m.Until.UTC().Format(time.RFC3339))
		}
		until := micros(m.Until.UTC())
		m.Until = &until
	}
	return m, v.o.Store.MuteFinding(ctx, site, m)
}

// Unmute lets a code be heard again at a place; models.ErrNotFound where it is not muted.
func (v *Verifier) Unmute(ctx context.Context, site int64, m models.Mute) error {
	m, err := placed(m)
	if err != nil {
		return err
	}
	was, err := v.o.Store.UnmuteFinding(ctx, site, m)
	if err == nil && !was {
		return fmt.Errorf("mute of %s: %w", m.Code, models.ErrNotFound)
	}
	return err
}

// placed checks a mute's code and gives its place the form in which it is kept.
func placed(m models.Mute) (models.Mute, error) {
	if _, ok := canonical.FindingKindOf(m.Code); !ok {
		return m, models.Invalid("code", "docs/canonical-findings.md lists them", "%q is no finding on pages", m.Code)
	}
	if m.Place = strings.TrimSpace(m.Place); m.Place == "" || strings.HasPrefix(m.Place, "/") {
		return m, nil
	}
	raw := m.Place
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	u, problem := weburl.Parse(nil, []byte(raw))
	if authority, _, _ := strings.Cut(m.Place, "/"); problem != weburl.None || strings.Contains(authority, "@") {
		return m, models.Invalid("place", "an absolute URL, or a template such as /{slug}/", "%q is neither a page nor a path template", m.Place)
	}
	m.Place, m.Key = string(u.Wire), models.Key(u.Key())
	return m, nil
}
