package handlers

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// pageStore is what the API needs of the stored inventory.
type pageStore interface {
	Pages(ctx context.Context, siteID int64, filter models.PageFilter, fn func(*models.Page) error) error
	// PagesWithin stops looking after a time and gives the cursor at which to look on, "" for the end.
	PagesWithin(ctx context.Context, siteID int64, filter models.PageFilter, budget time.Duration, fn func(*models.Page) error) (string, error)
	CountPages(ctx context.Context, siteID int64, filter models.PageFilter) (int64, error)
	PageHistory(ctx context.Context, siteID int64, key models.Key) ([]models.Page, error)
	RunAt(ctx context.Context, siteID int64, at time.Time) (int64, error)
}

// AsOfInput chooses the moment that a list shows.
type AsOfInput struct {
	AsOf string `query:"as_of" maxLength:"40" doc:"Show the state at this run (a number) or time (RFC 3339); the current run when absent." example:"2026-11-30T12:00:00Z"`
}

func (in AsOfInput) moment() (models.AsOf, error) {
	return momentOf("as_of", in.AsOf)
}

// PagesFilter is the inventory's filter: the same names in the API, in the dashboard's addresses and in exports.
type PagesFilter struct {
	AsOfInput
	State       string `query:"state" enum:"live,stale,pending,held,removed,foreign,all" doc:"live when absent."`
	URL         string `query:"url" maxLength:"4096" doc:"Exactly this page, in any spelling of its address."`
	Contains    string `query:"contains" maxLength:"1000" doc:"Part of the address, byte for byte."`
	Prefix      string `query:"prefix" maxLength:"4096" doc:"Start of the address, byte for byte."`
	Document    int32  `query:"document" minimum:"1" doc:"Pages that this document declares."`
	ObjectType  string `query:"object_type" maxLength:"100" doc:"What the page's document lists, in WordPress's words and as far as its address tells: post, page, product, category, author ...; none for documents whose address does not tell." example:"page"`
	Lastmod     string `query:"lastmod" enum:"declared,none" doc:"Pages that declare a lastmod which can be read, or none."`
	LastmodFrom string `query:"lastmod_from" maxLength:"40" doc:"Declared lastmod at or after this time: a day, RFC 3339, -90d for 90 days ago, or -6m and -2y for months and years ago."`
	LastmodTo   string `query:"lastmod_to" maxLength:"40" doc:"Declared lastmod before this time."`
	Language    string `query:"language" maxLength:"40" doc:"Pages that declare an alternate with this hreflang."`
	Title       string `query:"title" maxLength:"1000" doc:"Part of a title that the sitemap declares of the page's news, videos or images, in any case of letters. A sitemap declares no title of the page itself."`
	Extension   string `query:"extension" enum:"image,video,news,alternates" doc:"Pages that declare such a block."`
	FirstFrom   string `query:"first_from" maxLength:"40" doc:"First seen at or after this time."`
	Reason      string `query:"reason" maxLength:"1000" doc:"Part of the reason why a page is pending, held, stale or removed."`
	Sort        string `query:"sort" enum:"url,-url,lastmod,-lastmod,first_seen,-first_seen,changed,-changed,priority,-priority" doc:"Column to sort by, with a minus for descending; what pages do not have comes last. Absent: the order of the documents, which is the fastest. A long list is sorted once after each run that changed it, by whoever asks first; until then pages are empty and their token goes on."`
	Segment     string `query:"segment" maxLength:"100" doc:"Name or number of a segment; parameters given beside it are stronger than its own."`
}

// query gives the filter as the parameters that it came as, without the segment.
func (in PagesFilter) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"state": in.State, "url": in.URL, "contains": in.Contains, "prefix": in.Prefix, "lastmod_from": in.LastmodFrom, "lastmod_to": in.LastmodTo,
		"object_type": in.ObjectType, "lastmod": in.Lastmod, "language": in.Language, "title": in.Title, "extension": in.Extension, "first_from": in.FirstFrom, "sort": in.Sort,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if in.Document != 0 {
		query.Set("document", number(int64(in.Document)))
	}
	return query
}

