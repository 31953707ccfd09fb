package syncer

import (
	"context"
	"testing"
)

// Tracing that is switched off must cost nothing: it stands in the way of every document.
func TestSpan_AllocatesNothingWhileOff(t *testing.T) {
	e, ctx, url := &Engine{}, context.Background(), "https://example.com/sitemap.xml"
	n := testing.AllocsPerRun(1000, func() {
		inside, end := e.span(ctx, "document", "url.full", url)
		end("complete", nil)
		if inside != ctx {
			t.Fatal("another context")
		}
	})
	if n != 0 {
		t.Errorf("%.0f allocations a span", n)
	}
}
