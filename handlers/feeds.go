package handlers

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/models"
)

// Bounds of a feed: readers come often and keep what they read.
const (
	feedEntries = 30
	feedRuns    = 200 // looked through for runs that changed something
	feedChanges = 50  // of one run
)

// Atom (RFC 4287), as much as a feed of runs needs.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Links   []atomLink `xml:"link"`
	Content struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	} `xml:"content"`
}

// feed answers GET /feeds/{site}.atom: one entry for each run that changed the inventory. Feed readers cannot
// send headers, so a token may stand in the address.
func (s *Server) feed(c echo.Context) error {
	name, ok := strings.CutSuffix(c.Param("file"), ".atom")
	if !ok {
		return notFound("feed")
	}
	base := s.deps.PublicURL
	if base == "" {
		base = c.Scheme() + "://" + c.Request().Host
	}
	base = strings.TrimSuffix(base, "/")
	ctx := c.Request().Context()
	site, err := s.site(ctx, SiteInput{Site: name})
	var feed *atomFeed
	switch {
	case err == nil:
		feed, err = s.atom(ctx, site, base, c.QueryParam("segment"))
	case name == everySite && c.QueryParam("segment") == "":
		feed, err = s.instanceFeed(ctx, base)
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(feed); err != nil {
		return fmt.Errorf("write feed: %w", err)
	}
	return c.Blob(http.StatusOK, "application/atom+xml; charset=utf-8", b.Bytes())
}

// feedToken lets ?token= stand for the header, on feeds alone.
func feedToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if token := c.QueryParam("token"); token != "" && c.Request().Header.Get("Authorization") == "" {
			c.Request().Header.Set("Authorization", "Bearer "+token)
		}
		return next(c)
	}
}

// atom is the feed of a site's runs that changed something, or something in a segment.
func (s *Server) atom(ctx context.Context, site models.Site, base, segment string) (*atomFeed, error) {
	pages, err := s.pagesOf(ctx, site, PagesFilter{Segment: segment})
	if err != nil {
		return nil, err
	}
	at := base + sitePath(site.ID)
	feed := &atomFeed{
		ID: tagURI(site, "changes"), Title: site.Name + ": changes", Author: "sitemapd", Updated: site.CreatedAt.UTC().Format(time.RFC3339),
		Links: []atomLink{{"self", "application/atom+xml", base + "/feeds/" + number(site.ID) + ".atom"}, {"alternate", "text/html", at + "/changes"}},
	}
	if pages != nil {
		query := "?" + url.Values{"segment": {segment}}.Encode()
		feed.ID, feed.Title = tagURI(site, "changes"+query), site.Name+", "+segment+": changes"
		feed.Links[0].Href += query
		feed.Links[1].Href += query
	}
	runs, err := s.deps.Runs.Runs(ctx, site.ID, 0, feedRuns)
	if err != nil {
		return nil, err
	}
	// What a run changed stays as it is, so its text is kept: the first reading may be shorter, later ones are whole.
	late, enough := false, time.Now().Add(readingTime)
	for i := range runs {
		if len(feed.Entries) == feedEntries {
			break
		}
		r := &runs[i]
		summary := counted(r.Counts)
		if r.FinishedAt == nil || summary == "" {
			continue
		}
		entry := atomEntry{
			ID: tagURI(site, "run/"+number(r.ID)), Title: site.Name + ": " + summary, Updated: r.FinishedAt.UTC().Format(time.RFC3339),
			Links: []atomLink{{"alternate", "text/html", at + "/runs/" + number(r.ID)}},
		}
		if r.Baseline && pages != nil {
			continue // the whole segment is new then, which says nothing
		}
		if r.Baseline {
			entry.Title = site.Name + ": first run, " + number(r.Counts.Live) + " pages"
		} else {
			text, err := s.reports.entries.get(entryName{site.ID, r.ID, segment}, func() (keptEntry, error) {
				if late = time.Now().After(enough); late {
					return keptEntry{}, nil
				}
				return s.entryOf(ctx, site, r.ID, pages)
			})
			if err != nil {
				return nil, err
			}
			if late {
				break // with the next reading it goes further back
			}
			if pages != nil && text.changes == "" {
				continue
			}
			if pages != nil {
				entry.Title = site.Name + ": " + text.changes
			}
			entry.Content.Text = text.html
		}
		entry.Content.Type = "html"
		feed.Entries = append(feed.Entries, entry)
	}
	if len(feed.Entries) > 0 {
		feed.Updated = feed.Entries[0].Updated
	}
	return feed, nil
}

// entryOf reads what a run changed, of some pages or of all.
func (s *Server) entryOf(ctx context.Context, site models.Site, run int64, pages *models.PageFilter) (keptEntry, error) {
	changes, err := s.changesPage(ctx, site.ID, models.ChangeFilter{Run: run, Pages: pages}, feedChanges)
	if err != nil || len(changes.Items) == 0 {
		return keptEntry{}, err
	}
	return keptEntry{changes: changedOf(changes), html: entryText(changes)}, nil
}

type entryName struct {
	site, run int64
	segment   string
}

// keptEntry is the text of a feed's entry; changes is "" where the run changed nothing that is wanted.
type keptEntry struct{ changes, html string }

// keptEntries keeps texts that were dear to make. Segments may be saved anew under their name, so it forgets everything
// once it is full, and a name with relative days is as right as its last reading.
type keptEntries struct {
	mu  sync.Mutex
	all map[entryName]keptEntry
}

const entriesKept = 2000

// get gives the kept text, or makes and keeps it unless it is empty.
func (k *keptEntries) get(name entryName, read func() (keptEntry, error)) (keptEntry, error) {
	k.mu.Lock()
	entry, known := k.all[name]
	k.mu.Unlock()
	if known {
		return entry, nil
	}
	entry, err := read()
	if err != nil || entry == (keptEntry{}) {
		return entry, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) >= entriesKept {
		k.all = map[entryName]keptEntry{}
	}
	k.all[name] = entry
	return entry, nil
}

func entryText(changes changePage) string {
	var b strings.Builder
	b.WriteString("<ul>")
	for _, c := range changes.Items {
		b.WriteString("<li>" + html.EscapeString(c.Kind) + ": " + html.EscapeString(c.URL) + "</li>")
	}
	b.WriteString("</ul>")
	if changes.More {
		b.WriteString("<p>and more</p>")
	}
	return b.String()
}

// changedOf says how much of a segment a run changed, as far as it was read.
func changedOf(changes changePage) string {
	if n := len(changes.Items); changes.More {
		return "more than " + number(int64(n)) + " changes"
	} else if n > 1 {
		return number(int64(n)) + " changes"
	}
	return "1 change"
}

// counted says what a run changed, "" for nothing.
func counted(c models.Counts) string {
	var parts []string
	for _, part := range []struct {
		n    int64
		word string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Moved, "moved"}, {c.Removed, "removed"}, {c.Restored, "restored"}} {
		if part.n > 0 {
			parts = append(parts, number(part.n)+" "+part.word)
		}
	}
	return strings.Join(parts, ", ")
}

// tagURI (RFC 4151) names an entry for ever, wherever the daemon is reached.
func tagURI(site models.Site, what string) string {
	host := "localhost"
	if u, err := url.Parse(site.Home); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return "tag:" + host + "," + site.CreatedAt.UTC().Format(time.DateOnly) + ":sitemapd/" + number(site.ID) + "/" + what
}
