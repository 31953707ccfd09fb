package canonical_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// epoch is the instant of "at 0h" in the fixtures.
var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fixture is one file of testdata/cases: comment lines with title, source and
// wants, then fetches in order. See testdata/cases/README.md.
type fixture struct {
	title, source string
	wants         []string
	fetches       []fetch
}

type fetch struct {
	response canonical.Response
	opts     map[string][]string // the @ lines
	at       time.Time
}

func parseFixture(t *testing.T, path string) fixture {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	text := string(raw)
	for strings.HasPrefix(text, "#") {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		line = strings.TrimSpace(line[1:])
		switch {
		case strings.HasPrefix(line, "source: "):
			f.source = line[8:]
		case strings.HasPrefix(line, "want: "):
			f.wants = append(f.wants, line[6:])
		case f.title == "":
			f.title = line
		}
	}
	for _, part := range strings.Split("\n"+text, "\n=== fetch ")[1:] {
		f.fetches = append(f.fetches, parseFetch(t, part))
	}
	if f.title == "" || f.source == "" || len(f.wants) == 0 || len(f.fetches) == 0 {
		t.Fatalf("%s: title, source, wants and a fetch are needed", path)
	}
	return f
}

func parseFetch(t *testing.T, part string) fetch {
	t.Helper()
	line, text, _ := strings.Cut(part, "\n")
	url, at, _ := strings.Cut(line, " at ")
	d, err := time.ParseDuration(cmpOr(at, "0h"))
	if err != nil {
		t.Fatalf("fetch %q: %v", line, err)
	}
	f := fetch{at: epoch.Add(d), opts: map[string][]string{}}
	f.response.URL = unescape(strings.TrimSpace(url))
	for {
		status, h, rest := parseMessage(t, text, f.opts)
		text = rest
		if strings.HasPrefix(text, "HTTP ") {
			from := f.response.URL
			if n := len(f.response.Hops); n > 0 {
				from = f.opts["hop"][n-1]
			}
			f.opts["hop"] = append(f.opts["hop"], h["Location"][0])
			f.response.Hops = append(f.response.Hops, canonical.Hop{URL: from, Status: status, Header: h})
			continue
		}
		f.response.Status, f.response.Header = status, h
		if n := len(f.response.Hops); n > 0 {
			f.response.FinalURL = f.opts["hop"][n-1]
		}
		break
	}
	f.response.Fetched = f.at
	f.body(text)
	for _, s := range f.opts["sitemap"] {
		doc, loc, _ := strings.Cut(s, " ")
		f.response.Sitemaps = append(f.response.Sitemaps, canonical.SitemapListing{Document: doc, Loc: cmpOr(loc, f.response.URL)})
	}
	f.response.Hosts = f.opts["hosts"]
	for _, name := range []string{"config", "derived"} {
		for _, s := range f.opts[name] {
			system, u, _ := strings.Cut(s, " ")
			f.response.Config = append(f.response.Config, canonical.Configured{URL: u, System: system, Derived: name == "derived"})
		}
	}
	if v := f.opts["failure"]; v != nil {
		f.response.Failure = canonical.Failure(v[0])
	}
	f.response.Truncated = f.opts["truncated"] != nil
	return f
}

// body fills in the template for @head and the default content type.
func (f *fetch) body(text string) {
	r := &f.response
	if h, ok := f.opts["head"]; ok {
		text = "<!doctype html>\n<html>\n<head>\n<title>A post</title>\n" + strings.Join(h, "\n") + "\n</head>\n<body>\n<p>A text about something.</p>\n</body>\n</html>\n"
	}
	if f.opts["escapes"] != nil || f.opts["head"] != nil {
		text = unescape(text)
	}
	r.Body = []byte(text)
	if f.opts["trim"] != nil {
		r.Body = bytes.TrimRight(r.Body, "\n")
	}
	if r.Header["Content-Type"] == nil && f.opts["bare"] == nil {
		r.Header["Content-Type"] = []string{"text/html; charset=UTF-8"}
	}
}

// parseMessage reads "HTTP status", header lines and @ lines up to an empty line.
func parseMessage(t *testing.T, text string, opts map[string][]string) (status int, h map[string][]string, rest string) {
	t.Helper()
	h = map[string][]string{}
	for {
		line, tail, more := strings.Cut(text, "\n")
		text = tail
		if line == "" || !more && line == "" {
			return status, h, text
		}
		if s, ok := strings.CutPrefix(line, "HTTP "); ok {
			status, _ = strconv.Atoi(s)
			continue
		}
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			name, value = strings.TrimSuffix(line, ":"), ""
		}
		if o, ok := strings.CutPrefix(name, "@"); ok {
			opts[o] = append(opts[o], value)
		} else {
			h[name] = append(h[name], unescape(value))
		}
		if !more {
			return status, h, ""
		}
	}
}

var (
	hexByte   = regexp.MustCompile(`\\x([0-9A-Fa-f]{2})`)
	codePoint = regexp.MustCompile(`\\u\{([0-9A-Fa-f]+)\}`)
	repeat    = regexp.MustCompile(`\{\{repeat (\d+) (.*?)\}\}`)
)

