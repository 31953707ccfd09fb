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
	"regexp"
	"strings"
	"sync"
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
	Theme string  // dark or light where the viewer chose one, else ""
	Zone  string  // IANA name of the time zone that the viewer chose, "" for the browser's own
	Path  string  // of the request, to come back to
	In    *InSite // the site that the page is about, nil for none
	Done  string  // what was just done, from a fixed set of words
	Data  any
}

// Rights say which buttons make sense.
type Rights struct{ Run, Write, Admin bool }

var functions = template.FuncMap{
	"t":     Text,
	"when":  when,
	"ago":   ago,
	"human": Human,
	"bytes": byteSize,
	"web":   webLink,
	"text":  func(b []byte) string { return string(b) },
	"took":  took,
	"inrow": inRow,
	"value": value,
	"spark": Spark,
	"line":  Line,
	"bars":  Bars,
	"meter": Meter,
	"trust": func(v float64) template.HTML { return Meter(int64(v*100), 100) },
	"short": shortURL,
	"zone":  zoneOf,
	"word":  func(v any) string { return Text(fmt.Sprint(v)) },
	"mine":  func(may Rights, site models.Site) siteRights { return siteRights{may, site} },
}

// siteRights lets a part of a page know both.
type siteRights struct {
	May  Rights
	Site models.Site
}

// pages are parsed when the first one is asked for: most commands show none, and it takes as long as all other
// initialisation together, and 4 MB. A test renders every page.
var pages = sync.OnceValue(parse)

// Load parses what is parsed once, so that a server does it before its first visitor comes.
func Load() {
	pages()
	texts()
}

func parse() map[string]*template.Template {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "templates/"), ".html")
		if short == "layout" || short == "parts" {
			continue
		}
		all[short] = template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", name))
	}
	return all
}

// Render writes one page. Nothing is written when the page cannot be made.
func Render(w io.Writer, page string, view View) error {
	t, ok := pages()[page]
	if !ok {
		return fmt.Errorf("render %s: no such page", page)
	}
	if about, ok := view.Data.(interface{ in() *InSite }); ok {
		view.In = about.in()
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("render %s: %w", page, err)
	}
	_, err := w.Write(inZone(b.Bytes(), view.Zone))
	return err
}

// utcTime is a time as when writes it.
var utcTime = regexp.MustCompile(`<time datetime="([0-9TZ:-]+)">([0-9: -]+ UTC)</time>`)

// inZone writes the times of a page in a zone that the viewer chose, with UTC on hover, so that it needs no scripts.
func inZone(page []byte, name string) []byte {
	if name == "" {
		return page
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return page
	}
	return utcTime.ReplaceAllFunc(page, func(found []byte) []byte {
		parts := utcTime.FindSubmatch(found)
		at, err := time.Parse(time.RFC3339, string(parts[1]))
		if err != nil {
			return found
		}
		return fmt.Appendf(nil, `<time datetime="%s" title="%s">%s</time>`, parts[1], parts[2], at.In(zone).Format("2006-01-02 15:04:05"))
	})
}

func moment(at any) time.Time {
	switch v := at.(type) {
	case time.Time:
		return v.UTC()
	case *time.Time:
		if v != nil {
			return v.UTC()
		}
	}
	return time.Time{}
}

// when writes a time in UTC that scripts turn into the viewer's zone, with UTC on hover.
func when(at any) template.HTML {
	t := moment(at)
	if t.IsZero() {
		return "–"
	}
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`)
}

// ago writes a time as a distance from now, with the moment itself on hover.
func ago(now time.Time, at any) template.HTML {
	t := moment(at)
	if t.IsZero() {
		return "–"
	}
	distance, word := now.Sub(t), "%s ago"
	if distance < 0 {
		distance, word = -distance, "in %s"
	}
	return template.HTML(`<time class="ago" datetime="` + t.Format(time.RFC3339) + `" title="` + t.Format("2006-01-02 15:04:05") + ` UTC">` +
		template.HTMLEscapeString(Text(word, distanceText(distance))) + `</time>`)
}

func distanceText(d time.Duration) string {
	for _, unit := range []struct {
		length    time.Duration
		one, many string
	}{
		{365 * 24 * time.Hour, "1 year", "%d years"}, {30 * 24 * time.Hour, "1 month", "%d months"}, {24 * time.Hour, "1 day", "%d days"},
		{time.Hour, "1 hour", "%d hours"}, {time.Minute, "1 minute", "%d minutes"}, {time.Second, "1 second", "%d seconds"},
	} {
		if n := int(d / unit.length); n == 1 {
			return Text(unit.one)
		} else if n > 1 {
			return Text(unit.many, n)
		}
	}
	return Text("a moment")
}

// Human groups digits.
func Human(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func byteSize(n int64) string {
	switch {
	case n >= 10<<20:
		return Human(n>>20) + " MiB"
	case n >= 10<<10:
		return Human(n>>10) + " KiB"
	}
	return Human(n) + " B"
}

// webLink is the address to link to, or "" for anything that is no web address (javascript:, data:, ...).
func webLink(link string) string {
	u, err := url.Parse(link)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ""
	}
	return link
}

// shortURL leaves out what all addresses of a site share.
func shortURL(home, link string) string {
	if short := strings.TrimPrefix(link, strings.TrimSuffix(home, "/")); short != link && strings.HasPrefix(short, "/") {
		return short
	}
	return link
}

func zoneOf(zone string) string {
	if zone == "" {
		return "UTC"
	}
	return zone
}

// value writes one side of a changed field: texts as they are, everything else as JSON.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return Text("nothing")
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

// inRow counts how many runs in a row, the one at i and those before it, were not complete. runs are the newest first; behind
// the last one it counts no further.
func inRow(runs []models.Run, i int) (n int) {
	for ; i < len(runs) && runs[i].FinishedAt != nil && (runs[i].Error != "" || runs[i].Verdict != models.VerdictComplete && runs[i].Verdict != models.VerdictUnchanged); i++ {
		n++
	}
	return n
}
