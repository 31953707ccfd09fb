package sitetest

import "time"

// Layout is who writes the sitemaps.
type Layout int

const (
	Core     Layout = iota // /wp-sitemap.xml, 2,000 a file, by ID, lastmod with the site's offset
	Yoast                  // /sitemap_index.xml, 1,000 a file, oldest change first, UTC, images
	RankMath               // /sitemap_index.xml, 200 a file, newest change first, UTC, images
)

// Permalinks is how page URLs are formed.
type Permalinks int

const (
	PostName Permalinks = iota // /a-title/
	DayName                    // /2026/11/30/a-title/
	Plain                      // /?p=123, and core's sitemap at /?sitemap=index
)

// Options describe a Site. The zero value is an empty core site in UTC.
type Options struct {
	Layout     Layout
	Permalinks Permalinks
	BaseURL    string // "http://host:port"; else that of Listen, else that of the first request

	Posts, Pages, Categories, Tags, Users int

	Seed     uint64
	PerFile  int              // overrides the layout's number of URLs a file
	Location *time.Location   // the site's time zone, UTC
	Now      func() time.Time // time.Now

	// Gzip answers sitemaps compressed (level 6) to clients that accept it.
	Gzip bool
	// Conditional sends ETag and Last-Modified with sitemaps and answers 304;
	// WordPress core never does, page caches do.
	Conditional bool
	// Cache keeps rendered sitemaps until the next edit, see Warm.
	Cache bool

	// BlogPage is WordPress' posts_per_page. When set, core's old fault is
	// imitated: file n of any kind is served with status 404 and a valid body
	// when n is larger than the number of the blog's own pages.
	BlogPage int
	// NoPosts404 imitates WordPress 7.1.0: without a published post every sitemap
	// is served with status 404 and a valid body.
	NoPosts404 bool
	// Gone answers 410 instead of 404 for pages that are no longer public.
	Gone bool

	Username, Password string // basic authentication for everything
}

func (o Options) perFile() int {
	switch {
	case o.PerFile > 0:
		return o.PerFile
	case o.Layout == Yoast:
		return 1000
	case o.Layout == RankMath:
		return 200
	}
	return 2000
}
