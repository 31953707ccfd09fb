package canonical_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

func TestPathTemplate_GroupsByWhatMadeThePage(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"https://example.com/":                      "/",
		"https://example.com":                       "/",
		"https://example.com/a-post/":               "/{slug}/",
		"https://example.com/2026/11/a-post/":       "/{year}/{month}/{slug}/",
		"https://example.com/2026/11/30/a-post":     "/{year}/{month}/{day}/{slug}",
		"https://example.com/category/news/":        "/category/{slug}/",
		"https://example.com/category/news/page/2/": "/category/news/page/{n}/",
		"https://example.com/product/a?color=x&b=":  "/product/{slug}?b&color",
	} {
		if got := canonical.PathTemplate(page); got != want {
			t.Errorf("%s: %s, want %s", page, got, want)
		}
	}
}

func TestFollow_SaysNewFixedAndReopened(t *testing.T) {
	t.Parallel()
	a := canonical.Finding{Code: canonical.FindingMissing, Page: source}
	b := canonical.Finding{Code: canonical.FindingRelative, Page: source}
	at := func(h int) time.Time { return epoch.Add(time.Duration(h) * time.Hour) }
	states := func(tr []canonical.Tracked) (out []string) {
		for _, x := range tr {
			out = append(out, x.Finding.Code+" "+x.State)
		}
		return out
	}
	tr := canonical.Follow(nil, []canonical.Finding{a, b, a}, true, at(0))
	for _, c := range []struct {
		found  []canonical.Finding
		looked bool
		want   []string
	}{
		{[]canonical.Finding{a}, true, []string{"canonical-missing open", "canonical-relative fixed"}},
		{nil, false, []string{"canonical-missing open", "canonical-relative fixed"}},
		{[]canonical.Finding{a, b}, true, []string{"canonical-missing open", "canonical-relative reopened"}},
		{nil, true, []string{"canonical-missing fixed", "canonical-relative fixed"}},
	} {
		tr = canonical.Follow(tr, c.found, c.looked, at(1))
		if diff := cmp.Diff(c.want, states(tr)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if tr[0].Confirmed != 3 || !tr[0].FirstSeen.Equal(at(0)) {
		t.Errorf("%+v", tr[0])
	}
	if row := tr[0].Row(); len(row) != len(canonical.FindingColumns) || row[6] != "/{slug}/" {
		t.Errorf("row %q", row)
	}
}
