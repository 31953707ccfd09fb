package handlers_test

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/handlers/client"
	"github.com/sitemapd/sitemapd/models"
)

func TestClient_HasAMethodForEveryOperation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	methods := reflect.TypeFor[*client.Client]()
	for id := range readDocument(t, f).operations() {
		name := regexp.MustCompile(`(^|-)([a-z])`).ReplaceAllStringFunc(id, func(s string) string { return strings.ToUpper(strings.TrimPrefix(s, "-")) })
		name = strings.Replace(name, "Urls", "URLs", 1)
		if _, ok := methods.MethodByName(name); !ok {
			t.Errorf("%s: no method %s", id, name)
		}
	}
}

// collect reads a list to its end.
func collect[T any](t *testing.T, rows iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

func TestClient_UnderstandsTheServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	base, _ := f.serve(t)
	c := &client.Client{Base: base + "/", Token: f.token}
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	if sites := collect(t, c.ListSites(ctx)); len(sites) != 1 || sites[0].Root != exampleSite.Root {
		t.Errorf("%+v", sites)
	}
	site, err := c.GetSite(ctx, exampleSite.Root)
	if must(err); site.ID != 1 {
		t.Errorf("%+v", site)
	}
	home := "https://new.example/"
	site, err = c.AddSite(ctx, client.Settings{Home: &home})
	if must(err); site.ID != 2 || site.Name != "new.example" {
		t.Errorf("%+v", site)
	}
	site, err = c.ChangeSite(ctx, "1", client.Settings{Paused: ptr(true)})
	if must(err); !site.Paused {
		t.Errorf("%+v", site)
	}
	must(c.RemoveSite(ctx, "1"))
	pages := collect(t, c.ListURLs(ctx, "example.com", url.Values{"state": {"all"}, "page_size": {"1"}}))
	if len(pages) != 2 || pages[0].Lastmod.Precision != models.PrecisionSecond || string(pages[0].News) == "" {
		t.Errorf("%+v", pages)
	}
	if n := len(collect(t, c.PageHistory(ctx, "1", "https://example.com/a/"))); n != 2 {
		t.Errorf("%d states", n)
	}
	feed, err := c.ListChanges(ctx, "1", "", "changed", "added")
	if must(err); len(feed.Items) != 1 || feed.Cursor != "7.1" || feed.More {
		t.Errorf("%+v", feed)
	}
	if rows := collect(t, c.Diff(ctx, "1", "3", "", "moved")); len(rows) != 1 || rows[0].Kind != models.KindMoved {
		t.Errorf("%+v", rows)
	}
	if runs := collect(t, c.ListRuns(ctx, "1")); len(runs) != 7 || !runs[0].Current {
		t.Errorf("%+v", runs)
	}
	run, err := c.GetRun(ctx, "1", 7)
	if must(err); run.Counts.Live != 3 {
		t.Errorf("%+v", run)
	}
	a, err := c.StartRun(ctx, "1", "key")
	must(err)
	b, err := c.StartRun(ctx, "1", "key")
	if must(err); a.Trigger != b.Trigger || !b.Duplicate {
		t.Errorf("%+v %+v", a, b)
	}
	must(c.StopRun(ctx, "1", 8))
	trigger, err := c.GetTrigger(ctx, "1", 9)
	if must(err); trigger.ServedRun != 7 {
		t.Errorf("%+v", trigger)
	}
	n, err := c.ApproveHeld(ctx, "1", "https://example.com/old/")
	if must(err); n != 1 {
		t.Errorf("%d approved", n)
	}
	_, err = c.RejectHeld(ctx, "1")
	must(err)
	_, err = c.ReplayDelivery(ctx, "1", 9)
	must(err)
	key, err := c.RotateHookKey(ctx, "1", time.Minute)
	if must(err); key.Secret == "" || key.TokenURL == "" {
		t.Errorf("%+v", key)
	}
	token, err := c.CreateToken(ctx, "ci", []string{"read"}, 3)
	if must(err); !strings.HasPrefix(token.Text, "smd_") || token.ID != 2 {
		t.Errorf("%+v", token)
	}
	must(c.RevokeToken(ctx, 1))
	v, err := c.GetVerification(ctx, "1")
	if must(err); v.Verified != 3 || v.QueueAge() != 3*time.Hour {
		t.Errorf("%+v", v)
	}
	if all, err := c.ListIncidents(ctx, "1", "2026-11-01T00:00:00Z"); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	m, err := c.Mute(ctx, "1", models.Mute{Code: "og-url-differs", Place: "/{slug}/", Until: &v.At})
	if must(err); m.CreatedAt.IsZero() || m.Until == nil {
		t.Errorf("%+v", m)
	}
	if all, err := c.ListMutes(ctx, "1"); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	must(c.Unmute(ctx, "1", "og-url-differs", "/{slug}/"))
	if p, err := c.GetPluginInventory(ctx, "1"); err != nil || p.Posts != 120 {
		t.Errorf("%+v, %v", p, err)
	}
	for name, n := range map[string]int{
		"documents": len(collect(t, c.ListDocuments(ctx, "1", nil))), "versions": len(collect(t, c.DocumentHistory(ctx, "1", 2))), "findings": len(collect(t, c.ListFindings(ctx, "1", nil))),
		"held": len(collect(t, c.ListHeld(ctx, "1"))), "deliveries": len(collect(t, c.ListDeliveries(ctx, "1", ""))), "expectations": len(collect(t, c.ListExpectations(ctx, "1"))),
		"keys": len(collect(t, c.ListHookKeys(ctx, "1"))), "tokens": len(collect(t, c.ListTokens(ctx))), "metadata": len(collect(t, c.SitemapMetadata(ctx, "1", nil))),
		"progress": len(collect(t, c.WatchRun(ctx, "1", 7))),
	} {
		if n == 0 {
			t.Errorf("no %s", name)
		}
	}
	for p, err := range c.WatchSite(ctx, "1") {
		if must(err); p.Phase != "walking" {
			t.Errorf("%+v", p)
		}
		break
	}
}

func TestClient_ProblemsComeBackAsSuch(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	base, stop := f.serve(t)
	ctx := context.Background()
	for _, c := range []struct {
		err    error
		status int
	}{
		{func() error { _, err := (&client.Client{Base: base}).GetSite(ctx, "1"); return err }(), 401},
		{func() error { _, err := (&client.Client{Base: base, Token: f.token}).GetSite(ctx, "none"); return err }(), 404},
		{func() error {
			_, err := (&client.Client{Base: base, Token: f.token}).Probe(ctx, "https://x.example/")
			return err
		}(), 501},
	} {
		var p *client.Problem
		if !errors.As(c.err, &p) || p.Status != c.status || p.RequestID == "" {
			t.Errorf("%v, want %d", c.err, c.status)
		}
	}
	for _, err := range (&client.Client{Base: base, Token: f.token}).ListURLs(ctx, "1", url.Values{"state": {"x"}}) {
		var p *client.Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "query.state") {
			t.Error(err)
		}
	}
	_ = stop()
	if _, err := (&client.Client{Base: base, Token: f.token}).GetSite(ctx, "1"); err == nil {
		t.Error("an answer from a stopped server")
	}
}
