package canonical_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)

func TestFindingKinds_AreACatalogue(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range canonical.FindingKinds() {
		if !kebab.MatchString(k.Code) || seen[k.Code] {
			t.Errorf("code %q is doubled or not kebab-case", k.Code)
		}
		seen[k.Code] = true
		if k.Meaning == "" || k.Do == "" || k.Report == "" || k.Weight == "" {
			t.Errorf("%s is incomplete", k.Code)
		}
		switch k.Severity {
		case canonical.SeverityError, canonical.SeverityWarning, canonical.SeverityInfo:
		default:
			t.Errorf("%s has severity %q", k.Code, k.Severity)
		}
		if got, ok := canonical.FindingKindOf(k.Code); !ok || got != k {
			t.Errorf("%s is not found", k.Code)
		}
	}
}

// judged extracts and judges a response, with targets known as given.
func judged(r canonical.Response, targets map[canonical.Key]canonical.Target, g canonical.GraphState) canonical.Case {
	ev := canonical.Extract(r)
	return canonical.Case{Evidence: ev, Verdict: canonical.Judge(canonical.Input{Evidence: ev, Targets: targets, Graph: g, At: epoch}),
		Home: canonical.KeyOf("https://example.com/")}
}

// outside are cases that need more than one page's answer.
func outside() []canonical.Case {
	no, yes := false, true
	const target = "https://example.com/t/"
	state := func(s canonical.TargetState) map[canonical.Key]canonical.Target {
		return map[canonical.Key]canonical.Target{canonical.KeyOf(target): {State: s, Validation: canonical.Validation{Status: 500, RedirectTarget: "https://example.com/u/"}}}
	}
	listed := canonical.Listing{Listed: true, Documents: []string{"https://example.com/sitemap.xml"}}
	with := func(c canonical.Case, f func(*canonical.Case)) canonical.Case {
		f(&c)
		return c
	}
	self := judged(answer(200, source), nil, canonical.GraphState{})
	declares := judged(answer(200, target), nil, canonical.GraphState{})
	mismatch := state(canonical.TargetValid)
	mismatch[canonical.KeyOf(target)] = canonical.Target{State: canonical.TargetValid, Content: canonical.ComparedMismatch}
	schema := func(r *canonical.Response) {
		r.Body = []byte(strings.Replace(string(r.Body), "</head>", `<script type="application/ld+json">{"@type":"Article","url":"/other/"}</script></head>`, 1))
	}
	foreign := answer(200, source)
	foreign.Sitemaps = []canonical.SitemapListing{{Document: "https://example.com/sitemap.xml", Loc: "http://localhost/p/"}}
	flapping := judged(answer(200, source), nil, canonical.GraphState{})
	flapping.Verdict = canonical.Judge(canonical.Input{Evidence: flapping.Evidence, Flapping: true, At: epoch})
	return []canonical.Case{
		with(self, func(c *canonical.Case) { c.Published = true }),
		with(judged(answer(404, ""), nil, canonical.GraphState{}), func(c *canonical.Case) { c.Published, c.Listing = true, listed }),
		with(judged(answer(500, ""), nil, canonical.GraphState{}), func(c *canonical.Case) { c.Listing = listed }),
		with(judged(failed(canonical.FailureTimeout), nil, canonical.GraphState{}), func(c *canonical.Case) { c.Listing = listed }),
		with(judged(answer(403, ""), nil, canonical.GraphState{}), func(c *canonical.Case) { c.Listing = listed }),
		with(judged(redirected(301, target), nil, canonical.GraphState{}), func(c *canonical.Case) { c.Listing = listed }),
		with(self, func(c *canonical.Case) { c.Listing, c.Soft404 = listed, true }),
		with(judged(answer(200, "", withHeader("Cf-Mitigated", "challenge")), nil, canonical.GraphState{}), func(c *canonical.Case) { c.Listing = listed }),
		with(self, func(c *canonical.Case) {
			c.Listing = canonical.Listing{Listed: true, Documents: []string{"a", "b"}}
			c.Variants = []string{"http://example.com/p/"}
		}),
		with(judged(foreign, nil, canonical.GraphState{}), func(c *canonical.Case) { c.Listing = listed }),
		with(declares, func(c *canonical.Case) { c.Listing, c.TargetListed, c.Dependents, c.SitePages = listed, &no, 40, 500 }),
		judged(answer(200, target), state(canonical.TargetError), canonical.GraphState{}),
		judged(answer(200, target), state(canonical.TargetTempFail), canonical.GraphState{}),
		judged(answer(200, target), state(canonical.TargetNotFound), canonical.GraphState{}),
		judged(answer(200, target), state(canonical.TargetNoindex), canonical.GraphState{}),
		judged(answer(200, target), mismatch, canonical.GraphState{}),
		judged(answer(200, target), nil, canonical.GraphState{Resolution: canonical.ResolutionIntoLoop, LoopID: "x"}),
		judged(answer(200, target), nil, canonical.GraphState{Resolution: canonical.ResolutionTooLong}),
		judged(answer(200, "https://example.com/"), nil, canonical.GraphState{}),
		judged(answer(200, source, schema), nil, canonical.GraphState{}),
		with(self, func(c *canonical.Case) {
			c.NoReturn, c.NonCanonical = []string{"https://example.com/de/"}, []string{"https://example.com/fr/"}
		}),
		flapping,
		with(self, func(c *canonical.Case) {
			c.Listing = canonical.Listing{Listed: true, Lastmod: epoch, Previous: epoch.Add(-time.Hour)}
			c.ContentMoved, c.PageDate = &no, epoch.Add(-90*24*time.Hour)
		}),
		with(self, func(c *canonical.Case) {
			c.Listing = canonical.Listing{Listed: true, Lastmod: epoch, Previous: epoch}
			c.ContentMoved = &yes
		}),
	}
}

