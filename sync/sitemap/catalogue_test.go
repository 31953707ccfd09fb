package sitemap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

var aspects = []struct {
	aspect sitemap.Aspect
	title  string
}{
	{sitemap.AspectTransfer, "Transfer: status, headers, compression"},
	{sitemap.AspectXML, "Bytes and XML"},
	{sitemap.AspectNamespace, "Namespaces"},
	{sitemap.AspectRoot, "What the document is"},
	{sitemap.AspectEntry, "Entries"},
	{sitemap.AspectURL, "Addresses"},
	{sitemap.AspectValue, "lastmod, changefreq, priority"},
	{sitemap.AspectExtension, "Extensions"},
	{sitemap.AspectCapacity, "Capacity and limits"},
	{sitemap.AspectSite, "Across documents"},
	{sitemap.AspectWalk, "The walk"},
	{sitemap.AspectAnswer, "No answer"},
}

// TestCatalogue_IsDocumented holds docs/findings.md against the catalogue; -update writes it.
func TestCatalogue_IsDocumented(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Findings about documents

Generated from ` + "`sync/sitemap/rules.go`" + ` (` + "`go generate ./sync/sitemap`" + `); do not edit. Findings about pages are in
[canonical-findings.md](canonical-findings.md).

Each finding carries code, severity, line, byte offset into the inflated document, what was seen, and the rule's source.
The first 20 of a code are kept with their places; the first then says how many there were. An **error** cost something
(see the column), a **warning** breaks a rule and was understood all the same, an **info** is worth knowing. Findings that
make a document ` + "`partial`" + ` keep everything it says from removing anything. A document with ` + "`gzip-damaged`" + ` adds and
changes nothing either: it counts as not read.

Findings across documents are kept for each page (the first 20 of a code in each document) and are looked for where a run
changed something, which says those of the documents where they are other than before; ` + "`sitemapd findings SITE --code hreflang-no-return`" + ` lists those of a whole site.
`)
	rules := append(sitemap.Catalogue(), sitemap.SiteCatalogue()...)
	n := 0
	for _, a := range aspects {
		fmt.Fprintf(&b, "\n## %s\n\n| code | severity | meaning | costs | what to do | rule |\n|---|---|---|---|---|---|\n", a.title)
		for _, r := range rules {
			if r.Aspect == a.aspect {
				n++
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.Code, r.Severity, cell(r.Meaning), cell(r.Cost), cell(r.Advice), r.Source)
			}
		}
	}
	if n != len(rules) {
		t.Errorf("%d rules of %d have an aspect", n, len(rules))
	}
	const name = "../../docs/findings.md"
	if *update {
		write(t, name, []byte(b.String()))
		return
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("docs/findings.md is not what the catalogue says; go generate ./sync/sitemap writes it:\n%s", diff)
	}
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s) }

func TestCatalogue_IsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	shape := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, r := range append(sitemap.Catalogue(), sitemap.SiteCatalogue()...) {
		if !shape.MatchString(r.Code) || seen[r.Code] {
			t.Errorf("code %q is malformed or given twice", r.Code)
		}
		seen[r.Code] = true
		if r.Meaning == "" || r.Cost == "" || r.Advice == "" || r.Source == "" || r.Severity == "" {
			t.Errorf("%s is not fully described: %+v", r.Code, r)
		}
		got, ok := sitemap.RuleOf(r.Code)
		if !ok {
			got, ok = sitemap.SiteRuleOf(r.Code)
		}
		if !ok || got != r {
			t.Errorf("%s is not found", r.Code)
		}
	}
	if _, ok := sitemap.RuleOf("no-such-code"); ok {
		t.Error("a code that does not exist is found")
	}
}

// TestCatalogue_EveryFindingHasAFixture: each code is made by at least one document of testdata, so that its text and
// place are held by TestFixtures.
func TestCatalogue_EveryFindingHasAFixture(t *testing.T) {
	t.Parallel()
	made := map[string]bool{}
	for _, name := range documents(t) {
		_, f := load(t, name)
		for _, m := range regexp.MustCompile(`"code": "([a-z0-9-]+)"`).FindAllStringSubmatch(string(f.Want), -1) {
			made[m[1]] = true
		}
	}
	// Made by documents too large to keep: see the tests named.
	for _, elsewhere := range []string{
		"size-over-50mib",    // TestLimits_SizeOfTheProtocol
		"news-over-1000",     // TestLimits_News
		"body-truncated",     // TestRead_AFaultOfTheSourceIsAFinding
		"entries-over-50000", // limit_entries, with a smaller limit
	} {
		made[elsewhere] = true
	}
	var missing []string
	for _, r := range sitemap.Catalogue() {
		if !made[r.Code] {
			missing = append(missing, r.Code)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("no document in %s makes %s", filepath.Join("testdata", "documents"), strings.Join(missing, ", "))
	}
}

func TestLimits_SizeOfTheProtocol(t *testing.T) {
	t.Parallel()
	doc, _ := read(t, head+"<url><loc>https://example.org/a</loc></url>"+strings.Repeat(" ", 50<<20)+"</urlset>")
	if doc.Verdict != sitemap.Complete || !has(doc, "size-over-50mib") || doc.Validation.CapacityValid {
		t.Errorf("%v %v", doc.Verdict, doc.Findings)
	}
	doc, _ = read(t, head+"<url><loc>https://example.org/a</loc></url>"+strings.Repeat(" ", 56<<20)+"</urlset>")
	if doc.Verdict != sitemap.Partial || !has(doc, "size-limit") || doc.Entries != 1 {
		t.Errorf("%v %v", doc.Verdict, doc.Findings)
	}
}

func TestLimits_News(t *testing.T) {
	t.Parallel()
	const block = `<news:news xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"><news:title>x</news:title></news:news>`
	body := string(entries(1001, block))
	doc, _ := read(t, body)
	if !has(doc, "news-over-1000") || doc.Verdict != sitemap.Complete {
		t.Errorf("%v %v", doc.Verdict, doc.Findings[len(doc.Findings)-1])
	}
}
