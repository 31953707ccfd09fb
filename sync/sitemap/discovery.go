package sitemap

import (
	"bytes"
	"html"
	"strings"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// SitemapLine is one `Sitemap:` line of a robots.txt, or one link of a page.
type SitemapLine struct {
	URL     string // absolute wire form; "" when the text is no usable address
	Raw     string
	Line    int    // from 1
	Foreign bool   // on another host than the document that holds it
	Finding string // a code of the catalogue when the text is not as it should be, or ""
}

// ParseRobots returns the `Sitemap:` lines of a robots.txt in order, each address once. Base is the final URL of the
// robots.txt. The field's name may be in any case and belongs to no group; the address keeps its case.
func ParseRobots(body []byte, base string) []SitemapLine {
	const mostLines, mostFound = 100_000, 10_000
	home, _ := weburl.ParseString(nil, base)
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	var out []SitemapLine
	seen := map[string]bool{}
	for n := 1; len(body) > 0 && n <= mostLines && len(out) < mostFound; n++ {
		line := body
		if i := bytes.IndexAny(body, "\r\n"); i >= 0 {
			line = body[:i]
			if body[i] == '\r' && i+1 < len(body) && body[i+1] == '\n' {
				i++
			}
			body = body[i+1:]
		} else {
			body = nil
		}
		if raw, ok := sitemapField(line); ok {
			if found := resolveLine(raw, &home, n); !seen[found.URL] || found.URL == "" {
				seen[found.URL] = true
				out = append(out, found)
			}
		}
	}
	return out
}

// sitemapField returns the value of a `Sitemap:` line, without a comment behind it.
func sitemapField(line []byte) (string, bool) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if name = bytes.TrimSpace(name); !ok || !bytes.EqualFold(name, []byte("sitemap")) &&
		!bytes.EqualFold(name, []byte("site-map")) {
		return "", false
	}
	for i := 1; i < len(value); i++ { // "#" begins a comment only behind a blank; inside an address it is a fragment
		if value[i] == '#' && kind[value[i-1]]&isBlank != 0 {
			value = value[:i]
			break
		}
	}
	return string(bytes.Trim(bytes.TrimSpace(value), "<>\"'")), true
}

// resolveLine makes a published address absolute and says what is odd about it.
func resolveLine(raw string, home *weburl.URL, line int) SitemapLine {
	out := SitemapLine{Raw: raw, Line: line}
	u, problem := weburl.ParseString(home, raw)
	switch {
	case problem == weburl.NoHost && len(home.Host) == 0, problem != weburl.None:
		out.Finding = catalogue[locProblem(problem)].Code
		return out
	case u.Notes&weburl.NoteSchemeMissing != 0:
		out.Finding = catalogue[codeLocSchemeMissing].Code
	case u.Notes&weburl.NoteRelative != 0:
		// "example.org/sitemap.xml": a first segment that looks like a host is one, as an address must be absolute.
		first, _, _ := strings.Cut(raw, "/")
		if u2, p := weburl.ParseString(nil, raw); p == weburl.None && strings.Contains(first, ".") &&
			!strings.HasSuffix(strings.ToLower(first), ".xml") && !strings.HasSuffix(strings.ToLower(first), ".gz") &&
			!strings.HasSuffix(strings.ToLower(first), ".txt") && len(home.Scheme) > 0 {
			if fixed, p := weburl.ParseString(nil, string(home.Scheme)+"://"+raw); p == weburl.None {
				u2 = fixed
			}
			u = u2
			out.Finding = catalogue[codeLocSchemeMissing].Code
			break
		}
		out.Finding = catalogue[codeLocRelative].Code
	}
	out.URL = string(u.Wire)
	out.Foreign = len(home.Host) > 0 && (!bytes.Equal(u.Host, home.Host) || !bytes.Equal(u.Port, home.Port))
	return out
}

// LinkedSitemaps returns the addresses of <link rel="sitemap"> (and of <a rel="sitemap">) in an HTML page, each once.
// It looks at the first 512 KiB.
func LinkedSitemaps(page []byte, base string) []SitemapLine {
	home, _ := weburl.ParseString(nil, base)
	page = page[:min(len(page), 512<<10)]
	r := &Reader{opt: Options{}.withDefaults()}
	r.win.eof = true
	var out []SitemapLine
	seen := map[string]bool{}
	line, counted := 1, 0
	for at := 0; at < len(page) && len(out) < 100; {
		i := bytes.IndexByte(page[at:], '<')
		if i < 0 {
			break
		}
		at += i
		rest := page[at:]
		if bytes.HasPrefix(rest, []byte("<!--")) {
			if i := bytes.Index(rest, []byte("-->")); i >= 0 {
				at += i + 3
				continue
			}
			break
		}
		if !hasTag(rest, "link") && !hasTag(rest, "a") || !r.parseTag(rest, int64(at)) {
			at++
			continue
		}
		rel, href := "", ""
		for _, a := range r.tag.attrs {
			switch strings.ToLower(string(a.name)) {
			case "rel":
				rel = strings.ToLower(html.UnescapeString(string(a.value)))
			case "href":
				href = html.UnescapeString(string(a.value))
			}
		}
		for _, word := range strings.Fields(rel) {
			if word != "sitemap" || href == "" {
				continue
			}
			line += bytes.Count(page[counted:at], []byte{'\n'})
			counted = at
			found := resolveLine(strings.TrimSpace(href), &home, line)
			if found.Finding == catalogue[codeLocRelative].Code || found.Finding == catalogue[codeLocSchemeMissing].Code {
				found.Finding = "" // in HTML a relative address is as good as any
			}
			if !seen[found.URL] {
				seen[found.URL] = true
				out = append(out, found)
			}
			break
		}
		at += max(1, r.tag.size)
	}
	return out
}

func hasTag(b []byte, name string) bool {
	return len(b) > len(name)+1 && bytes.EqualFold(b[1:1+len(name)], []byte(name)) && kind[b[1+len(name)]]&endsName != 0
}
