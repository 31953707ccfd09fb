package handlers_test

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

func ptr[T any](v T) *T { return &v }

// rich fills the store with one of everything, every optional field set.
func rich(f *fixture) {
	outbox := &office{}
	f.deps.Channels, f.deps.AlertRules, f.deps.Desk = outbox, outbox, outbox
	lastmod := &models.Lastmod{Raw: "2026-11-29T10:00:00+01:00", Instant: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC), Precision: models.PrecisionSecond, Zone: true}
	finished := now.Add(-30 * time.Second)
	page := models.Page{
		URL: "https://example.com/a/", State: models.StateLive, Document: "https://example.com/wp-sitemap-posts-post-1.xml", Lastmod: lastmod,
		Changefreq: "daily", Priority: ptr(0.5), Alternates: json.RawMessage(`[{"hreflang":"de","href":"https://example.com/de/a/"}]`),
		Images: json.RawMessage(`[{"loc":"https://example.com/a.jpg"}]`), Videos: json.RawMessage(`[{"content_loc":"https://example.com/a.mp4"}]`),
		News: json.RawMessage(`{"title":"A"}`), FirstSeen: now.Add(-time.Hour), LastSeen: now, FromRun: 3, Freshness: "fresh",
		Confidence: models.Confidence{Listing: 0.99, Lastmod: 0.9, Membership: 0.85, Identity: 0.75}, Listings: []string{"https://example.com/extra.xml"}, Cursor: "c1",
	}
	gone := models.Page{
		URL: "https://example.com/old/", State: models.StateRemoved, Document: page.Document, FirstSeen: now.Add(-2 * time.Hour), LastSeen: now.Add(-time.Hour),
		RemovedAt: &finished, FromRun: 1, ToRun: ptr(int64(3)), Freshness: "unavailable", Confidence: models.Confidence{Listing: 0.6, Membership: 0.6, Identity: 0.6},
		Reason: "gone from a completely read document", MovedTo: "https://example.com/a/", Cursor: "c2",
		Removal: &models.PageRemoval{Stage: models.StageMoved, FromRun: 5, Since: &now, AgreedRun: 6, DecidedRun: ptr(int64(6)),
			RemovalEvidence: models.RemovalEvidence{Status: 410, Hook: true, Missing: []models.Sighting{{Run: 5, Walks: 2,
				Document: "https://example.com/post-sitemap.xml", Verdict: "complete", ByteHash: "ab12", Observed: now}}}},
	}
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		for _, p := range []models.Page{page, gone} {
			if filter.After == "c1" && p.Cursor == "c1" || filter.After == "c2" {
				continue
			}
			if err := fn(&p); err != nil {
				return err
			}
		}
		return nil
	}
	f.store.CountPagesFunc = func(int64, models.PageFilter) (int64, error) { return 2, nil }
	f.store.PageHistoryFunc = func(int64, models.Key) ([]models.Page, error) { return []models.Page{gone, page}, nil }
	f.store.RunAtFunc = func(int64, time.Time) (int64, error) { return 5, nil }
	f.store.ChangesFunc = func(_ int64, filter models.ChangeFilter, fn func(*models.Change) error) error {
		if filter.After >= "7.1" {
			return nil
		}
		return fn(&models.Change{Cursor: "7.1", Run: 7, At: now, Kind: models.KindChanged, URL: page.URL, Reason: "declared",
			Fields: []models.FieldChange{{Field: "lastmod", Old: nil, New: lastmod.Raw, InstantChanged: ptr(true)}}})
	}
	f.store.DiffFunc = func(_ int64, filter models.DiffFilter, fn func(*models.Change) error) error {
		if filter.After != "" || filter.From.Run != 3 {
			return nil
		}
		return fn(&models.Change{Cursor: "3.7.1.00.0", Run: 7, At: now, Kind: models.KindMoved, URL: page.URL, Reason: "redirects",
			Fields: []models.FieldChange{{Field: "url", Old: page.URL, New: page.URL + "new/"}}})
	}
	run := models.Run{
		ID: 7, Site: "example.com", Cause: models.CauseCron, Verdict: models.VerdictComplete, Reason: "", StartedAt: now.Add(-time.Minute), FinishedAt: &finished,
		Current: true, Documents: models.RunDocuments{Read: 1, Unchanged: 2, Failed: 1}, Counts: models.Counts{Live: 3, Added: 1}, Requests: 4, Bytes: 1234,
		Findings: []models.Finding{{Code: "served-as-404", Severity: models.SeverityWarning, Document: page.Document, Text: "status 404 with a complete document"}},
		Triggers: []int64{9}, SemanticHash: "ab12",
	}
	f.store.RunsFunc = func(_, before int64, limit int) ([]models.Run, error) {
		var out []models.Run
		for id := int64(7); id > 0 && len(out) < limit; id-- {
			if before == 0 || id < before {
				r := run
				r.ID, r.Current, r.Findings = id, id == 7, nil
				out = append(out, r)
			}
		}
		return out, nil
	}
	f.store.RunFunc = func(_, id int64) (models.Run, error) {
		if id < 1 || id > 7 {
			return models.Run{}, models.ErrNotFound
		}
		r := run
		r.ID = id
		return r, nil
	}
	index := models.Document{Number: 1, URL: "https://example.com/wp-sitemap.xml", Discovery: "robots_txt", FirstRun: 1}
	index.DocumentVersion = models.DocumentVersion{
		ToRun:   models.Open,
		FromRun: 1, Verdict: models.VerdictComplete, Type: "sitemapindex", Status: 200, ContentType: "application/xml", Encoding: "UTF-8", Compression: "none",
		Bytes: 500, BytesInflated: 500, Children: 1, Generator: "core", Namespaces: []string{"http://www.sitemaps.org/schemas/sitemap/0.9"}, FetchedAt: now, ObservedAt: now,
		ETag: `"x"`, LastModified: "Sun, 29 Nov 2026 09:00:00 GMT", FinalURL: "https://example.com/wp-sitemap.xml",
	}
	child := models.Document{Number: 2, URL: page.Document, Parent: 1, Depth: 1, Discovery: "sitemap_index", FirstRun: 1}
	child.DocumentVersion = models.DocumentVersion{
		FromRun: 6, Verdict: models.VerdictPartial, Reason: "ended in the middle of an entry", Type: "urlset", Status: 200, Entries: 3, FetchedAt: now, ObservedAt: now,
		Lastmod: lastmod, StaleSince: &finished, Validation: []byte(`{"XML_well_formed":false}`),
	}
	f.store.DocumentsAtFunc = func(int64, models.AsOf) ([]models.Document, error) { return []models.Document{index, child}, nil }
	f.store.DocumentHistoryFunc = func(int64, int32) ([]models.Document, error) { return []models.Document{child}, nil }
	f.store.FindingsFunc = func(_ int64, filter models.FindingFilter) ([]models.Finding, error) {
		all := []models.Finding{
			{Code: "cut-document", Severity: models.SeverityError, Document: page.Document, Line: 12, Offset: 400, Text: "ended early", Rule: "XML 1.0 2.1", FromRun: 6},
			{Code: "lastmod-in-future", Severity: models.SeverityWarning, Document: page.Document, Page: page.URL, Text: "a day ahead"},
		}
		if filter.Limit > 0 && filter.Limit < len(all) {
			all = all[:filter.Limit]
		}
		return all, nil
	}
	f.store.RemovalsFunc = func(int64) ([]models.Removal, error) {
		return []models.Removal{{URL: gone.URL, Document: 2, FromRun: 6, HeldRun: 7, DecidedRun: models.Open, Stage: models.StageHeld, Since: now, Reason: "412 of 500 pages left at once"}}, nil
	}
	f.store.DecideRemovalsFunc = func(_ int64, keys []models.Key, _ bool) (int64, error) { return int64(max(1, len(keys))), nil }
	served := now
	trigger := models.Trigger{ID: 9, SiteID: 1, Kind: "hook", Dialect: "standard_webhooks", ReceivedAt: now, ServedRun: 7, ServedAt: &served, Body: []byte("{}"),
		Hints: []models.Hint{{Event: "post.published", URL: page.URL, PostID: 3, PostType: "post", Expect: "listed"}}}
	f.store.TriggersFunc = func(_, before int64, _ int) ([]models.Trigger, error) {
		if before != 0 && before <= 9 {
			return nil, nil
		}
		return []models.Trigger{trigger}, nil
	}
	f.store.TriggerFunc = func(_, id int64) (models.Trigger, error) {
		if id != 9 {
			return models.Trigger{}, models.ErrNotFound
		}
		return trigger, nil
	}
	f.deps.Expectations, f.deps.Published = f.store, inventoryOf{}
	f.store.ExpectationHistoryFunc = func(_, before int64, limit int) ([]models.Expectation, error) {
		return []models.Expectation{
			{Trigger: 9, URL: page.URL, Kind: models.ExpectMoved, PreviousURL: gone.URL, Modified: &served, OpenedAt: now.Add(-time.Minute), OpenedRun: 7, Checks: 2,
				Outcome: models.OutcomeMet, DecidedRun: 7, DecidedAt: &served, Finding: "edge-stale", Text: "a cache served an older copy"},
			{Trigger: 8, URL: page.URL, Kind: models.ExpectListed, OpenedAt: now, NextCheck: &served, Outcome: models.OutcomeOpen},
		}, nil
	}
	f.deps.Canonical, f.deps.Audits = evidence{}, audits{word: "absent", muted: new([]models.Mute)}
	f.store.SegmentsFunc = func(int64) ([]models.Segment, error) {
		return []models.Segment{{ID: 4, SiteID: 1, Name: "blog", Filter: "contains=%2Fblog%2F&state=all", CreatedAt: now}}, nil
	}
	f.store.SaveSegmentFunc = func(g models.Segment) (models.Segment, error) { g.ID = max(g.ID, 5); return g, nil }
	f.store.RemoveSegmentFunc = func(site, id int64) error {
		if id != 4 || site != 1 {
			return models.ErrNotFound
		}
		return nil
	}
	f.store.RotateHookKeyFunc = func(int64, time.Duration) (models.HookKey, error) {
		return models.HookKey{ID: "key-2", Secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", NotBefore: now, NotAfter: now.Add(time.Hour)}, nil
	}
	f.store.TokensFunc = func() ([]models.Token, error) {
		return []models.Token{{ID: 1, Name: "ci", Prefix: "smd_abc", Scopes: []string{"read"}, CreatedAt: now, LastUsedAt: &served, ExpiresAt: &served}}, nil
	}
	f.store.SaveTokenFunc = func(t models.Token) (models.Token, error) { t.ID = 2; return t, nil }
	f.store.RevokeTokenFunc = func(id int64, _ time.Time) error {
		if id != 1 {
			return models.ErrNotFound
		}
		return nil
	}
	f.store.AddSiteFunc = func(s models.Site) (models.Site, error) {
		if s.Name == "example.com" {
			return s, models.ErrConflict
		}
		s.ID = 2
		return s, nil
	}
	f.store.SaveSiteFunc = func(models.Site) error { return nil }
	f.store.RemoveSiteFunc = func(int64) error { return nil }
	f.walker.StopFunc = func(int64) bool { return true }
	f.walker.ProgressFunc = func(int64) (models.Progress, bool) { return models.Progress{SiteID: 1, Run: 8, Phase: "walking"}, true }
}

// inventoryOf is one reading of a plugin's inventory.
type inventoryOf struct{}

func (inventoryOf) PluginInventory(_ context.Context, site int64, _ bool) (models.PluginInventory, error) {
	if site != 1 {
		return models.PluginInventory{}, models.ErrNotFound
	}
	return models.PluginInventory{Run: 7, ReadAt: now, Outcome: models.PublishedComplete, Endpoint: "https://example.com/wp-json/sitemapd/v1/inventory", Steady: true, Seq: 42,
		Home: "https://example.com/", SiteURL: "https://example.com/", PermalinkStructure: "/%postname%/", System: "wordpress 6.8, yoast", Posts: 120, NotDeclared: 2, DeclaredGone: 1, Requests: 1}, nil
}
