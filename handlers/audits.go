package handlers

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// auditKeeper is what the API needs of the state of verification, and of what is kept beside its findings.
type auditKeeper interface {
	// Verification says how far a site's pages are verified and what waits; it may take a second.
	Verification(ctx context.Context, siteID int64) (models.Verification, error)
	// Incidents gives the changes that many pages shared since a time, newest first.
	Incidents(ctx context.Context, siteID int64, since time.Time) ([]models.Incident, error)
	// Mutes gives those in force, by code and place.
	Mutes(ctx context.Context, siteID int64) ([]models.Mute, error)
	// Mute keeps a code out of reports and gives the mute as it is kept.
	Mute(ctx context.Context, siteID int64, m models.Mute) (models.Mute, error)
	// Unmute takes a mute back, or answers models.ErrNotFound.
	Unmute(ctx context.Context, siteID int64, m models.Mute) error
}

type muteBody struct {
	_     struct{}   `additionalProperties:"false"`
	Code  string     `json:"code" maxLength:"64" doc:"Of docs/canonical-findings.md." example:"og-url-differs"`
	Place string     `json:"place,omitempty" maxLength:"4096" doc:"A page, a path template, or absent for the whole site." example:"/{slug}/"`
	Until *time.Time `json:"until,omitempty" doc:"Heard again from then on; for ever when absent."`
	Note  string     `json:"note,omitempty" maxLength:"500" doc:"Why."`
}

func (s *Server) auditKeeperRoutes() {
	tags := []string{"canonical"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "get-verification", Method: "GET", Path: "/sites/{site}/verification", Tags: tags, Errors: []int{404, 501},
		Summary: "How far a site's pages are verified, what waits, the day's budget, open contradictions and the last check of the graph",
	}, func(ctx context.Context, in *SiteInput) (*jsonOut[models.Verification], error) {
		site, err := s.audited(ctx, *in)
		if err != nil {
			return nil, err
		}
		v, err := s.verification(ctx, site)
		return &jsonOut[models.Verification]{v}, err
	})
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-incidents", Method: "GET", Path: "/sites/{site}/incidents", Tags: tags, Errors: []int{404, 422, 501},
		Summary: "Changes that many pages of a site shared: a plugin switched off, a staging host leaked, noindex everywhere",
	}, func(ctx context.Context, in *struct {
		SiteInput
		Since string `query:"since" maxLength:"40" doc:"Those that were going on since this time; all when absent."`
	}) (*jsonOut[list[models.Incident]], error) {
		site, err := s.audited(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		var since time.Time
		if in.Since != "" {
			if since, err = parseTime(in.Since); err != nil {
				return nil, models.Invalid("query.since", "for example 2026-11-30 or 2026-11-30T12:00:00Z", "not a time")
			}
		}
		all, err := s.deps.Audits.Incidents(ctx, site.ID, since)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if len(all[i].Examples) == 0 {
				all[i].Examples = json.RawMessage("[]")
			}
		}
		return &jsonOut[list[models.Incident]]{list[models.Incident]{Items: all, Run: site.CurrentRun}}, nil
	})
	s.muteRoutes(tags)
}

func (s *Server) muteRoutes(tags []string) {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-mutes", Method: "GET", Path: "/sites/{site}/mutes", Tags: tags, Errors: []int{404, 501},
		Summary: "What is kept out of reports now, and until when",
	}, func(ctx context.Context, in *SiteInput) (*jsonOut[list[models.Mute]], error) {
		site, err := s.audited(ctx, *in)
		if err != nil {
			return nil, err
		}
		all, err := s.deps.Audits.Mutes(ctx, site.ID)
		return &jsonOut[list[models.Mute]]{list[models.Mute]{Items: all, Run: site.CurrentRun}}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "mute", Method: "POST", Path: "/sites/{site}/mutes", Tags: tags, Errors: []int{404, 422, 501},
		Summary:     "Keep a code out of reports for a time: everywhere, for a path template or for one page",
		Description: "What is muted is found and followed all the same; it is listed with muted=true. A mute of the same code and place is replaced.",
	}, func(ctx context.Context, in *struct {
		SiteInput
		Body muteBody
	}) (*jsonOut[models.Mute], error) {
		site, err := s.audited(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		m, err := s.mute(ctx, site, models.Mute{Code: in.Body.Code, Place: in.Body.Place, Until: in.Body.Until, Note: in.Body.Note})
		return &jsonOut[models.Mute]{m}, err
	})
	register(s, ScopeWrite, huma.Operation{
		OperationID: "unmute", Method: "DELETE", Path: "/sites/{site}/mutes", Tags: tags, DefaultStatus: 204, Errors: []int{404, 422, 501},
		Summary: "Let a code be heard again",
	}, func(ctx context.Context, in *struct {
		SiteInput
		Code  string `query:"code" required:"true" maxLength:"64"`
		Place string `query:"place" maxLength:"4096" doc:"As it was muted; absent for the whole site."`
	}) (*struct{}, error) {
		site, err := s.audited(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		return nil, s.unmute(ctx, site, models.Mute{Code: in.Code, Place: in.Place})
	})
}

