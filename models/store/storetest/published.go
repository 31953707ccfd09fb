package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// post makes one post of a plugin's inventory.
func post(id int64, url, status string) models.PublishedPost {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	return models.PublishedPost{PostID: id, Key: KeyOf(url), URL: url, Type: "post", Status: status, Modified: &at}
}

// stagePublished stages a reading and posts in a run.
func (f *Fixture) stagePublished(run models.Run, outcome string, posts ...models.PublishedPost) models.PluginInventory {
	f.t.Helper()
	p := models.PluginInventory{SiteID: f.Site.ID, Run: run.ID, ReadAt: f.At(run.ID), Outcome: outcome, Endpoint: "https://example.com/wp-json/x", Steady: true,
		Seq: 7, Home: "https://example.com/", SiteURL: "https://example.com/wp", PermalinkStructure: "/%postname%/", System: "wordpress 6.8, yoast",
		Posts: int64(len(posts)), Requests: 1}
	f.must(f.Store.SavePluginInventory(f.t.Context(), f.Lease, p))
	f.must(f.Store.StagePublished(f.t.Context(), f.Lease, f.Site.ID, run.ID, posts))
	return p
}

// openPosts gives "number status url from" of the open versions, staged ones included.
func (f *Fixture) openPosts() []string {
	f.t.Helper()
	var out []string
	for after := int64(0); ; {
		posts, err := f.Store.PublishedPosts(f.t.Context(), f.Site.ID, after, 2)
		f.must(err)
		for _, p := range posts {
			out = append(out, fmt.Sprint(p.PostID, " ", p.Status, " ", p.URL, " ", p.FromRun))
			after = p.PostID
		}
		if len(posts) < 2 {
			return out
		}
	}
}

func published(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	ctx, s := t.Context(), f.Store
	if _, err := s.PluginInventory(ctx, f.Site.ID, false); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("before the first reading: %v", err)
	}
	if got, err := s.ConfiguredCanonicals(ctx, f.Site.ID, []models.Key{KeyOf(pageA)}); err != nil || got != nil {
		t.Errorf("before the first reading: %+v, %v", got, err)
	}
	first := f.Begin()
	entered := post(2, pageB, models.PostPublished)
	entered.Canonical, entered.Noindex, entered.Password = "https://example.com/elsewhere/", true, true
	inventory := f.stagePublished(first, models.PublishedComplete, post(1, pageA, models.PostPublished), entered, post(9, pageC, models.PostPublished))
	if _, err := s.PluginInventory(ctx, f.Site.ID, false); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("a reading is seen before its run ended: %v", err)
	}
	inventory.NotDeclared = 3
	f.must(s.SavePluginInventory(ctx, f.Lease, inventory)) // it knows more now
	f.Finish(first)
	got, err := s.PluginInventory(ctx, f.Site.ID, false)
	f.must(err)
	same(t, "a reading as read", inventory, got)
	posts, err := s.PublishedPosts(ctx, f.Site.ID, 1, 1)
	f.must(err)
	entered.FromRun, entered.ToRun = first.ID, models.Open
	same(t, "a post as read", []models.PublishedPost{entered}, posts)

	// The second reading: one post moved, one is gone. The third was no reading.
	second := f.Begin()
	f.stagePublished(second, models.PublishedComplete, post(1, pageD, models.PostPublished), post(9, pageC, models.PostGone))
	f.Finish(second)
	third := f.Begin()
	f.stagePublished(third, models.PublishedRefused)
	f.Finish(third)
	same(t, "open versions", []string{"1 publish " + pageD + " 2", "2 publish " + pageB + " 1", "9 gone " + pageC + " 2"}, f.openPosts())
	at, err := s.PublishedAt(ctx, f.Site.ID, []models.Key{KeyOf(pageA)})
	f.must(err)
	var versions []string
	for _, p := range at {
		versions = append(versions, fmt.Sprint(p.PostID, " ", p.URL, " ", p.FromRun, " ", p.ToRun == models.Open))
	}
	same(t, "a post by the address it had", []string{"1 " + pageA + " 1 false", "1 " + pageD + " 2 true"}, versions)

	if last, err := s.PluginInventory(ctx, f.Site.ID, false); err != nil || last.Outcome != models.PublishedRefused {
		t.Errorf("the last reading: %+v, %v", last, err)
	}
	config, err := s.SystemConfiguration(ctx, f.Site.ID)
	f.must(err)
	same(t, "what the system states", models.SystemConfiguration{SiteID: f.Site.ID, Run: second.ID, ReadAt: f.At(second.ID), System: "wordpress 6.8, yoast",
		Home: "https://example.com/", SiteURL: "https://example.com/wp", PermalinkStructure: "/%postname%/"}, config)
	canonicals, err := s.ConfiguredCanonicals(ctx, f.Site.ID, []models.Key{KeyOf(pageA), KeyOf(pageB), KeyOf(pageC), KeyOf(pageD)})
	f.must(err)
	stated := map[string]string{}
	for _, c := range canonicals {
		stated[c.URL] = fmt.Sprint(c.Canonical, " ", c.Explicit, " ", c.PostID)
	}
	same(t, "stated canonicals", map[string]string{pageB: "https://example.com/elsewhere/ true 2", pageD: pageD + " false 1"}, stated)
}

func publishedSwept(t *testing.T, open func() *store.Store) {
	f := NewFixture(t, open())
	first := f.Begin()
	f.stagePublished(first, models.PublishedComplete, post(1, pageA, models.PostPublished), post(2, pageB, models.PostPublished))
	f.Finish(first)
	want := f.openPosts()
	dead := f.Begin()
	f.stagePublished(dead, models.PublishedPartial, post(1, pageC, models.PostPublished), post(2, pageB, models.PostGone), post(3, pageD, models.PostPublished))
	f.stagePublished(dead, models.PublishedPartial, post(3, pageA, models.PostPublished)) // a run may say a post twice
	f.Begin()                                                                             // sweeps what the dead one left
	same(t, "after a run that died", want, f.openPosts())
	if got, err := f.Store.PluginInventory(t.Context(), f.Site.ID, false); err != nil || got.Run != first.ID {
		t.Errorf("the reading of a run that died: %+v, %v", got, err)
	}
	f.must(f.Store.RemoveSite(t.Context(), f.Site.ID))
	f.must(f.Store.PurgeSite(t.Context(), f.Site.ID))
	if left := f.openPosts(); len(left) != 0 {
		t.Errorf("after a purge: %v", left)
	}
}
