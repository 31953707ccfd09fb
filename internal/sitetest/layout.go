package sitetest

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// indexPath is path and query of the sitemap index.
func (s *Site) indexPath() string {
	switch {
	case s.opt.Layout != Core:
		return "/sitemap_index.xml"
	case s.opt.Permalinks == Plain:
		return "/?sitemap=index"
	}
	return "/wp-sitemap.xml"
}

// filePath is path and query of file n of a kind.
func (s *Site) filePath(kind string, n int) string {
	number := strconv.Itoa(n)
	switch s.opt.Layout {
	case Yoast: // the first file has no number
		if n == 1 {
			number = ""
		}
		return "/" + kind + "-sitemap" + number + ".xml"
	case RankMath: // a single file has no number: it is renamed when a second comes
		if s.files(kind) == 1 {
			number = ""
		}
		return "/" + kind + "-sitemap" + number + ".xml"
	}
	provider, subtype := "posts", kind
	switch kind {
	case kindCategory, kindTag:
		provider = "taxonomies"
	case kindAuthor:
		provider, subtype = "users", ""
	}
	if s.opt.Permalinks == Plain {
		if subtype != "" {
			subtype = "&sitemap-subtype=" + subtype
		}
		return "/?sitemap=" + provider + subtype + "&paged=" + number
	}
	if subtype != "" {
		subtype = "-" + subtype
	}
	return "/wp-sitemap-" + provider + subtype + "-" + number + ".xml"
}

var (
	coreFile   = regexp.MustCompile(`^/wp-sitemap-([a-z]+?)(?:-([a-z\d_-]+?))?-(\d+?)\.xml$`)
	pluginFile = regexp.MustCompile(`^/([a-z_]+)-sitemap(\d*)\.xml$`)
)

// answer is what a path leads to: a document, a redirect, or a web page.
type answer struct {
	kind       string // "index" or a kind
	n          int
	redirect   string // path
	by         string // X-Redirect-By
	notFound   bool   // the theme's 404 page
	home       bool   // the home page with 200: what WordPress does for some sitemap-like paths
	stylesheet bool
}

// sitemapAnswer decides about every path that looks like a sitemap; ok is false
// for all others.
func (s *Site) sitemapAnswer(path string, query map[string][]string) (answer, bool) {
	if s.opt.Layout == Core {
		return s.coreAnswer(path, query)
	}
	return s.pluginAnswer(path)
}

func (s *Site) coreAnswer(path string, query map[string][]string) (answer, bool) {
	get := func(name string) string {
		if v := query[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	if provider := get("sitemap"); provider != "" && path == "/" {
		a := s.coreFile(provider, get("sitemap-subtype"), get("paged"))
		if s.opt.Permalinks != Plain && !a.notFound && !a.home {
			return answer{redirect: s.pathOf(a), by: "WordPress"}, true
		}
		return a, true
	}
	if get("sitemap-stylesheet") != "" && path == "/" {
		return answer{stylesheet: true}, true
	}
	sitemapLike := strings.HasPrefix(path, "/wp-sitemap") || strings.HasPrefix(path, "/sitemap.xml")
	if !sitemapLike {
		return answer{}, false
	}
	bare := strings.TrimSuffix(path, "/")
	if s.opt.Permalinks == Plain {
		// A front controller without rewrite rules: the slash, then the home page.
		if bare == path {
			return answer{redirect: path + "/", by: "WordPress"}, true
		}
		return answer{home: true}, true
	}
	if bare != path {
		return answer{redirect: bare, by: "WordPress"}, true
	}
	switch path {
	case "/wp-sitemap.xml":
		return answer{kind: "index"}, true
	case "/sitemap.xml", "/sitemap.xml.gz":
		return answer{redirect: "/wp-sitemap.xml", by: "WordPress"}, true
	case "/wp-sitemap.xsl", "/wp-sitemap-index.xsl":
		return answer{stylesheet: true}, true
	}
	m := coreFile.FindStringSubmatch(path)
	if m == nil {
		return answer{notFound: true}, true
	}
	a := s.coreFile(m[1], m[2], m[3])
	if a.kind != "" && path != s.pathOf(a) {
		return answer{redirect: s.pathOf(a), by: "WordPress"}, true
	}
	return a, true
}

// pathOf is where a document is served now.
func (s *Site) pathOf(a answer) string {
	if a.kind == "index" {
		return s.indexPath()
	}
	return s.filePath(a.kind, a.n)
}

func (s *Site) coreFile(provider, subtype, paged string) answer {
	n, _ := strconv.Atoi(paged)
	n = max(1, n)
	kind := ""
	switch {
	case provider == "index":
		return answer{kind: "index"}
	case provider == "posts" && (subtype == kindPost || subtype == kindPage):
		kind = subtype
	case provider == "taxonomies" && (subtype == kindCategory || subtype == kindTag):
		kind = subtype
	case provider == "users" && subtype == "":
		kind = kindAuthor
	case provider == "posts" || provider == "taxonomies" || provider == "users":
		return answer{notFound: true}
	default: // an unknown provider is no sitemap query at all
		return answer{home: true}
	}
	if n > s.files(kind) {
		return answer{notFound: true}
	}
	return answer{kind: kind, n: n}
}

func (s *Site) pluginAnswer(path string) (answer, bool) {
	by := "Yoast SEO"
	if s.opt.Layout == RankMath {
		by = "Rank Math"
	}
	index := answer{redirect: s.indexPath(), by: by}
	switch path {
	case "/sitemap_index.xml":
		return answer{kind: "index"}, true
	case "/wp-sitemap.xml":
		return index, true
	case "/sitemap.xml": // core's own rule breaks it under Rank Math since 6.7
		if s.opt.Layout == RankMath {
			return answer{notFound: true}, true
		}
		return index, true
	case "/main-sitemap.xsl", "/wp-content/plugins/wordpress-seo/css/main-sitemap.xsl":
		return answer{stylesheet: true}, true
	}
	if m := coreFile.FindStringSubmatch(path); m != nil {
		// Both plugins send core's old files to their own numbering, off by one.
		n, _ := strconv.Atoi(m[3])
		kind := m[2]
		if m[1] == "users" {
			kind = kindAuthor
		}
		number := ""
		if n > 1 {
			number = strconv.Itoa(n - 1)
		}
		return answer{redirect: "/" + kind + "-sitemap" + number + ".xml", by: by}, true
	}
	m := pluginFile.FindStringSubmatch(path)
	if m == nil {
		return answer{}, false
	}
	n := 1
	if m[2] != "" {
		n, _ = strconv.Atoi(m[2])
	}
	switch {
	case n < 1 || n > s.files(m[1]) || !isKind(m[1]):
		return answer{notFound: true}, true
	case path != s.filePath(m[1], n):
		return answer{redirect: s.filePath(m[1], n), by: by}, true
	}
	return answer{kind: m[1], n: n}, true
}

func isKind(kind string) bool {
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return false
}

// indexLastmod is what the plugins print beside file n in their index. Yoast
// gives the first and the last file the newest date of the whole kind.
func (s *Site) indexLastmod(kind string, n int, entries []entry) time.Time {
	s.newest()
	d := s.derive()
	newest := time.Time{}
	for _, e := range entries {
		raise(&newest, e.lastmod)
	}
	if s.opt.Layout == Yoast && (n == 1 || n == s.files(kind)) {
		switch kind {
		case kindPost:
			return d.postMax
		case kindPage:
			return d.pageMax
		}
	}
	return newest
}
