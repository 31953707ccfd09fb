package syncer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// TestFindings_AreAllInTheCatalogue: whoever sees a code can look up what it means and what to do.
func TestFindings_AreAllInTheCatalogue(t *testing.T) {
	t.Parallel()
	known := func(code string) bool {
		_, document := sitemap.RuleOf(code)
		_, site := sitemap.SiteRuleOf(code)
		return document || site
	}
	text := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	outcomes := regexp.MustCompile(`Outcome += "(\w+)"|Outcome = "(\w+)"`).FindAllStringSubmatch(text("fetch/result.go"), -1)
	if len(outcomes) < 15 {
		t.Fatalf("only %d outcomes found", len(outcomes))
	}
	for _, o := range outcomes {
		for status := 100; status < 600; status += 1 {
			if code := syncer.OutcomeCode(&fetch.Result{Outcome: fetch.Outcome(o[1] + o[2]), Status: status}); !known(code) {
				t.Fatalf("%s is in no catalogue", code)
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	literal, found := regexp.MustCompile(`(?:Code: |note\(|limit\([^"]*, |unavailable\(d, |findingEdgeStale = )"([^"]+)"`), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range literal.FindAllStringSubmatch(text(file), -1) {
			if found++; !known(m[1]) {
				t.Errorf("%s: the code %s is in no catalogue", file, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d codes found", found)
	}
	for _, nonsense := range []string{"http-5", "http-50x", "http-", "fetch-", fmt.Sprintf("http-%d", 5030), ""} {
		if known(nonsense) {
			t.Errorf("%q is known", nonsense)
		}
	}
}
