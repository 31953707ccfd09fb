package models

import (
	"net/url"
	"strings"
)

// ObjectType tells from a document's address what kind of content it lists, in WordPress's words: a post type (post, page,
// product), a taxonomy (category, post_tag) or author; "" where the address does not say. It knows the addresses of
// WordPress itself (wp-sitemap-posts-page-2.xml, ?sitemap=posts&sitemap-subtype=page&paged=2), of Yoast SEO, Rank Math and
// others of their form (page-sitemap2.xml), and of Google XML Sitemaps (sitemap-pt-page-2026-11.xml).
func ObjectType(document string) string {
	u, err := url.Parse(document)
	if err != nil {
		return ""
	}
	if query := u.Query(); query.Has("sitemap") {
		return coreType(query.Get("sitemap"), query.Get("sitemap-subtype"))
	}
	name := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	name = strings.TrimSuffix(name, ".gz")
	name, ok := strings.CutSuffix(name, ".xml")
	if !ok {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "wp-sitemap-"); ok {
		provider, rest, _ := strings.Cut(withoutNumber(rest), "-")
		return coreType(provider, rest)
	}
	if rest, ok := strings.CutPrefix(name, "sitemap-tax-"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(name, "sitemap-pt-"); ok {
		return rest[:max(0, len(rest)-len("-2026-11"))]
	}
	if of, number, ok := strings.Cut(name, "-sitemap"); ok && strings.Trim(number, "-0123456789") == "" && !extensionMaps[of] {
		return of
	}
	return ""
}

// NoObjectType is what a filter says to select the pages of documents whose address tells no type.
const NoObjectType = "none"

// extensionMaps are names before -sitemap that say what is declared of pages, not what they are.
var extensionMaps = map[string]bool{"": true, "image": true, "video": true, "news": true, "wp": true}

// coreType names what a provider of WordPress itself lists. It has one list of users: their archives, which plugins call author.
func coreType(provider, subtype string) string {
	if provider == "users" {
		return "author"
	}
	return subtype
}

// withoutNumber takes the number of a page off the end of a name, post-12.
func withoutNumber(name string) string {
	if at := strings.LastIndexByte(name, '-'); at >= 0 && strings.Trim(name[at+1:], "0123456789") == "" {
		return name[:at]
	}
	return name
}
