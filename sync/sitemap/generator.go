package sitemap

import (
	"bytes"
	"strings"
)

// generator gathers what prolog and comments tell of the program that wrote the document.
type generator struct {
	name, version   string
	comments        int
	declaration     bool // the XML declaration was met
	hasCommentFirst bool
	commentFirst    place
	children        string // what the addresses of an index's children tell
}

// marks tell generators by texts in comments and in the style sheet's address; the first that is met counts.
var marks = []struct{ text, name string }{
	{"yoast", "yoast"},
	{"wordpress-seo/", "yoast"},
	{"rank math", "rank_math"},
	{"rank-math", "rank_math"},
	{"seo-by-rank-math", "rank_math"},
	{"all in one seo", "aioseo"},
	{"aioseo", "aioseo"},
	{"default-sitemap.xsl", "aioseo"},
	{"the seo framework", "seo_framework"},
	{"autodescription", "seo_framework"},
	{"sitemap is generated on", "seo_framework"},
	{"sitemap is served from cache", "seo_framework"},
	{"sitemap is generated for this view", "seo_framework"},
	{"sitemaps_xsl.xsl", "seopress"},
	{"sitemaps_video_xsl.xsl", "seopress"},
	{"seopress", "seopress"},
	{"jetpack", "jetpack"},
	{"generator='jetpack", "jetpack"},
	{"xml-sitemap-feed", "xml_sitemap_feed"},
	{"xmlsf", "xml_sitemap_feed"},
	{"google-sitemap-generator", "auctollo"},
	{"auctollo", "auctollo"},
	{"google xml sitemaps", "auctollo"},
	{"google (xml) sitemaps generator", "auctollo"},
	{"msm-sitemap", "msm"},
	{"wp-sitemap", "core"},
	{"main-sitemap.xsl", "rank_math"}, // shared with Yoast, whose address names the plugin
}

// see looks at a comment or processing instruction.
func (g *generator) see(text []byte) {
	if g.name != "" && g.version != "" {
		return
	}
	lower := bytes.ToLower(text)
	for _, m := range marks {
		if i := bytes.Index(lower, []byte(m.text)); i >= 0 {
			if g.name == "" {
				g.name = m.name
			}
			if g.name == m.name && g.version == "" {
				g.version = versionIn(string(lower))
			}
			return
		}
	}
}

// versionIn finds the first version number in a text: a "v" or "version" or "/" before digits and dots.
func versionIn(text string) string {
	for _, lead := range []string{" v", "jetpack-", "version ", "version=", "ver=", "generator-version=\"", "generator-version='"} {
		i := strings.Index(text, lead)
		if i < 0 {
			continue
		}
		rest := strings.TrimLeft(text[i+len(lead):], "'\"")
		n := 0
		for n < len(rest) && n < 20 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
			n++
		}
		if v := strings.Trim(rest[:n], "."); strings.Contains(v, ".") {
			return v
		}
	}
	return ""
}

// result names the generator.
func (g *generator) result() (name, version string) {
	switch {
	case g.name != "":
		return g.name, g.version
	case g.children != "":
		return g.children, ""
	}
	return "unknown", ""
}

// seeChild looks at the address of an index's child: MSM lists one a day by query, WordPress itself has names of its
// own, which a plugin that marks its documents may have taken over.
func (g *generator) seeChild(loc []byte) {
	if g.children != "" {
		return
	}
	switch {
	case bytes.Contains(loc, []byte("/sitemap.xml?yyyy=")):
		g.children = "msm"
	case bytes.Contains(loc, []byte("/wp-sitemap-")), bytes.Contains(loc, []byte("?sitemap=posts&")):
		g.children = "core"
	}
}
