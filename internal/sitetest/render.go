package sitetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
)

const sitemapNamespace = "http://www.sitemaps.org/schemas/sitemap/0.9"

// rendered is a document's body at one version of the site.
type rendered struct {
	version uint64
	plain   []byte // nil when only gz is kept
	gz      []byte
	etag    string
	changed string // Last-Modified
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;").Replace

// document gives the body of a document, from the cache when that is on; plain is
// made up for a client that takes no gzip.
func (s *Site) document(a answer, compressed bool) rendered {
	key := s.pathOf(a)
	if r := s.cache[key]; r != nil && r.version == s.version {
		if compressed && r.gz != nil || !compressed && r.plain != nil {
			return *r
		}
	}
	var b bytes.Buffer
	newest := s.newest()
	if a.kind == "index" {
		s.writeIndex(&b)
	} else {
		entries := s.entries(a.kind, a.n)
		for _, e := range entries {
			raise(&newest, e.lastmod)
		}
		s.writeURLSet(&b, entries)
	}
	r := rendered{version: s.version, plain: b.Bytes(), changed: newest.UTC().Format(http.TimeFormat)}
	if s.opt.Conditional {
		sum := fnv.New64a()
		_, _ = sum.Write(r.plain)
		r.etag = fmt.Sprintf("%q", fmt.Sprintf("%016x", sum.Sum64()))
	}
	if compressed {
		r.gz = deflate(r.plain)
		if s.opt.Cache {
			r.plain = nil
		}
	}
	if s.opt.Cache {
		s.cache[key] = &r
	}
	return r
}

func deflate(plain []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, 6)
	_, _ = z.Write(plain)
	_ = z.Close()
	return b.Bytes()
}

// Warm renders every document now, so that a benchmark measures its client.
// It returns the bytes kept.
func (s *Site) Warm() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opt.Cache = true
	clear(s.cache)
	total := int64(0)
	keep := func(a answer) {
		r := s.document(a, s.opt.Gzip)
		total += int64(len(r.plain) + len(r.gz))
	}
	keep(answer{kind: "index"})
	for _, kind := range kinds {
		for n := range s.files(kind) {
			keep(answer{kind: kind, n: n + 1})
		}
	}
	return total
}

// protocolRelative is the base URL without its scheme: the plugins print stylesheets so.
func (s *Site) protocolRelative() string {
	_, rest, _ := strings.Cut(s.base, ":")
	return rest
}

func (s *Site) writeIndex(b *bytes.Buffer) {
	s.writeProlog(b, "index")
	open := `<sitemapindex xmlns="` + sitemapNamespace + `">`
	if s.opt.Layout == Core {
		b.WriteString(open)
	} else {
		b.WriteString(open + "\n")
	}
	for _, kind := range kinds {
		for n := 1; n <= s.files(kind); n++ {
			loc := escape(s.base + s.filePath(kind, n))
			if s.opt.Layout == Core {
				b.WriteString("<sitemap><loc>" + loc + "</loc></sitemap>")
				continue
			}
			b.WriteString("\t<sitemap>\n\t\t<loc>" + loc + "</loc>\n")
			if t := s.indexLastmod(kind, n, s.entries(kind, n)); !t.IsZero() {
				b.WriteString("\t\t<lastmod>" + s.stamp(t) + "</lastmod>\n")
			}
			b.WriteString("\t</sitemap>\n")
		}
	}
	b.WriteString("</sitemapindex>")
	s.writeEpilog(b)
}

func (s *Site) writeURLSet(b *bytes.Buffer, entries []entry) {
	b.Grow(len(entries)*150 + 1024)
	s.writeProlog(b, "file")
	if s.opt.Layout == Core {
		b.WriteString(`<urlset xmlns="` + sitemapNamespace + `">`)
		for _, e := range entries {
			b.WriteString("<url><loc>")
			b.WriteString(escape(e.loc))
			b.WriteString("</loc>")
			if !e.lastmod.IsZero() {
				b.WriteString("<lastmod>")
				b.WriteString(s.stamp(e.lastmod))
				b.WriteString("</lastmod>")
			}
			b.WriteString("</url>")
		}
	} else {
		b.WriteString(`<urlset xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xsi:schemaLocation="http://www.sitemaps.org/schemas/sitemap/0.9 http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd http://www.google.com/schemas/sitemap-image/1.1 http://www.google.com/schemas/sitemap-image/1.1/sitemap-image.xsd" xmlns="` + sitemapNamespace + `">` + "\n")
		for _, e := range entries {
			b.WriteString("\t<url>\n\t\t<loc>" + escape(e.loc) + "</loc>\n")
			if !e.lastmod.IsZero() {
				b.WriteString("\t\t<lastmod>" + s.stamp(e.lastmod) + "</lastmod>\n")
			}
			if e.image != "" {
				b.WriteString("\t\t<image:image>\n\t\t\t<image:loc>" + escape(e.image) + "</image:loc>\n\t\t</image:image>\n")
			}
			b.WriteString("\t</url>\n")
		}
	}
	b.WriteString("</urlset>")
	s.writeEpilog(b)
}

func (s *Site) writeProlog(b *bytes.Buffer, which string) {
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
	sheet := ""
	switch {
	case s.opt.Layout == Yoast:
		sheet = s.protocolRelative() + "/wp-content/plugins/wordpress-seo/css/main-sitemap.xsl"
	case s.opt.Layout == RankMath:
		sheet = s.protocolRelative() + "/main-sitemap.xsl"
	case s.opt.Permalinks == Plain && which == "index":
		sheet = s.base + "/?sitemap-stylesheet=index"
	case s.opt.Permalinks == Plain:
		sheet = s.base + "/?sitemap-stylesheet=sitemap"
	case which == "index":
		sheet = s.base + "/wp-sitemap-index.xsl"
	default:
		sheet = s.base + "/wp-sitemap.xsl"
	}
	if s.opt.Layout == Core {
		b.WriteString("\n<?xml-stylesheet type=\"text/xsl\" href=\"" + escape(sheet) + "\" ?>\n")
		return
	}
	b.WriteString(`<?xml-stylesheet type="text/xsl" href="` + escape(sheet) + `"?>` + "\n")
}

func (s *Site) writeEpilog(b *bytes.Buffer) {
	switch s.opt.Layout {
	case Yoast:
		b.WriteString("\n<!-- XML Sitemap generated by Yoast SEO -->")
	case RankMath:
		b.WriteString("\n<!-- XML Sitemap generated by Rank Math SEO Plugin (c) Rank Math - rankmath.com -->")
	default:
		b.WriteString("\n")
	}
}

func (s *Site) robots() string {
	switch s.opt.Layout {
	case Yoast:
		return "# START YOAST BLOCK\n# ---------------------------\nUser-agent: *\nDisallow:\n\nSitemap: " +
			s.base + "/sitemap_index.xml\n# ---------------------------\n# END YOAST BLOCK\n"
	case RankMath:
		return "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\nSitemap: " + s.base + "/sitemap_index.xml\n"
	}
	return "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\nSitemap: " + s.base + s.indexPath() + "\n"
}
