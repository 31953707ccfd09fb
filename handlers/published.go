package handlers

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// publishedStore holds what companion plugins say is published.
type publishedStore interface {
	// PluginInventory gives the last reading that readers see; answered: the last that was complete. models.ErrNotFound
	// before the first.
	PluginInventory(ctx context.Context, siteID int64, answered bool) (models.PluginInventory, error)
}

func (s *Server) publishedRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "get-plugin-inventory", Method: "GET", Path: "/sites/{site}/plugin-inventory", Tags: []string{"hooks"}, Errors: []int{404},
		Summary:     "What the site's companion plugin says is published, as it was last read",
		Description: "A source of its own: it corroborates removals and moves and declares no page. How the last reading ended, and how the list and the documents differ.",
	}, func(ctx context.Context, in *SiteInput) (*jsonOut[models.PluginInventory], error) {
		if s.deps.Published == nil {
			return nil, unavailable("the plugin's inventory")
		}
		site, err := s.site(ctx, *in)
		if err != nil {
			return nil, err
		}
		p, err := s.deps.Published.PluginInventory(ctx, site.ID, false)
		if isNotFound(err) {
			return nil, notFound("reading of the plugin's inventory")
		}
		return &jsonOut[models.PluginInventory]{p}, err
	})
}
