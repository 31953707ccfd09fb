package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models/store/storetest"
)

func TestMan_HasAPageForEveryCommandWithEveryFlag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, _, errs := (exported{database: storetest.SQLite(t)}).run(t, "man", dir); code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(dir, manName(cmd)+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		for _, section := range []string{".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH SEE ALSO"} {
			if !bytes.Contains(page, []byte(section)) {
				t.Errorf("%s lacks %s", manName(cmd), section)
			}
		}
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(cmd.NonInheritedFlags().FlagUsages(), -1) {
			if flag != "--" && !bytes.Contains(page, []byte(strings.ReplaceAll(flag, "-", `\-`))) {
				t.Errorf("%s lacks %s", manName(cmd), flag)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root := (&app{}).root()
	walk(root)
	if root.Commands()[0].Name() == "" {
		t.Fatal("no commands")
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed: the pages are not checked by it")
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*.1"))
	if out, err := exec.Command(mandoc, append([]string{"-T", "lint", "-W", "warning"}, pages...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRoff_KeepsTextFromBecomingRequests(t *testing.T) {
	t.Parallel()
	if got, want := roff(".so /etc/passwd\n'x a\\b --flag – ü"), `\&.so /etc/passwd`+"\n"+`\&'x a\eb \-\-flag \[u2013] \[u00FC]`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCompletion_KnowsSitesWordsAndFlags(t *testing.T) {
	t.Parallel()
	x := exported{database: storetest.SQLite(t)}
	file := filepath.Join(t.TempDir(), "sites.yaml")
	text := "sites:\n  - {url: https://alpha.example, roots: [https://alpha.example/s.xml]}\n  - {url: https://beta.example, roots: [https://beta.example/s.xml]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := x.run(t, "sites", "apply", file); code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	complete := func(database string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		// The word that is being typed comes last; flags before it are read as on the real line.
		if code := execute(t.Context(), append([]string{cobra.ShellCompRequestCmd, "--database", database}, args...), &out, &errs); code != exitDone {
			t.Fatalf("%v: exit %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"urls", ""}, "alpha.example\thttps://alpha.example/s.xml\nbeta.example\thttps://beta.example/s.xml\n:4\n"},
		{[]string{"sync", "be"}, "beta.example\thttps://beta.example/s.xml\n:4\n"},
		{[]string{"held", "alpha.example", ""}, "list\napprove\nreject\n:4\n"},
		{[]string{"urls", "alpha.example", "--state", ""}, "live\nstale\npending\nheld\nremoved\nforeign\nall\n:4\n"},
		{[]string{"sites", "apply", ""}, ":0\n"},
	} {
		if got := complete(x.database, c.args...); got != c.want {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
	nowhere := filepath.Join(t.TempDir(), "none.db")
	if got := complete("sqlite:"+nowhere, "urls", ""); got != ":4\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("completion made a database")
	}
}
