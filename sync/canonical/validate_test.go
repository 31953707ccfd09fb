package canonical_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// good is a validated relationship as Judge makes it.
func good(target string) canonical.Relationship {
	v := canonical.Judge(canonical.Input{Evidence: canonical.Extract(answer(200, target)), At: epoch,
		Targets: map[canonical.Key]canonical.Target{canonical.KeyOf(target): {State: canonical.TargetValid}}})
	return v.Relationships[0]
}

func TestCheck_RejectsWhatTheOntologyRejects(t *testing.T) {
	t.Parallel()
	edit := func(f func(*canonical.Relationship)) []canonical.Relationship {
		r := good("https://example.com/t/")
		f(&r)
		return []canonical.Relationship{r}
	}
	type rel = canonical.Relationship
	for _, c := range []struct {
		name string
		rels []canonical.Relationship
		want canonical.Rejection // "" passes
	}{
		{"as judged", []rel{good("https://example.com/t/")}, ""},
		{"malformed", edit(func(r *rel) { r.Target = "https://h:x/" }), canonical.RejectMalformed},
		{"bad scheme", edit(func(r *rel) { r.Target = "javascript:x" }), canonical.RejectMalformed},
		{"loop", edit(func(r *rel) { r.Reason = canonical.ReasonLoop }), canonical.RejectLoop},
		{"loop, kept as invalid", edit(func(r *rel) { r.Status, r.Reason, r.Rule = canonical.StatusInvalid, canonical.ReasonLoop, "C2" }), ""},
		{"two targets without conflict", []rel{good("https://example.com/t/"), good("https://example.com/u/")}, canonical.RejectContradictory},
		{"sitemap as proof", edit(func(r *rel) { r.Signals = []canonical.Kind{canonical.KindSitemap} }), canonical.RejectSitemap},
		{"og:url as proof", edit(func(r *rel) { r.Signals = []canonical.Kind{canonical.KindOpenGraph} }), canonical.RejectOpenGraph},
		{"schema url as proof", edit(func(r *rel) { r.Signals = []canonical.Kind{canonical.KindSchema} }), canonical.RejectSchema},
		{"sitemap alone, inferred", edit(func(r *rel) {
			r.Method, r.Score, r.Signals = canonical.MethodInferred, 0.8, []canonical.Kind{canonical.KindSitemap}
		}), canonical.RejectSitemap},
		{"redirect as declaration", edit(func(r *rel) { r.Signals = []canonical.Kind{canonical.KindRedirectPermanent} }), canonical.RejectRedirect},
		{"inferred beyond its bound", edit(func(r *rel) {
			r.Method, r.Score, r.Signals = canonical.MethodInferred, 0.97, []canonical.Kind{canonical.KindRedirectPermanent, "content"}
		}), canonical.RejectIdentity},
		{"no source", edit(func(r *rel) { r.Source = "" }), canonical.RejectIncomplete},
		{"no target", edit(func(r *rel) { r.Target = "" }), canonical.RejectIncomplete},
		{"score beyond one", edit(func(r *rel) { r.Score = 1.2 }), canonical.RejectField},
		{"unknown method", edit(func(r *rel) { r.Method = "guess" }), canonical.RejectField},
		{"unknown status", edit(func(r *rel) { r.Status = "fine" }), canonical.RejectField},
		{"ends before it begins", edit(func(r *rel) { r.ValidUntil = r.ValidFrom.Add(-time.Hour) }), canonical.RejectField},
		{"no HTTP status", edit(func(r *rel) { r.Validation.Status = 42 }), canonical.RejectField},
		{"unknown redirect state", edit(func(r *rel) { r.Validation.RedirectState = "maybe" }), canonical.RejectField},
		{"unknown content outcome", edit(func(r *rel) { r.Validation.Content = "same" }), canonical.RejectField},
		{"another page's provenance", edit(func(r *rel) { r.Provenance.SourceURL = "https://example.com/z/" }), canonical.RejectField},
	} {
		got := canonical.Check(c.rels, nil)
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.ContainsFunc(got, func(r canonical.Refusal) bool { return r.Line == c.want }) {
			t.Errorf("%s: %v, want %q", c.name, got, c.want)
		}
	}
}

