package handlers

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// ages divide the inventory by declared lastmod, the youngest first; each begins so long before today, as a filter says it.
var ages = []struct{ name, since string }{
	{"last 7 days", "-7d"}, {"last 30 days", "-30d"}, {"last 3 months", "-3m"}, {"last 6 months", "-6m"}, {"last 12 months", "-12m"}, {"last 24 months", "-24m"},
}

// staleSteps are after how long content counts as stale, and which of the ages it is then older than.
var staleSteps = []struct {
	name, before string
	age          int
}{{"3 months", "-3m", 2}, {"6 months", "-6m", 3}, {"12 months", "-12m", 4}, {"24 months", "-24m", 5}}

// staleRows bounds what one page shows.
const staleRows = 200

// objectTypes gives what a site's documents list, in the order of the alphabet, none last where some address does not tell.
func (s *Server) objectTypes(ctx context.Context, site models.Site) ([]string, error) {
	if site.CurrentRun == 0 {
		return nil, nil
	}
	return s.reports.types.get(ctx, site.ID, site.CurrentRun, s.deps.Now(), typesKept, func(ctx context.Context) ([]string, error) {
		found := map[string]bool{}
		_, err := s.documents(ctx, site, models.AsOf{Run: site.CurrentRun}, func(d *models.Document) bool {
			if d.Type != "sitemapindex" && d.Verdict != models.VerdictGone {
				found[cmp.Or(models.ObjectType(d.URL), models.NoObjectType)] = true
			}
			return false
		})
		unknown := found[models.NoObjectType]
		delete(found, models.NoObjectType)
		types := slices.Sorted(maps.Keys(found))
		if unknown {
			types = append(types, models.NoObjectType)
		}
		return types, err
	})
}

// lastmods are the live pages of a site by document and declared lastmod, with the bounds by which they were counted.
type lastmods struct {
	bounds    []time.Time
	documents []models.LastmodCounts
}

func (s *Server) lastmods(ctx context.Context, site models.Site) (counts *lastmods, at time.Time, counting bool) {
	if s.deps.Reports == nil || site.CurrentRun == 0 {
		return nil, at, false
	}
	return s.reports.ages.of(ctx, s, site.ID, countsKept, func(ctx context.Context) (lastmods, error) {
		l := lastmods{bounds: s.ageBounds()}
		var err error
		l.documents, err = s.deps.Reports.LastmodCounts(ctx, site.ID, l.bounds)
		return l, err
	})
}

func (s *Server) ageBounds() []time.Time {
	var bounds []time.Time
	for _, age := range ages {
		bound, _ := models.ParseMoment(age.since, s.deps.Now())
		bounds = append(bounds, bound)
	}
	return bounds
}

// add sums two counts up.
func add(into *models.LastmodCounts, more *models.LastmodCounts) {
	if into.At == nil {
		into.At = make([]int64, len(more.At))
	}
	into.None += more.None
	for i, n := range more.At {
		into.At[i] += n
	}
}

// whole is all pages of a count.
func whole(c *models.LastmodCounts) int64 {
	n := c.None
	for _, m := range c.At {
		n += m
	}
	return n
}

// inventory gives the address of a site's inventory with a filter.
func inventory(site models.Site, parameters ...string) string {
	query := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			query.Set(parameters[i], parameters[i+1])
		}
	}
	if len(query) == 0 {
		return sitePath(site.ID) + "/urls"
	}
	return sitePath(site.ID) + "/urls?" + query.Encode()
}

// reportAges shows how fresh what a site declares is. The links hold the bounds of the counting: both say the same.
func (s *Server) reportAges(ctx context.Context, page *web.Reports) {
	counts, at, counting := s.lastmods(ctx, page.Site)
	page.Counting = counting
	if counts == nil {
		return
	}
	page.Counted = &at
	all := models.LastmodCounts{At: make([]int64, len(ages)+1)}
	for i := range counts.documents {
		add(&all, &counts.documents[i])
	}
	for i, n := range all.At {
		age := web.Age{Name: "older", Count: n, Whole: whole(&all)}
		from, to := "", ""
		if i < len(ages) {
			age.Name, from = ages[i].name, counts.bounds[i].Format(time.DateOnly)
		}
		if i > 0 {
			to = counts.bounds[i-1].Format(time.DateOnly)
		}
		age.Address = inventory(page.Site, "lastmod_from", from, "lastmod_to", to)
		page.Ages = append(page.Ages, age)
	}
	page.Ages = append(page.Ages, web.Age{Name: "declares none", Count: all.None, Whole: whole(&all), Address: inventory(page.Site, "lastmod", models.LastmodNone)})
	page.Stale = staleCells(page.Site, &all)[:len(staleSteps)]
}

// staleCells are the pages of one kind that are older than each step, those without a lastmod, and all. The links count
// from the day on which they are opened, as a segment or a feed of them does.
func staleCells(site models.Site, c *models.LastmodCounts, parameters ...string) []web.Age {
	link := func(more ...string) string { return inventory(site, append(slices.Clone(parameters), more...)...) }
	var cells []web.Age
	for _, step := range staleSteps {
		cell := web.Age{Name: step.name, Whole: whole(c), Address: link("lastmod_to", step.before)}
		for _, n := range c.At[step.age+1:] {
			cell.Count += n
		}
		cells = append(cells, cell)
	}
	return append(cells, web.Age{Name: "declares none", Count: c.None, Whole: whole(c), Address: link("lastmod", models.LastmodNone)},
		web.Age{Name: "all", Count: whole(c), Whole: whole(c), Address: link()})
}

