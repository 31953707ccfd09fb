package export_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/export"
	"github.com/sitemapd/sitemapd/models"
)

func stage(t *testing.T, dir string, replace bool) *export.Staged {
	t.Helper()
	s, err := export.Stage(dir, replace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *export.Staged, name, text string) {
	t.Helper()
	w, err := s.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// contents of a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

func TestStaged_NamesFilesWhenAllAreThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := stage(t, dir, false)
	defer s.Abort()
	put(t, s, "sitemap-1.xml", "one")
	put(t, s, "sitemap.xml", "index")
	for name := range contents(t, dir) {
		if name[0] != '.' {
			t.Errorf("%s is there before its time", name)
		}
	}
	if names, size := s.Names(); !cmp.Equal(names, []string{"sitemap-1.xml", "sitemap.xml"}) || size != 8 {
		t.Errorf("%v, %d bytes", names, size)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	s.Abort()
	if diff := cmp.Diff(map[string]string{"sitemap-1.xml": "one", "sitemap.xml": "index"}, contents(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

func TestStaged_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := stage(t, dir, false)
	put(t, s, "a", "a")
	if _, err := s.Create("b"); err != nil { // and is never closed
		t.Fatal(err)
	}
	s.Abort()
	if got := contents(t, dir); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

func TestStaged_ReplacesOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pages.csv"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := stage(t, dir, false)
	var invalid *models.InvalidError
	if _, err := s.Create("pages.csv"); !errors.As(err, &invalid) {
		t.Errorf("an existing file: %v", err)
	}
	// One that came while we were writing is not lost either, and then neither is written.
	put(t, s, "a", "new")
	put(t, s, "late", "new")
	if err := os.WriteFile(filepath.Join(dir, "late"), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); !errors.As(err, &invalid) {
		t.Errorf("a file that came late: %v", err)
	}
	s.Abort()
	if diff := cmp.Diff(map[string]string{"pages.csv": "old", "late": "theirs"}, contents(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
	s = stage(t, dir, true)
	put(t, s, "pages.csv", "new")
	if got := contents(t, dir)["pages.csv"]; got != "old" {
		t.Errorf("overwritten too soon: %q", got)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir)["pages.csv"]; got != "new" {
		t.Errorf("not replaced: %q", got)
	}
}

func TestStaged_RefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := stage(t, dir, true)
	var invalid *models.InvalidError
	for _, name := range []string{"folder", "pipe"} {
		if _, err := s.Create(name); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, dir := range []string{filepath.Join(dir, "nowhere"), os.Args[0]} {
		if _, err := export.Stage(dir, true); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	sealed := filepath.Join(dir, "sealed")
	if err := os.Mkdir(sealed, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if _, err := stage(t, sealed, true).Create("a"); err == nil || errors.As(err, &invalid) {
			t.Errorf("a folder that may not be written: %v", err)
		}
	}
}

func TestSitemap_OfOneDocumentHasNoIndex(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]string{0: {"sitemap.xml"}, 5: {"sitemap.xml"}, 6: {"sitemap-1.xml", "sitemap-2.xml", "sitemap.xml"}} {
		s := stage(t, t.TempDir(), false)
		defer s.Abort()
		e, err := export.NewSitemap(s, export.Options{MaxEntries: 5})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, e, numbered(n))
		if names, _ := s.Names(); !cmp.Equal(names, want) {
			t.Errorf("%d pages give %v, want %v", n, names, want)
		}
	}
}
