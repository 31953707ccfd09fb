package handlers

import (
	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

const (
	paramSort = "sort"
	// sortDocuments asks for the order of the documents where the inventory would choose another.
	sortDocuments = "documents"
	// sortedUnasked is up to how many pages an inventory is sorted by address without being asked: that takes less than a
	// reader's time. Larger ones come in the order of their documents, at once.
	sortedUnasked = 20_000
)

// sortedHeads are the columns whose heads sort, with the order that the first click gives; people look for the newest first.
var sortedHeads = map[string]models.PageSort{
	"page":       {By: models.SortURL},
	"lastmod":    {By: models.SortLastmod, Descending: true},
	"first_seen": {By: models.SortFirstSeen, Descending: true},
	"from_run":   {By: models.SortChanged, Descending: true},
	"priority":   {By: models.SortPriority, Descending: true},
}

// chooseOrder reads from the address how the inventory is sorted, and offers the other ways: links in the heads of columns and a
// choice in the form, which phones show instead of heads.
func (s *Server) chooseOrder(c echo.Context, page *web.Inventory) {
	page.Sort = c.QueryParam(paramSort)
	if page.Sort == "" && page.Site.Live <= sortedUnasked && page.Filter["url"] == "" {
		page.Sort = models.SortURL
	}
	if page.Sort == sortDocuments {
		page.Sort = ""
	}
	page.Heads = map[string]web.Head{}
	for column, order := range sortedHeads {
		head := web.Head{}
		switch page.Sort {
		case order.By:
			head.Sorted = "ascending"
		case "-" + order.By:
			head.Sorted = "descending"
		}
		if page.Sort == order.String() { // the second click turns it round
			order.Descending = !order.Descending
		}
		head.Address = withParam(c, paramSort, order.String())
		page.Heads[column] = head
	}
	page.Sorts = []web.Choice{{Name: sortDocuments, Chosen: page.Sort == ""}}
	for _, by := range models.PageSorts() {
		for _, order := range []string{by, "-" + by} {
			page.Sorts = append(page.Sorts, web.Choice{Name: order, Chosen: page.Sort == order})
		}
	}
}
