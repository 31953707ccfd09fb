package main

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// pageFlags choose pages of an inventory; their names are those of the API's parameters with hyphens.
type pageFlags struct {
	values  map[string]*string // by the API's names, those that need no look at the site
	asOf    string
	url     string
	doc     string
	segment string
	limit   int
}

// add defines the flags.
func (f *pageFlags) add(flags *pflag.FlagSet) {
	f.values = map[string]*string{}
	text := func(name, help string) {
		f.values[name] = new(string)
		flags.StringVar(f.values[name], flagOf(name), "", help)
	}
	text("state", "live (when missing), stale, pending, held, removed, foreign or all")
	text("contains", "part of the URL")
	text("prefix", "start of the URL")
	text("object_type", "what the page's document lists, as far as its address tells: post, page, product, category, author ..., or none")
	text("title", "with this text in a declared title of news, videos or images")
	text("extension", "with image, video, news or alternates")
	text("language", "with an alternate in this language")
	text("lastmod", "declared, or none")
	text("lastmod_from", "declared lastmod at or after this time: 2026-11-30, RFC 3339, -90d, -6m or -2y for days, months or years ago")
	text("lastmod_to", "declared lastmod before this time")
	text("first_from", "first seen at or after this time")
	text("reason", "part of the reason why a page is pending, held, stale or removed")
	text("sort", "url, lastmod, first_seen, changed or priority, with a minus before it for descending (--sort=-lastmod); else in the order of the documents")
	var words []string
	for _, by := range models.PageSorts() {
		words = append(words, by, "-"+by)
	}
	oneOf(flags, "sort", words...)
	oneOf(flags, "state", "live", "stale", "pending", "held", "removed", "foreign", "all")
	oneOf(flags, "extension", "image", "video", "news", "alternates")
	oneOf(flags, "lastmod", models.LastmodDeclared, models.LastmodNone)
	flags.StringVar(&f.asOf, "as-of", "", "a moment: a run's number or a time (2026-11-30 or RFC 3339)")
	flags.StringVar(&f.url, "url", "", "this page alone, in any spelling of its address")
	flags.StringVar(&f.doc, "document", "", "pages that this document declares: its URL or number")
	flags.StringVar(&f.segment, "segment", "", "a segment's name or number; what is given beside it is stronger than its own")
	flags.IntVar(&f.limit, "limit", 0, "at most this many, 0 for all")
}

func flagOf(parameter string) string { return strings.ReplaceAll(parameter, "_", "-") }

// filter puts what was given together.
func (f *pageFlags) filter(ctx context.Context, s *store.Store, site models.Site) (models.PageFilter, error) {
	query := url.Values{}
	if f.segment != "" {
		stored, err := s.Segments(ctx, site.ID)
		if err != nil {
			return models.PageFilter{}, err
		}
		all := models.WithPresets(stored)
		g, ok := models.FindSegment(all, f.segment)
		if !ok {
			return models.PageFilter{}, usage("--segment %q: %s has %s", f.segment, site.Name, segmentNames(all))
		}
		if query, err = url.ParseQuery(g.Filter); err != nil {
			return models.PageFilter{}, usage("--segment %q: its filter cannot be read, save it anew", f.segment)
		}
	}
	for name, value := range f.values {
		if *value != "" {
			query.Set(name, inUTC(*value))
		}
	}
	filter, err := models.ParsePageFilter(query, time.Now())
	var invalid *models.InvalidError
	if errors.As(err, &invalid) {
		return filter, usage("--%s %q: %s (%s)", flagOf(invalid.Field), query.Get(invalid.Field), invalid.Text, invalid.Hint)
	}
	if err != nil {
		return filter, err
	}
	filter.Reason, filter.Limit = *f.values["reason"], f.limit
	if filter.AsOf, err = parseAsOf(f.asOf); err != nil {
		return filter, err
	}
	if f.url != "" {
		u, problem := weburl.Parse(nil, []byte(withScheme(f.url)))
		if problem != weburl.None {
			return filter, usage("--url %q is no usable URL: %s", f.url, problem)
		}
		key := models.Key(u.Key())
		filter.URL, filter.Key = f.url, &key
	}
	if f.doc != "" {
		filter.Document, err = documentNumber(ctx, s, site, f.doc, filter.AsOf)
	}
	return filter, err
}

// inUTC gives times without a zone, as people type them, one that the filter reads.
func inUTC(text string) string {
	for _, layout := range []string{"2006-01-02T15:04:05", time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.RFC3339Nano)
		}
	}
	return text
}

func segmentNames(all []models.Segment) string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return strings.Join(names, ", ")
}
