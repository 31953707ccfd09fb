package canonical_test

import (
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
)

// One page is fetched, judged and put on record.
func Example() {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	response := canonical.Response{
		URL: "https://example.com/post/", Status: 200, Fetched: now,
		Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}},
		Body:   []byte(`<html><head><link rel="canonical" href="/post/"><meta property="og:url" content="https://example.com/post"></head></html>`),
	}
	evidence := canonical.Extract(response)
	verdict := canonical.Judge(canonical.Input{Evidence: evidence, At: now})
	step := canonical.Advance(canonical.Record{}, canonical.Observed{Evidence: evidence, Verdict: verdict, At: now})
	for _, r := range step.Opened {
		fmt.Println(step.Action, r.Status, r.Score, r.Rule, r.Scope, r.Target, r.Hints)
	}
	for _, f := range canonical.Report(canonical.Case{Evidence: evidence, Verdict: verdict}) {
		fmt.Println(f.Severity, f.Code, f.Text)
	}
	// Output:
	// open validated 0.98 E1 self https://example.com/post/ [relative]
	// info canonical-relative "/post/" resolves to https://example.com/post/
	// info og-url-differs https://example.com/post, canonical https://example.com/post/
}
