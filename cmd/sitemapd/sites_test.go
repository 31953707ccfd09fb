package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models/store/storetest"
)

const twoSites = `sites:
  - url: https://a.example
    name: alpha
    roots: [https://a.example/sitemap.xml]
    hosts: [cdn.a.example]
    tags: [de, Big clients]
    schedule: "*/15 * * * *"
    time_zone: Europe/Vienna
    confirm_after: 90s
    quiet: 5s
    username: u
    password_file: PASSWORD
    public_badges: true
    preferred_scheme: https
    trailing_slash: add
  - url: https://b.example/
    roots: [https://b.example/one.xml, https://b.example/two.xml]
    paused: true
`

// done gives "done name" of each line.
func done(t *testing.T, out []byte) (lines []string, changes map[string][]fieldChange) {
	t.Helper()
	var all []applied
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	changes = map[string][]fieldChange{}
	for _, a := range all {
		text := a.Done + " " + a.Name
		if a.DryRun {
			text = "dry " + text
		}
		lines = append(lines, text)
		changes[a.Name] = a.Changes
	}
	return lines, changes
}

func TestSites_ApplyAgainChangesNothingAndExportComesBack(t *testing.T) {
	t.Parallel()
	x := exported{database: storetest.SQLite(t)}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("sites.yaml", strings.Replace(twoSites, "PASSWORD", write("password", "pass word\n"), 1))
	apply := func(args ...string) ([]string, map[string][]fieldChange) {
		t.Helper()
		code, out, errs := x.run(t, append([]string{"sites", "apply", "-o", "json"}, args...)...)
		if code != exitDone {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return done(t, out)
	}
	expect := func(what string, want, got []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	export := func() string {
		t.Helper()
		code, out, errs := x.run(t, "sites", "export")
		if code != exitDone {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return string(out)
	}

	got, _ := apply(file, "--dry-run")
	expect("a dry run", []string{"dry added alpha", "dry added https://b.example/"}, got)
	if text := export(); strings.Contains(text, "alpha") {
		t.Fatalf("a dry run wrote: %s", text)
	}
	got, _ = apply(file)
	expect("the first time", []string{"added alpha", "added b.example"}, got)
	got, _ = apply(file)
	expect("the second time", []string{"unchanged alpha", "unchanged b.example"}, got)

	first := export()
	if strings.Contains(first, "pass word") || !strings.Contains(first, "username: u") {
		t.Errorf("export: %s", first)
	}
	got, _ = apply(write("export.yaml", first))
	expect("its own export", []string{"unchanged alpha", "unchanged b.example"}, got)
	other := exported{database: storetest.SQLite(t)}
	code, _, errs := other.run(t, "sites", "apply", write("other.yaml", strings.ReplaceAll(first, "username: u\n", "\n")))
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	code, second, _ := other.run(t, "sites", "export")
	if diff := cmp.Diff(strings.ReplaceAll(first, "    username: u\n", ""), string(second)); code != exitDone || diff != "" {
		t.Errorf("exported, applied elsewhere, exported (-first +second)\n%s", diff)
	}

	edited := write("edited.yaml", "sites:\n  - {url: https://a.example, name: alpha, schedule: '@hourly', hosts: [], quiet: ''}\n")
	got, changes := apply(edited, "--dry-run", "--prune")
	expect("what would change", []string{"dry changed alpha", "dry removed b.example"}, got)
	want := []fieldChange{{"hosts", "cdn.a.example", ""}, {"schedule", "*/15 * * * *", "@hourly"}, {"quiet", "5s", ""}}
	if diff := cmp.Diff(want, changes["alpha"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if export() != first {
		t.Error("a dry run wrote")
	}
	got, _ = apply(edited)
	expect("without --prune nothing goes", []string{"changed alpha"}, got)
	if text := export(); !strings.Contains(text, "b.example") || strings.Contains(text, "cdn.a") || !strings.Contains(text, "'@hourly'") || !strings.Contains(text, "confirm_after: 1m30s") {
		t.Errorf("export: %s", text)
	}
	got, _ = apply(edited, "--prune")
	expect("with --prune", []string{"unchanged alpha", "removed b.example"}, got)
	if text := export(); strings.Contains(text, "b.example") {
		t.Errorf("export: %s", text)
	}
	got, _ = apply(file)
	expect("b is back", []string{"changed alpha", "added b.example"}, got)
}

func TestSites_ApplyRefusesAFileWholeAndChangesNothing(t *testing.T) {
	t.Parallel()
	x := exported{database: storetest.SQLite(t)}
	for text, words := range map[string]string{
		"sites: [{url: https://a.example, roots: [https://a.example/s.xml]}, {url: https://b.example, schedule: often, quiet: 9d, confirm_after: -1s}]": "quiet",
		"sites: [{url: 'ftp://a.example'}]":                                       "no http or https URL",
		"sites: [{url: https://u:p@a.example}]":                                   "no http or https URL",
		"sites: [{url: https://a.example}, {url: https://a.example}]":             "listed already, as sites[0]",
		"sites: [{url: https://a.example, colour: red}]":                          "colour",
		"sites: [{url: https://a.example, trailing_slash: maybe}]":                "trailing_slash",
		"sites: [{url: https://a.example, password_file: /nowhere, username: u}]": "password_file",
		"sites: {a: b}": "want a list",
		"":              "want a list",
	} {
		path := filepath.Join(t.TempDir(), "sites.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := x.run(t, "sites", "apply", path)
		if code != exitUsage || !strings.Contains(errs, words) {
			t.Errorf("%s: exit %d: %s", text, code, errs)
		}
	}
	if _, out, _ := x.run(t, "sites", "list", "-o", "json"); string(out) != "[]\n" {
		t.Errorf("something was added: %s", out)
	}
}
