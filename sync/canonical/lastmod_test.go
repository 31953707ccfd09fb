package canonical_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// TestReport_LastmodStaysWrongWhileItStands: what was found wrong of a lastmod is not mended by a look that finds nothing
// new; another lastmod, or a changed page, makes another case of it.
func TestReport_LastmodStaysWrongWhileItStands(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	const unchanged, behind = canonical.FindingLastmodUnchanged, canonical.FindingLastmodBehind
	for _, c := range []struct {
		name  string
		open  string
		moved bool
		known bool
		text  *bool
		want  string
	}{
		{"moved, text not", "", true, true, &no, unchanged},
		{"text moved, lastmod not", "", false, true, &yes, behind},
		{"both moved", "", true, true, &yes, ""},
		{"no lastmod before", "", true, false, &yes, ""},
		{"claim without change stands", unchanged, false, true, &no, unchanged},
		{"and where the text is not known", unchanged, false, true, nil, unchanged},
		{"the page changed since", unchanged, false, true, &yes, behind},
		{"moved again, with the page", unchanged, true, true, &yes, ""},
		{"change without lastmod stands", behind, false, true, &no, behind},
		{"lastmod followed", behind, true, true, &yes, ""},
		{"lastmod followed, nothing new in the text", behind, true, true, &no, ""},
		{"lastmod followed late", behind, true, true, nil, ""},
	} {
		k := judged(answer(200, source), nil, canonical.GraphState{})
		k.Listing = canonical.Listing{Listed: true, Documents: []string{"https://example.com/sitemap.xml"}, Lastmod: epoch, Previous: epoch}
		if c.moved {
			k.Listing.Previous = epoch.Add(-time.Hour)
		}
		if !c.known {
			k.Listing.Previous = time.Time{}
		}
		k.ContentMoved = c.text
		if c.open != "" {
			k.Open = map[string]string{c.open: "as it was"}
		}
		codes := codesOf(k)
		for _, code := range []string{unchanged, behind} {
			if slices.Contains(codes, code) != (code == c.want) {
				t.Errorf("%s: %v, want %q", c.name, codes, c.want)
			}
		}
	}
}
