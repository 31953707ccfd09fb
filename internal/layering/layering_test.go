package layering_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sitemapd/sitemapd"

// layer is one row of the table: a folder (with everything below it, unless a longer row
// matches) and those of ours that it may import. A folder may always import what is below itself.
type layer struct {
	folder string
	may    []string
	pure   bool // no I/O, no clock, no log, no context
}

var layers = []layer{
	{folder: "models"},
	{folder: "models/store", may: []string{"models"}},
	{folder: "sync", may: []string{"models", "sync/sitemap", "sync/canonical", "sync/weburl", "sync/fetch", "sync/schedule"}},
	{folder: "sync/sitemap", may: []string{"sync/weburl"}, pure: true},
	{folder: "sync/canonical", may: []string{"sync/weburl"}, pure: true},
	{folder: "sync/weburl", pure: true},
	{folder: "sync/schedule", pure: true},
	{folder: "sync/fetch"},
	{folder: "handlers", may: []string{"models"}},
	{folder: "config", may: []string{"sync/schedule"}},
	{folder: "internal/export", may: []string{"models", "sync/sitemap"}},
	{folder: "internal/layering"},
	{folder: "internal/metrics", may: []string{"models"}},
	{folder: "internal/notify", may: []string{"models"}},
	{folder: "internal/sitetest"},
	{folder: "internal/systemd"},
	{folder: "internal/tracing"},
	{folder: "cmd", may: []string{"models", "models/store", "sync", "sync/sitemap", "sync/canonical", "sync/weburl", "sync/fetch", "sync/schedule", "handlers", "config", "internal/export", "internal/metrics", "internal/notify", "internal/sitetest", "internal/systemd", "internal/tracing"}},
	{folder: "e2e", may: []string{"cmd", "models", "models/store", "sync", "sync/sitemap", "sync/weburl", "sync/fetch", "handlers", "config", "internal/sitetest"}},
	{folder: "scripts", may: []string{"models", "models/store", "sync", "sync/sitemap", "sync/weburl", "sync/fetch", "internal/sitetest"}},
}

// homes are the only folders for a library: replacing it must touch no other.
var homes = [][]string{ // the library, then its folders
	{"gorm.io/", "models/store"},
	{"github.com/pressly/goose", "models/store"},
	{"github.com/go-sql-driver/mysql", "models/store"},
	{"github.com/libtnb/sqlite", "models/store"},
	{"modernc.org/sqlite", "models/store"},
	{"database/sql", "models/store"},
	{"github.com/labstack/echo", "handlers"},
	{"github.com/danielgtaylor/huma", "handlers"},
	{"github.com/a-h/templ", "handlers"},
	{"github.com/spf13/viper", "config"},
	{"go.yaml.in/yaml", "config", "cmd"}, // settings, and the file of `sites export|apply`
	{"github.com/spf13/cobra", "cmd"},
	{"go.opentelemetry.io/", "internal/tracing"},
	{"github.com/robfig/cron", "sync/schedule"},
	{"code.dny.dev/ssrf", "sync/fetch"},
	{"github.com/wneessen/go-mail", "internal/notify"},
}

// impure is what a package may not import that promises to be a function of its arguments.
var impure = []string{"os", "os/exec", "net", "net/http", "context", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand", "database/sql", "sync/atomic"}

type listed struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

// packages asks the go command, which knows what a file imports even where it does not compile.
func packages(t *testing.T) []listed {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		all = append(all, p)
	}
	if len(all) < 8 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}

func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// of finds the row with the longest folder that a package is under.
func of(path string) (best layer, found bool) {
	for _, l := range layers {
		if under(path, l.folder) && len(l.folder) >= len(best.folder) {
			best, found = l, true
		}
	}
	return best, found
}

func (l layer) allows(imported string) bool {
	if under(imported, l.folder) {
		// Below itself, but not another row's folder: sync/fetch is not part of sync.
		if target, _ := of(imported); target.folder == l.folder {
			return true
		}
	}
	for _, folder := range l.may {
		if target, _ := of(imported); target.folder == folder && under(imported, folder) {
			return true
		}
	}
	return false
}

func TestImports_GoDownOnly(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		own, found := of(p.ImportPath)
		if !found {
			t.Errorf("%s is in no layer: add it to the table or move it", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if isOurs && !own.allows(ours) {
				t.Errorf("%s imports %s: %s may import %v of ours", p.ImportPath, ours, own.folder, own.may)
			}
		}
	}
}

func TestImports_EveryLibraryHasOneHome(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for _, home := range homes {
				library, folders := home[0], home[1:]
				if strings.HasPrefix(imported, library) && !slices.ContainsFunc(folders, func(f string) bool { return under(p.ImportPath, f) }) {
					t.Errorf("%s imports %s, which belongs to %s alone", p.ImportPath, imported, strings.Join(folders, " and "))
				}
			}
		}
	}
}

func TestImports_PurePackagesTouchNothing(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if own, _ := of(p.ImportPath); !own.pure || strings.HasSuffix(p.ImportPath, "test") { // graphtest makes inputs
			continue
		}
		for _, imported := range p.Imports {
			for _, forbidden := range impure {
				if imported == forbidden {
					t.Errorf("%s imports %s but is pure: it takes arguments and returns values", p.ImportPath, imported)
				}
			}
		}
	}
}

// The table itself: what it lets through and what it stops.
func TestLayers_SayWhatTheyMean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"cmd/sitemapd", "handlers", true},
		{"handlers", "handlers/hook", true},
		{"handlers", "models", true},
		{"handlers", "models/store", false},
		{"handlers", "sync", false},
		{"handlers/hook", "sync/weburl", false},
		{"sync", "sync/fetch", true},
		{"sync", "models/store", false},
		{"sync", "config", false},
		{"sync/fetch", "sync", false},
		{"sync/fetch", "models", false},
		{"sync/sitemap", "models", false},
		{"sync/sitemap", "sync/weburl", true},
		{"sync/canonical/headscan", "sync/canonical/linkheader", true},
		{"models", "models/store", false},
		{"models/store", "models", true},
		{"models/store", "sync", false},
		{"config", "models", false},
		{"internal/sitetest", "cmd/sitemapd", false},
		{"internal/notify", "models", true},
		{"internal/notify", "models/store", false},
		{"internal/notify", "sync/fetch", false},
	} {
		own, _ := of(test.from)
		if got := own.allows(test.to); got != test.want {
			t.Errorf("%s imports %s: allowed %v, want %v", test.from, test.to, got, test.want)
		}
	}
}