// unescape replaces \xHH, \u{...}, \t, \n and {{repeat N text}}.
func unescape(s string) string {
	s = repeat.ReplaceAllStringFunc(s, func(m string) string {
		g := repeat.FindStringSubmatch(m)
		n, _ := strconv.Atoi(g[1])
		return strings.Repeat(g[2], n)
	})
	s = codePoint.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseInt(codePoint.FindStringSubmatch(m)[1], 16, 32)
		return string(rune(n))
	})
	s = hexByte.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.ParseUint(m[2:], 16, 8)
		return string([]byte{byte(n)})
	})
	return strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(s)
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/cases/*.case")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int]bool{}
	for _, path := range paths {
		n, err := strconv.Atoi(filepath.Base(path)[:3])
		if err != nil {
			t.Fatalf("%s: a fixture's name begins with the number of its case", path)
		}
		numbers[n] = true
		t.Run(strings.TrimSuffix(filepath.Base(path), ".case"), func(t *testing.T) {
			t.Parallel()
			f := parseFixture(t, path)
			w := play(t, f)
			for _, want := range f.wants {
				if err := w.check(want); err != nil {
					t.Errorf("want %q: %v", want, err)
				}
			}
			got := w.golden(f)
			golden := strings.TrimSuffix(path, ".case") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			expected, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(expected), string(got)); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
	for n := 1; n <= 112; n++ {
		if !numbers[n] {
			t.Errorf("case %d has no fixture", n)
		}
	}
}

// golden renders what a fixture came to.
func (w *world) golden(f fixture) []byte {
	doc := map[string]any{"title": f.title, "source": f.source, "looks": w.looks}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// check tests one want line against the last look, or that of another URL.
func (w *world) check(want string) error {
	l := w.looks[len(w.looks)-1]
	if u, rest, ok := strings.Cut(want, " | "); ok {
		want = rest
		i := slices.IndexFunc(w.looks, func(l *look) bool { return l.URL == u && !l.replaced })
		if i < 0 {
			return fmt.Errorf("no look at %s", u)
		}
		l = w.looks[i]
	}
	word, arg, _ := strings.Cut(want, " ")
	first, second, _ := strings.Cut(arg, " ")
	ok := false
	var got any
	switch word {
	case "accepted", "refused":
		got = l.Items
		for _, it := range l.ev.Items {
			if string(it.Kind) != first {
				continue
			}
			ok = ok || word == "accepted" && it.Accepted && it.URL == unescape(second) || word == "refused" && !it.Accepted && string(it.Reason) == second
		}
	case "noitem":
		got, ok = l.Items, !slices.ContainsFunc(l.ev.Items, func(it canonical.Item) bool { return string(it.Kind) == first })
	case "noaccepted":
		got, ok = l.Items, len(l.ev.Declared()) == 0
	case "hint", "nohint":
		got = append(append([]string{}, l.Items...), l.Remarks...)
		ok = l.hints(canonical.Hint(first), second) == (word == "hint")
	case "status":
		got = []any{l.Status, l.Reason}
		ok = string(l.v.Status) == first && string(l.v.Reason) == second
	case "rule":
		got = l.Relationships
		ok = slices.ContainsFunc(l.v.Relationships, func(r canonical.Relationship) bool { return r.Rule == first })
	case "scope":
		got = l.Relationships
		ok = len(l.v.Relationships) > 0 && string(l.v.Relationships[0].Scope) == first
	case "target":
		got, ok = l.v.Head.Target, l.v.Head.Target == unescape(arg)
	case "resolution":
		got, ok = l.v.Head.Resolution, string(l.v.Head.Resolution) == first
	case "action":
		got, ok = []any{l.Action, l.step.Reason}, string(l.step.Action) == first && string(l.step.Reason) == second
	case "candidate":
		got = l.Candidates
		ok = slices.ContainsFunc(l.v.Candidates, func(c canonical.Candidate) bool { return c.Rule == first && c.Target == second })
	case "reading":
		got, ok = l.ev.Reading, string(l.ev.Reading) == first
	case "ended":
		got, ok = l.ev.Head, l.ev.Head.EndedBy == first
	case "charset":
		got, ok = l.ev.Charset, l.ev.Charset == first && (second == "" || l.ev.CharsetFrom == second)
	case "base":
		got, ok = l.ev.Base, l.ev.Base == first
	case "finding", "nofinding":
		got = l.Findings
		ok = slices.ContainsFunc(l.findings, func(f canonical.Finding) bool { return f.Code == first && strings.Contains(f.Text, second) }) == (word == "finding")
	case "current":
		n, _ := strconv.Atoi(first)
		got, ok = len(l.step.Next.Current), len(l.step.Next.Current) == n
	case "closed":
		n, _ := strconv.Atoi(first)
		got, ok = len(l.step.Closed), len(l.step.Closed) == n
	case "noindex":
		got, ok = l.ev.Robots, l.ev.Robots.NoIndex == (first == "yes")
	case "schema":
		got, ok = l.Items, slices.ContainsFunc(l.ev.Items, func(it canonical.Item) bool {
			return it.Node != nil && it.Node.Type == first && it.URL == second
		})
	default:
		return fmt.Errorf("unknown want")
	}
	if !ok {
		j, _ := json.MarshalIndent(got, "", " ")
		return fmt.Errorf("got %s", j)
	}
	return nil
}
