package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/config"
)

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestDocs_NameEverySettingWithVariableAndDefault(t *testing.T) {
	t.Parallel()
	docs := text(t, "../docs/configuration.md")
	rows := 0
	for _, s := range config.Settings() {
		row := fmt.Sprintf("\n| `%s` | ", s.Key)
		if s.Env != "" {
			row += fmt.Sprintf("`%s` | ", s.Env)
			if s.Default != "" {
				row += fmt.Sprintf("`%s` ", s.Default)
			}
			row += "| "
		}
		_, after, found := strings.Cut(docs, row)
		if !found {
			t.Errorf("docs/configuration.md lacks a row that begins %q", row)
			continue
		}
		line, _, _ := strings.Cut(after, "\n")
		if strings.Contains(line, "Secret") != s.Secret {
			t.Errorf("%s: secret %v, but the row says %q", s.Key, s.Secret, line)
		}
		rows++
	}
	if got := len(regexp.MustCompile("(?m)^\\| `(sites\\[\\]|[a-z]+\\.|database|listen|public_url|sites)").FindAllString(docs, -1)); got != rows {
		t.Errorf("docs/configuration.md has %d rows of settings, %d exist", got, rows)
	}
}

// The example shows every setting, taken in or commented out, and a comment shows the default.
func TestExample_ShowsEverySettingAndIsValid(t *testing.T) {
	t.Parallel()
	example := text(t, "../deploy/sitemapd.example.yaml")
	for _, s := range config.Settings() {
		name := s.Key[strings.LastIndex(s.Key, ".")+1:]
		found := regexp.MustCompile(`(?m)^\s*(-\s+)?(#\s*)?`+name+`(_file)?:\s*("[^"]*"|[^#\n]*?)\s*(#.*)?$`).FindAllStringSubmatch(example, -1)
		if s.Env == "" && len(found) == 0 && strings.Contains("confirm_after release_after quiet max_wait paused time_zone", name) {
			continue // shown under sync, or said in words
		}
		if len(found) == 0 {
			t.Errorf("the example lacks %s", s.Key)
		}
	}
	// With every comment before a key taken away it is valid still, and as it is with sections uncommented.
	load(t, nil, nil, "../deploy/sitemapd.example.yaml")
	uncommented := regexp.MustCompile(`(?m)^(\s*)# ([a-z_]+:|  [a-z_]+: )`).ReplaceAllString(example, "$1$2")
	uncommented = regexp.MustCompile(`(?m)^\s*(database_file|password_file|username):.*\n`).ReplaceAllString(uncommented, "")
	got := load(t, nil, nil, write(t, "c.yaml", uncommented))
	want := load(t, nil, nil, "../deploy/sitemapd.example.yaml")
	want.HTTP.UserHeader = "Remote-User"
	if diff := cmp.Diff(want, got, values); diff != "" {
		t.Errorf("a commented setting shows something other than its default: %s", diff)
	}
}

// A setting that nothing reads would be a promise that nobody keeps.
func TestSettings_AreReadByTheProgram(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("../cmd/sitemapd/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources of the program: %v", err)
	}
	var program strings.Builder
	for _, source := range sources {
		program.WriteString(text(t, source))
	}
	var fields func(typ reflect.Type, path string)
	fields = func(typ reflect.Type, path string) {
		for i := range typ.NumField() {
			field := typ.Field(i)
			if _, isSetting := field.Tag.Lookup("key"); !isSetting {
				continue
			}
			switch field.Type.Kind() {
			case reflect.Struct:
				fields(field.Type, path+field.Name+".")
			default:
				if !regexp.MustCompile(`\.` + field.Name + `\b`).MatchString(program.String()) {
					t.Errorf("nothing in cmd/sitemapd reads %s%s", path, field.Name)
				}
			}
		}
	}
	fields(reflect.TypeFor[config.Config](), "Config.")
	fields(reflect.TypeFor[config.Site](), "Site.")
}
