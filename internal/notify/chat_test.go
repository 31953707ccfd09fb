package notify_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
)

// hostile is what a site may put into a page's address or a finding's text.
const hostile = "https://example.com/<!channel>?a=1&b=[x](https://evil.example) @everyone `\r\nBcc: x@evil.example\x1b[31m\u202e <users/all>"

func hostileEvent(site int64) models.Event {
	data, _ := json.Marshal(map[string]any{"summary": "example.com: " + hostile, "lines": []string{hostile, "<script>alert(1)</script>"}})
	return models.Event{UID: "evt_1", SiteID: site, Run: 7, Type: models.EventAlertOpened, At: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), Data: data}
}

func TestSender_WritesEachChatsFormAndNoForeignMarkup(t *testing.T) {
	t.Parallel()
	rc := newReceiver(t, nil)
	w := newWorld(t, func(o *notify.SenderOptions) { o.Telegram = rc.URL })
	for _, test := range []struct {
		address, path string
		check         func(t *testing.T, got map[string]any, text string)
	}{
		{"slack:" + rc.URL + "/s", "", func(t *testing.T, got map[string]any, text string) {
			if !strings.Contains(got["text"].(string), "&lt;!channel&gt;?a=1&amp;b=") || strings.Contains(text, "<!") {
				t.Error(text)
			}
		}},
		{"mattermost:" + rc.URL + "/m", "", func(t *testing.T, got map[string]any, text string) {
			if strings.Contains(got["text"].(string), "@everyone") || strings.Contains(got["text"].(string), " [x](") {
				t.Error(text)
			}
		}},
		{"discord:" + rc.URL + "/d", "", func(t *testing.T, got map[string]any, text string) {
			if diff := cmp.Diff(map[string]any{"parse": []any{}}, got["allowed_mentions"]); diff != "" || !strings.HasPrefix(got["content"].(string), "example.com: ") {
				t.Error(text)
			}
		}},
		{"teams:" + rc.URL + "/t", "", func(t *testing.T, got map[string]any, text string) {
			if !strings.Contains(text, `"Action.OpenUrl"`) || !strings.Contains(text, "AdaptiveCard") || strings.Contains(text, "b=[x](") {
				t.Error(text)
			}
		}},
		{"googlechat:" + rc.URL + "/g?key=1", "", func(t *testing.T, got map[string]any, text string) {
			if strings.ContainsAny(got["text"].(string), "<>") {
				t.Error(text)
			}
		}},
		{"ntfy:" + strings.Replace(rc.URL, "http://", "http://:tk_1@", 1) + "/topic", "", func(t *testing.T, got map[string]any, text string) {
			if got["topic"] != "topic" || got["click"] != "https://daemon.example/base/sites/1/runs/7" || strings.Contains(got["title"].(string), "\n") {
				t.Error(text)
			}
		}},
		{"telegram:123:abc@news", "", func(t *testing.T, got map[string]any, text string) {
			if got["chat_id"] != "@news" || got["parse_mode"] != nil {
				t.Error(text)
			}
		}},
	} {
		kind, address, err := notify.ParseAddress(test.address)
		if err != nil {
			t.Fatal(err)
		}
		e := hostileEvent(1)
		r, err := w.sender.Send(t.Context(), &models.Channel{ID: 5, Kind: kind, Address: address}, &e)
		if err != nil || r.Error != "" {
			t.Fatalf("%s: %+v, %v", kind, r, err)
		}
		got := rc.next()
		var content map[string]any
		if err := json.Unmarshal(got.Body, &content); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		t.Run(kind, func(t *testing.T) { test.check(t, content, string(got.Body)) })
		if strings.ContainsAny(string(got.Body), "\x1b\r\u202e") || strings.Contains(string(got.Body), `\u001b`) {
			t.Errorf("%s: control characters went through: %q", kind, got.Body)
		}
		if kind == models.ChannelNtfy && got.Header.Get("Authorization") != "Bearer tk_1" {
			t.Errorf("ntfy: %v", got.Header)
		}
	}
}

func TestSender_KeepsChatsWithinTheirLimits(t *testing.T) {
	t.Parallel()
	rc := newReceiver(t, nil)
	w := newWorld(t, nil)
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = strings.Repeat("ü", 900)
	}
	data, _ := json.Marshal(map[string]any{"summary": strings.Repeat("s", 5000), "lines": lines})
	e := models.Event{UID: "evt_1", Type: models.EventAlertOpened, At: time.Now(), Data: data}
	_, address, _ := notify.ParseAddress("discord:" + rc.URL)
	if r, err := w.sender.Send(t.Context(), &models.Channel{Kind: models.ChannelDiscord, Address: address}, &e); err != nil || r.Error != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	var content struct{ Content string }
	if err := json.Unmarshal(rc.next().Body, &content); err != nil || len([]rune(content.Content)) > 2000 {
		t.Errorf("%d characters, %v", len([]rune(content.Content)), err)
	}
}

func TestSender_NoErrorNamesTheAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	closed := newReceiver(t, nil)
	address := strings.Replace(closed.URL, "127.0.0.1", "127.0.0.9", 1) + "/SECRET" // nobody listens there
	for kind, address := range map[string]string{models.ChannelWebhook: address, models.ChannelSlack: address, models.ChannelDiscord: "http://no-such-host.invalid/SECRET"} {
		e := hostileEvent(1)
		r, err := w.sender.Send(t.Context(), &models.Channel{Kind: kind, Address: address}, &e)
		if err != nil || r.Error == "" || strings.Contains(r.Error, "SECRET") || strings.Contains(r.Error, "127.") {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
	}
}

func TestSender_KeepsOnlyTheStartOfAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rc := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(500)
		for range 1000 {
			_, _ = w.Write([]byte("<b>\x00\xff\r\n" + strings.Repeat("x", 1000)))
		}
	})
	e := hostileEvent(1)
	r, err := w.sender.Send(t.Context(), &models.Channel{Kind: models.ChannelWebhook, Address: rc.URL}, &e)
	if err != nil || len(r.Excerpt) > 600 || strings.ContainsAny(r.Excerpt, "\x00\r\n\xff") || !strings.HasPrefix(r.Excerpt, "<b>") {
		t.Errorf("%q, %v", r.Excerpt, err)
	}
}
