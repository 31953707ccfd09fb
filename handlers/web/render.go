package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// Static is the folder of scripts and styles, as served under /static/.
func Static() fs.FS {
	sub, err := fs.Sub(staticFiles, "static")
	if err != nil {
		return staticFiles
	}
	return sub
}

// View is what every page knows besides its own data.
type View struct {
	Title string
	User  string // who is logged in, "" for nobody
	Local bool   // open to this machine, so nobody logs in or out
	May   Rights
	Now   time.Time
	Data  any
}

// Rights say which buttons make sense.
type Rights struct{ Run, Write, Admin bool }

var functions = template.FuncMap{
	"when":  when,
	"human": human,
	"web":   webLink,
	"query": query,
	"text":  func(b []byte) string { return string(b) },
	"took":  took,
	"value": value,
}

var pages = parse()

func parse() map[string]*template.Template {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "templates/"), ".html")
		if short == "layout" {
			continue
		}
		all[short] = template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", name))
	}
	return all
}

// Render writes one page. Nothing is written when the page cannot be made.
func Render(w io.Writer, page string, view View) error {
	t, ok := pages[page]
	if !ok {
		return fmt.Errorf("render %s: no such page", page)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("render %s: %w", page, err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// when writes a time in UTC that scripts may turn into the viewer's zone.
func when(at any) template.HTML {
	var t time.Time
	switch v := at.(type) {
	case time.Time:
		t = v
	case *time.Time:
		if v != nil {
			t = *v
		}
	}
	if t.IsZero() {
		return "–"
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`)
}

// human groups digits.
func human(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// webLink is the address to link to, or "" for anything that is no web address (javascript:, data:, ...).
func webLink(link string) string {
	u, err := url.Parse(link)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ""
	}
	return link
}

// query writes a query string from names and values in turn.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values.Encode()
}

// value writes one side of a changed field: texts as they are, everything else as JSON.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(b)
}

func took(r models.Run) string {
	if r.FinishedAt == nil {
		return "–"
	}
	return r.FinishedAt.Sub(r.StartedAt).Round(10 * time.Millisecond).String()
}
