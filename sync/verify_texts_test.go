package syncer_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// What a finding says of where a page leads is true after the pass that found it, in whatever order pages were read; a new
// judgement confirms nothing.
func TestAudit_TextsFollowTheGraph(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"forward", "backward"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 8)
			chain := l.posts[:5]
			for i := range chain[:4] {
				l.origin.Fail(sitetest.Path(chain[i]), sitetest.Canonical(chain[i+1]))
			}
			pages := slices.Clone(chain)
			if order == "backward" {
				slices.Reverse(pages)
			}
			texts := func() map[string]string {
				out := map[string]string{}
				if err := l.verifier.Audit(t.Context(), l.site.ID, models.AuditFilter{Codes: []string{canonical.FindingChain}}, func(a *models.Audited) error {
					out[a.Page] = fmt.Sprint(a.Text, ", ", a.State, ", ", a.Confirmed)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				return out
			}
			l.verify(pages...)
			first := texts()
			for i, p := range chain[:3] {
				if want := fmt.Sprintf("%d edges to %s, new, 1", 4-i, chain[4]); first[p] != want {
					t.Errorf("page %d: %q, want %q", i, first[p], want)
				}
			}
			l.origin.Fail(sitetest.Path(chain[4]), sitetest.Canonical(l.posts[5]))
			l.verify(chain[4], l.posts[5])
			longer := texts()
			for i, p := range chain[:3] {
				if want := fmt.Sprintf("%d edges to %s, new, 1", 5-i, l.posts[5]); longer[p] != want {
					t.Errorf("longer: page %d: %q, want %q", i, longer[p], want)
				}
			}
		})
	}
}
