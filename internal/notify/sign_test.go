package notify_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
)

func TestSignature_OfEveryValidKeyIsVerifiedByTheSchemesLibrary(t *testing.T) {
	t.Parallel()
	now := time.Now()
	keys := []models.ChannelKey{
		{Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", NotBefore: now.Add(-time.Hour)},
		{Secret: "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0", NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(time.Hour)},
		{Secret: "whsec_b3ZlcmJlbm9tb3Jlb3ZlcmJlbm9tb3Jl", NotBefore: now.Add(-3 * time.Hour), NotAfter: now.Add(-time.Minute)},
		{Secret: "whsec_bm90eWV0bm90eWV0bm90eWV0bm90eWV0", NotBefore: now.Add(time.Hour)},
	}
	body := []byte(`{"ü":1}`)
	header := http.Header{}
	header.Set("webhook-id", "evt_1")
	header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	header.Set("webhook-signature", notify.Signature(keys, "evt_1", now, body))
	for i, want := range []bool{true, true, false, false} {
		hook, err := standard.NewWebhook(keys[i].Secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := hook.Verify(body, header); (err == nil) != want {
			t.Errorf("key %d: %v", i, err)
		}
		if err := hook.Verify([]byte(`{"ü":2}`), header); err == nil {
			t.Errorf("key %d verifies another body", i)
		}
	}
	// The example of the scheme's own documents.
	got := notify.Signature(keys[:1], "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), nil)
	if got != "" {
		t.Errorf("a key signs before its time: %s", got)
	}
	keys[0].NotBefore = time.Time{}
	if got := notify.Signature(keys[:1], "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%s", got)
	}
}

func TestCheckSecret(t *testing.T) {
	t.Parallel()
	for secret, ok := range map[string]bool{
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": true, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": true,
		"whsec_c2hvcnQ=": false, "whsec_%%": false, "": false, "whsec_" + strings.Repeat("AAAA", 30): false,
	} {
		if err := notify.CheckSecret(secret); (err == nil) != ok {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

func TestParseAddress_TellsTheKindAndHidesTheSecret(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, kind, shown string }{
		{"https://u:p@example.com/in/x?key=1", models.ChannelWebhook, "https://example.com/in/x?…"},
		{" http://10.0.0.1:8080/ ", models.ChannelWebhook, "http://10.0.0.1:8080/"},
		{"mailto:a@example.com, b@example.org", models.ChannelMail, "mailto:a@example.com,b@example.org"},
		{"slack:https://hooks.slack.com/services/T/B/SECRET", models.ChannelSlack, "slack:https://hooks.slack.com/…"},
		{"DISCORD:https://discord.com/api/webhooks/1/SECRET", models.ChannelDiscord, "discord:https://discord.com/…"},
		{"ntfy:https://:tk_SECRET@ntfy.sh/topic", models.ChannelNtfy, "ntfy:https://ntfy.sh/…"},
		{"telegram:123:SECRET@-1001", models.ChannelTelegram, "telegram:…@-1001"},
	} {
		kind, address, err := notify.ParseAddress(test.text)
		if err != nil || kind != test.kind {
			t.Errorf("%s: %s, %v", test.text, kind, err)
		}
		c := models.Channel{Kind: kind, Address: address}
		if got := notify.Shown(&c); got != test.shown {
			t.Errorf("%s is shown as %s", test.text, got)
		}
		if kind2, address2, err := notify.ParseAddress(notify.Written(&c)); err != nil || kind2 != kind || address2 != address {
			t.Errorf("%s is written as %s: %v", test.text, notify.Written(&c), err)
		}
	}
	for _, bad := range []string{"", "example.com", "ftp://example.com", "https://", "https:///x", "https://example.com/#x", "mailto:", "mailto:a", "mailto:A <a@example.com>",
		"mailto:a@example.com\r\nBcc: b@example.com", "mailto:a@example.com%0d%0aBcc:b@example.com,", "slack:example", "slack:javascript:alert(1)", "ntfy:https://ntfy.sh/",
		"telegram:x", "telegram:a/b@c", "https://example.com/\x00", "https://example.com/" + strings.Repeat("x", 3000)} {
		if kind, address, err := notify.ParseAddress(bad); err == nil {
			t.Errorf("%q is taken as %s %s", bad, kind, address)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v", err)
		}
	}
}
