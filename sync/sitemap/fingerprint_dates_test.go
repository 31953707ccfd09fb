package sitemap_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// The dates of news and videos are instants: another zone, another case of the letters or a fraction of nothing is no other
// declaration, another instant and another precision is, and a text that is no date counts as it was written.
func TestFingerprint_TakesDatesOfBlocksAsInstants(t *testing.T) {
	t.Parallel()
	type block func(date string) *sitemap.Extensions
	blocks := map[string]block{
		"news": func(d string) *sitemap.Extensions {
			return &sitemap.Extensions{News: &sitemap.News{PublicationDate: sitemap.Text(d)}}
		},
		"video publication": func(d string) *sitemap.Extensions {
			return &sitemap.Extensions{Videos: []sitemap.Video{{PublicationDate: sitemap.Text(d)}}}
		},
		"video expiration": func(d string) *sitemap.Extensions {
			return &sitemap.Extensions{Videos: []sitemap.Video{{ExpirationDate: sitemap.Text(d)}}}
		},
		"premiere": func(d string) *sitemap.Extensions {
			v := sitemap.Video{}
			v.TVShow.PremierDate = sitemap.Text(d)
			return &sitemap.Extensions{Videos: []sitemap.Video{v}}
		},
	}
	for name, of := range blocks {
		print := func(date string) [16]byte {
			return sitemap.Fingerprint([]byte("https://example.com/"), sitemap.Lastmod{}, sitemap.ChangefreqNone, sitemap.Priority{}, of(date))
		}
		for _, row := range []struct {
			a, b string
			same bool
		}{
			{"2026-03-01T12:00:30Z", "2026-03-01T13:00:30+01:00", true},
			{"2026-03-01T12:00:30Z", "2026-03-01t12:00:30z", true},
			{"2026-03-01T12:00:30Z", "2026-03-01T12:00:30.000Z", true},
			{"2026-03-01T12:00:30Z", "2026-03-01T12:00:31Z", false},
			{"2026-03-01", "2026-03-01T00:00:00Z", false},
			{"soon", "Soon", false},
			{"soon", "soon", true},
			{"", "2026-03-01", false},
		} {
			if got := print(row.a) == print(row.b); got != row.same {
				t.Errorf("%s: %q and %q are the same: %v, want %v", name, row.a, row.b, got, row.same)
			}
		}
	}
}
