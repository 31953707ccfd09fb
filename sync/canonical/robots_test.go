package canonical_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

func TestParseRobots_ReadsAgentsValuesAndDates(t *testing.T) {
	t.Parallel()
	type d = canonical.Directive
	for _, c := range []struct {
		content  string
		inHeader bool
		want     []d
	}{
		{"noindex, nofollow", false, []d{{"", "noindex", ""}, {"", "nofollow", ""}}},
		{" NoIndex ,,max-snippet: 20", false, []d{{"", "noindex", ""}, {"", "max-snippet", "20"}}},
		{"googlebot: nofollow, noindex, otherbot: none", true, []d{{"googlebot", "nofollow", ""}, {"googlebot", "noindex", ""}, {"otherbot", "none", ""}}},
		{"max-image-preview:large, noindex", true, []d{{"", "max-image-preview", "large"}, {"", "noindex", ""}}},
		{"unavailable_after: Wednesday, 25-Jun-26 15:00:00 GMT, noarchive", true, []d{{"", "unavailable_after", "Wednesday, 25-Jun-26 15:00:00 GMT"}, {"", "noarchive", ""}}},
		{"bingbot: unavailable_after: 25 Jun 2026 15:00:00 PST", true, []d{{"bingbot", "unavailable_after", "25 Jun 2026 15:00:00 PST"}}},
		{"", true, nil},
	} {
		if diff := cmp.Diff(c.want, canonical.ParseRobots(c.content, c.inHeader)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.content, diff)
		}
	}
}

func TestParseRefresh_FollowsTheSharedSteps(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct {
		delay int
		url   string
		ok    bool
	}{
		"0; url=/x": {0, "/x", true}, "0;url=/x": {0, "/x", true}, "5 ; URL = '/x' junk": {5, "/x", true}, "0;": {0, "", true}, "3": {3, "", true},
		"0, /x": {0, "/x", true}, "0 /x": {0, "/x", true}, ".7; url=/x": {0, "/x", true}, "1.9;/x": {1, "/x", true}, "0; url": {0, "url", true}, "0; urlx": {0, "urlx", true},
		"": {0, "", false}, "x": {0, "", false}, "url=/x": {0, "", false}, "0x": {0, "", false}, `0; url="/x`: {0, "/x", true},
	} {
		delay, url, ok := canonical.ParseRefresh(s)
		if ok != want.ok || ok && (delay != want.delay || url != want.url) {
			t.Errorf("%q: %d %q %v, want %v", s, delay, url, ok, want)
		}
	}
}
