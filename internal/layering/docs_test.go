package layering_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A document that names a file of ours by a link must find it there.
func TestDocs_LinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, document := range append(documents, more...) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`).FindAllSubmatch(text, -1) {
			target := string(found[1])
			if strings.Contains(target, "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(document), target)); err != nil {
				t.Errorf("%s links to %s: %v", document, target, err)
			}
		}
	}
	if links < 10 {
		t.Errorf("%d links found", links)
	}
}

func TestReadme_IsReadInOneSitting(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 200 {
		t.Errorf("%d lines: move the depth to docs", lines)
	}
	for _, folder := range []string{"cmd/sitemapd", "handlers", "sync", "models", "config", "internal", "wordpress", "deploy", "scripts", "e2e"} {
		if !strings.Contains(string(text), "\n"+folder+"/") {
			t.Errorf("the tree lacks %s", folder)
		}
		if _, err := os.Stat("../../" + folder); err != nil {
			t.Errorf("the tree has %s: %v", folder, err)
		}
	}
}
