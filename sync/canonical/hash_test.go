package canonical_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

func relationships(urls ...string) []canonical.Relationship {
	var out []canonical.Relationship
	for _, u := range urls {
		r := answer(200, u)
		v := canonical.Judge(canonical.Input{Evidence: canonical.Extract(r), At: epoch})
		out = append(out, v.Relationships...)
	}
	return out
}

func TestSemanticHash_ChangesWithMeaningOnly(t *testing.T) {
	t.Parallel()
	base := relationships("https://example.com/a", "https://example.com/b?x=1&y=2")
	want := canonical.SemanticHash(base)
	same := map[string][]canonical.Relationship{
		"another order":    {base[1], base[0]},
		"another spelling": relationships("HTTPS://EXAMPLE.COM:443/a", "https://example.com/b?x=1&y=2#top"),
		"another reader":   func() []canonical.Relationship { c := slices.Clone(base); c[0].Provenance.Parser = "other"; return c }(),
	}
	for name, set := range same {
		if canonical.SemanticHash(set) != want {
			t.Errorf("%s: the hash differs", name)
		}
	}
	edit := func(f func(*canonical.Relationship)) []canonical.Relationship {
		c := slices.Clone(base)
		f(&c[0])
		return c
	}
	for name, set := range map[string][]canonical.Relationship{
		"query order":  relationships("https://example.com/a", "https://example.com/b?y=2&x=1"),
		"slash":        relationships("https://example.com/a/", "https://example.com/b?x=1&y=2"),
		"one less":     base[:1],
		"status":       edit(func(r *canonical.Relationship) { r.Status = canonical.StatusValidated }),
		"score":        edit(func(r *canonical.Relationship) { r.Score = 0.97 }),
		"method":       edit(func(r *canonical.Relationship) { r.Method = canonical.MethodHTTP }),
		"valid from":   edit(func(r *canonical.Relationship) { r.ValidFrom = epoch.Add(time.Second) }),
		"closed":       edit(func(r *canonical.Relationship) { r.ValidUntil = epoch.Add(time.Second) }),
		"rule":         edit(func(r *canonical.Relationship) { r.Rule = "E3" }),
		"other source": edit(func(r *canonical.Relationship) { r.SourceKey = canonical.KeyOf("https://example.com/z") }),
	} {
		if canonical.SemanticHash(set) == want {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

func TestLines_HaveTheContractsShape(t *testing.T) {
	t.Parallel()
	r := answer(200, "https://example.com/t/", withHeader("Link", `<https://example.com/t/>; rel="canonical"`))
	r.Sitemaps = []canonical.SitemapListing{{Document: "https://example.com/sitemap.xml", Loc: source}}
	ev := canonical.Extract(r)
	lines := canonical.Lines(&ev, canonical.Judge(canonical.Input{Evidence: ev, At: epoch}))
	if len(lines) != 2 {
		t.Fatalf("%d lines for two methods", len(lines))
	}
	raw, err := json.Marshal(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"source_url", "canonical_url", "declaration_method", "status", "reason", "confidence", "rule", "resolution", "signals", "validation",
		"valid_from", "valid_until", "provenance"} {
		if _, ok := got[k]; !ok {
			t.Errorf("%s is missing from %s", k, raw)
		}
	}
	signals := got["signals"].(map[string]any)
	for _, k := range []string{"html_link", "http_link", "redirect", "og_url", "schema_url", "sitemap"} {
		if _, ok := signals[k].([]any); !ok {
			t.Errorf("signals.%s is no list", k)
		}
	}
	if got["valid_until"] != nil {
		t.Error("a current relationship has an end")
	}
	none := canonical.Extract(answer(200, ""))
	lines = canonical.Lines(&none, canonical.Judge(canonical.Input{Evidence: none, At: epoch}))
	if len(lines) != 1 || lines[0].CanonicalURL != "" || lines[0].Status != canonical.StatusUnknown || lines[0].Reason != canonical.ReasonNoDeclaration {
		t.Errorf("a page without declaration: %+v", lines)
	}
	ld := lines[0].JSONLD()
	if ld["@type"] != "CanonicalURLMetadata" || ld["DESCRIBES"].(map[string]any)["DECLARES_PREFERRED"] != nil {
		t.Errorf("JSON-LD of a page without declaration: %v", ld)
	}
	if raw, err := json.Marshal(ld); err != nil || len(raw) == 0 {
		t.Errorf("JSON-LD: %v", err)
	}
}
