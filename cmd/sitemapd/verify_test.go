package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// A page that could not be looked at is named with the reason, and an address that is none of the site's hides nothing of the others.
func TestVerify_SaysWhatWasTheMatter(t *testing.T) {
	t.Parallel()
	origin := sitetest.New(sitetest.Options{Posts: 3, Seed: 1})
	if err := origin.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	page := origin.PostURL(1)
	database := "sqlite:" + filepath.Join(t.TempDir(), "sitemapd.db")
	run := func(args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := execute(t.Context(), append(args, "--database", database, "--log-level", "error"), &out, &errOut)
		return code, out.String(), errOut.String()
	}
	const private = "--allow-private=127.0.0.0/8"
	if code, _, errOut := run("sync", origin.URL(), private); code != exitDone {
		t.Fatalf("sync: %d, %s", code, errOut)
	}
	code, _, errOut := run("verify", origin.URL(), page)
	if code != exitUnavailable || !strings.Contains(errOut, "1 of 1 pages gave no answer") || !strings.Contains(errOut, page) || !strings.Contains(errOut, "--allow-private") {
		t.Errorf("an address that is refused: %d, %q", code, errOut)
	}
	code, out, errOut := run("verify", origin.URL(), page, "https://other.example/", private, "-o", "ndjson", "--pace", "1ms")
	if code != exitUsage || !strings.Contains(errOut, "https://other.example/: not a page of this site") || !strings.Contains(out, `"source_url":"`+page+`"`) {
		t.Errorf("an address of another site: %d, %q, %q", code, errOut, out)
	}
}
