package sitetest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
)

// webPage is what a path that is no sitemap leads to.
type webPage struct {
	code            int
	title, url      string
	redirect        string
	shortlink, base string
	json            []byte
}

func (p webPage) write(w http.ResponseWriter) {
	if p.redirect != "" {
		redirect(w, p.redirect, "WordPress")
		return
	}
	h := w.Header()
	if p.json != nil {
		h.Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = w.Write(p.json)
		return
	}
	h.Set("Content-Type", "text/html; charset=UTF-8")
	h.Add("Link", "<"+p.base+`/wp-json/>; rel="https://api.w.org/"`)
	if p.shortlink != "" {
		h.Add("Link", "<"+p.shortlink+">; rel=shortlink")
	}
	if p.code != http.StatusOK {
		h.Set("Cache-Control", "no-cache, must-revalidate, max-age=0, no-store, private")
	}
	w.WriteHeader(p.code)
	canonical := ""
	if p.url != "" {
		canonical = fmt.Sprintf("<link rel=\"canonical\" href=\"%s\" />\n", html.EscapeString(p.url))
	}
	_, _ = fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en-US">
<head>
<meta charset="UTF-8" />
<meta name='robots' content='max-image-preview:large' />
<title>%s</title>
%s<meta name="generator" content="WordPress 7.0.4" />
</head>
<body><h1>%s</h1></body>
</html>
`, html.EscapeString(p.title), canonical, html.EscapeString(p.title))
}

// webPage finds the page of a path, as WordPress' own redirects do: old slugs,
// missing slashes and other permalink structures lead to the permalink.
func (s *Site) webPage(path string, query map[string][]string, a answer) webPage {
	gone := webPage{code: http.StatusNotFound, title: "Page not found", base: s.base}
	home := webPage{code: http.StatusOK, title: "A site", url: s.home(), base: s.base}
	switch {
	case a.home:
		return home
	case a.notFound:
		return gone
	case path == "/wp-json/":
		return webPage{json: s.fingerprint()}
	case path == "/":
		if p, ok := s.queryPage(query); ok {
			return p
		}
		return home
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last := parts[len(parts)-1]
	if len(parts) == 2 {
		for kind, prefix := range map[string]string{kindCategory: "category", kindTag: "tag", kindAuthor: "author"} {
			if parts[0] == prefix {
				if n, ok := termNumber(kind, last); ok {
					return s.termPage(kind, n, path)
				}
				return gone
			}
		}
	}
	p, known := s.bySlug(last)
	if !known || p.status != published {
		if s.opt.Gone && s.wasPost(last) {
			gone.code = http.StatusGone
		}
		return gone
	}
	return s.postPage(p, s.base+path)
}

// wasPost tells a page that is no longer public from one that never was.
func (s *Site) wasPost(slug string) bool {
	if _, ok := s.slugs[slug]; ok {
		return true
	}
	id, ok := slugID(slug)
	return ok && int(id) <= s.seededIDs && s.seeded(id).slug == slug
}

func (s *Site) postPage(p post, asked string) webPage {
	url := s.permalink(p)
	if asked != url {
		return webPage{redirect: url}
	}
	return webPage{
		code: http.StatusOK, title: title(p.slug), url: url, base: s.base,
		shortlink: s.base + "/?p=" + strconv.FormatUint(uint64(p.id), 10),
	}
}

func (s *Site) termPage(kind string, n int, path string) webPage {
	if n >= len(s.counts[kind]) {
		return webPage{code: http.StatusNotFound, title: "Page not found", base: s.base}
	}
	url := s.termURL(kind, n)
	if path != "" && s.base+path != url {
		return webPage{redirect: url}
	}
	return webPage{code: http.StatusOK, title: termSlug(kind, n), url: url, base: s.base}
}

// queryPage serves the plain form of every page's URL.
func (s *Site) queryPage(query map[string][]string) (webPage, bool) {
	gone := webPage{code: http.StatusNotFound, title: "Page not found", base: s.base}
	for _, name := range []string{"p", "page_id"} {
		if v := query[name]; len(v) > 0 {
			id, err := strconv.ParseUint(v[0], 10, 32)
			p, ok := s.get(uint32(id))
			if err != nil || !ok || p.status != published {
				if s.opt.Gone && id > 0 && uint32(id) < s.nextID {
					gone.code = http.StatusGone
				}
				return gone, true
			}
			return s.postPage(p, s.base+"/?"+name+"="+v[0]), true
		}
	}
	for kind, name := range map[string]string{kindCategory: "cat", kindAuthor: "author", kindTag: "tag"} {
		v := query[name]
		if len(v) == 0 {
			continue
		}
		n, err := strconv.Atoi(v[0])
		n--
		ok := err == nil && n >= 0
		if kind == kindTag {
			n, ok = termNumber(kind, v[0])
		}
		if !ok {
			return gone, true
		}
		if s.opt.Permalinks != Plain {
			return s.termPage(kind, n, "/"), true
		}
		return s.termPage(kind, n, ""), true
	}
	return webPage{}, false
}

// fingerprint is the root of WordPress' REST API, cut to what tells a site.
func (s *Site) fingerprint() []byte {
	namespaces := []string{"oembed/1.0", "wp/v2"}
	switch s.opt.Layout {
	case Yoast:
		namespaces = append(namespaces, "yoast/v1")
	case RankMath:
		namespaces = append(namespaces, "rankmath/v1")
	}
	_, offset := s.now().In(s.opt.Location).Zone()
	text, _ := json.Marshal(map[string]any{
		"name": "A site", "url": s.base, "home": s.base, "gmt_offset": float64(offset) / 3600,
		"timezone_string": s.opt.Location.String(), "namespaces": namespaces,
	})
	return text
}
