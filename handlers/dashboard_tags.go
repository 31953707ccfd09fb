package handlers

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// tagsOf gives the tags that sites carry, by name, with the number of sites.
func tagsOf(sites []models.Site) []web.TagCount {
	sum := map[string]int{}
	for i := range sites {
		for _, tag := range sites[i].Settings.Tags {
			sum[tag]++
		}
	}
	out := make([]web.TagCount, 0, len(sum))
	for name, n := range sum {
		out = append(out, web.TagCount{Name: name, Sites: n})
	}
	slices.SortFunc(out, func(a, b web.TagCount) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// groupsOf puts the shown sites into one group, or into one for each tag and a last one for those without.
func groupsOf(page *web.Overview) []web.SiteGroup {
	if !page.Grouped {
		return []web.SiteGroup{{Sites: page.Sites, SiteSums: page.SiteSums}}
	}
	names := make([]string, 0, len(page.Tags)+1)
	for _, tag := range page.Tags {
		names = append(names, tag.Name)
	}
	var out []web.SiteGroup
	for _, name := range append(names, "") {
		group := web.SiteGroup{Tag: name}
		for i := range page.Sites {
			row := &page.Sites[i]
			tags := row.Site.Settings.Tags
			if name == "" && len(tags) == 0 || name != "" && slices.Contains(tags, name) && (page.Tag == "" || strings.EqualFold(page.Tag, name)) {
				group.Sites = append(group.Sites, *row)
				group.Add(row)
			}
		}
		if len(group.Sites) > 0 {
			out = append(out, group)
		}
	}
	return out
}
