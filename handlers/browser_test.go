package handlers_test

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// browse opens a page in a real browser and gives what the page became and what the browser complained of.
func browse(t *testing.T, address string) (dom string, complaints []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	binary, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--no-first-run",
		"--disable-background-networking", "--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom", address)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errs.String())
	}
	for line := range strings.SplitSeq(errs.String(), "\n") {
		if strings.Contains(line, "CONSOLE") {
			complaints = append(complaints, line)
		}
	}
	return out.String(), complaints
}

func TestDocs_ViewerRunsUnderThePolicyAndShowsEveryOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) { f.deps.OpenLocal = true })
	base, _ := f.serve(t)
	dom, complaints := browse(t, base+"/docs")
	for _, c := range complaints {
		t.Error(c)
	}
	for _, want := range []string{"start-run", "list-urls", "sitemap-metadata", "OAS 3.1"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestDashboard_HostileTextDoesNothingInABrowser(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) {
		f.deps.OpenLocal = true
		poisoned(f, `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'">javascript:alert(1)`)
		f.walker.ProgressFunc = func(int64) (models.Progress, bool) { return models.Progress{}, false }
	})
	base, _ := f.serve(t)
	for _, page := range []string{"/sites/1/urls", "/sites/1/page?url=https://example.com/a", "/sites/1/runs/7"} {
		dom, complaints := browse(t, base+page)
		for _, c := range complaints {
			t.Error(page, c)
		}
		if strings.Contains(dom, "<title>owned") || !strings.Contains(dom, "&lt;script&gt;") {
			t.Errorf("%s: %.300s", page, dom)
		}
	}
}
