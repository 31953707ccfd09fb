package syncer_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

func TestPreferred_StatesTheFormOfOtherURLsAlone(t *testing.T) {
	t.Parallel()
	site := func(scheme, host, slash string) models.Site {
		return models.Site{Home: "https://example.com/", Root: "https://example.com/wp-sitemap.xml", Settings: models.SiteSettings{
			PreferredScheme: scheme, PreferredHost: host, TrailingSlash: slash}}
	}
	for _, c := range []struct {
		site     models.Site
		page, to string // "" says that nothing is stated
	}{
		{site("", "", ""), "http://example.com/a", ""},
		{site("https", "", ""), "http://example.com/a?b=c&a", "https://example.com/a?b=c&a"},
		{site("https", "", ""), "https://example.com/a", ""},
		{site("https", "", ""), "http://example.com:8080/a", ""}, // the port belongs to http
		{site("", "www.example.com", ""), "https://example.com/a/", "https://www.example.com/a/"},
		{site("", "www.example.com", ""), "https://www.example.com/a/", ""},
		{site("", "www.example.com", ""), "https://WWW.Example.com/a/", ""},
		{site("", "www.example.com", ""), "https://other.example/a/", ""},
		{site("https", "www.example.com", "add"), "http://example.com/a%C3%A4/B?x=%2f", "https://www.example.com/a%C3%A4/B/?x=%2f"},
		{site("https", "example.com:8443", ""), "http://example.com/a", "https://example.com:8443/a"},
		{site("", "", "add"), "https://example.com", ""},
		{site("", "", "add"), "https://example.com/", ""},
		{site("", "", "add"), "https://example.com/a/file.pdf", ""},
		{site("", "", "add"), "https://example.com/v1.2/a", "https://example.com/v1.2/a/"},
		{site("", "", "remove"), "https://example.com/", ""},
		{site("", "", "remove"), "https://example.com/a/?p=1#x", "https://example.com/a?p=1"},
		{site("", "", "remove"), "https://example.com/a", ""},
		{site("https", "", ""), "mailto:a@example.com", ""},
	} {
		to, differs := syncer.Preferred(c.site, c.page)
		if differs != (c.to != "") || differs && to != c.to {
			t.Errorf("%+v: %s: %q, %v; want %q", c.site.Settings, c.page, to, differs, c.to)
		}
	}
}

// What an owner states of the form of URLs is evidence of its own method: judged, kept apart from what the page declares,
// and in conflict with a page that declares another form. Taken back, it is closed.
func TestVerify_TakesTheOwnersWordForItsOwn(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	l.verify()
	post := l.posts[0]
	slashless := strings.TrimSuffix(post, "/")
	settings := func(policy string) {
		t.Helper()
		site, err := l.store.Site(t.Context(), l.site.ID)
		if err != nil {
			t.Fatal(err)
		}
		site.Settings.TrailingSlash = policy
		if err := l.store.SaveSite(t.Context(), site); err != nil {
			t.Fatal(err)
		}
	}
	settings(models.SlashRemove)
	l.verify(post)
	of := l.lines(models.CanonicalFilter{Source: post})[post]
	by := map[string]models.Canonical{}
	for _, c := range of {
		by[c.Method] = c
	}
	stated, declared := by["structured_system_configuration"], by["html_link_element"]
	if len(of) != 2 || brief(&stated) != "conflicting C1 0.50 conflict config_vs_page" || brief(&declared) != brief(&stated) || stated.CanonicalURL != slashless {
		t.Errorf("%d lines: %s to %s, %s", len(of), brief(&stated), stated.CanonicalURL, brief(&declared))
	}
	if !strings.Contains(string(stated.Provenance), `"source_document":"operator"`) || !strings.Contains(string(stated.Signals), `"system"`) {
		t.Errorf("provenance %s, signals %s", stated.Provenance, stated.Signals)
	}
	if !l.open(post, canonical.FindingConflict) {
		t.Errorf("%v", l.findings(post))
	}
	settings("")
	l.verify(post)
	if got := l.line(post); got != validSelf {
		t.Errorf("taken back: %s", got)
	}
	if all, _, err := l.store.RelationshipHistory(t.Context(), l.site.ID, models.Key(canonical.KeyOf(post))); err != nil || len(all) != 2 {
		t.Errorf("%d relationships, %v", len(all), err)
	}
}

// open says whether a finding on a page is there and not fixed.
func (l *pagesLab) open(url, code string) bool {
	l.Helper()
	return slices.ContainsFunc(l.findings(url), func(f string) bool { return strings.HasSuffix(f, " "+code) && !strings.HasPrefix(f, "fixed ") })
}

// stating is a database in which the site's plugin stated canonical URLs.
type stating struct {
	*store.Store
	entered map[models.Key]models.ConfiguredCanonical
}

func (s *stating) ConfiguredCanonicals(_ context.Context, _ int64, keys []models.Key) (out []models.ConfiguredCanonical, err error) {
	for _, k := range keys {
		if c, ok := s.entered[k]; ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// What the companion plugin lists is evidence too: an entered URL counts beside the page's own word, a permalink fills
// the gap of a page that says nothing, and is reported as that gap all the same.
func TestVerify_TakesWhatThePluginStates(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 5)
	s := &stating{l.store, map[models.Key]models.ConfiguredCanonical{}}
	state := func(i int, to string, explicit bool) {
		s.entered[models.Key(canonical.KeyOf(l.posts[i]))] = models.ConfiguredCanonical{URL: l.posts[i], Canonical: to, Explicit: explicit, System: "wordpress 7.1, yoast"}
	}
	p := l.posts
	state(0, p[4], true)  // entered, but a cache or the theme prints another one
	state(1, p[1], false) // the permalink of a page that speaks for itself
	state(2, p[2], false) // the permalink of a page that does not
	l.origin.Fail(sitetest.Path(p[2]), sitetest.Canonical())
	state(3, p[4], true) // entered and printed
	l.origin.Fail(sitetest.Path(p[3]), sitetest.Canonical(p[4]))
	o := syncer.VerifierOptions{Store: s}
	l.verifier = l.newVerifier(o)
	l.verify()
	for i, want := range [][]string{
		{"html_link_element conflicting C1 0.50 conflict config_vs_page", "structured_system_configuration conflicting C1 0.50 conflict config_vs_page"},
		{"html_link_element " + validSelf},
		{"structured_system_configuration " + validSelf},
		{"html_link_element validated E3 0.97 chain", "structured_system_configuration validated E3 0.97 chain"},
		{"html_link_element " + validSelf},
	} {
		var got []string
		for _, c := range l.lines(models.CanonicalFilter{Source: p[i]})[p[i]] {
			got = append(got, c.Method+" "+brief(&c))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("page %d (-want +got):\n%s", i, diff)
		}
	}
	if !l.open(p[0], canonical.FindingConflict) || !l.open(p[2], canonical.FindingMissing) || l.open(p[1], canonical.FindingMissing) {
		t.Errorf("%v, %v, %v", l.findings(p[0]), l.findings(p[1]), l.findings(p[2]))
	}
	// The entered URL is taken out: the conflict ends and is closed.
	delete(s.entered, models.Key(canonical.KeyOf(p[0])))
	l.verify(p[0])
	if got := l.line(p[0]); got != validSelf || l.open(p[0], canonical.FindingConflict) {
		t.Errorf("taken out: %s, %v", got, l.findings(p[0]))
	}
}
