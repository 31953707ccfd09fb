package canonical_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	docRow   = regexp.MustCompile(`^\| (\d+) \| (.*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$`)
	docCode  = regexp.MustCompile("`([^`]+)`")
	docTest  = regexp.MustCompile(`Test\w+`)
	docCases = regexp.MustCompile(`\d{3}`)
)

// TestDocs_OntologyIsCovered checks that every line of the ontology has a
// field, code and a test, and that what the page names exists.
func TestDocs_OntologyIsCovered(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ontology-canonical.md")
	if err != nil {
		t.Fatal(err)
	}
	code, tests := sources(t)
	rows := 0
	for _, line := range strings.Split(string(page), "\n") {
		m := docRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		if strings.TrimSpace(m[3]) == "" || !strings.Contains(m[4], "`") || !docTest.MatchString(m[5]) {
			t.Errorf("line %s has no field, code or test: %s", m[1], line)
		}
		for _, c := range docCode.FindAllStringSubmatch(m[4], -1) {
			name := c[1][strings.LastIndexByte(c[1], '.')+1:]
			if c[1] != "doc.go" && !regexp.MustCompile(`\b`+name+`\b`).MatchString(code) {
				t.Errorf("line %s: no code is called %s", m[1], c[1])
			}
		}
		for _, name := range docTest.FindAllString(m[5], -1) {
			if !strings.Contains(tests, "func "+name+"(") {
				t.Errorf("line %s: there is no %s", m[1], name)
			}
		}
		for _, n := range docCases.FindAllString(m[5], -1) {
			if found, _ := filepath.Glob("testdata/cases/" + n + "*.case"); len(found) == 0 {
				t.Errorf("line %s: there is no case %s", m[1], n)
			}
		}
	}
	const lines = 420 // of the ontology, without empty ones and section comments
	if rows != lines {
		t.Errorf("%d lines are mapped, the ontology has %d", rows, lines)
	}
}

// sources gives all code and all tests of this package and those below it.
func sources(t *testing.T) (code, tests string) {
	t.Helper()
	var c, x strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if strings.HasSuffix(path, "_test.go") {
			x.Write(b)
		} else {
			c.Write(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.String(), x.String()
}

// TestImports_ArePure: the package and those below it can do no I/O, read no
// clock and write no log.
func TestImports_ArePure(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`^(os|net|net/http|context|log|log/slog|math/rand.*|os/.*|.*sitemapd/(models|handlers|config|cmd|internal|sync|sync/fetch|sync/sitemap).*)$`)
	allowed := regexp.MustCompile(`sitemapd/sync/(weburl|canonical)(/|$)`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "graph/graphtest/") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("parse %s: %w", path, err)
		}
		for _, i := range file.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			if forbidden.MatchString(name) && !allowed.MatchString(name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		if strings.Contains(string(src), "time.Now(") || strings.Contains(string(src), "time.Since(") || strings.Contains(string(src), "panic(") {
			t.Errorf("%s reads a clock or panics", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
