package canonical_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// circling is the answer of a listed page whose redirects go through the given URLs; the last of them is not followed.
func circling(status int, urls ...string) canonical.Response {
	r := canonical.Response{URL: source, FinalURL: urls[len(urls)-1], Failure: canonical.FailureRedirects, Fetched: epoch,
		Sitemaps: []canonical.SitemapListing{{Document: "https://example.com/sitemap.xml", Loc: source}}}
	at := source
	for _, to := range urls {
		r.Hops = append(r.Hops, canonical.Hop{URL: at, Status: status, Header: map[string][]string{"Location": {to}}})
		at = to
	}
	return r
}

func codesOf(c canonical.Case) (codes []string) {
	for _, f := range canonical.Report(c) {
		codes = append(codes, f.Code)
	}
	return codes
}

// TestJudge_TakesACircleOfRedirectsForALoop: redirects that come back prove nothing of where they lead, whatever their
// status and length, and are reported as a loop. One that reaches a page, and one without a Location, are none.
func TestJudge_TakesACircleOfRedirectsForALoop(t *testing.T) {
	t.Parallel()
	const other, third = "https://example.com/other/", "https://example.com/third/"
	for _, c := range []struct {
		name       string
		r          canonical.Response
		resolution canonical.Resolution
		code       string
	}{
		{"301 to itself", circling(301, source), canonical.ResolutionLoop, canonical.FindingLoop},
		{"308 to itself, another spelling", circling(308, "HTTPS://EXAMPLE.com:443/p/#top"), canonical.ResolutionLoop, canonical.FindingLoop},
		{"302 to itself", circling(302, source), canonical.ResolutionNone, canonical.FindingLoop},
		{"301 there and back", circling(301, other, source), canonical.ResolutionChain, canonical.FindingLoop},
		{"302 there and back", circling(302, other, source), canonical.ResolutionNone, canonical.FindingLoop},
		{"301 into a circle of others", circling(301, other, third, other), canonical.ResolutionChain, canonical.FindingIntoLoop},
		{"301 to a page", redirected(301, other), canonical.ResolutionChain, ""},
		{"301 without Location", circling(301, ""), canonical.ResolutionNone, ""},
	} {
		c.r.URL = source
		k := judged(c.r, nil, canonical.GraphState{})
		k.Listing = canonical.Listing{Listed: true, Documents: []string{"https://example.com/sitemap.xml"}}
		if k.Verdict.Head.Resolution != c.resolution {
			t.Errorf("%s: resolution %s, want %s", c.name, k.Verdict.Head.Resolution, c.resolution)
		}
		if len(k.Verdict.Relationships) > 0 {
			t.Errorf("%s: proves %+v", c.name, k.Verdict.Relationships)
		}
		for _, x := range k.Verdict.Candidates {
			if c.code != "" && slices.Contains(x.Signals, canonical.KindRedirectPermanent) {
				t.Errorf("%s: candidate %s rests on the redirect", c.name, x.Target)
			}
		}
		codes := codesOf(k)
		for _, code := range []string{canonical.FindingLoop, canonical.FindingIntoLoop} {
			if slices.Contains(codes, code) != (code == c.code) {
				t.Errorf("%s: findings %v, want %q", c.name, codes, c.code)
			}
		}
		if !slices.Contains(codes, canonical.FindingSitemapRedirect) {
			t.Errorf("%s: findings %v lack the redirect", c.name, codes)
		}
	}
}

// TestAdvance_AnOwnCircleConfirmsNothing: a page that declared itself and now redirects to itself is part of a loop until
// it answers again; its declaration is neither confirmed nor closed.
func TestAdvance_AnOwnCircleConfirmsNothing(t *testing.T) {
	t.Parallel()
	look := func(prev canonical.Record, r canonical.Response, at time.Time) canonical.Step {
		ev := canonical.Extract(r)
		ev.Along = nil
		return canonical.Advance(prev, canonical.Observed{Evidence: ev, Verdict: canonical.Judge(canonical.Input{Evidence: ev, At: at}), At: at})
	}
	first := look(canonical.Record{}, answer(200, source), epoch)
	for n := 1; n <= 3; n++ { // however often it is seen
		step := look(first.Next, circling(301, source), epoch.Add(time.Duration(n)*24*time.Hour))
		if step.Action != canonical.ActionHold || len(step.Closed) > 0 || len(step.Next.Current) != 1 {
			t.Fatalf("look %d: %s, closed %v, current %v", n, step.Action, step.Closed, step.Next.Current)
		}
		r := step.Next.Current[0]
		if r.Status != canonical.StatusInvalid || r.Reason != canonical.ReasonLoop || !r.ObservedAt.Equal(epoch) {
			t.Fatalf("look %d: %s %s, observed %s", n, r.Status, r.Reason, r.ObservedAt)
		}
		first = step
	}
	mended := look(first.Next, answer(200, source), epoch.Add(96*time.Hour))
	if r := mended.Next.Current[0]; r.Status != canonical.StatusValidated || !r.ValidFrom.Equal(epoch) {
		t.Errorf("mended: %s %s since %s", r.Status, r.Reason, r.ValidFrom)
	}
	// An inference of an earlier version, which took the circle for a signal, ends with the next look.
	inferred := canonical.Record{Current: []canonical.Relationship{{Source: source, SourceKey: canonical.KeyOf(source), Target: source,
		TargetKey: canonical.KeyOf(source), Method: canonical.MethodInferred, Status: canonical.StatusUnknown, Rule: "I2"}}}
	if step := look(inferred, circling(301, source), epoch.Add(time.Hour)); len(step.Closed) != 1 || len(step.Next.Current) != 0 {
		t.Errorf("closed %v, current %v", step.Closed, step.Next.Current)
	}
}

// TestReport_NamesNoTargetInAConflict: where a page's declarations contradict each other no canonical URL is established,
// so nothing is reported of one, and no finding names one of them as its target.
func TestReport_NamesNoTargetInAConflict(t *testing.T) {
	t.Parallel()
	const other = "https://example.com/other/"
	no := false
	header := withHeader("Link", `<`+other+`>; rel="canonical"`)
	moved := redirected(301, "https://example.com/new/")
	moved.Hops[0].Header["Link"] = []string{`<` + other + `>; rel="canonical"`}
	for name, r := range map[string]canonical.Response{"HTML against header": answer(200, "https://example.com/third/", header),
		"self against header": answer(200, source, header), "redirect against header": moved} {
		k := judged(r, nil, canonical.GraphState{})
		k.Listing = canonical.Listing{Listed: true, Documents: []string{"https://example.com/sitemap.xml"}}
		k.TargetListed, k.Dependents = &no, 1000
		if k.Verdict.Conflict == nil {
			t.Fatalf("%s: no conflict", name)
		}
		for _, f := range canonical.Report(k) {
			switch f.Code {
			case canonical.FindingSitemapNonCanonical, canonical.FindingTargetUnlisted, canonical.FindingManyToOne:
				t.Errorf("%s: %s %s", name, f.Code, f.Text)
			case canonical.FindingConflict, canonical.FindingRedirectContradicts:
				if f.Target != "" || f.Evidence == "" {
					t.Errorf("%s: %s has target %q, evidence %q", name, f.Code, f.Target, f.Evidence)
				}
			}
		}
	}
}
