package e2e_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// faultsPlugin lets a test bend single pages, as plugins and redirect managers do: {"/path/": {"canonical": ..., ...}}.
const faultsPlugin = `<?php
function sd_fault( $name ) {
	$faults = json_decode( (string) get_option( 'sd_faults' ), true );
	$path   = isset( $_SERVER['REQUEST_URI'] ) ? $_SERVER['REQUEST_URI'] : '';
	return isset( $faults[ $path ][ $name ] ) ? $faults[ $path ][ $name ] : null;
}
add_filter( 'get_canonical_url', function ( $url ) {
	return sd_fault( 'canonical' ) ?: $url;
} );
add_filter( 'wp_robots', function ( $robots ) {
	return sd_fault( 'noindex' ) ? array( 'noindex' => true ) + $robots : $robots;
} );
add_action( 'template_redirect', function () {
	if ( sd_fault( 'redirect' ) ) {
		wp_redirect( sd_fault( 'redirect' ), 301 );
		exit;
	}
	if ( sd_fault( 'status' ) ) {
		status_header( (int) sd_fault( 'status' ) );
		exit( 'Error' );
	}
}, 0 );
`

// canonicalLine is *Canonical* of CONTRACT, as far as these tests read it.
type canonicalLine struct {
	SourceURL    string  `json:"source_url"`
	CanonicalURL string  `json:"canonical_url"`
	Method       string  `json:"declaration_method"`
	Status       string  `json:"status"`
	Reason       string  `json:"reason"`
	Confidence   float64 `json:"confidence"`
	Rule         string  `json:"rule"`
	Resolution   string  `json:"resolution"`
	Signals      struct {
		HTMLLink []json.RawMessage `json:"html_link"`
		REST     []struct {
			Identifier string `json:"identifier"`
		} `json:"wp_rest_id"`
		Sitemap []json.RawMessage `json:"sitemap"`
	} `json:"signals"`
}

func (l *canonicalLine) brief() string {
	return strings.TrimSpace(l.Status + " " + l.Rule + " " + strconv.FormatFloat(l.Confidence, 'f', 2, 64) + " " + l.Resolution + " " + l.Reason)
}

// verify runs `sitemapd verify SITE` and gives the first line of each page.
func (p program) verify(t *testing.T, site string, urls ...string) map[string]canonicalLine {
	t.Helper()
	out := map[string]canonicalLine{}
	for _, l := range decodeLines[canonicalLine](t, p, append([]string{"verify", site, "--pace", "0s", "-o", "ndjson"}, urls...)...) {
		if _, known := out[l.SourceURL]; !known {
			out[l.SourceURL] = l
		}
	}
	return out
}

// reported gives "state code" of the findings on a page.
func (p program) reported(t *testing.T, site, page string) []string {
	t.Helper()
	type row struct{ Code, State, Page string }
	var out []string
	for _, r := range decodeLines[row](t, p, "report", site, "--state", "all", "-o", "ndjson") {
		if r.Page == page {
			out = append(out, r.State+" "+r.Code)
		}
	}
	return out
}

// isPost says whether WordPress prints a canonical link on a listed page: core does for single posts and pages alone.
func isPost(page string, s site) bool {
	u, err := url.Parse(page)
	if err != nil || strings.TrimSuffix(page, "/") == strings.TrimSuffix(s.url, "/") {
		return false
	}
	for _, archive := range []string{"/category/", "/tag/", "/author/"} {
		if strings.HasPrefix(u.Path, archive) {
			return false
		}
	}
	return true
}