// TestCheck_PassesWhatJudgeMakes runs it over every look of every fixture.
func TestCheck_PassesWhatJudgeMakes(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob("testdata/cases/*.case")
	for _, p := range paths {
		for _, l := range play(t, parseFixture(t, p)).looks {
			if got := canonical.Check(l.v.Relationships, l.v.Conflict); len(got) > 0 {
				t.Errorf("%s: verdict %v", p, got)
			}
			if got := canonical.Check(l.step.Next.Current, l.step.Next.Conflict); len(got) > 0 {
				t.Errorf("%s: record %v", p, got)
			}
		}
	}
}

func TestConsolidates_NeverOnACanonicalAlone(t *testing.T) {
	t.Parallel()
	r := good("https://example.com/t/")
	if canonical.Consolidates(&r, nil) {
		t.Error("merged on a canonical alone")
	}
	r.Validation.Content = "match"
	if !canonical.Consolidates(&r, nil) {
		t.Error("a validated target with matching content is not merged")
	}
	if canonical.Consolidates(&r, &canonical.Conflict{}) {
		t.Error("merged in a conflict")
	}
	r.Validation.Identifier = "mismatch"
	if canonical.Consolidates(&r, nil) {
		t.Error("merged against the identifier")
	}
}

func TestQuery_EveryInputIsAFilter(t *testing.T) {
	t.Parallel()
	const target = "https://example.com/t/"
	r := answer(200, target)
	r.Body = []byte(`<html><head><link rel="canonical" href="` + target + `"><meta property="og:url" content="/o/"><script type="application/ld+json">{"@type":"WebPage","url":"/s/"}</script></head></html>`)
	r.Sitemaps = []canonical.SitemapListing{{Document: "https://example.com/sitemap.xml", Loc: source}}
	ev := canonical.Extract(r)
	v := canonical.Judge(canonical.Input{Evidence: ev, At: epoch, Targets: map[canonical.Key]canonical.Target{canonical.KeyOf(target): {
		State: canonical.TargetValid, Validation: canonical.Validation{Status: 200, At: epoch}}}})
	line := canonical.Lines(&ev, v)[0]
	hop := canonical.Extract(redirected(301, "https://example.com/q/"))
	redirect := canonical.Lines(&hop, canonical.Judge(canonical.Input{Evidence: hop, At: epoch}))[0]
	for name, c := range map[string]struct {
		hit, miss canonical.Query
		l         *canonical.Line
	}{
		"source_url":         {canonical.Query{SourceURL: "HTTPS://example.com/p/#x"}, canonical.Query{SourceURL: "https://example.com/p"}, &line},
		"canonical_url":      {canonical.Query{CanonicalURL: target}, canonical.Query{CanonicalURL: source}, &line},
		"declaration_method": {canonical.Query{Method: canonical.MethodHTML}, canonical.Query{Method: canonical.MethodHTTP}, &line},
		"target_status":      {canonical.Query{TargetStatus: 200}, canonical.Query{TargetStatus: 404}, &line},
		"redirect_target":    {canonical.Query{RedirectTarget: "https://example.com/q/"}, canonical.Query{RedirectTarget: target}, &redirect},
		"sitemap_signal":     {canonical.Query{SitemapSignal: source}, canonical.Query{SitemapSignal: target}, &line},
		"og_url":             {canonical.Query{OpenGraph: "https://example.com/o/"}, canonical.Query{OpenGraph: target}, &line},
		"SchemaOrg_url":      {canonical.Query{Schema: "https://example.com/s/"}, canonical.Query{Schema: target}, &line},
		"observation_time":   {canonical.Query{At: epoch}, canonical.Query{At: epoch.Add(-time.Second)}, &line},
	} {
		if !c.hit.Match(c.l) || c.miss.Match(c.l) {
			t.Errorf("%s: hit %v, miss %v", name, c.hit.Match(c.l), c.miss.Match(c.l))
		}
	}
	ended := epoch.Add(time.Hour)
	line.ValidUntil = &ended
	if (&canonical.Query{At: ended}).Match(&line) {
		t.Error("valid at its end")
	}
	raw, err := json.Marshal(canonical.AnswerOf(&line))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"canonical_relationship", "source_url", "canonical_url", "declaration_method", "validation_state", "redirect_state", "conflict_state",
		"temporal_validity", "provenance", "confidence"} {
		if _, ok := got[k]; !ok {
			t.Errorf("output %s is missing", k)
		}
	}
	if len(got) != 10 {
		t.Errorf("%d outputs", len(got))
	}
}