// audited gives the site of a request that needs what is kept beside the audit.
func (s *Server) audited(ctx context.Context, in SiteInput) (models.Site, error) {
	if s.deps.Audits == nil {
		return models.Site{}, unavailable("the audit of pages")
	}
	return s.site(ctx, in)
}

// verifiedKept is how long the counts of a site are shown before they are counted anew: they read a row for each page.
const verifiedKept = 2 * time.Minute

// verification gives the last counts, which say of when they are; the first time it waits for them.
func (s *Server) verification(ctx context.Context, site models.Site) (models.Verification, error) {
	for {
		v, _, counting := s.verified(ctx, site)
		switch {
		case v != nil:
			return *v, nil
		case ctx.Err() != nil:
			return models.Verification{}, ctx.Err()
		case !counting: // it failed; the error is to be seen
			return s.deps.Audits.Verification(ctx, site.ID)
		}
	}
}

// verified gives the last counts, nil while the first ones are on their way.
func (s *Server) verified(ctx context.Context, site models.Site) (v *models.Verification, at time.Time, counting bool) {
	return s.reports.verified.of(ctx, s, site.ID, verifiedKept, func(ctx context.Context) (models.Verification, error) {
		return s.deps.Audits.Verification(ctx, site.ID)
	})
}

// faultsKept is how long the groups of a site's findings on pages are shown before they are counted anew: they read a row for each finding.
const faultsKept = time.Minute

// faults gives the last groups of all findings that are not muted, nil while the first ones are on their way.
func (s *Server) faults(ctx context.Context, site models.Site) (groups *[]models.AuditGroup, counting bool) {
	groups, _, counting = s.reports.faults.of(ctx, s, site.ID, faultsKept, func(ctx context.Context) ([]models.AuditGroup, error) {
		return s.deps.Canonical.AuditGroups(ctx, site.ID, models.AuditFilter{Limit: maxPageSize})
	})
	return groups, counting
}

// faultGroups waits for the first count; a filter is counted for itself.
func (s *Server) faultGroups(ctx context.Context, site models.Site, in *AuditInput) ([]models.AuditGroup, error) {
	f, err := s.auditFilter(in)
	if err != nil {
		return nil, err
	}
	f.Limit = maxPageSize
	for unfiltered := reflect.ValueOf(*in).IsZero(); unfiltered; {
		groups, counting := s.faults(ctx, site)
		switch {
		case groups != nil:
			return *groups, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		if !counting { // it failed; the error is to be seen
			break
		}
	}
	return s.deps.Canonical.AuditGroups(ctx, site.ID, f)
}

func (s *Server) mute(ctx context.Context, site models.Site, m models.Mute) (models.Mute, error) {
	m, err := s.deps.Audits.Mute(ctx, site.ID, m)
	s.reports.faults.forget(site.ID)
	if err == nil {
		s.log.InfoContext(ctx, "finding muted", "site", site.ID, "code", m.Code, "place", m.Place, "by", principalName(ctx))
	}
	return m, err
}

func (s *Server) unmute(ctx context.Context, site models.Site, m models.Mute) error {
	err := s.deps.Audits.Unmute(ctx, site.ID, m)
	s.reports.faults.forget(site.ID)
	if isNotFound(err) {
		return notFound("mute of this code and place")
	}
	if err == nil {
		s.log.InfoContext(ctx, "finding heard again", "site", site.ID, "code", m.Code, "place", m.Place, "by", principalName(ctx))
	}
	return err
}
