package models_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/models"
)

func TestObjectType(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		"https://example.org/wp-sitemap-posts-post-1.xml":                           "post",
		"https://example.org/wp-sitemap-posts-my-type-12.xml":                       "my-type",
		"https://example.org/de/wp-sitemap-taxonomies-post_tag-3.xml":               "post_tag",
		"https://example.org/wp-sitemap-users-1.xml":                                "author",
		"https://example.org/?sitemap=posts&sitemap-subtype=page&paged=2":           "page",
		"https://example.org/index.php?paged=1&sitemap=users":                       "author",
		"https://example.org/?sitemap=index":                                        "",
		"https://example.org/post-sitemap.xml":                                      "post",
		"https://example.org/blog/product_cat-sitemap12.xml":                        "product_cat",
		"https://example.org/post-archive-sitemap.xml":                              "post-archive",
		"https://example.org/sitemaps/page-sitemap1.xml.gz":                         "page",
		"https://example.org/author-sitemap-2.xml":                                  "author",
		"https://example.org/sitemap-pt-event-p-2026-11.xml":                        "event-p",
		"https://example.org/sitemap-tax-category.xml":                              "category",
		"https://example.org/wp-sitemap.xml":                                        "",
		"https://example.org/sitemap_index.xml":                                     "",
		"https://example.org/news-sitemap.xml":                                      "",
		"https://example.org/video-sitemap-1.xml":                                   "",
		"https://example.org/sitemap-1.xml":                                         "",
		"https://example.org/sitemap-pt-.xml":                                       "",
		"https://example.org/post-sitemap-old.xml":                                  "",
		"https://example.org/feed/":                                                 "",
		"https://example.org/sitemap.txt":                                           "",
		"https://example.org/%zz":                                                   "",
		"":                                                                          "",
		"https://example.org/?sitemap=taxonomies&sitemap-subtype=caf%C3%A9&paged=1": "café",
		"https://example.org/wp-sitemap-posts-product-1.xml?lang=de":                "product",
		"https://example.org/wp-sitemap-posts-post.xml":                             "post",
		"https://example.org/a/b/c/wp-sitemap-taxonomies-a-1-2.xml":                 "a-1",
	} {
		if got := models.ObjectType(document); got != want {
			t.Errorf("ObjectType(%q) = %q, want %q", document, got, want)
		}
	}
}
