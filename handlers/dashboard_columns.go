package handlers

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
)

// Columns of the inventory beside the page itself, in the order in which they are shown.
var (
	inventoryColumns = []string{"state", "lastmod", "first_seen", "last_seen", "changefreq", "priority", "declares", "freshness", "confidence", "document", "reason", "from_run"}
	usualColumns     = []string{"state", "lastmod", "first_seen", "declares", "document"}
)

// Parameters that say how a list looks and not what is in it.
const (
	paramColumns = "columns" // names by commas or one a parameter, as forms without scripts send them
	paramRows    = "rows"    // dense or nothing
	rowsDense    = "dense"
)

// chooseColumns reads from the address which columns the inventory shows, and offers the others. Unknown names are dropped; without a
// known one it shows the usual ones.
func chooseColumns(c echo.Context, page *web.Inventory) {
	page.Shows = map[string]bool{}
	for _, text := range c.QueryParams()[paramColumns] {
		for name := range strings.SplitSeq(text, ",") {
			if slices.Contains(inventoryColumns, name) {
				page.Shows[name] = true
			}
		}
	}
	own := len(page.Shows) > 0
	if !own {
		for _, name := range usualColumns {
			page.Shows[name] = true
		}
	}
	var chosen []string
	for _, name := range inventoryColumns {
		if page.Shows[name] {
			chosen = append(chosen, name)
		}
		page.Columns = append(page.Columns, web.Choice{Name: name, Chosen: page.Shows[name]})
	}
	look := url.Values{}
	if own && !slices.Equal(chosen, usualColumns) {
		page.Chosen = strings.Join(chosen, ",")
		look.Set(paramColumns, page.Chosen)
	}
	if page.Dense = c.QueryParam(paramRows) == rowsDense; page.Dense {
		look.Set(paramRows, rowsDense)
	}
	if sort := c.QueryParam(paramSort); sort != "" {
		look.Set(paramSort, sort)
	}
	page.Plain = sitePath(page.Site.ID) + "/urls"
	if len(look) > 0 {
		page.Plain += "?" + look.Encode()
	}
	kept := withoutLook(c.QueryParams())
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		for _, value := range kept[name] {
			page.Kept = append(page.Kept, web.Chip{Name: name, Value: value})
		}
	}
}

// withoutLook leaves of an address's parameters those that say what is in a list: the place in it stays where its look changes.
func withoutLook(query url.Values) url.Values {
	kept := url.Values{}
	for name, values := range query {
		if name != paramColumns && name != paramRows && name != "done" {
			kept[name] = values
		}
	}
	return kept
}
