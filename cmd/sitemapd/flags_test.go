package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// Words that a flag does not know are refused by name: they would match nothing, which looks like an empty answer.
func TestFlags_UnknownWordsAndNegativeCountsAreRefused(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "sitemapd.db")
	for _, tt := range []struct{ args, want string }{
		{"canonical shop --status bogus", `--status "bogus": want unknown, declared`},
		{"canonical shop --method link", `--method "link": want html_link_element`},
		{"canonical shop --resolution x", `--resolution "x": want self`},
		{"canonical shop --target-status -1", "--target-status -1: want 0 or more"},
		{"report shop --severity fatal", `--severity "fatal": want error, warning or info`},
		{"report shop --state live", `--state "live": want new, open`},
		{"changes shop --kind added,gone", `--kind "gone": want added`},
		{"diff shop --from 1 --kind gone", `--kind "gone": want added`},
		{"findings shop --severity x", `--severity "x": want error`},
		{"urls shop --sort size", `--sort "size": want url, -url`},
		{"export shop --format csv --sort -x", `--sort "-x": want url, -url`},
		{"urls shop --limit -1", "--limit -1: want 0 or more"},
		{"verify shop --limit -1", "--limit -1: want 0 or more"},
		{"verify shop --pace -1s", "--pace -1s: want 0s or more"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			var out, errOut bytes.Buffer
			code := execute(t.Context(), append(strings.Fields(tt.args), "--database", database), &out, &errOut)
			if code != exitUsage || !strings.Contains(errOut.String(), tt.want) || out.Len() > 0 {
				t.Errorf("exit code %d, %q, %q; want 2 and %q", code, errOut.String(), out.String(), tt.want)
			}
		})
	}
}
