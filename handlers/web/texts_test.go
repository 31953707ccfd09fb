package web_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write texts/en.json anew")

const english = "texts/en.json"

// words are looked up by value: states, kinds, verdicts, filters and what was just done.
var words = []string{
	"live", "stale", "pending", "held", "removed", "foreign", "all", "added", "changed", "moved", "restored", "fresh", "complete", "partial", "unavailable",
	"not_a_sitemap", "unchanged", "gone", "error", "warning", "info", "accepted", "duplicate", "ignored", "rejected", "open", "met", "expired", "superseded",
	"listed", "manual", "cron", "hook", "ping", "confirm", "recheck", "image", "video", "news", "alternates", "current_unknown", "state", "as_of", "url",
	"contains", "prefix", "document", "lastmod_from", "lastmod_to", "language", "extension", "first_from", "7 days", "30 days", "90 days", "365 days",
	"last 7 days", "last 30 days", "last 3 months", "last 6 months", "last 12 months", "last 24 months", "older",
	"3 months", "6 months", "12 months", "24 months", "by type", "by document", "by path", "object_type", "declares none", "unknown", "declared", "validated", "conflicting",
	"segment", "new this week", "not changed for a year", "with images", "with videos", "in the news",
	"since yesterday", "in 7 days", "in 30 days", "in a year", "by the last run",
	"up to 5 seconds", "up to 15 seconds", "up to 30 seconds", "up to 1 minute", "up to 2 minutes", "up to 5 minutes", "up to 30 minutes", "up to 2 hours", "longer",
	"delivered", "failed", "given_up", "webhook", "mail", "slack", "mattermost", "discord", "teams", "googlechat", "ntfy", "telegram",
	"removals_held", "pages_removed", "pages_added", "pages_changed", "pages_stale", "finding", "run_failed", "not_fresh", "lastmod_trust", "expectation_expired",
	"canonical_conflict", "incident",
	"lastmod", "first_seen", "last_seen", "changefreq", "priority", "declares", "freshness", "confidence", "reason", "from_run",
	"invalid", "self", "none", "chain", "loop", "into_loop", "conflict", "too_long",
}

var (
	inTemplates = regexp.MustCompile(`\bt "((?:[^"\\]|\\.)*)"`)
	inGo        = regexp.MustCompile(`Text\("((?:[^"\\]|\\.)*)"`)
	units       = regexp.MustCompile(`"(1 [a-z]+|%d [a-z]+|%s ago|in %s)"`)
	doneTexts   = regexp.MustCompile(`"[a-z-]+": "([A-Z][^"]*\.)"`)
)

func used(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	collect := func(pattern *regexp.Regexp, files ...string) {
		for _, file := range files {
			for _, found := range pattern.FindAllSubmatch(read(t, file), -1) {
				text, err := strconv.Unquote(`"` + string(found[1]) + `"`)
				if err != nil {
					t.Errorf("%s: %s: %v", file, found[1], err)
				}
				all[text] = text
			}
		}
	}
	collect(inTemplates, templates(t)...)
	collect(inGo, "render.go", "chart.go")
	collect(units, "render.go")
	collect(doneTexts, "../dashboard.go")
	for _, word := range words {
		all[word] = strings.ReplaceAll(word, "_", " ")
	}
	return all
}

func templates(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) < 15 {
		t.Fatal(err, files)
	}
	return files
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTexts_AreAllInTheCatalogue(t *testing.T) {
	t.Parallel()
	want := used(t)
	if *update {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(english, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	if err := json.Unmarshal(read(t, english), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run go test ./handlers/web -run Texts -update (-used +catalogue):\n%s", diff)
	}
}

// names are the same in every language.
var names = regexp.MustCompile(`^(·? ?sitemapd.*|CSV|NDJSON|changefreq|priority|j|k|n|p|g|o|s|i|c|r|d|f|h|e|t|x|Enter|Esc)$`)

func TestTexts_NoneIsInATemplateAlone(t *testing.T) {
	t.Parallel()
	actions := regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	tags := regexp.MustCompile(`(?s)<[^>]*>`)
	for _, file := range templates(t) {
		text := actions.ReplaceAllString(string(read(t, file)), "\x00")
		for _, attribute := range regexp.MustCompile(`(?:aria-label|title|data-label)="([^"\x00]*[A-Za-z][^"]*)"`).FindAllStringSubmatch(text, -1) {
			t.Errorf("%s: attribute %q", file, attribute[1])
		}
		for _, piece := range strings.FieldsFunc(tags.ReplaceAllString(text, "\x00"), func(r rune) bool { return r == 0 }) {
			piece = strings.TrimSpace(strings.ReplaceAll(piece, "&amp;", ""))
			if strings.ContainsFunc(piece, unicode.IsLetter) && !names.MatchString(piece) {
				t.Errorf("%s: %q", file, piece)
			}
		}
	}
}
