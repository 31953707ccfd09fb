package sitemap_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

var update = flag.Bool("update", false, "rewrite expected files and generated documentation")

// fixture is what stands beside a document in testdata: how it is asked for, and what it is read as.
type fixture struct {
	Request request         `json:"request"`
	Want    json.RawMessage `json:"want,omitempty"`
}

type request struct {
	Base            *string `json:"base,omitempty"`
	Status          int     `json:"status,omitempty"`
	ContentType     string  `json:"content_type,omitempty"`
	ContentEncoding string  `json:"content_encoding,omitempty"`
	MaxEntries      int     `json:"max_entries,omitempty"`
	WarnEntries     int     `json:"warn_entries,omitempty"`
	MaxImages       int     `json:"max_images,omitempty"`
	MaxTokens       int     `json:"max_tokens,omitempty"`
	MaxBytes        int64   `json:"max_bytes,omitempty"`
	MaxInflated     int64   `json:"max_inflated,omitempty"`
}

func (q request) base() string {
	if q.Base != nil {
		return *q.Base
	}
	return "https://example.org/sitemap.xml"
}

func (q request) meta() sitemap.Meta {
	status := q.Status
	if status == 0 {
		status = 200
	}
	return sitemap.Meta{Status: status, ContentType: q.ContentType, ContentEncoding: q.ContentEncoding}
}

func (q request) options() sitemap.Options {
	return sitemap.Options{
		MaxEntries: q.MaxEntries, WarnEntries: q.WarnEntries, MaxImages: q.MaxImages, MaxTokens: q.MaxTokens,
		MaxBytes: q.MaxBytes, MaxInflated: q.MaxInflated,
	}
}

// documents lists the fixtures' inputs.
func documents(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/documents/*")
	if err != nil || len(all) == 0 {
		t.Fatal("no fixtures", err)
	}
	var out []string
	for _, name := range all {
		if !strings.HasSuffix(name, ".json") || strings.HasSuffix(name, "body_json.json") {
			out = append(out, name)
		}
	}
	return out
}

func load(t testing.TB, name string) ([]byte, fixture) {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if b, err := os.ReadFile(name + ".json"); err == nil {
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
	}
	return body, f
}

// TestFixtures reads every document of testdata and compares the whole report, findings included.
func TestFixtures(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			body, f := load(t, name)
			r := sitemap.NewReader(f.Request.options())
			got := r.ReadReport(bytes.NewReader(body), f.Request.base(), f.Request.meta())
			text := indent(t, got)
			if *update {
				f.Want = text
				write(t, name+".json", indent(t, f))
				return
			}
			if diff := cmp.Diff(string(indent(t, f.Want)), string(text)); diff != "" {
				t.Errorf("reads differently (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFixtures_InAnyPieces reads every document byte by byte, in halves and with a reader that was used before: how the
// bytes arrive changes nothing.
func TestFixtures_InAnyPieces(t *testing.T) {
	t.Parallel()
	used := map[request]*sitemap.Reader{}
	for _, name := range documents(t) {
		body, f := load(t, name)
		if len(body) > 100_000 {
			continue
		}
		want := string(indent(t, sitemap.NewReader(f.Request.options()).ReadReport(bytes.NewReader(body), f.Request.base(),
			f.Request.meta())))
		for how, src := range map[string]io.Reader{
			"one byte":      iotest.OneByteReader(bytes.NewReader(body)),
			"halves":        iotest.HalfReader(bytes.NewReader(body)),
			"data with EOF": iotest.DataErrReader(bytes.NewReader(body)),
		} {
			key := f.Request
			key.Base = nil
			if used[key] == nil {
				used[key] = sitemap.NewReader(f.Request.options())
			}
			got := string(indent(t, used[key].ReadReport(src, f.Request.base(), f.Request.meta())))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-at once +in pieces):\n%s", filepath.Base(name), how, diff)
			}
		}
	}
}

func indent(t testing.TB, v any) []byte {
	t.Helper()
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
