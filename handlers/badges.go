package handlers

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/models"
)

// badge is a small picture with a label and a value, for a README or an intranet page.
type badge struct {
	label, value string
	colour       string // of the value's field, dark enough for white text
}

const (
	badgeGood, badgeWarn, badgeBad, badgePlain = "#2a7e3b", "#9a6700", "#b3261e", "#57606a"
	badgeLife                                  = 5 * time.Minute
	badgeText                                  = 40 // characters of a value at most
)

// badgeKinds make a badge of a site and its current run, which is empty before the first.
var badgeKinds = map[string]func(models.Site, models.Run) badge{
	"pages.svg": func(site models.Site, _ models.Run) badge {
		return badge{"pages", thousands(site.Live), badgePlain}
	},
	"last-sync.svg": func(_ models.Site, run models.Run) badge {
		if run.FinishedAt == nil {
			return badge{"last sync", "never", badgePlain}
		}
		return badge{"last sync", run.FinishedAt.UTC().Format("2006-01-02 15:04") + " UTC", badgePlain}
	},
	"status.svg": func(site models.Site, run models.Run) badge {
		switch {
		case run.FinishedAt == nil:
			return badge{"sitemap", "not read yet", badgePlain}
		case site.Paused:
			return badge{"sitemap", "paused", badgePlain}
		case run.Counts.Held > 0:
			return badge{"sitemap", thousands(run.Counts.Held) + " removals held", badgeWarn}
		case run.Verdict == models.VerdictComplete || run.Verdict == models.VerdictUnchanged:
			return badge{"sitemap", "complete", badgeGood}
		case run.Verdict == models.VerdictPartial:
			return badge{"sitemap", "partial", badgeWarn}
		}
		return badge{"sitemap", strings.ReplaceAll(string(run.Verdict), "_", " "), badgeBad}
	},
}

// badge serves /badges/{site}/{kind}.svg: to everybody where the site's settings say so, else to who may read. A site
// whose badges are not public looks like one that does not exist.
func (s *Server) badge(c echo.Context) error {
	ctx := c.Request().Context()
	name, err := url.PathUnescape(c.Param("site"))
	draw, known := badgeKinds[c.Param("file")]
	if err != nil || !known {
		return notFound("badge")
	}
	site, err := s.deps.Sites.FindSite(ctx, name)
	if err != nil && !isNotFound(err) {
		return err
	}
	if err != nil || !site.Settings.PublicBadges && allow(principalOf(ctx), ScopeRead) != nil {
		return notFound("badge")
	}
	run, err := s.currentRun(ctx, site)
	if err != nil {
		return err
	}
	picture := draw(site, run).svg()
	h := c.Response().Header()
	tag := strongTag([]byte(picture))
	h.Set("ETag", tag)
	h.Set("Cache-Control", fmt.Sprintf("private, max-age=%d", int(badgeLife.Seconds())))
	if site.Settings.PublicBadges {
		h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(badgeLife.Seconds())))
		h.Set("Cross-Origin-Resource-Policy", "cross-origin") // it is made for other people's pages
	}
	if matches(c.Request().Header.Get("If-None-Match"), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, "image/svg+xml; charset=utf-8", []byte(picture))
}

func (s *Server) currentRun(ctx context.Context, site models.Site) (models.Run, error) {
	if site.CurrentRun == 0 {
		return models.Run{}, nil
	}
	run, err := s.deps.Runs.Run(ctx, site.ID, site.CurrentRun)
	if isNotFound(err) {
		return models.Run{}, nil
	}
	return run, err
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// svg draws the badge with attributes alone: no style, no script, no font of its own. textLength makes a text fill its
// field whatever font there is.
func (b badge) svg() string {
	value := strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, b.value)
	if runes := []rune(value); len(runes) > badgeText {
		value = string(runes[:badgeText-1]) + "…"
	}
	const each, pad = 7, 6
	left, right := each*utf8.RuneCountInString(b.label), each*utf8.RuneCountInString(value)
	width := left + right + 4*pad
	label, text := html.EscapeString(b.label), html.EscapeString(value)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s">`+
		`<title>%[2]s: %[3]s</title>`+
		`<rect width="%[1]d" height="20" rx="3" fill="#24292f"/>`+
		`<path d="M%[4]d 0h%[5]da3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-%[5]dz" fill="%[6]s"/>`+
		`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`+
		`<text x="%[7]d" y="14" textLength="%[8]d">%[2]s</text><text x="%[9]d" y="14" textLength="%[10]d">%[3]s</text></g></svg>`+"\n",
		width, label, text, left+2*pad, right+2*pad-3, b.colour, pad, left, left+3*pad, right)
}
