package sitemap_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	docRow     = regexp.MustCompile(`^\| (\d+) \| (.*) \| (.*) \| (.*) \| (.*) \|$`)
	docCode    = regexp.MustCompile("`([^`]+)`")
	docTest    = regexp.MustCompile(`\b(Test\w+)`)
	docFixture = regexp.MustCompile(`[a-z0-9_]+\.(?:xml\.gz|txt\.gz|xml|txt|html|json|xsl|pdf|png|gz)\b`)
)

// TestDocs_OntologyIsCovered checks that every line of the ontology has a field, code and a test, and that what
// docs/ontology-sitemap.md names exists.
func TestDocs_OntologyIsCovered(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ontology-sitemap.md")
	if err != nil {
		t.Fatal(err)
	}
	words, tests := names(t)
	rows := 0
	for _, line := range strings.Split(string(page), "\n") {
		m := docRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		if strings.TrimSpace(m[3]) == "" || !docCode.MatchString(m[4]) || !docTest.MatchString(m[5]) {
			t.Errorf("line %s has no field, code or test", m[1])
		}
		for _, c := range docCode.FindAllStringSubmatch(m[4], -1) {
			name := c[1][strings.LastIndexByte(c[1], '.')+1:]
			if !words[name] && !strings.HasSuffix(c[1], ".go") {
				t.Errorf("line %s: no code is called %s", m[1], c[1])
			}
		}
		for _, name := range docTest.FindAllString(m[5], -1) {
			if !tests[name] {
				t.Errorf("line %s: there is no %s", m[1], name)
			}
		}
		for _, name := range docFixture.FindAllString(m[5], -1) {
			if _, err := os.Stat("testdata/documents/" + name); err != nil {
				t.Errorf("line %s: there is no document %s", m[1], name)
			}
		}
	}
	const lines = 460 // of the ontology, without empty ones and section comments
	if rows != lines {
		t.Errorf("%d lines are mapped, the ontology has %d", rows, lines)
	}
}

// names gives all identifiers of the repository's code, and all its tests.
func names(t *testing.T) (words, tests map[string]bool) {
	t.Helper()
	words, tests = map[string]bool{}, map[string]bool{}
	identifier := regexp.MustCompile(`\b[A-Za-z]\w*\b`)
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range test.FindAllSubmatch(b, -1) {
				tests[string(m[1])] = true
			}
			return nil
		}
		for _, w := range identifier.FindAll(b, -1) {
			words[string(w)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return words, tests
}