// TestWordPress_Verify: every listed page is verified, posts declare themselves, archives nothing; then faults that
// plugins plant are found, reported and, once mended, closed.
func TestWordPress_Verify(t *testing.T) {
	s := openSite(t)
	plugin := filepath.Join(filepath.Dir(s.driver), "htdocs", "wp-content", "mu-plugins", "faults.php")
	if err := os.WriteFile(plugin, []byte(faultsPlugin), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(plugin) })
	t.Cleanup(func() { s.set(t, "option", "sd_faults", "") })
	s.set(t, "permalink", "/%postname%/") // the rules of archives are made anew
	var posts []post
	for _, title := range []string{"Canonical one", "Canonical two", "Canonical three", "Canonical four", "Canonical five", "Canonical six"} {
		posts = append(posts, s.act(t, "publish", title))
	}
	t.Cleanup(func() {
		for _, p := range posts {
			s.act(t, "delete", id(p))
		}
	})
	inventory := s.list(t)
	var named []string // all pages of a small site; of a large one these, for each takes WordPress a good part of a second
	if len(inventory) > 300 {
		for _, p := range posts {
			named = append(named, p.URL)
		}
		archives := 0
		for _, u := range slices.Sorted(maps.Keys(inventory)) {
			if !isPost(u, s) && archives < 40 {
				archives++
				named = append(named, u)
			} else if isPost(u, s) && len(named)-archives < 60 {
				named = append(named, u)
			}
		}
		maps.DeleteFunc(inventory, func(u, _ string) bool { return !slices.Contains(named, u) })
	}
	for name, p := range programs(t) {
		t.Run(name, func(t *testing.T) {
			s.set(t, "option", "sd_faults", "")
			if r := p.sync(t, s.url); r.Verdict != "complete" {
				t.Fatalf("verdict %s (%s)", r.Verdict, r.Reason)
			}
			lines := p.verify(t, s.url, named...)
			for u := range inventory {
				l, ok := lines[u]
				switch {
				case !ok:
					t.Errorf("%s is listed and was not verified", u)
				case isPost(u, s) && (l.brief() != "validated E1 0.98 self" || len(l.Signals.REST) == 0 || len(l.Signals.Sitemap) == 0):
					t.Errorf("%s: %s, %d REST ids, %d listings", u, l.brief(), len(l.Signals.REST), len(l.Signals.Sitemap))
				case !isPost(u, s) && l.brief() != "unknown N0 0.00 none no_declaration":
					t.Errorf("%s: %s", u, l.brief())
				}
				if found := p.reported(t, s.url, u); slices.Contains(found, "new canonical-missing") {
					t.Errorf("%s is an archive, where core prints no canonical link: %v", u, found)
				}
			}
			plant(t, s, p, posts)
		})
	}
}

func plant(t *testing.T, s site, p program, posts []post) {
	t.Helper()
	path := func(i int) string {
		u, err := url.Parse(posts[i].URL)
		if err != nil {
			t.Fatal(err)
		}
		return u.RequestURI()
	}
	faults, err := json.Marshal(map[string]map[string]string{
		path(0): {"redirect": posts[5].URL},
		path(1): {"noindex": "1"},
		path(2): {"canonical": posts[5].URL},
		path(3): {"canonical": posts[4].URL},
		path(4): {"canonical": posts[3].URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.set(t, "option", "sd_faults", string(faults))
	var urls []string
	for i := range 5 {
		urls = append(urls, posts[i].URL)
	}
	lines := p.verify(t, s.url, urls...)
	for i, want := range []struct{ line, finding string }{
		{"conflicting C1 0.50 chain explicit_vs_redirect", "new sitemap-lists-redirect"},
		{"validated E1 0.98 self", "new sitemap-lists-noindex"},
		{"validated E3 0.97 chain", "new sitemap-lists-non-canonical"},
		{"invalid C2 0.30 loop canonical_loop", "new canonical-loop"},
		{"invalid C2 0.30 loop canonical_loop", "new canonical-loop"},
	} {
		l := lines[posts[i].URL]
		if l.brief() != want.line {
			t.Errorf("page %d: %s, want %s", i, l.brief(), want.line)
		}
		if found := p.reported(t, s.url, posts[i].URL); !slices.Contains(found, want.finding) {
			t.Errorf("page %d: no %q in %v", i, want.finding, found)
		}
	}
	s.set(t, "option", "sd_faults", "")
	lines = p.verify(t, s.url, urls...)
	for i := range 5 {
		l := lines[posts[i].URL]
		if l.brief() != "validated E1 0.98 self" {
			t.Errorf("mended, page %d: %s", i, l.brief())
		}
		for _, f := range p.reported(t, s.url, posts[i].URL) {
			if !strings.HasPrefix(f, "fixed ") {
				t.Errorf("mended, page %d: %s", i, f)
			}
		}
	}
}