// TestReport_ProducesEveryCode: no entry of the catalogue is dead, and none
// is reported that the catalogue lacks.
func TestReport_ProducesEveryCode(t *testing.T) {
	t.Parallel()
	produced := map[string]bool{}
	note := func(c canonical.Case) {
		ids := map[string]bool{}
		for _, f := range canonical.Report(c) {
			k, ok := canonical.FindingKindOf(f.Code)
			if !ok || f.Severity != k.Severity || f.Text == "" || f.Page == "" {
				t.Errorf("finding %+v", f)
			}
			produced[f.Code] = true
			ids[f.ID()] = true
		}
	}
	for _, c := range outside() {
		note(c)
	}
	paths, _ := filepath.Glob("testdata/cases/*.case")
	for _, p := range paths {
		w := play(t, parseFixture(t, p))
		for _, l := range w.looks {
			for _, f := range l.findings {
				produced[f.Code] = true
			}
		}
	}
	produced[canonical.GraphCorrected(source, "chain", 1, "loop", 2).Code] = true // found by audits, not by looks
	for _, k := range canonical.FindingKinds() {
		if !produced[k.Code] {
			t.Errorf("%s is never reported", k.Code)
		}
	}
}

func TestReport_IsQuietAboutGoodPages(t *testing.T) {
	t.Parallel()
	ev := canonical.Extract(response(wordpressPage(30_000), 0))
	c := canonical.Case{Evidence: ev, Verdict: canonical.Judge(canonical.Input{Evidence: ev, At: epoch}), Home: canonical.KeyOf("https://example.com/"),
		Listing: canonical.Listing{Listed: true, Documents: []string{"https://example.com/sitemap.xml"}, Lastmod: epoch}, Published: true, SitePages: 100}
	if got := canonical.Report(c); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestReport_Mutes(t *testing.T) {
	t.Parallel()
	c := judged(answer(200, ""), nil, canonical.GraphState{})
	if got := canonical.Report(c); len(got) != 1 || got[0].Code != canonical.FindingMissing {
		t.Fatalf("%+v", got)
	}
	c.Muted = map[string]bool{canonical.FindingMissing: true}
	if got := canonical.Report(c); len(got) != 0 {
		t.Errorf("muted, but %+v", got)
	}
}

func TestFinding_IDIsStable(t *testing.T) {
	t.Parallel()
	a := canonical.Finding{Code: "x", Page: "https://example.com/a", Text: "one"}
	b := canonical.Finding{Code: "x", Page: "HTTPS://EXAMPLE.com/a#y", Text: "two"}
	if a.ID() != b.ID() {
		t.Error("the same fault of the same page has two ids")
	}
	b.Code = "y"
	if a.ID() == b.ID() {
		t.Error("two faults have one id")
	}
}

func TestDocs_FindingsAreGenerated(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Findings on pages

Generated from ` + "`sync/canonical/findings.go`" + ` by ` + "`go test ./sync/canonical -run TestDocs -update`" + `. Codes are stable: scripts and tickets may rely
on them. *Report* groups codes that are one report (S: what sitemaps list, C: what pages declare); *known as* is what Search Console
and audit tools call it.

| code | report | severity | weight | meaning | what to do | known as |
|---|---|---|---|---|---|---|
`)
	for _, k := range canonical.FindingKinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", k.Code, k.Report, k.Severity, k.Weight, k.Meaning, strings.ReplaceAll(k.Do, "|", `\|`), k.KnownAs)
	}
	document(t, "../../docs/canonical-findings.md", b.String())
}
