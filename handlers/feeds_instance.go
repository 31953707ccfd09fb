package handlers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// everySite names the feed of all sites, unless a site is called so.
const everySite = "all"

// instanceFeed gathers the newest entries of every site's feed. Its own id is made of the oldest site, so it stays the
// same for ever; entries have the ids that they have in their sites' feeds.
func (s *Server) instanceFeed(ctx context.Context, base string) (*atomFeed, error) {
	sites, err := s.deps.Sites.Sites(ctx)
	if err != nil {
		return nil, err
	}
	feed := &atomFeed{ID: "tag:localhost,2026-01-01:sitemapd/changes", Title: "sitemapd: changes", Author: "sitemapd", Updated: s.deps.Now().UTC().Format(time.RFC3339),
		Links: []atomLink{{"self", "application/atom+xml", base + "/feeds/" + everySite + ".atom"}, {"alternate", "text/html", base + "/"}}}
	if len(sites) > 0 {
		oldest := slices.MinFunc(sites, func(a, b models.Site) int { return cmp.Compare(a.ID, b.ID) })
		feed.ID, feed.Updated = tagURI(oldest, "instance"), oldest.CreatedAt.UTC().Format(time.RFC3339)
	}
	enough := time.Now().Add(2 * readingTime) // texts are kept: what a reading lacks, the next one has
	var problems []error
	for _, site := range sites {
		if time.Now().After(enough) {
			break
		}
		one, err := s.atom(ctx, site, base, "")
		if err != nil {
			problems = append(problems, err)
			continue
		}
		feed.Entries = append(feed.Entries, one.Entries...)
	}
	if len(feed.Entries) == 0 && len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	slices.SortStableFunc(feed.Entries, func(a, b atomEntry) int { return cmp.Compare(b.Updated, a.Updated) })
	feed.Entries = feed.Entries[:min(len(feed.Entries), feedEntries)]
	if len(feed.Entries) > 0 {
		feed.Updated = feed.Entries[0].Updated
	}
	return feed, nil
}
