package export_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/export"
)

// The page that describes the formats names each of them and each column, in order.
func TestDocs_DescribeFormatsAndColumns(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, f := range export.Formats() {
		if !strings.Contains(text, "| `"+f.Name+"` |") {
			t.Errorf("no format %s", f.Name)
		}
	}
	for _, name := range export.Columns() {
		_, rest, found := strings.Cut(text, "\n| `"+name+"` |")
		if !found {
			t.Fatalf("no column %s behind the one before it", name)
		}
		text = rest
	}
}
