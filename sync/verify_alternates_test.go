package syncer_test

import (
	"slices"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

func hreflang(urls ...string) string {
	out := ""
	for i, u := range urls {
		out += `<link rel="alternate" hreflang="` + []string{"en", "de", "fr", "es"}[i] + `" href="` + u + `">`
	}
	return out
}

// Language versions are held against each other in the pass that reads them, whichever is read first, and again when one
// of them names others than before.
func TestVerify_ComparesLanguageVersionsWithinOnePass(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"naming first", "named first"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 8)
			naming, silent, back, elsewhere := l.posts[0], l.posts[1], l.posts[2], l.posts[3]
			l.origin.Fail(sitetest.Path(naming), sitetest.InHead(hreflang(naming, silent, back, elsewhere)))
			mend := l.origin.Fail(sitetest.Path(silent), sitetest.InHead("<title>x</title>"))
			forget := l.origin.Fail(sitetest.Path(back), sitetest.InHead(hreflang(naming, silent, back)))
			l.origin.Fail(sitetest.Path(elsewhere), sitetest.Canonical(l.posts[4]))
			pages := l.posts[:4]
			if order == "named first" {
				pages = []string{elsewhere, back, silent, naming}
			}
			check := func(what, page, code string, want bool) {
				t.Helper()
				found := l.findings(page)
				if got := slices.ContainsFunc(found, func(f string) bool { return f == "new "+code || f == "open "+code || f == "reopened "+code }); got != want {
					t.Errorf("%s: %s %t, want %t: %v", what, code, got, want, found)
				}
			}
			l.verify(pages...)
			check("first pass", naming, canonical.FindingHreflangNoReturn, true)
			check("first pass", naming, canonical.FindingHreflangNonCanonical, true)
			check("first pass", back, canonical.FindingHreflangNoReturn, true) // silent names nobody
			mend()
			l.origin.Fail(sitetest.Path(silent), sitetest.InHead(hreflang(naming, back)))
			l.verify(silent)
			check("the silent one speaks", back, canonical.FindingHreflangNoReturn, false)
			forget()
			l.verify(back)
			check("one names nobody now", silent, canonical.FindingHreflangNoReturn, true)
		})
	}
}
