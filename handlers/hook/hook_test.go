package hook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/handlers/hook"
)

var now = time.Unix(1700000000, 0)

func key(t *testing.T) hook.Key {
	t.Helper()
	k, err := hook.ParseKey("k", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The signature was made by openssl, as docs/hooks.md shows.
func TestVerify_AgreesWithAnotherImplementation(t *testing.T) {
	t.Parallel()
	h := http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {"1700000000"}, "Webhook-Signature": {"v1,GDK/rf4XZ8S8L2cSKuErKv34psOpyuJooJkTLZhB2G0="}}
	v := hook.Verify(h, []byte(`{"type":"post.published"}`), []hook.Key{key(t)}, now)
	if !v.Authentic() || v.Key != "k" || v.ID != "msg_1" || v.Dialect != hook.StandardWebhooks {
		t.Errorf("%+v", v)
	}
}

func TestParseKey_RefusesWeakAndForeignSecrets(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "whsec_", "secret", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "whsec_AAEC", "whsec_!!!!", "WHSEC_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
		"whsec_" + strings.Repeat("A", 92), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "whpk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
	} {
		if _, err := hook.ParseKey("k", bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestURLToken_ChangesWithTheSecretAndDoesNotHoldIt(t *testing.T) {
	t.Parallel()
	a, err := hook.NewKey("a", now)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := hook.NewKey("b", now)
	if a.URLToken() == b.URLToken() || len(a.URLToken()) != 43 || strings.Contains(a.Secret(), a.URLToken()) {
		t.Errorf("%q %q", a.URLToken(), b.URLToken())
	}
	if id, ok := hook.MatchToken(b.URLToken(), []hook.Key{a, b}, now); !ok || id != "b" {
		t.Errorf("%q %v", id, ok)
	}
	if _, ok := hook.MatchToken(b.URLToken(), []hook.Key{a, b}, now.Add(-time.Second)); ok {
		t.Error("taken before its time")
	}
}

func TestXMLRPCAnswer_EscapesItsMessage(t *testing.T) {
	t.Parallel()
	if got := string(hook.XMLRPCAnswer(true, "<&>")); !strings.Contains(got, "&lt;&amp;&gt;") || !strings.Contains(got, "<boolean>1</boolean>") {
		t.Error(got)
	}
}

// bodies of every sender and of nobody.
var bodies = []string{
	``, `{}`, `{"type":"batch","data":{"events":[{"type":"batch","data":{"events":[{}]}}]}}`, `{"type":1,"data":[]}`, `{"urlList":["a",1]}`, `[`, `null`,
	`{"type":"post.published","data":{"url":"https://example.com/","post_id":"9999999999999999999"}}`, `<?xml version="1.0"?><methodCall><methodName>weblogUpdates.ping</methodName></methodCall>`,
	`<methodCall><params><param><value><string>a</string></value></param></params></methodCall>`, strings.Repeat("<a>", 500), `<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>`, `<?xml version="1.0" encoding="utf-16"?><x/>`,
	`hook=publish_post&post_url=javascript:alert(1)`, `hub.mode=publish&hub.url=%zz`, `webhook_id=1`, "\xff\xfe", `{"data":{"url":"https://` + strings.Repeat("a", 5000) + `"}}`,
}

func FuzzRead(f *testing.F) {
	for _, b := range bodies {
		for _, media := range []string{"application/json", "text/xml", "application/x-www-form-urlencoded", ""} {
			f.Add(media, "product.updated", "push", []byte(b))
		}
	}
	f.Fuzz(func(t *testing.T, media, topic, event string, body []byte) {
		for _, dialect := range []string{hook.Token, hook.StandardWebhooks, hook.WooCommerce, hook.WPWebhooks, hook.XMLRPC, hook.IndexNow, hook.WebSub} {
			h := http.Header{}
			h.Set("Content-Type", media)
			if topic != "" {
				h.Set("X-Wc-Webhook-Topic", topic)
			}
			m := hook.Read(dialect, h, body)
			if m.Dialect == "" || m.Kind == "" || len(m.Hints) > 1000 {
				t.Fatalf("%+v", m)
			}
			for _, hint := range m.Hints {
				for _, link := range []string{hint.URL, hint.PreviousURL} {
					if link != "" && !strings.HasPrefix(strings.ToLower(link), "http") || len(link) > 4096 {
						t.Fatalf("link %q", link)
					}
				}
				if len(hint.Event) > 100 || !utf8.ValidString(hint.Event) {
					t.Fatalf("event %q", hint.Event)
				}
			}
		}
	})
}

func FuzzVerify(f *testing.F) {
	f.Add("msg_1", "1700000000", "v1,GDK/rf4XZ8S8L2cSKuErKv34psOpyuJooJkTLZhB2G0=", "", []byte("{}"))
	f.Add("", "", "", "sha256=00", []byte(""))
	f.Fuzz(func(t *testing.T, id, stamp, signature, hub string, body []byte) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}, "X-Hub-Signature-256": {hub}}
		if v := hook.Verify(h, body, nil, now); v.Authentic() {
			t.Fatal("authentic without a key")
		}
		// Whoever has no key cannot hit a signature; the seed's is over another body.
		k, _ := hook.ParseKey("k", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
		if v := hook.Verify(h, body, []hook.Key{k}, now); v.Authentic() && string(body) != `{"type":"post.published"}` {
			t.Fatalf("%+v", v)
		}
	})
}
