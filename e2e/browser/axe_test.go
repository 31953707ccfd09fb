package browser_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// axe-core is under MPL-2.0: it is fetched for tests, never shipped.
const (
	axeVersion = "4.14.1"
	axeSHA256  = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c" // of axe.min.js
)

// axe gives the script of axe-core, "" where it cannot be had.
var axe = sync.OnceValue(func() string {
	if path := os.Getenv("SITEMAPD_TEST_AXE"); path != "" {
		return checkedFile(path)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(cache, "sitemapd-tests", "axe-core-"+axeVersion)
	path := filepath.Join(dir, "package", "axe.min.js")
	if text := checkedFile(path); text != "" {
		return text
	}
	if os.MkdirAll(dir, 0o755) != nil {
		return ""
	}
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, "axe-core@"+axeVersion)
	pack.Dir = dir
	if pack.Run() != nil {
		return ""
	}
	if exec.Command("tar", "-xzf", filepath.Join(dir, "axe-core-"+axeVersion+".tgz"), "-C", dir, "package/axe.min.js").Run() != nil {
		return ""
	}
	return checkedFile(path)
})

func checkedFile(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != axeSHA256 {
		return ""
	}
	return string(text)
}

type violation struct {
	ID      string   `json:"id"`
	Help    string   `json:"help"`
	Targets []string `json:"targets"`
}

// runAxe holds the page that is shown against the rules of WCAG 2.2 AA and axe's own practices.
func runAxe(t *testing.T, b *tab, script string) []violation {
	t.Helper()
	eval[bool](b, script+"\n;typeof axe === 'object'")
	return eval[[]violation](b, `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => `+
		`({id: v.id, help: v.help, targets: v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ': ' + n.html.slice(0, 120))})))`)
}
