package canonical_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// TestReport_SaysOnceWhatIsMissing: a page without any declaration lacks one (C01). Where something stands there that does
// not count, the finding that says why (C04, C06) is the report, and C01 does not stand beside it.
func TestReport_SaysOnceWhatIsMissing(t *testing.T) {
	t.Parallel()
	const link = `<link rel="canonical" href="https://example.com/p/">`
	head := func(s string) canonical.Response {
		return answer(200, "", func(r *canonical.Response) {
			r.Body = []byte(strings.Replace(string(r.Body), "</head>", s+"</head>", 1))
		})
	}
	body := func(s string) canonical.Response {
		return answer(200, "", func(r *canonical.Response) {
			r.Body = []byte(strings.Replace(string(r.Body), "</head>", "</head><body>"+s, 1))
		})
	}
	for _, c := range []struct {
		name, code string
		r          canonical.Response
	}{
		{"nothing", canonical.FindingMissing, answer(200, "")},
		{"a header about another URL", canonical.FindingMissing, answer(200, "", withHeader("Link", `<https://example.com/p/>; rel="canonical"; anchor="/q/"`))},
		{"in the body", canonical.FindingOutsideHead, body(link)},
		{"in noscript", canonical.FindingInert, head("<noscript>" + link + "</noscript>")},
		{"in template", canonical.FindingInert, head("<template>" + link + "</template>")},
		{"in svg", canonical.FindingInert, body("<svg>" + link + "</svg>")},
		{"in a comment", canonical.FindingInert, head("<!-- " + link + " -->")},
		{"meta", canonical.FindingLookalike, head(`<meta name="canonical" content="https://example.com/p/">`)},
		{"smart quotes", canonical.FindingLookalike, head(`<link rel=”canonical” href="https://example.com/p/">`)},
		{"header in apostrophes", canonical.FindingLookalike, answer(200, "", withHeader("Link", `<https://example.com/p/>; rel='canonical'`))},
		{"no href", canonical.FindingMalformed, head(`<link rel="canonical">`)},
		{"empty href", canonical.FindingMalformed, head(`<link rel="canonical" href="">`)},
		{"bad scheme", canonical.FindingMalformed, head(`<link rel="canonical" href="javascript:1">`)},
		{"header without brackets", canonical.FindingMalformed, answer(200, "", withHeader("Link", `https://example.com/p/; rel="canonical"`))},
	} {
		codes := codesOf(judged(c.r, nil, canonical.GraphState{}))
		if !slices.Contains(codes, c.code) || slices.Contains(codes, canonical.FindingMissing) != (c.code == canonical.FindingMissing) {
			t.Errorf("%s: findings %v, want %s", c.name, codes, c.code)
		}
	}
}

// TestReport_RefreshIsRedirect: an immediate refresh to another URL is a redirect of the listed page (S03) and lacks no
// declaration; one with a delay, to the page itself or without a URL is none.
func TestReport_RefreshIsRedirect(t *testing.T) {
	t.Parallel()
	meta := func(content string) canonical.Response {
		return answer(200, "", func(r *canonical.Response) {
			r.Body = []byte(strings.Replace(string(r.Body), "</head>", `<meta http-equiv="refresh" content="`+content+`"></head>`, 1))
		})
	}
	for _, c := range []struct {
		name, code string
		r          canonical.Response
	}{
		{"meta", canonical.FindingSitemapRedirect, meta("0; url=/c4/")},
		{"header", canonical.FindingSitemapRedirect, answer(200, "", withHeader("Refresh", "0; url=/c4/"))},
		{"delayed", canonical.FindingMissing, meta("5; url=/c4/")},
		{"no url", canonical.FindingMissing, meta("0")},
		{"itself", canonical.FindingMissing, meta("0; url=" + source)},
	} {
		v := judged(c.r, nil, canonical.GraphState{})
		v.Listing.Listed = true
		for _, code := range []string{canonical.FindingSitemapRedirect, canonical.FindingMissing} {
			if got := codesOf(v); slices.Contains(got, code) != (code == c.code) {
				t.Errorf("%s: findings %v, want %s", c.name, got, c.code)
			}
		}
	}
}
