package canonical_test

import (
	"testing"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// TestJudge_WeighsSignalsWithoutDeclaration: the page declares nothing; the
// signals name one URL, in growing number of independent groups.
func TestJudge_WeighsSignalsWithoutDeclaration(t *testing.T) {
	t.Parallel()
	const target = "https://example.com/t/"
	key := canonical.KeyOf(target)
	metadata := func(r *canonical.Response) {
		r.Body = []byte(`<html><head><title>t</title><meta property="og:url" content="` + target +
			`"><script type="application/ld+json">{"@type":"WebPage","url":"` + target + `"}</script></head></html>`)
	}
	refresh := func(r *canonical.Response) {
		r.Header["Refresh"] = []string{"0; url=" + target}
	}
	away := func(r *canonical.Response) { r.Header["Refresh"] = []string{"0; url=/elsewhere/"} }
	for _, c := range []struct {
		name      string
		r         canonical.Response
		t         canonical.Target
		rule      string
		score     float64
		candidate bool
		status    canonical.Status
	}{
		{"metadata alone, however much", answer(200, "", metadata), canonical.Target{}, "K1", 0.60, true, ""},
		{"redirect alone", answer(200, "", refresh), canonical.Target{}, "K3", 0.65, true, ""},
		{"metadata and redirect", answer(200, "", metadata, refresh), canonical.Target{}, "I2", 0.80, false, canonical.StatusUnknown},
		{"and content", answer(200, "", metadata, refresh), canonical.Target{Content: canonical.ComparedMatch}, "I3", 0.85, false, canonical.StatusUnknown},
		{"and identifier, target proven", answer(200, "", metadata, refresh),
			canonical.Target{State: canonical.TargetValid, Content: canonical.ComparedMatch, Identifier: canonical.ComparedMatch}, "I4", 0.90, false, canonical.StatusValidated},
		{"content contradicts", answer(200, "", metadata, refresh), canonical.Target{Content: canonical.ComparedMismatch}, "I0", 0.50, true, ""},
		{"redirect contradicts", answer(200, "", metadata, away), canonical.Target{}, "C1i", 0.50, true, ""},
	} {
		v := canonical.Judge(canonical.Input{Evidence: canonical.Extract(c.r), Targets: map[canonical.Key]canonical.Target{key: c.t}, At: epoch})
		if v.Status != canonical.StatusUnknown || v.Head.Target != "" {
			t.Errorf("%s: status %s, effective target %q; nothing was declared", c.name, v.Status, v.Head.Target)
		}
		found := false
		for _, k := range v.Candidates {
			if k.TargetKey == key {
				found = c.candidate && k.Rule == c.rule && k.Score == c.score
			}
		}
		for _, r := range v.Relationships {
			if r.TargetKey == key {
				found = !c.candidate && r.Rule == c.rule && r.Score == c.score && r.Status == c.status && r.Method == canonical.MethodInferred
			}
		}
		if !found {
			t.Errorf("%s: want %s %.2f, got candidates %+v, relationships %+v", c.name, c.rule, c.score, v.Candidates, v.Relationships)
		}
	}
}

func TestJudge_ProvesDeclaredTargets(t *testing.T) {
	t.Parallel()
	const target = "https://example.com/t/"
	key := canonical.KeyOf(target)
	config := func(r *canonical.Response) { r.Config = []canonical.Configured{{URL: target, System: "yoast"}} }
	other := func(r *canonical.Response) {
		r.Config = []canonical.Configured{{URL: "https://example.com/u/", System: "yoast"}}
	}
	valid := canonical.Target{State: canonical.TargetValid}
	for _, c := range []struct {
		name  string
		r     canonical.Response
		in    canonical.Input
		rule  string
		score float64
	}{
		{"not looked at", answer(200, target), canonical.Input{}, "E2", 0.95},
		{"valid", answer(200, target), canonical.Input{Targets: map[canonical.Key]canonical.Target{key: valid}}, "E3", 0.97},
		{"valid, and once declared, now redirecting", answer(200, target), canonical.Input{Targets: map[canonical.Key]canonical.Target{key: valid}, Past: []canonical.Key{key}}, "E4", 0.99},
		{"valid, identifier and content", answer(200, target), canonical.Input{Targets: map[canonical.Key]canonical.Target{key: {State: canonical.TargetValid,
			Content: canonical.ComparedMatch, Identifier: canonical.ComparedMatch}}}, "E5", 0.99},
		{"another text", answer(200, target), canonical.Input{Targets: map[canonical.Key]canonical.Target{key: {State: canonical.TargetValid, Content: canonical.ComparedMismatch}}}, "E2m", 0.95},
		{"page and system agree", answer(200, target, config), canonical.Input{Targets: map[canonical.Key]canonical.Target{key: valid}}, "E3", 0.97},
		{"page and system differ", answer(200, target, other), canonical.Input{}, "C1", 0.50},
		{"the value alternates", answer(200, target), canonical.Input{Flapping: true}, "C1", 0.50},
		{"proven too long ago", answer(200, target), canonical.Input{Targets: map[canonical.Key]canonical.Target{key: {State: canonical.TargetValid,
			Validation: canonical.Validation{At: epoch.Add(-canonical.ValidityWindow - 1)}}}}, "E2", 0.95},
	} {
		c.in.Evidence, c.in.At = canonical.Extract(c.r), epoch
		v := canonical.Judge(c.in)
		if len(v.Relationships) == 0 || v.Relationships[0].Rule != c.rule || v.Relationships[0].Score != c.score {
			t.Errorf("%s: want %s %.2f, got %+v", c.name, c.rule, c.score, v.Relationships)
		}
		if c.name == "page and system differ" && v.Conflict.Kinds[0] != canonical.ReasonConfigPage {
			t.Errorf("conflict %+v", v.Conflict)
		}
	}
}

func TestCompareIdentifiers_OfWordPress(t *testing.T) {
	t.Parallel()
	page := func(url, id string) *canonical.Evidence {
		r := answer(200, "")
		r.URL = url
		if id != "" {
			r.Header["Link"] = []string{`<https://example.com/?p=` + id + `>; rel=shortlink`, `<https://example.com/wp-json/wp/v2/posts/` + id + `>; rel="alternate"; type="application/json"`}
		}
		e := canonical.Extract(r)
		return &e
	}
	for _, c := range []struct {
		a, b *canonical.Evidence
		want canonical.Compared
	}{
		{page("https://example.com/a", "7"), page("https://example.com/b", "7"), canonical.ComparedMatch},
		{page("https://example.com/a", "7"), page("https://example.com/b", "8"), canonical.ComparedMismatch},
		{page("https://example.com/a", "7"), page("https://other.org/b", "7"), canonical.ComparedMismatch},
		{page("https://example.com/a", "7"), page("https://example.com/b", ""), canonical.ComparedUnknown},
	} {
		if got := canonical.CompareIdentifiers(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a.Source, c.b.Source, got, c.want)
		}
	}
}
