package syncer_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// plants are faults of pages: what they are, and what must be found. Each page is clean before and mended after.
var plants = []struct {
	name     string
	fault    func(l *pagesLab, page, other string) sitetest.Fault
	line     string   // of the page while the fault is there; "" leaves that open
	codes    []string // at least these are new then
	replaced bool     // the relationship of before was closed
}{
	{"a plugin declares another page", func(_ *pagesLab, _, other string) sitetest.Fault { return sitetest.Canonical(other) },
		"validated E3 0.97 chain", []string{canonical.FindingSitemapNonCanonical}, true},
	{"two different canonical URLs", func(_ *pagesLab, page, other string) sitetest.Fault { return sitetest.Canonical(page, other) },
		"conflicting C1 0.50 conflict html_vs_html", []string{canonical.FindingConflict}, false},
	{"noindex in the header", func(*pagesLab, string, string) sitetest.Fault { return sitetest.NoIndex() },
		validSelf, []string{canonical.FindingSitemapNoindex}, false},
	{"noindex in the head", func(*pagesLab, string, string) sitetest.Fault {
		return sitetest.InHead(`<meta name="robots" content="noindex">`)
	},
		validSelf, []string{canonical.FindingSitemapNoindex}, false},
	{"a canonical URL that is not there", func(l *pagesLab, _, _ string) sitetest.Fault { return sitetest.Canonical(l.origin.URL() + "/nowhere/") },
		"declared E2 0.95 chain target_not_found", []string{canonical.FindingTargetNotFound, canonical.FindingTargetUnlisted}, true},
	{"relative", func(_ *pagesLab, page, _ string) sitetest.Fault { return sitetest.Canonical(sitetest.Path(page)) },
		validSelf, []string{canonical.FindingRelative}, false},
	{"no scheme", func(_ *pagesLab, page, _ string) sitetest.Fault {
		return sitetest.Canonical(strings.TrimPrefix(page, "http://"))
	},
		"", []string{canonical.FindingMissingScheme, canonical.FindingTargetUnlisted}, true},
	{"a host that must not be asked", func(*pagesLab, string, string) sitetest.Fault { return sitetest.Canonical("http://10.0.0.7/x/") },
		"declared E2 0.95 chain unvalidated", []string{canonical.FindingCrossDomain, canonical.FindingLeakedHost}, true},
	{"a server error", func(*pagesLab, string, string) sitetest.Fault { return sitetest.Status(500) },
		validSelf, []string{canonical.FindingSitemapServerError}, false},
	{"not found", func(*pagesLab, string, string) sitetest.Fault { return sitetest.Status(404) },
		validSelf, []string{canonical.FindingSitemapNotFound}, false},
	{"forbidden", func(*pagesLab, string, string) sitetest.Fault { return sitetest.Status(403) },
		validSelf, []string{canonical.FindingSitemapDenied}, false},
	{"a bot wall", func(*pagesLab, string, string) sitetest.Fault { return sitetest.Challenge() },
		validSelf, []string{canonical.FindingChallenge}, false},
	{"cut within the head", func(*pagesLab, string, string) sitetest.Fault { return sitetest.CutHead() },
		validSelf, []string{canonical.FindingTruncated}, false},
	{"a temporary redirect", func(_ *pagesLab, _, other string) sitetest.Fault { return sitetest.RedirectTo(302, other, nil) },
		validSelf, []string{canonical.FindingSitemapRedirect}, false},
	{"a permanent redirect elsewhere", func(_ *pagesLab, _, other string) sitetest.Fault { return sitetest.RedirectTo(301, other, nil) },
		"conflicting C1 0.50 chain explicit_vs_redirect", []string{canonical.FindingSitemapRedirect}, false},
	{"an element that ends the head", func(*pagesLab, string, string) sitetest.Fault {
		return sitetest.BeforeCanonical(`<img src="/pixel.gif">`)
	},
		validSelf, []string{canonical.FindingOutsideHead}, false},
	{"HTML and header disagree", func(_ *pagesLab, _, other string) sitetest.Fault {
		return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
			w.Header().Add("Link", "<"+other+`>; rel="canonical"`)
			honest.ServeHTTP(w, r)
		}
	}, "conflicting C1 0.50 conflict html_vs_http", []string{canonical.FindingConflict}, false},
	{"og:url differs", func(_ *pagesLab, _, other string) sitetest.Fault {
		return sitetest.InHead(`<meta property="og:url" content="` + other + `">`)
	}, validSelf, []string{canonical.FindingOpenGraphMismatch}, false},
}

func TestVerify_FindsFaultsAndTheirMending(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, len(plants)+1)
	l.verify()
	other := l.posts[len(plants)]
	var undo []func()
	for i, p := range plants {
		undo = append(undo, l.origin.Fail(sitetest.Path(l.posts[i]), p.fault(l, l.posts[i], other)))
	}
	began := l.clock.now()
	l.verify()
	for i, p := range plants {
		if got := l.line(l.posts[i]); p.line != "" && got != p.line {
			t.Errorf("%s: %s, want %s", p.name, got, p.line)
		}
		found := l.findings(l.posts[i])
		for _, code := range p.codes {
			if !slices.Contains(found, "new "+code) {
				t.Errorf("%s: %s is not among %v", p.name, code, found)
			}
		}
		_, judgements, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(l.posts[i])))
		if err != nil || len(judgements) == 0 {
			t.Errorf("%s: %d judgements, %v", p.name, len(judgements), err)
		}
	}
	for _, mend := range undo {
		mend()
	}
	l.verify()
	for i, p := range plants {
		if got := l.line(l.posts[i]); got != validSelf {
			t.Errorf("%s, mended: %s", p.name, got)
		}
		for _, f := range l.findings(l.posts[i]) {
			if !strings.HasPrefix(f, "fixed ") {
				t.Errorf("%s, mended: %s", p.name, f)
			}
		}
		all, _, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(l.posts[i])))
		if err != nil {
			t.Fatal(err)
		}
		closed := 0
		for _, r := range all {
			if r.Target == r.Source && r.ValidUntil != nil && !r.ValidUntil.Before(began) {
				closed++
			}
		}
		if p.replaced != (closed == 1) {
			t.Errorf("%s: the page's own declaration was closed %d times", p.name, closed)
		}
		// What was said before the fault can still be asked for.
		past := l.lines(models.CanonicalFilter{Source: l.posts[i], At: began})[l.posts[i]]
		if len(past) != 1 || brief(&past[0]) != validSelf {
			t.Errorf("%s: as of before: %v", p.name, past)
		}
	}
}