// pageFilter reads a filter with its segment, if it names one.
func (s *Server) pageFilter(ctx context.Context, site models.Site, in PagesFilter) (models.PageFilter, error) {
	query, err := s.segmented(ctx, site, in.Segment, in.query())
	if err != nil {
		return models.PageFilter{}, err
	}
	f, err := models.ParsePageFilter(query, s.deps.Now())
	var invalid *models.InvalidError
	if errors.As(err, &invalid) {
		return f, models.Invalid("query."+invalid.Field, invalid.Hint, "%s", invalid.Text)
	}
	if err != nil {
		return f, err
	}
	if f.AsOf, err = in.moment(); err != nil {
		return f, err
	}
	if f.URL != "" {
		key, err := s.deps.KeyFor(f.URL)
		if err != nil {
			return f, models.Invalid("query.url", "an absolute http or https URL", "not the address of a page")
		}
		f.Key = &key
	}
	return f, nil
}

// parseTime reads RFC 3339, or a day, which begins at midnight UTC.
func parseTime(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at.UTC(), nil
	}
	return time.Parse(time.DateOnly, text)
}

type pagesInput struct {
	SiteInput
	PagesFilter
	PageInput
	FormatInput
	Include string `query:"include" enum:"total" doc:"total counts all rows that match, which can take long."`
	Resolved
}

// pagesPage reads one page of the inventory at one run, which the first page fixes for those after it.
func (s *Server) pagesPage(ctx context.Context, site models.Site, f models.PageFilter, token string, size int, hash []byte) (list[models.Page], error) {
	out := list[models.Page]{Items: []models.Page{}}
	at, err := readPosition(token, hash)
	if err != nil {
		return out, err
	}
	if at.Run != 0 {
		f.AsOf = models.AsOf{Run: at.Run}
	} else if f.AsOf, err = s.fixed(ctx, site, f.AsOf); err != nil {
		return out, err
	}
	out.Run = f.AsOf.Run
	f.After, f.Limit = at.Cursor, size+1
	next, err := s.deps.Pages.PagesWithin(ctx, site.ID, f, readingTime, func(p *models.Page) error {
		out.Items = append(out.Items, *p)
		return nil
	})
	if err != nil {
		return out, err
	}
	if len(out.Items) > size {
		out.Items = out.Items[:size]
		next = out.Items[size-1].Cursor
	}
	if next != "" {
		out.NextPageToken = encodePosition(position{Filter: hash, Cursor: next, Run: f.AsOf.Run})
	}
	return out, nil
}

// readingTime bounds how long one answer looks for rows: where few of a million match, pages are shorter than asked for,
// or empty, and their token goes on where the looking ended.
const readingTime = 80 * time.Millisecond

// total counts the pages of a filter at a run. How many are live now is kept with the site by every run and ruling.
func (s *Server) total(ctx context.Context, site models.Site, f models.PageFilter, run int64) (int64, error) {
	f.AsOf, f.Sort = models.AsOf{}, models.PageSort{}
	if run == site.CurrentRun && (f == (models.PageFilter{}) || f == (models.PageFilter{State: models.StateLive})) {
		return site.Live, nil
	}
	f.AsOf = models.AsOf{Run: run}
	return s.deps.Pages.CountPages(ctx, site.ID, f)
}

// fixed turns a moment into the run that was visible at it.
func (s *Server) fixed(ctx context.Context, site models.Site, at models.AsOf) (models.AsOf, error) {
	switch {
	case at.Run > site.CurrentRun:
		return at, models.Invalid("query.as_of", "the current run is "+number(site.CurrentRun), "there is no run %d yet", at.Run)
	case at.Run > 0:
		return at, nil
	case at.IsZero():
		return models.AsOf{Run: site.CurrentRun}, nil
	}
	run, err := s.deps.Pages.RunAt(ctx, site.ID, at.Time)
	if isNotFound(err) {
		return at, models.Invalid("query.as_of", "the site's first run is later", "nothing was known at that time")
	}
	return models.AsOf{Run: run}, err
}

