package linkheader_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical/linkheader"
)

// canonicals lists the targets whose relation types hold canonical, and problems as "!problem".
func canonicals(values ...string) (out []string) {
	links, _ := linkheader.Parse(values)
	for _, l := range links {
		if l.Problem != "" {
			out = append(out, "!"+string(l.Problem))
		} else if l.HasRel("canonical") {
			out = append(out, l.Target)
		}
	}
	return out
}

func TestParse_FindsCanonicalLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values []string
		want   []string
	}{
		{"second of two links", []string{`</a.css>; rel=preload; as=style, <https://e.org/c>; rel="canonical"`}, []string{"https://e.org/c"}},
		{"second of two fields", []string{`<https://e.org/wp-json/>; rel="https://api.w.org/"`, `<https://e.org/c>; rel=canonical`}, []string{"https://e.org/c"}},
		{"any case", []string{`<c>; REL="Canonical"`}, []string{"c"}},
		{"list of relations", []string{`<c>; rel="alternate canonical"`}, []string{"c"}},
		{"comma and semicolon in the target", []string{`<https://e.org/a,b;c>; rel=canonical`}, []string{"https://e.org/a,b;c"}},
		{"link inside a quoted title", []string{`<a>; title="x, <b>; rel=\"canonical\""; rel=next`}, nil},
		{"backslash before the closing quote", []string{`<a>; title="x\\"; rel=canonical`}, []string{"a"}},
		{"first rel wins", []string{`<a>; rel=next; rel=canonical`}, nil},
		{"parameter without value", []string{`<a>; rel=preload; crossorigin, <c>; rel=canonical`}, []string{"c"}},
		{"space round the equals sign", []string{`<c>; rel = "canonical"`}, []string{"c"}},
		{"single quotes are token characters", []string{`<c>; rel='canonical'`}, nil},
		{"empty target", []string{`<>; rel=canonical`}, []string{""}},
		{"rev is another relation", []string{`<c>; rev=canonical`}, nil},
		{"extension relation", []string{`<c>; rel="https://e.org/rel/canonical"`}, nil},
		{"no brackets, then a good one", []string{`https://e.org/a,b; rel=canonical, <c>; rel=canonical`}, []string{"!no_bracket", "!no_bracket", "c"}},
		{"unterminated", []string{`<https://e.org/c; rel=canonical`}, []string{"!unterminated"}},
		{"empty members", []string{`, ,<c>;;rel=canonical;,`}, []string{"c"}},
		{"quote without end", []string{`<c>; rel="canonical`}, []string{"c"}},
		{"nothing", []string{"", " "}, nil},
	} {
		if diff := cmp.Diff(c.want, canonicals(c.values...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestParse_IsBounded(t *testing.T) {
	t.Parallel()
	links, dropped := linkheader.Parse([]string{strings.Repeat("<c>; rel=canonical, ", 1000)})
	if len(links) != linkheader.MaxLinks || dropped != 1000-linkheader.MaxLinks {
		t.Errorf("%d links, %d dropped", len(links), dropped)
	}
	links, dropped = linkheader.Parse([]string{strings.Repeat("x", linkheader.MaxBytes+1), "<c>; rel=canonical"})
	if len(links) != 0 || dropped != 2 {
		t.Errorf("%d links, %d dropped of fields beyond the bound", len(links), dropped)
	}
	links, _ = linkheader.Parse([]string{"<c>" + strings.Repeat("; a=b", 100)})
	if len(links) != 1 || len(links[0].Params) != linkheader.MaxParams {
		t.Errorf("%d parameters kept", len(links[0].Params))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`<a>; rel=preload, <c>; rel="canonical"`, `<a>; t="x\"`, `<`, `<>;=`, `a;b,c<d>"`, `<a,b>;rel=c;;,`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		links, dropped := linkheader.Parse([]string{a, b})
		if len(links)+dropped > len(a)+len(b)+2 {
			t.Fatalf("%d links of %d bytes", len(links), len(a)+len(b))
		}
		for _, l := range links {
			v := []string{a, b}[l.Field]
			if !strings.HasPrefix(v[l.Offset:], l.Raw) || len(l.Target) > len(l.Raw) {
				t.Fatalf("link %q is not at %d of %q", l.Raw, l.Offset, v)
			}
		}
	})
}
