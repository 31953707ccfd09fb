package handlers_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/models"
)

// form sends a form as a browser does that runs no scripts.
func (f *fixture) typed(path, body string) *http.Response {
	return f.request("POST", path, body, "Authorization", "Bearer "+f.token, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
}

func TestColumns_AreChosenByTheAddressAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	heads := func(address string) string {
		page := text(t, f.get(address))
		head, _, _ := strings.Cut(page[strings.Index(page, "<thead>"):], "</thead>")
		var names []string
		for _, part := range strings.Split(head, "<th scope=\"col\"")[1:] {
			part, _, _ = strings.Cut(part, "<span aria-hidden")
			names = append(names, regexp.MustCompile(`^[^>]*>|<[^>]*>`).ReplaceAllString(part, ""))
		}
		return strings.Join(names, ", ")
	}
	const usual = "Page, State, Lastmod (declared), First seen, Declares, Document"
	for address, want := range map[string]string{
		"/sites/1/urls":                                      usual,
		"/sites/1/urls?columns=":                             usual,
		"/sites/1/urls?columns=%3Cscript%3E":                 usual,
		"/sites/1/urls?columns=priority,state":               "Page, State, priority",
		"/sites/1/urls?columns=reason&columns=from_run":      "Page, Reason, So since run",
		"/sites/1/urls?columns=confidence,nothing,last_seen": "Page, Last seen, Confidence (listing, lastmod, identity)",
	} {
		if got := heads(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestColumns_KeepFilterAndPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	first := text(t, f.get("/sites/1/urls?state=all&contains=a&columns=priority&rows=dense"))
	for _, want := range []string{
		`class="cards dense"`, `<input type="hidden" name="contains" value="a">`, `<input type="hidden" name="columns" value="priority">`, `<input type="hidden" name="rows" value="dense">`,
		`href="/sites/1/urls?columns=priority&amp;rows=dense">Clear`, `href="?columns=priority&amp;contains=a&amp;rows=dense&amp;state=stale"`,
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(first, "format=csv&amp;columns") || strings.Contains(first, "columns=priority&amp;contains=a&amp;format") {
		t.Error("the export has the columns of the screen")
	}

	// A place in the list stays a place when its columns change, and not when its filter does.
	f.store.PagesFunc = func(_ int64, filter models.PageFilter, fn func(*models.Page) error) error {
		for i := range 60 {
			if err := fn(&models.Page{URL: fmt.Sprintf("https://example.com/%d/", i), State: models.StateLive, Cursor: fmt.Sprint("c", i)}); err != nil {
				return err
			}
		}
		return nil
	}
	page := text(t, f.get("/sites/1/urls?contains=a"))
	_, rest, _ := strings.Cut(page, "page_token=")
	token, _, _ := strings.Cut(rest, `"`)
	wantStatus(t, f.get("/sites/1/urls?contains=a&columns=priority&page_token="+token), 200)
	wantStatus(t, f.get("/sites/1/urls?contains=b&page_token="+token), 422)
}

func TestReplay_SeveralAtOnceOrNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	f.store.TriggerFunc = func(_, id int64) (models.Trigger, error) {
		if id > 5 {
			return models.Trigger{}, models.ErrNotFound
		}
		return models.Trigger{ID: id, Kind: models.CauseHook, Hints: []models.Hint{{PostID: id}}}, nil
	}
	var stored []int64
	f.store.SaveTriggerFunc = func(t models.Trigger) (int64, bool, error) {
		stored = append(stored, t.Hints[0].PostID)
		return 100 + int64(len(stored)), false, nil
	}
	for form, want := range map[string]int{"": 400, "trigger=x": 404, "trigger=0": 404, "trigger=2&trigger=9": 404, strings.Repeat("trigger=1&", 51): 400} {
		wantStatus(t, f.typed("/sites/1/deliveries/replay", form), want)
	}
	if stored != nil {
		t.Errorf("refused, and yet stored: %v", stored)
	}
	r := f.typed("/sites/1/deliveries/replay", "trigger=4&trigger=2&trigger=4&trigger=3")
	wantStatus(t, r, 303)
	if diff := cmp.Diff([]int64{2, 3, 4}, stored); diff != "" || r.Header.Get("Location") != "/sites/1/deliveries?done=replayed" {
		t.Errorf("%s, %s", diff, r.Header.Get("Location"))
	}
	reader, secret, err := handlers.NewToken("reader", []string{handlers.ScopeRead}, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.store.TokenByHashFunc = func([32]byte) (models.Token, error) { return reader, nil }
	r = f.request("POST", "/sites/1/deliveries/replay", "trigger=1", "Authorization", "Bearer "+secret, "Content-Type", "application/x-www-form-urlencoded")
	wantStatus(t, r, 403)
}

func TestChannels_AreChangedByAForm(t *testing.T) {
	t.Parallel()
	outbox := &office{}
	f := newFixture(t, rich, func(f *fixture) { f.deps.Channels, f.deps.AlertRules, f.deps.Desk = outbox, outbox, outbox })
	page := text(t, f.get("/settings/channels/3"))
	for _, want := range []string{`action="/settings/channels/3/change"`, `name="name" required maxlength="100" value="ops"`, `value="*" checked`, `value="0 8 * * 1"`, `placeholder="https://example.com/in?…"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, "SECRET") {
		t.Error("the form has the address's secret")
	}
	r := f.typed("/settings/channels/3/change", "name=people&address=&site=1&type=held.created&type=alert.opened&digest=0+8+*+*+1&time_zone=")
	wantStatus(t, r, 303)
	got := outbox.changed
	if *got.Name != "people" || got.Address != nil || *got.SiteID != 1 || len(*got.Types) != 2 || got.Digest != nil || got.TimeZone != nil {
		t.Errorf("%+v", got)
	}
	wantStatus(t, f.typed("/settings/channels/3/change", "name=ops&address=https://example.com/new&site=0&digest="), 303)
	if got = outbox.changed; *got.Address != "https://example.com/new" || len(*got.Types) != 0 || *got.Digest != "" {
		t.Errorf("%+v", got)
	}
	r = f.typed("/settings/channels/3/change", "name=typed&address=ftp://x")
	wantStatus(t, r, 422)
	if page := text(t, r); !strings.Contains(page, `value="typed"`) || !strings.Contains(page, "no address") {
		t.Errorf("what was typed is gone: %.3000s", page)
	}
	wantStatus(t, f.typed("/settings/channels/3/change", "name="), 422)
	wantStatus(t, f.typed("/settings/channels/file/change", "name=x"), 422)
}

func TestRules_AreChangedByTheForm(t *testing.T) {
	t.Parallel()
	outbox := &office{}
	f := newFixture(t, rich, func(f *fixture) { f.deps.Channels, f.deps.AlertRules, f.deps.Desk = outbox, outbox, outbox })
	page := text(t, f.get("/settings/alerts?edit=4"))
	for _, want := range []string{`name="rule" value="4"`, `<option value="pages_removed" selected>`, `name="threshold" inputmode="decimal" value="50"`, `name="hours" min="1" max="8784" value="1"`,
		`value="prefix=x"`, `name="channel" value="3" checked`, "Change the rule"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if page := text(t, f.get("/settings/alerts")); strings.Contains(page, `name="rule"`) || !strings.Contains(page, `href="/settings/alerts?edit=4#rule"`) {
		t.Errorf("%.5000s", page)
	}
	wantStatus(t, f.typed("/settings/alerts", "do=add&rule=4&trigger=pages_removed&threshold=80&hours=1&name=mass&paused=1&channel=3&site=0"), 303)
	if got := outbox.saved; got.ID != 4 || got.Within != time.Hour || !got.CreatedAt.Equal(now) {
		t.Errorf("saved %+v", got)
	}
	if got := outbox.asked; *got.Threshold != 80 || got.Filter != nil || !*got.Paused || len(*got.Channels) != 1 {
		t.Errorf("asked for %+v", got)
	}
	r := f.typed("/settings/alerts", "do=add&rule=4&trigger=pages_removed&threshold=0&name=typed")
	wantStatus(t, r, 422)
	if page := text(t, r); !strings.Contains(page, `name="rule" value="4"`) || !strings.Contains(page, `value="typed"`) {
		t.Errorf("%.3000s", page)
	}
	wantStatus(t, f.typed("/settings/alerts", "do=add&rule=file&trigger=pages_removed"), 422)
	wantStatus(t, f.typed("/settings/alerts", "do=add&rule=99&trigger=pages_removed"), 404)
	wantStatus(t, f.get("/settings/alerts?edit=file"), 422)
}

func TestSettingsForm_StatesWhatTheOwnerPrefers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, rich)
	var saved []models.Site
	f.store.SaveSiteFunc = func(s models.Site) error { saved = append(saved, s); return nil }
	const whole = "name=example.com&home=https://example.com/&more=1"
	wantStatus(t, f.typed("/sites/1/settings", whole+"&preferred_scheme=https&preferred_host=WWW.example.com&trailing_slash=add"), 303)
	if g := saved[0].Settings; g.PreferredScheme != "https" || g.PreferredHost != "www.example.com" || g.TrailingSlash != "add" {
		t.Errorf("%+v", g)
	}
	for _, bad := range []string{"&preferred_scheme=ftp", "&trailing_slash=maybe", "&preferred_host=a/b"} {
		r := f.typed("/sites/1/settings", whole+bad)
		wantStatus(t, r, 422)
		if page := text(t, r); !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s: %.2000s", bad, page)
		}
	}
	if len(saved) != 1 {
		t.Errorf("saved %d times", len(saved))
	}
}
