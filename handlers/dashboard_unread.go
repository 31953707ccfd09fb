package handlers

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

const (
	unreadShown = 3
	unreadKept  = time.Hour // while no newer run has ended
)

// unread finds the documents that the current run could not read, and what is kept of them, those that list most first. A site
// whose last run read everything costs no query.
func (s *Server) unread(ctx context.Context, in *web.InSite) error {
	if in.Last == nil || in.Last.Counts.Stale == 0 && in.Last.Documents.Failed == 0 {
		return nil
	}
	var err error
	in.Unread, err = s.reports.unread.get(ctx, in.Site.ID, in.Site.CurrentRun, s.deps.Now(), unreadKept, func(ctx context.Context) (*web.Unread, error) {
		all, err := s.documents(ctx, in.Site, models.AsOf{}, func(d *models.Document) bool { return !d.Verdict.Read() && d.Verdict != models.VerdictGone })
		if err != nil || len(all) == 0 {
			return nil, err
		}
		slices.SortStableFunc(all, func(a, b models.Document) int { return cmp.Compare(b.Entries, a.Entries) })
		shown := min(len(all), unreadShown)
		return &web.Unread{Documents: slices.Clone(all[:shown]), More: int64(len(all) - shown)}, nil
	})
	return err
}
