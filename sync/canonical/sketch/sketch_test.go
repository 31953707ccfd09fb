package sketch_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/sketch"
)

// prose makes n words that are the same for the same seed.
func prose(seed int64, n int) string {
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	for i := 0; i < n; i++ {
		fmt.Fprintf(&b, "w%d ", r.Intn(5000))
	}
	return b.String()
}

func page(main, around string) []byte {
	return []byte("<html><head><title>t</title></head><body><header>" + around + "</header><nav>" + around + "</nav><main><p>" + main +
		"</p></main><footer>" + around + "</footer><script>" + around + "</script></body></html>")
}

func TestCompare_IsContainmentOfSourceInTarget(t *testing.T) {
	t.Parallel()
	around := prose(99, 400)
	for _, c := range []struct {
		name           string
		source, target []byte
		want           canonical.Compared
	}{
		{"the same text in another frame", page(prose(1, 600), around), page(prose(1, 600), prose(98, 300)), canonical.ComparedMatch},
		{"target holds the source and more", page(prose(1, 600), around), page(prose(2, 900)+prose(1, 600), around), canonical.ComparedMatch},
		{"source holds the target and more", page(prose(2, 2000)+prose(1, 300), around), page(prose(1, 300), around), canonical.ComparedMismatch},
		{"another text in the same frame", page(prose(1, 600), around), page(prose(2, 600), around), canonical.ComparedMismatch},
		{"half of it", page(prose(1, 600), around), page(prose(1, 300)+prose(3, 300), around), canonical.ComparedNear},
		{"too short to tell", page("a few words", ""), page(prose(2, 600), around), canonical.ComparedUnknown},
		{"different but short", page(prose(1, 100), around), page(prose(2, 100), around), canonical.ComparedUnknown},
		{"character references and case", []byte("<p>" + strings.ToUpper(prose(1, 300)) + "caf&eacute;</p>"), []byte("<p>" + prose(1, 300) + "café</p>"), canonical.ComparedMatch},
	} {
		if got := sketch.Compare(sketch.OfHTML(c.source), sketch.OfHTML(c.target)); got != c.want {
			share, ok := sketch.Containment(sketch.OfHTML(c.source), sketch.OfHTML(c.target))
			t.Errorf("%s: %s (%.2f %v), want %s", c.name, got, share, ok, c.want)
		}
	}
}

func TestContainment_EstimatesWithinTenPercent(t *testing.T) {
	t.Parallel()
	for i := int64(0); i < 20; i++ {
		shared := 200 + int(i)*150
		source := sketch.OfText([]byte(prose(i, shared) + prose(100+i, 3000-shared)))
		target := sketch.OfText([]byte(prose(i, shared) + prose(200+i, 3000-shared)))
		got, ok := sketch.Containment(source, target)
		if want := float64(shared) / 3000; !ok || got < want-0.1 || got > want+0.1 {
			t.Errorf("shared %d of 3000: estimate %.3f, want %.3f", shared, got, want)
		}
	}
}

func TestSoftNotFound_NeedsBothTextsAlike(t *testing.T) {
	t.Parallel()
	missing := sketch.OfHTML(page(prose(7, 120), ""))
	if !sketch.SoftNotFound(sketch.OfHTML(page(prose(7, 120), "")), missing) {
		t.Error("the page for missing URLs is not recognised")
	}
	if sketch.SoftNotFound(sketch.OfHTML(page(prose(7, 120)+prose(8, 500), "")), missing) {
		t.Error("a page that holds the text of the missing one is taken for it")
	}
}

func TestSketch_IsKeptInTwoKilobytes(t *testing.T) {
	t.Parallel()
	s := sketch.OfText([]byte(prose(1, 5000)))
	b, err := s.MarshalBinary()
	if err != nil || len(b) > 2052 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	var back sketch.Sketch
	if err := back.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Error(diff)
	}
	if err := back.UnmarshalBinary(b[:7]); err == nil {
		t.Error("a cut sketch is read")
	}
}

func FuzzOfHTML(f *testing.F) {
	f.Add([]byte("<main>a b c d e</main>"), []byte("<p>a b c d"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := sketch.OfHTML(a), sketch.OfHTML(b)
		if len(x.Hashes) > sketch.Size {
			t.Fatalf("%d hashes", len(x.Hashes))
		}
		if share, ok := sketch.Containment(x, x); ok && share != 1 {
			t.Fatalf("a text holds %.2f of itself", share)
		}
		sketch.Compare(x, y)
	})
}
