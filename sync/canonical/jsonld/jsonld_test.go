package jsonld_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical/jsonld"
)

func TestRead_ListsStatementsByNode(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		`{"@type":"WebPage","url":"a"}`:                                                 {"WebPage url=a top"},
		`{"url":"a","@type":"WebPage","@id":"i"}`:                                       {"WebPage i url=a top"},
		`[{"@type":"A","url":"a"},{"@type":"B","url":"b"}]`:                             {"A url=a top", "B url=b top"},
		`{"@graph":[{"@type":"A","url":["a","b"]}]}`:                                    {"A url=a top", "A url=b top"},
		`{"@type":"Article","author":{"@type":"Person","url":"p"},"url":"a"}`:           {"Person url=p", "Article url=a top"},
		`{"@type":"Article","mainEntityOfPage":{"@type":"WebPage","@id":"w"}}`:          {"Article mainEntityOfPage=w top"},
		`{"@type":"WebPage","mainEntity":{"@type":"Article","url":"a"}}`:                {"Article url=a top"},
		`{"@type":["http://schema.org/WebPage","FAQPage"],"http://schema.org/url":"a"}`: {"WebPage FAQPage url=a top"},
		`{"a\u0062":1,"url":"\u00e9\ud83d\ude00"}`:                                      {"url=é😀 top"},
		``: nil, ` `: nil, `{}`: nil, `5`: nil, `{"url":5}`: nil,
	} {
		nodes, invalid, _ := jsonld.Read([]byte(src))
		var got []string
		for _, n := range nodes {
			s := strings.TrimSpace(strings.Join(n.Types, " ") + " " + n.ID)
			s = strings.TrimSpace(fmt.Sprintf("%s %s=%s", s, n.Property, n.Value))
			if n.Top {
				s += " top"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(want, got); diff != "" || invalid {
			t.Errorf("%s, invalid %v (-want +got):\n%s", src, invalid, diff)
		}
	}
}

func TestRead_BelievesNothingOfBrokenText(t *testing.T) {
	t.Parallel()
	for src, at := range map[string]int{`{"url":"a",}`: 11, `{"url":"a" "b":1}`: 11, "{\"url\":\"a\nb\"}": 9, `{"url":"a"`: 10, `{url:"a"}`: 1, `{"url":"a"} x`: 12} {
		nodes, invalid, got := jsonld.Read([]byte(src))
		if !invalid || nodes != nil || got != at {
			t.Errorf("%s: invalid %v at %d with %v; want the fault at %d", src, invalid, got, nodes, at)
		}
	}
	deep := strings.Repeat("[", 1<<16)
	if _, invalid, _ := jsonld.Read([]byte(deep)); !invalid {
		t.Error("bottomless nesting is valid")
	}
}

// FuzzRead compares the reader's idea of valid JSON with encoding/json's.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"@type":"WebPage","url":"https://e.org/"}`, `[{"@graph":[{"url":["a","b"]}]}]`, `{"url":{"@id":"x"}}`, `{"a":1e5,"b":-0.5,"c":null}`,
		`{"url":"a\u00e9\ud83d\ude00\n"}`, `<!-- {} -->`, `{"@type":["A","B"],"mainEntityOfPage":{"url":"q"}}`, `{"a":tru}`, "\ufeff{}", `{"url":"\ud800"}`, `[1,]`, `{};`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		values, invalid, at := jsonld.Read(src)
		if invalid && values != nil {
			t.Fatal("something is believed of an invalid script")
		}
		if len(values) > jsonld.MaxNodes {
			t.Fatalf("%d statements", len(values))
		}
		if at < 0 || at > len(src) {
			t.Fatalf("fault at %d of %d bytes", at, len(src))
		}
		text, _ := jsonld.Unwrap(src)
		text = bytes.TrimRight(text, "; \t\r\n")
		if len(text) == 0 || bytes.ContainsRune(text, ';') || depth(text) > jsonld.MaxDepth-2 {
			return
		}
		if valid := json.Valid(text); valid == invalid {
			t.Fatalf("invalid %v, encoding/json says valid %v: %q", invalid, valid, text)
		}
	})
}

// depth is an upper bound of the nesting of a JSON text.
func depth(b []byte) int {
	n := 0
	for _, c := range b {
		if c == '{' || c == '[' {
			n++
		}
	}
	return n
}
