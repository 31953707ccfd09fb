package syncer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// manyToOne gives the texts of canonical-many-to-one on the pages that have it now, by page.
func (l *pagesLab) manyToOne() map[string]string {
	l.Helper()
	out := map[string]string{}
	if err := l.verifier.Audit(l.Context(), l.site.ID, models.AuditFilter{Codes: []string{canonical.FindingManyToOne}}, func(a *models.Audited) error {
		out[a.Page] = a.Text
		return nil
	}); err != nil {
		l.Fatalf("read findings: %v", err)
	}
	return out
}

// Every page that declares one target with more than five others has the finding after one pass, whichever was read
// first, and none has it once a look brings the count back. A refresh to the target is no declaration.
func TestVerify_ManyToOneDoesNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	for _, last := range []bool{false, true} {
		t.Run(fmt.Sprintf("refresh last %t", last), func(t *testing.T) {
			t.Parallel()
			l := newPagesLab(t, 12)
			target, refreshes, declarers := l.posts[0], l.posts[1], l.posts[2:8]
			var mend func()
			for _, p := range declarers {
				mend = l.origin.Fail(sitetest.Path(p), sitetest.Canonical(target))
			}
			refresh := sitetest.Page(`<html><head><meta http-equiv="refresh" content="0; url=`+target+`"></head><body><p>`+words("refresh", 200)+`</p></body></html>`, nil)
			l.origin.Fail(sitetest.Path(refreshes), refresh)
			order := append([]string{refreshes}, declarers[:5]...)
			if last {
				order = append(slices.Clone(declarers[:5]), refreshes)
			}
			l.verify(order...)
			if got := l.manyToOne(); len(got) != 0 {
				t.Errorf("five declare the target and one refreshes to it: %v", got)
			}
			l.verify(declarers[5])
			got := l.manyToOne()
			for _, p := range declarers {
				if !strings.HasPrefix(got[p], "more than 5 pages declare") {
					t.Errorf("%s: %q", p, got[p])
				}
			}
			if len(got) != len(declarers) {
				t.Errorf("%d pages have it: %v", len(got), got)
			}
			l.verify() // nothing is new
			if diff := cmp.Diff(got, l.manyToOne()); diff != "" {
				t.Errorf("second pass (-first +second)\n%s", diff)
			}
			seventh := l.origin.Fail(sitetest.Path(l.posts[8]), sitetest.Canonical(target))
			l.verify(l.posts[8])
			more := l.manyToOne()
			if len(more) != len(declarers)+1 || more[l.posts[8]] != more[declarers[0]] {
				t.Errorf("not told alike: %v", more)
			}
			seventh()
			l.verify(l.posts[8])
			mend()
			l.verify(declarers[5])
			if got := l.manyToOne(); len(got) != 0 {
				t.Errorf("five are left: %v", got)
			}
		})
	}
}

// What an empty or malformed declaration leads to is the same read now and as of now.
func TestCanonical_AsOfNowSaysWhatIsSaidNow(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 6)
	for i, href := range []string{"", "http://[bad", "mailto:a@example.com", l.posts[5]} {
		l.origin.Fail(sitetest.Path(l.posts[i]), sitetest.Canonical(href))
	}
	l.verify()
	for i, want := range []string{"none", "none", "none", "chain", "self", "self"} {
		now, then := l.lines(models.CanonicalFilter{Source: l.posts[i]})[l.posts[i]], l.lines(models.CanonicalFilter{Source: l.posts[i], At: l.clock.now()})[l.posts[i]]
		if len(now) != 1 || len(then) != 1 {
			t.Fatalf("%d lines now, %d as of now", len(now), len(then))
		}
		if now[0].Resolution != want || brief(&now[0]) != brief(&then[0]) {
			t.Errorf("%d: now %s, as of now %s, want %s", i, brief(&now[0]), brief(&then[0]), want)
		}
	}
}