func (s *Server) inventoryRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-urls", Method: "GET", Path: "/sites/{site}/urls", Tags: []string{"inventory"},
		Summary: "The inventory: pages that the site lists, or listed", Errors: []int{404, 410, 422},
		Responses: listResponses[list[models.Page], models.Page](s),
	}, func(ctx context.Context, in *pagesInput) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		f, err := s.pageFilter(ctx, site, in.PagesFilter)
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			if f.AsOf, err = s.fixed(ctx, site, f.AsOf); err != nil {
				return nil, err
			}
			f.Limit = in.PageSize
			return streamed(s, format, pageColumns, func(ctx context.Context, emit func(*models.Page) error) error {
				return s.deps.Pages.Pages(ctx, site.ID, f, emit)
			}), nil
		}
		page, err := s.pagesPage(ctx, site, f, in.PageToken, in.size(), in.hash(site))
		if err != nil {
			return nil, err
		}
		if in.Include == "total" {
			total, err := s.total(ctx, site, f, page.Run)
			if err != nil {
				return nil, err
			}
			page.Total = &total
		}
		return in.linked(page, page.NextPageToken), nil
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "page-history", Method: "GET", Path: "/sites/{site}/history", Tags: []string{"inventory"},
		Summary: "Every state of one page, oldest first", Errors: []int{404, 422},
		Responses: listResponses[list[models.Page], models.Page](s),
	}, func(ctx context.Context, in *struct {
		SiteInput
		FormatInput
		URL string `query:"url" required:"true" maxLength:"4096" doc:"The page, in any spelling of its address."`
	}) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		states, err := s.history(ctx, site, in.URL)
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			return streamed(s, format, pageColumns, each(states)), nil
		}
		return jsonPage(list[models.Page]{Items: states, Run: site.CurrentRun}), nil
	})
}

func (s *Server) history(ctx context.Context, site models.Site, link string) ([]models.Page, error) {
	key, err := s.deps.KeyFor(link)
	if err != nil {
		return nil, models.Invalid("query.url", "an absolute http or https URL", "not the address of a page")
	}
	states, err := s.deps.Pages.PageHistory(ctx, site.ID, key)
	if isNotFound(err) || err == nil && len(states) == 0 {
		return nil, notFound("page on this site, now or earlier")
	}
	return states, err
}

// Resolved keeps the request's own address for page tokens and links.
type Resolved struct {
	url url.URL
}

// Resolve is called by huma once the input is read.
func (r *Resolved) Resolve(hc huma.Context) []error {
	r.url = hc.URL()
	return nil
}

func (r *Resolved) hash(site models.Site) []byte {
	return filterHash(r.url.Query(), number(site.ID)+r.url.Path)
}

// linked answers with a page and RFC 8288's way to the next one.
func (r *Resolved) linked(page any, next string) *huma.StreamResponse {
	out := jsonBody(page)
	if next == "" {
		return out
	}
	query := r.url.Query()
	query.Set("page_token", next)
	link := "<" + r.url.EscapedPath() + "?" + query.Encode() + `>; rel="next"`
	body := out.Body
	out.Body = func(hc huma.Context) {
		hc.SetHeader("Link", link)
		body(hc)
	}
	return out
}

var pageColumns = []column[models.Page]{
	{"url", func(r *models.Page) string { return r.URL }},
	{"state", func(r *models.Page) string { return string(r.State) }},
	{"document", func(r *models.Page) string { return r.Document }},
	{"lastmod", func(r *models.Page) string {
		if r.Lastmod == nil {
			return ""
		}
		return r.Lastmod.Raw
	}},
	{"lastmod_utc", func(r *models.Page) string {
		if r.Lastmod == nil {
			return ""
		}
		return moment(&r.Lastmod.Instant)
	}},
	{"changefreq", func(r *models.Page) string { return r.Changefreq }},
	{"priority", func(r *models.Page) string {
		if r.Priority == nil {
			return ""
		}
		return strconv.FormatFloat(*r.Priority, 'g', -1, 64)
	}},
	{"alternates", func(r *models.Page) string { return string(r.Alternates) }},
	{"images", func(r *models.Page) string { return string(r.Images) }},
	{"videos", func(r *models.Page) string { return string(r.Videos) }},
	{"news", func(r *models.Page) string { return string(r.News) }},
	{"first_seen", func(r *models.Page) string { return moment(&r.FirstSeen) }},
	{"last_seen", func(r *models.Page) string { return moment(&r.LastSeen) }},
	{"removed_at", func(r *models.Page) string { return moment(r.RemovedAt) }},
	{"from_run", func(r *models.Page) string { return number(r.FromRun) }},
	{"to_run", func(r *models.Page) string {
		if r.ToRun == nil {
			return ""
		}
		return number(*r.ToRun)
	}},
	{"freshness", func(r *models.Page) string { return r.Freshness }},
	{"confidence_listing", func(r *models.Page) string { return strconv.FormatFloat(r.Confidence.Listing, 'g', -1, 64) }},
	{"reason", func(r *models.Page) string { return r.Reason }},
	{"moved_to", func(r *models.Page) string { return r.MovedTo }},
	{"listings", func(r *models.Page) string { return strings.Join(r.Listings, " ") }},
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func isNotFound(err error) bool { return errors.Is(err, models.ErrNotFound) }
