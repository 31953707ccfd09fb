package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// Wrong use is told with what was wrong, where, and what to do instead, and ends with the exit code of wrong use.
func TestWrongUse_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	origin := sitetest.New(sitetest.Options{Posts: 3, Seed: 1})
	if err := origin.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	folder := t.TempDir()
	database := "sqlite:" + filepath.Join(folder, "sitemapd.db")
	run := func(args ...string) (int, string) {
		var out, errOut bytes.Buffer
		code := execute(t.Context(), append(args, "--database", database, "--log-level", "error"), &out, &errOut)
		return code, errOut.String()
	}
	if code, errOut := run("sync", origin.URL(), "--allow-private", "127.0.0.0/8"); code != exitDone {
		t.Fatalf("sync: %d, %s", code, errOut)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check"}, "`sitemapd check FILE|URL"},
		{[]string{"check", folder}, "it is a directory"},
		{[]string{"check", "ftp://example.org/sitemap.xml"}, `"ftp" is no scheme that is read`},
		{[]string{"check", filepath.Join(folder, "none.xml")}, "name a file, a URL"},
		{[]string{"changes", origin.URL(), "--run", "abc"}, `invalid argument "abc" for "--run" flag: want a number; see`},
		{[]string{"changes", origin.URL(), "--run", "99999999999999999999"}, "too large or too small; see"},
		{[]string{"held", origin.URL(), "approve", origin.PostURL(1)}, origin.PostURL(1) + ": no removal of it waits; `sitemapd held "},
		{[]string{"urls", origin.URL(), "--as-of", "99"}, "run 99: not found; `sitemapd runs "},
		{[]string{"findings", origin.URL(), "--run", "99"}, "run 99: not found; `sitemapd runs "},
		{[]string{"findings", origin.URL(), "--code", "nosuch"}, `--code "nosuch" is no finding's code`},
		{[]string{"findings", origin.URL(), "--code", "canonical-missing"}, "--code canonical-missing is about what pages say of themselves: `sitemapd report "},
		{[]string{"urls", origin.URL(), "--lastmod-from", "-3w"}, `--lastmod-from "-3w": not a time`},
		{[]string{"token", "revoke", "99"}, "token 99: not found; `sitemapd token list`"},
	} {
		if code, errOut := run(c.args...); code != exitUsage || !strings.Contains(errOut, c.want) || strings.Contains(errOut, "strconv") {
			t.Errorf("%s: %d, %q, want %q", strings.Join(c.args, " "), code, errOut, c.want)
		}
	}
	if code, errOut := run("check", "HTTP://127.0.0.1:1/sitemap.xml"); code != exitUnavailable {
		t.Errorf("a scheme in capitals: %d, %q", code, errOut)
	}
}
