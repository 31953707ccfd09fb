package handlers

import "context"

// warm counts, one site after another, what the first to look at a site's pages after a start would have to wait for: both
// counts read a row for each page or finding.
func (s *Server) warm(ctx context.Context) {
	if s.deps.Audits == nil || s.deps.Canonical == nil {
		return
	}
	sites, err := s.deps.Sites.Sites(ctx)
	if err != nil {
		return // whoever looks is told
	}
	for _, site := range sites {
		if site.CurrentRun == 0 {
			continue
		}
		for counting := true; counting && ctx.Err() == nil && !s.isDraining(); {
			_, _, counting = s.verified(ctx, site)
		}
		for counting := true; counting && ctx.Err() == nil && !s.isDraining(); {
			_, counting = s.faults(ctx, site)
		}
	}
}
