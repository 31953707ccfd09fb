package canonical_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// everyFacts calls f with every combination of evidence.
func everyFacts(f func(canonical.Facts)) int {
	n := 0
	bools := []bool{false, true}
	for e := canonical.ExplicitNone; e <= canonical.ExplicitSeveral; e++ {
		for r := canonical.RedirectNone; r <= canonical.RedirectElsewhere; r++ {
			for t := canonical.TargetUnknown; t <= canonical.TargetNotFound; t++ {
				for c := canonical.ComparedUnknown; c <= canonical.ComparedNear; c++ {
					for i := canonical.ComparedUnknown; i <= canonical.ComparedMismatch; i++ {
						for s := 0; s < 27; s++ {
							for _, self := range bools {
								for _, ok := range bools {
									for _, dis := range bools {
										for b := 0; b < 8; b++ {
											for ch := canonical.ChainNone; ch <= canonical.ChainValid; ch++ {
												f(canonical.Facts{Explicit: e, Redirect: r, Target: t, Content: c, Identifier: i,
													Sitemap: canonical.Agreement(s % 3), OpenGraph: canonical.Agreement(s / 3 % 3), Schema: canonical.Agreement(s / 9),
													Self: self, SourceOK: ok, Disqualified: dis, Past: b&1 > 0, Loop: b&2 > 0, Flapping: b&4 > 0, Chain: ch})
												n++
											}
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
	return n
}

// TestRules_KeepTheOntologysBounds holds every combination of evidence against
// the confidence model, the inference rules and the reject list of the ontology.
func TestRules_KeepTheOntologysBounds(t *testing.T) {
	t.Parallel()
	violations := map[string]int{}
	hits := map[string]int{}
	n := everyFacts(func(f canonical.Facts) {
		r := canonical.Apply(f)
		hits[r.ID]++
		for _, v := range broken(f, r) {
			if violations[v]++; violations[v] == 1 {
				t.Errorf("%s: rule %s gives %.2f %s for %+v", v, r.ID, r.Score, r.Status, f)
			}
		}
	})
	if n < 258_048 {
		t.Errorf("%d combinations, want at least 258,048", n)
	}
	for _, r := range canonical.Rules() {
		if hits[r.ID] == 0 {
			t.Errorf("rule %s decides on no combination", r.ID)
		}
	}
	t.Logf("%d combinations, %d kinds of violation, rules hit: %v", n, len(violations), hits)
}

// broken names the lines of the ontology that an outcome offends against. It
// looks at the evidence on its own, not through the table's conditions.
func broken(f canonical.Facts, r canonical.Rule) (out []string) {
	claim := func(ok bool, line string) {
		if !ok {
			out = append(out, line)
		}
	}
	explicit := f.Explicit == canonical.ExplicitOne || f.Explicit == canonical.ExplicitSeveral
	conflict := f.Explicit == canonical.ExplicitSeveral || f.Explicit == canonical.ExplicitOne && (f.Redirect == canonical.RedirectElsewhere || f.Flapping)
	valid := f.Target == canonical.TargetValid
	metadata := 0
	for _, a := range []canonical.Agreement{f.Sitemap, f.OpenGraph, f.Schema} {
		if a == canonical.SignalAgrees {
			metadata++
		}
	}
	others := 0
	for _, b := range []bool{f.Redirect == canonical.RedirectSame, f.Content == canonical.ComparedMatch, f.Identifier == canonical.ComparedMatch, f.Chain != canonical.ChainNone} {
		if b {
			others++
		}
	}
	claim(r.Score >= 0 && r.Score <= 1, "REQUIRE 0.0 <= confidence <= 1.0")
	claim(r.Score <= 0.99, "increase canonical confidence WITH confidence <= 0.99")
	claim((r.Outcome == canonical.OutcomeExplicit) == (f.Explicit != canonical.ExplicitNone), "inferred MUST remain distinguishable from explicit")
	if f.Explicit == canonical.ExplicitMalformed {
		claim(r.Status == canonical.StatusInvalid && r.Score == 0, "reject malformed_canonical_URL")
		return out
	}
	if !explicit {
		claim(r.Score <= 0.90, "inferred_canonical_from_multiple_signals <= 0.90")
		claim(r.Outcome != canonical.OutcomeInferred || others > 0, "do_not_infer_canonical_from sitemap_og_or_schema_url_alone")
		claim(metadata == 0 || others > 0 || r.Score <= 0.60, "sitemap_only, og_url_only, schema url only <= 0.60")
		onlyContent := (f.Content == canonical.ComparedMatch || f.Content == canonical.ComparedNear) && metadata == 0 && f.Redirect != canonical.RedirectSame &&
			f.Identifier != canonical.ComparedMatch && f.Chain == canonical.ChainNone
		claim(!onlyContent || r.Score <= 0.65, "content_similarity_only <= 0.65")
		signals := metadata > 0 || others > 0
		contradicted := f.Redirect == canonical.RedirectElsewhere || f.Content == canonical.ComparedMismatch || f.Identifier == canonical.ComparedMismatch
		claim(!signals || !contradicted || r.Score <= 0.50, "conflicting_canonical_signals <= 0.50")
		claim(!contradicted || r.Outcome != canonical.OutcomeInferred, "do_not_force_merge_when canonical_signals_conflict")
		claim(r.Outcome != canonical.OutcomeInferred || r.Status != canonical.StatusDeclared, "inferred is not declared")
		return out
	}
	if conflict {
		claim(r.Score <= 0.50 && r.Status == canonical.StatusConflicting, "conflicting_canonical_signals <= 0.50, preserve conflict")
		return out
	}
	if f.Loop {
		claim(r.Status == canonical.StatusInvalid && r.Score <= 0.50, "reject canonical_loop")
		return out
	}
	switch {
	case f.Self && f.SourceOK && !f.Disqualified:
		claim(r.Score == 0.98 && r.Status == canonical.StatusValidated, "explicit_self_canonical 0.98")
	case f.Target == canonical.TargetError:
		claim(r.Score < 0.95 && r.Status == canonical.StatusDeclared, "persistent error target MAY reduce confidence")
	default:
		claim(r.Score >= 0.95, "explicit WITH confidence >= 0.95")
	}
	claim(r.Score < 0.97 || valid || f.Self, "explicit_canonical_with_valid_target 0.97 only with a valid target")
	redirect := f.Redirect == canonical.RedirectSame || f.Past
	both := f.Identifier == canonical.ComparedMatch && f.Content == canonical.ComparedMatch
	claim(r.Score < 0.99 || valid && (redirect || both), "0.99 only with a valid target and a matching redirect, or identifier and content")
	claim(r.Status != canonical.StatusValidated || !f.Disqualified, "a declaration that is ignored for its attributes is never validated")
	claim(r.Status != canonical.StatusValidated || valid || f.Self && f.SourceOK, "canonical_chain != validated_final_target")
	claim(f.Self || f.Content != canonical.ComparedMismatch || !valid || f.Target == canonical.TargetError || r.Score == 0.95, "declared_canonical != verified_equivalence")
	if !f.Self && valid && !f.Disqualified && f.Content != canonical.ComparedMismatch {
		want := 0.97
		if redirect || both {
			want = 0.99
		}
		claim(r.Score == want && r.Status == canonical.StatusValidated, fmt.Sprintf("valid target %.2f", want))
	}
	return out
}

func TestRules_AreOneTotalFunction(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	rules := canonical.Rules()
	for _, r := range rules {
		if seen[r.ID] || r.Evidence == "" || r.Ontology == "" || r.When == nil {
			t.Errorf("rule %q is doubled or incomplete", r.ID)
		}
		seen[r.ID] = true
	}
	if last := rules[len(rules)-1]; !last.When(canonical.Facts{}) {
		t.Error("the last rule does not hold for everything")
	}
}

// document compares generated text with a file under docs, or rewrites it.
func document(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(old), text); diff != "" {
		t.Errorf("%s is not what the code says; run the test with -update (-file +code):\n%s", path, diff)
	}
}

func TestDocs_RulesAreGenerated(t *testing.T) {
	t.Parallel()
	document(t, "../../docs/canonical-rules.md", rulesDocument())
}

func rulesDocument() string {
	var b strings.Builder
	b.WriteString(`# Canonical rules

Generated from ` + "`sync/canonical/rules.go`" + ` by ` + "`go test ./sync/canonical -run TestDocs -update`" + `. Ruleset **` + canonical.Ruleset + `**.

The first rule from the top whose evidence is at hand decides. A row keeps the rule id and ruleset that it was judged under and
is never judged anew under another ruleset. The score is a function of the evidence alone; time only caps it when it is read
(a stale relationship is shown with at most ` + fmt.Sprintf("%.2f", canonical.StaleCap) + `, nothing is stored).

| rule | evidence | score | comes to | status | line of the ontology |
|---|---|--:|---|---|---|
`)
	for _, r := range canonical.Rules() {
		own := ""
		if r.OwnChoice {
			own = " (figure: our choice)"
		}
		status := string(r.Status)
		if status == "" {
			status = "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %s | %s | %s%s |\n", r.ID, r.Evidence, r.Score, r.Outcome, status, r.Ontology, own)
	}
	b.WriteString(`
*Independent groups* (I2 to I4): publisher metadata (sitemap loc, og:url, schema.org url: one generator, one witness), redirect,
content, identifier. An inferred relationship is validated once its target is proven, and unknown until then; it is never declared.

Enumerated over every combination of evidence by ` + "`TestRules_KeepTheOntologysBounds`" + `.

## Readings of the ontology that had to be chosen

- A chain, a redirecting, blocked or noindex target leaves the declaration at 0.95 (the inference rule knows no exception); it can
  never reach 0.97.
- HTML link and Link header that agree add nothing: one publisher, one claim.
- Signals of the publisher's metadata that contradict each other are conflicting signals as well (C1m, at most 0.50).
- The end of a chain of declarations is a candidate until it is proven (K5), then inferred (I1); the declared target stays what it is.
- A permanent redirect alone (K3) and an identifier alone (K4) have no figure in the ontology.
- A value that alternates is a conflict of the page with itself (C1), both values stay current.
`)
	return b.String()
}
