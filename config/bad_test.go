package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/config"
)

var update = flag.Bool("update", false, "write the expected messages anew")

// Each testdata/bad/NAME.yaml breaks one rule; NAME.txt is exactly what the operator reads.
func TestLoad_RefusesWithWhatWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(nil, nil, file)
			var problems *config.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("no problem found: %v", err)
			}
			if strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), ":secret") {
				t.Errorf("the message holds the password: %s", err)
			}
			expected := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(expected, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(expected)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
}
