package notify

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// Site is how events name a site.
type Site struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Home string `json:"home"`
}

func siteOf(s *models.Site) Site { return Site{s.ID, s.Name, s.Home} }

// message is an event as a person reads it.
type message struct {
	Title string   // one line
	Lines []string // what there is to say, one fact a line
	Link  string   // where to look, "" for nowhere
}

// told is the part of an event's data that people are told of.
type told struct {
	Site     Site     `json:"site"`
	Summary  string   `json:"summary"`
	Lines    []string `json:"lines"`
	Decision string   `json:"decision"`
	Pages    int64    `json:"pages"`
	URLs     []string `json:"urls"`
	More     bool     `json:"more"`
	Changes  []struct {
		Kind string `json:"kind"`
		URL  string `json:"url"`
	} `json:"changes"`
	Expectations []struct {
		URL  string `json:"url"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	} `json:"expectations"`
}

// maxLines of a message: who wants to read more follows the link.
const maxLines = 25

// read makes a message of any event. base is the daemon's public address, "" when it has none.
func read(e *models.Event, base string) (message, error) {
	var d told
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return message{}, fmt.Errorf("read event %s: %w", e.UID, err)
	}
	m := message{Title: oneLine(d.Summary), Lines: d.Lines}
	if m.Title == "" {
		m.Title = oneLine(summary(e, &d))
	}
	for _, c := range d.Changes {
		m.Lines = append(m.Lines, c.Kind+" "+c.URL)
	}
	for _, x := range d.Expectations {
		m.Lines = append(m.Lines, x.URL+": "+x.Text)
	}
	m.Lines = append(m.Lines, d.URLs...)
	most := maxLines
	if e.Type == models.EventDigest { // bounded when it was made
		most = digestSites + 2
	}
	if len(m.Lines) > most {
		m.Lines, d.More = m.Lines[:most], true
	}
	if d.More {
		m.Lines = append(m.Lines, "and more")
	}
	for i := range m.Lines {
		m.Lines[i] = oneLine(m.Lines[i])
	}
	if base != "" {
		m.Link = links(e, base)["html"]
	}
	return m, nil
}

// summary says what happened in events that the store wrote, which knows no sentences.
func summary(e *models.Event, d *told) string {
	switch e.Type {
	case models.EventHeldResolved:
		return fmt.Sprintf("%s: a person %s the removal of %s", d.Site.Name, d.Decision, pages(d.Pages))
	case models.EventExpectationExpired:
		return fmt.Sprintf("%s: %s did not become what a publish message announced", d.Site.Name, pages(d.Pages))
	}
	return strings.TrimPrefix(d.Site.Name+": "+e.Type, ": ")
}

func pages(n int64) string {
	if n == 1 {
		return "1 page"
	}
	return strconv.FormatInt(n, 10) + " pages"
}

// maxLine bounds one line of a message, in bytes.
const maxLine = 1000

// oneLine keeps a foreign text from beginning a line, a header or an escape sequence of its own.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	return strings.TrimSpace(text)
}

// links says where to look: the page for people, and the API's continuation of what the event names in part.
func links(e *models.Event, base string) map[string]string {
	all := map[string]string{}
	base = strings.TrimSuffix(base, "/")
	if e.SiteID == 0 {
		return all
	}
	site := "/sites/" + strconv.FormatInt(e.SiteID, 10)
	run := strconv.FormatInt(e.Run, 10)
	all["html"] = base + site
	switch e.Type {
	case models.EventPagesChanged:
		all["changes"] = base + "/api/v1" + site + "/changes?run=" + run
	case models.EventHeldCreated, models.EventHeldResolved:
		all["html"] = base + site + "/held"
		return all
	case models.EventExpectationExpired:
		all["html"] = base + site + "/expectations"
		return all
	case models.EventFindingOpened, models.EventFindingClosed:
		all["html"] = base + site + "/findings"
		return all
	}
	if e.Run > 0 {
		all["html"], all["run"] = base+site+"/runs/"+run, base+"/api/v1"+site+"/runs/"+run
	}
	return all
}

// body is what a webhook gets: the same bytes in every attempt, as long as the daemon keeps its public address.
func body(e *models.Event, base string) ([]byte, error) {
	data := map[string]json.RawMessage{}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, fmt.Errorf("read event %s: %w", e.UID, err)
	}
	if all := links(e, base); len(all) > 0 {
		if cursor := data["cursor"]; cursor != nil {
			var text string
			_ = json.Unmarshal(cursor, &text) // a cursor that is no text makes no link
			if next := all["changes"]; next != "" && text != "" {
				all = maps.Clone(all)
				all["next"] = next + "&after=" + text
			}
		}
		encoded, err := json.Marshal(all)
		if err != nil {
			return nil, err
		}
		data["links"] = encoded
	}
	return json.Marshal(struct {
		Type string                     `json:"type"`
		At   string                     `json:"timestamp"`
		Data map[string]json.RawMessage `json:"data"`
	}{e.Type, e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), data})
}