const (
	byDocument = "document"
	byPath     = "path"
)

// stalePage shows the pages that nobody touched for long, by what they are, by the document that declares them or by the
// directories of their addresses.
func (s *Server) stalePage(c echo.Context) error {
	in, err := s.siteHere(c, "reports")
	if err != nil {
		return err
	}
	page := web.Stale{InSite: in, By: "type"}
	by := c.QueryParam("by")
	if by == byDocument || by == byPath {
		page.By = by
	} else {
		by = ""
	}
	page.Bys = choices(c, "by", by, byDocument, byPath)
	for i, name := range []string{"by type", "by document", "by path"} {
		page.Bys[i].Name = name
	}
	for _, step := range staleSteps {
		page.Steps = append(page.Steps, step.name)
	}
	if by == byPath {
		s.staleByPath(c, &page)
		return s.show(c, http.StatusOK, "stale", "Stale content", page)
	}
	counts, at, counting := s.lastmods(c.Request().Context(), in.Site)
	if page.Counting = counting; counts != nil {
		page.Counted = &at
		if page.By == byDocument {
			page.Rows = staleByDocument(in.Site, counts.documents)
		} else {
			page.Rows = staleByType(in.Site, counts.documents)
		}
		page.More = int64(max(0, len(page.Rows)-staleRows))
		page.Rows = page.Rows[:min(len(page.Rows), staleRows)]
	}
	return s.show(c, http.StatusOK, "stale", "Stale content", page)
}

// staleByPath shows directories as a tree, each with all pages below it.
func (s *Server) staleByPath(c echo.Context, page *web.Stale) {
	site := page.Site
	if s.deps.Reports == nil || site.CurrentRun == 0 {
		return
	}
	counts, at, counting := s.reports.sections.of(c.Request().Context(), s, site.ID, countsKept, func(ctx context.Context) (models.SectionCounts, error) {
		return s.deps.Reports.SectionCounts(ctx, site.ID, s.ageBounds(), s.deps.KeyFor)
	})
	if page.Counting = counting; counts == nil {
		return
	}
	page.Counted = &at
	for i := range counts.Sections {
		g := &counts.Sections[i]
		row := web.StaleRow{Name: g.Path, Depth: g.Depth, Wide: g.Wide, Cells: staleCells(site, &g.LastmodCounts, "prefix", g.Path)}
		row.Address = row.Cells[len(row.Cells)-1].Address
		page.Rows = append(page.Rows, row)
	}
	page.More = int64(max(0, len(page.Rows)-staleRows))
	page.Rows = largest(page.Rows, staleRows)
}

// largest keeps the rows with the most pages, in their order. What lies above a row has no fewer pages, so it stays.
func largest(rows []web.StaleRow, n int) []web.StaleRow {
	if len(rows) <= n {
		return rows
	}
	pages := func(r *web.StaleRow) int64 { return r.Cells[len(r.Cells)-1].Count }
	sizes := make([]int64, len(rows))
	for i := range rows {
		sizes[i] = pages(&rows[i])
	}
	slices.Sort(sizes)
	least := sizes[len(sizes)-n]
	same := 0 // of the least size, those that still have room
	for _, size := range sizes[len(sizes)-n:] {
		if size == least {
			same++
		}
	}
	kept := rows[:0]
	for _, r := range rows {
		size := pages(&r)
		if size == least {
			same--
		}
		if size > least || size == least && same >= 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

func staleByDocument(site models.Site, documents []models.LastmodCounts) []web.StaleRow {
	rows := make([]web.StaleRow, 0, len(documents))
	for i := range documents {
		d := &documents[i]
		rows = append(rows, web.StaleRow{Name: d.URL, Address: sitePath(site.ID) + "/documents/" + number(int64(d.Document)),
			Cells: staleCells(site, d, "document", number(int64(d.Document)))})
	}
	return oldestFirst(rows)
}

func staleByType(site models.Site, documents []models.LastmodCounts) []web.StaleRow {
	types := map[string]*models.LastmodCounts{}
	all := &models.LastmodCounts{At: make([]int64, len(ages)+1)}
	for i := range documents {
		of := cmp.Or(models.ObjectType(documents[i].URL), models.NoObjectType)
		if types[of] == nil {
			types[of] = &models.LastmodCounts{}
		}
		add(types[of], &documents[i])
		add(all, &documents[i])
	}
	rows := make([]web.StaleRow, 0, len(types)+1)
	for of, counts := range types {
		rows = append(rows, web.StaleRow{Name: of, Cells: staleCells(site, counts, "object_type", of)})
	}
	rows = oldestFirst(rows)
	return append([]web.StaleRow{{Cells: staleCells(site, all)}}, rows...)
}

// oldestFirst sorts by how many pages are older than a year, then by how many there are.
func oldestFirst(rows []web.StaleRow) []web.StaleRow {
	slices.SortFunc(rows, func(a, b web.StaleRow) int {
		return cmp.Or(cmp.Compare(b.Cells[2].Count, a.Cells[2].Count), cmp.Compare(b.Cells[5].Count, a.Cells[5].Count), cmp.Compare(a.Name, b.Name))
	})
	return rows
}
