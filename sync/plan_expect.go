package syncer

import (
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// ladder is when an expectation is looked at again, counted from the message: caches of plugins, pages and CDNs let go
// at very different times (docs/hooks.md).
var ladder = []time.Duration{15 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}

// sight is what the inventory says of a page when an expectation is checked.
type sight struct {
	listed  bool       // live
	lastmod *time.Time // declared
	fresh   bool       // this version was recorded by a run that began after the message
}

// met tells whether what a message said has become true. A page that has no lastmod (terms, users, core before 6.5)
// cannot show a change: being listed after the message is all that it can.
func met(e models.Expectation, now, before sight) bool {
	switch e.Kind {
	case models.ExpectListed:
		return now.listed
	case models.ExpectGone:
		return !now.listed
	case models.ExpectMoved:
		return now.listed && !before.listed
	}
	switch {
	case !now.listed:
		return false
	case now.lastmod == nil || now.fresh:
		return true
	case e.Modified != nil:
		return !now.lastmod.Before(e.Modified.Truncate(time.Second))
	}
	return !now.lastmod.Before(e.OpenedAt.Add(-time.Minute))
}

// nextCheck gives the next rung that is still to come, nil behind the last.
func nextCheck(e models.Expectation, now time.Time) *time.Time {
	for _, after := range ladder {
		if at := e.OpenedAt.Add(after); at.After(now) {
			return &at
		}
	}
	return nil
}

// expectations opens what a trigger's hints say of pages. key gives the identity of a URL and whether it is one of the
// site's own; what names no page of the site expects nothing.
func expectations(t models.Trigger, key func(url string) (models.Key, bool)) []models.Expectation {
	var out []models.Expectation
	for _, h := range t.Hints {
		k, ok := key(h.URL)
		if !ok || h.Expect == "" {
			continue
		}
		e := models.Expectation{SiteID: t.SiteID, Trigger: t.ID, Key: k, URL: h.URL, Kind: h.Expect, OpenedAt: t.ReceivedAt,
			Modified: gmt(h.ModifiedGMT), Outcome: models.OutcomeOpen}
		if h.Expect == models.ExpectMoved {
			previous, ok := key(h.PreviousURL)
			if !ok {
				e.Kind = models.ExpectListed
			}
			e.PreviousKey, e.PreviousURL = previous, h.PreviousURL
		}
		out = append(out, e)
	}
	return out
}

// overtaken gives what is left of messages about moves once a later message speaks of the same page: an edit right after a
// new slug, or a second new slug. The later one takes the earlier one's place, but the first address is gone all the same.
func overtaken(before, opened []models.Expectation) []models.Expectation {
	all := append(slices.Clone(before), opened...)
	var out []models.Expectation
	for _, m := range all {
		if m.Kind != models.ExpectMoved || m.PreviousKey == (models.Key{}) || m.PreviousKey == m.Key {
			continue
		}
		var by *models.Expectation
		returned := false
		for i := range all {
			e := &all[i]
			if e.Trigger <= m.Trigger {
				continue
			}
			// Something is at the first address again, or another message speaks of its end.
			returned = returned || e.Key == m.PreviousKey || e.PreviousKey == m.PreviousKey
			if e.Key == m.Key || e.Kind == models.ExpectMoved && e.PreviousKey == m.Key {
				by = e
			}
		}
		if by != nil && !returned {
			out = append(out, models.Expectation{SiteID: m.SiteID, Trigger: by.Trigger, Key: m.PreviousKey, URL: m.PreviousURL, Kind: models.ExpectGone,
				OpenedAt: by.OpenedAt, Outcome: models.OutcomeOpen})
		}
	}
	return out
}

// moves gives the messages about moves by the address that each page had, with the address where it ended up.
func moves(all []models.Expectation) map[models.Key]models.Expectation {
	out := map[models.Key]models.Expectation{}
	for _, e := range all {
		if e.Kind == models.ExpectMoved && e.PreviousKey != (models.Key{}) && e.PreviousKey != e.Key && out[e.PreviousKey].Trigger <= e.Trigger {
			out[e.PreviousKey] = e
		}
	}
	for previous, e := range out {
		for range len(out) { // at most so many hops, should messages name a circle
			next, ok := out[e.Key]
			if !ok || next.Trigger < e.Trigger {
				break
			}
			e.Key, e.URL, e.Trigger = next.Key, next.URL, next.Trigger
		}
		if e.Key == previous {
			delete(out, previous)
			continue
		}
		out[previous] = e
	}
	return out
}

// gmt reads WordPress' post_modified_gmt, with a blank or a T between date and time.
func gmt(text string) *time.Time {
	text = strings.TrimSuffix(strings.Replace(text, " ", "T", 1), "Z")
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil || t.Year() < 1990 {
		return nil
	}
	return &t
}

// advice says what usually lets a generator's sitemap lag behind.
func advice(generator string) string {
	name, _, _ := strings.Cut(generator, " ")
	switch name {
	case "rank_math":
		return "Rank Math refreshes its sitemap cache only for edits in the admin screens; the companion plugin clears it"
	case "seo_framework":
		return "The SEO Framework caches its sitemap and lists only the newest pages; the companion plugin clears the cache"
	case "seopress":
		return "SEOPress keeps index dates for an hour"
	case "jetpack":
		return "Jetpack rebuilds its sitemap every 12 hours by WP-Cron"
	case "msm":
		return "MSM Sitemap rebuilds by WP-Cron: check that it runs"
	}
	return "exclude sitemaps from page caches and CDN rules, or purge them on publish"
}
