package handlers_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/handlers/hook"
	"github.com/sitemapd/sitemapd/models"
)

// raw is the secret's bytes, which sign in Standard Webhooks.
func raw(key hook.Key) []byte {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key.Secret(), hook.SecretPrefix))
	if err != nil {
		panic(err)
	}
	return b
}

func mac(secret []byte, text string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// standard signs as our plugin does.
func standard(key hook.Key, id string, at time.Time, body string) []string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	sum := base64.StdEncoding.EncodeToString(mac(raw(key), id+"."+stamp+"."+body))
	return []string{"Webhook-Id", id, "Webhook-Timestamp", stamp, "Webhook-Signature", "v1," + sum, "Content-Type", "application/json"}
}

func github(key hook.Key, event, delivery, body string) []string {
	return []string{"X-GitHub-Event", event, "X-GitHub-Delivery", delivery, "Content-Type", "application/json",
		"X-Hub-Signature-256", "sha256=" + hex.EncodeToString(mac([]byte(key.Secret()), body))}
}

func woo(key hook.Key, topic, delivery, body string) []string {
	resource, event, _ := strings.Cut(topic, ".")
	return []string{"User-Agent", "WooCommerce/9.4.2 Hookshot (WordPress/7.1)", "Content-Type", "application/json",
		"X-WC-Webhook-Source", "https://example.com/", "X-WC-Webhook-Topic", topic, "X-WC-Webhook-Resource", resource, "X-WC-Webhook-Event", event,
		"X-WC-Webhook-ID", "12", "X-WC-Webhook-Delivery-ID", delivery,
		"X-WC-Webhook-Signature", base64.StdEncoding.EncodeToString(mac([]byte(key.Secret()), body))}
}

func wpWebhooks(key hook.Key, name, contentType, body string) []string {
	return []string{"X-WP-Webhook-Source", "https://example.com", "X-WP-Webhook-Name", name, "X-WP-Webhook-URL-Name", "sitemapd", "Content-Type", contentType,
		"X-WP-Webhook-Signature", base64.StdEncoding.EncodeToString(mac([]byte(key.Secret()), body))}
}

const published = `{"type":"post.published","timestamp":"2026-11-30T12:00:00Z","data":{"url":"https://example.com/new/","post_id":17,"post_type":"post","modified_gmt":"2026-11-30T11:59:58","seq":41}}`

// extendedPing is what WordPress 7.1 sends (the words of its Incutio library).
const extendedPing = `<?xml version="1.0"?>
<methodCall>
<methodName>weblogUpdates.extendedPing</methodName>
<params>
<param><value><string>Caf&#233; &amp;amp; Site</string></value></param>
<param><value><string>https://example.com/</string></value></param>
<param><value><string>https://example.com/feed/</string></value></param>
</params></methodCall>
`

func TestHooks_StoreWhatEachSenderSends(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := "/" + f.key.URLToken()
	product := `{"id":794,"name":"Premium Quality","permalink":"https://example.com/product/premium-quality/","date_modified_gmt":"2026-11-30T11:59:00","type":"simple","status":"publish"}`
	wpPost := `{"post_id":17,"post":{"ID":17,"post_status":"publish","post_type":"page","post_modified_gmt":"2026-11-30 11:59:00"},"post_meta":{},"post_permalink":"https://example.com/a-page/"}`
	cases := []struct {
		name, path, body string
		header           []string
		kind, dialect    string
		hints            []models.Hint
		status           int
		answer           string
	}{
		{name: "plugin, published", body: published, header: standard(f.key, "msg_1", now, published), dialect: hook.StandardWebhooks,
			hints: []models.Hint{{Event: "post.published", URL: "https://example.com/new/", PostID: 17, PostType: "post", ModifiedGMT: "2026-11-30T11:59:58", Seq: 41, Expect: "listed"}}},
		{name: "plugin, slug changed", body: `{"type":"post.updated","data":{"url":"https://example.com/b/","previous_url":"https://example.com/a/","post_id":"18"}}`,
			dialect: hook.StandardWebhooks, hints: []models.Hint{{Event: "post.updated", URL: "https://example.com/b/", PreviousURL: "https://example.com/a/", PostID: 18, Expect: "moved"}}},
		{name: "plugin, batch", body: `{"type":"batch","data":{"events":[{"type":"post.deleted","data":{"url":"https://example.com/a/","seq":2}},{"type":"term.updated","data":{"url":"https://example.com/category/x/"}},{"type":"site.permalinks_changed","data":{}}]}}`,
			dialect: hook.StandardWebhooks, hints: []models.Hint{{Event: "post.deleted", URL: "https://example.com/a/", Seq: 2, Expect: "gone"}, {Event: "term.updated", URL: "https://example.com/category/x/"}, {Event: "site.permalinks_changed"}}},
		{name: "svix names", body: published, dialect: hook.StandardWebhooks, header: []string{"Svix-Id", "msg_s", "Svix-Timestamp", standard(f.key, "msg_s", now, published)[3], "Svix-Signature", standard(f.key, "msg_s", now, published)[5]},
			hints: []models.Hint{{Event: "post.published", URL: "https://example.com/new/", PostID: 17, PostType: "post", ModifiedGMT: "2026-11-30T11:59:58", Seq: 41, Expect: "listed"}}},
		{name: "github push", body: `{"ref":"refs/heads/main"}`, header: github(f.key, "push", "72d3162e", `{"ref":"refs/heads/main"}`), dialect: hook.GitHub, hints: []models.Hint{{Event: "github.push"}}},
		{name: "woo product updated", body: product, header: woo(f.key, "product.updated", "d1", product), dialect: hook.WooCommerce,
			hints: []models.Hint{{Event: "product.updated", URL: "https://example.com/product/premium-quality/", PostID: 794, PostType: "product", ModifiedGMT: "2026-11-30T11:59:00", Expect: "changed"}}},
		{name: "woo product deleted", body: `{"id":794}`, header: woo(f.key, "product.deleted", "d2", `{"id":794}`), dialect: hook.WooCommerce,
			hints: []models.Hint{{Event: "product.deleted", PostID: 794, PostType: "product"}}},
		{name: "woo action", body: `{"action":"woocommerce_update_product","arg":794}`, header: woo(f.key, "action.woocommerce_update_product", "d3", `{"action":"woocommerce_update_product","arg":794}`),
			dialect: hook.WooCommerce, hints: []models.Hint{{Event: "action.woocommerce_update_product"}}},
		{name: "wp webhooks JSON", body: wpPost, header: wpWebhooks(f.key, "post_create", "application/json", wpPost), dialect: hook.WPWebhooks,
			hints: []models.Hint{{Event: "post_create", URL: "https://example.com/a-page/", PostID: 17, PostType: "page", ModifiedGMT: "2026-11-30 11:59:00", Expect: "listed"}}},
		{name: "wp webhooks form", body: "post_id=17&post%5Bpost_status%5D=draft&post%5Bpost_type%5D=post&post_permalink=https%3A%2F%2Fexample.com%2Fa%2F", dialect: hook.WPWebhooks,
			header: wpWebhooks(f.key, "post_update", "application/x-www-form-urlencoded", "post_id=17&post%5Bpost_status%5D=draft&post%5Bpost_type%5D=post&post_permalink=https%3A%2F%2Fexample.com%2Fa%2F"),
			hints:  []models.Hint{{Event: "post_update", URL: "https://example.com/a/", PostID: 17, PostType: "post", Expect: "gone"}}},
		{name: "wp webhooks XML", body: `<?xml version="1.0"?><data><post_id>17</post_id><post><post_status>publish</post_status></post><post_permalink>https://example.com/a/</post_permalink></data>`, dialect: hook.WPWebhooks,
			header: wpWebhooks(f.key, "post_update", "application/xml", `<?xml version="1.0"?><data><post_id>17</post_id><post><post_status>publish</post_status></post><post_permalink>https://example.com/a/</post_permalink></data>`),
			hints:  []models.Hint{{Event: "post_update", URL: "https://example.com/a/", PostID: 17, Expect: "changed"}}},
		{name: "wordpress.com form", path: token, body: "ID=17&post_url=https%3A%2F%2Fexample.com%2F2026%2F11%2Fa%2F&post_status=publish&post_modified_gmt=2026-11-30+11%3A59%3A00&post_type=post&hook=publish_post",
			header: []string{"Content-Type", "application/x-www-form-urlencoded"}, dialect: hook.WordPressCom,
			hints: []models.Hint{{Event: "publish_post", URL: "https://example.com/2026/11/a/", PostID: 17, PostType: "post", ModifiedGMT: "2026-11-30 11:59:00", Expect: "changed"}}},
		{name: "extended ping", path: token, body: extendedPing, header: []string{"Content-Type", "text/xml", "User-Agent", "The Incutio XML-RPC PHP Library -- WordPress/7.1"},
			kind: models.CausePing, dialect: hook.XMLRPC, hints: []models.Hint{{Event: "weblogUpdates.extendedPing"}}, answer: "<boolean>0</boolean>"},
		{name: "ping", path: token, body: `<?xml version="1.0"?><methodCall><methodName>weblogUpdates.ping</methodName><params><param><value>Site</value></param><param><value>http://www.example.com</value></param></params></methodCall>`,
			header: []string{"Content-Type", "text/xml"}, kind: models.CausePing, dialect: hook.XMLRPC, hints: []models.Hint{{Event: "weblogUpdates.ping"}}, answer: "<boolean>0</boolean>"},
		{name: "indexnow", path: token, body: `{"host":"example.com","key":"abc","keyLocation":"https://example.com/abc.txt","urlList":["https://example.com/a","https://other.example/b"]}`,
			header: []string{"Content-Type", "application/json; charset=utf-8"}, dialect: hook.IndexNow, hints: []models.Hint{{Event: "indexnow", URL: "https://example.com/a"}, {Event: "indexnow"}}},
		{name: "indexnow below the token", path: token + "/indexnow", body: `{"host":"example.com","key":"abc","urlList":["https://example.com/c"]}`,
			header: []string{"Content-Type", "application/json"}, dialect: hook.IndexNow, hints: []models.Hint{{Event: "indexnow", URL: "https://example.com/c"}}},
		{name: "websub publisher", path: token, body: "hub.mode=publish&hub.url=https%3A%2F%2Fexample.com%2Ffeed%2F", header: []string{"Content-Type", "application/x-www-form-urlencoded"},
			dialect: hook.WebSub, hints: []models.Hint{{Event: "websub.publish"}}, status: 204},
		{name: "websub content", path: token, body: `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>`, header: []string{"Content-Type", "application/atom+xml"},
			dialect: hook.WebSub, hints: []models.Hint{{Event: "websub"}}},
		{name: "anything with a token", path: token, body: "link=https%3A%2F%2Fexample.com%2Fz%2F&action=published", header: []string{"Content-Type", "application/x-www-form-urlencoded"},
			dialect: hook.Token, hints: []models.Hint{{Event: "published", URL: "https://example.com/z/"}}},
		{name: "nothing with a token", path: token, dialect: hook.Token, hints: []models.Hint{{Event: "token"}}},
		{name: "unsigned woo with a token", path: token, body: product, header: []string{"X-WC-Webhook-Topic", "product.created", "Content-Type", "application/json"}, dialect: hook.WooCommerce,
			hints: []models.Hint{{Event: "product.created", URL: "https://example.com/product/premium-quality/", PostID: 794, PostType: "product", ModifiedGMT: "2026-11-30T11:59:00", Expect: "listed"}}},
	}
	for i, c := range cases {
		if c.header == nil && c.path == "" {
			c.header = standard(f.key, "msg_"+strconv.Itoa(100+i), now, c.body)
		}
		before := len(f.triggers)
		r := f.request("POST", "/hooks/1"+c.path, c.body, c.header...)
		answer := text(t, r)
		if c.status == 0 {
			c.status = 200
		}
		if r.StatusCode != c.status || !strings.Contains(answer, c.answer) {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, answer)
			continue
		}
		if len(f.triggers) != before+1 {
			t.Errorf("%s: not stored", c.name)
			continue
		}
		got := f.triggers[before]
		if c.kind == "" {
			c.kind = models.CauseHook
		}
		if got.Kind != c.kind || got.Dialect != c.dialect || got.SiteID != 1 || !got.ReceivedAt.Equal(now) || string(got.Body) != c.body {
			t.Errorf("%s: stored %+v", c.name, got)
		}
		if diff := cmp.Diff(c.hints, got.Hints, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: hints (-want +got)\n%s", c.name, diff)
		}
	}
	if len(f.woken) != len(cases) {
		t.Errorf("engine woken %d times for %d deliveries", len(f.woken), len(cases))
	}
}

func TestHooks_AnswerAuthenticEventsThatMeanNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := "/" + f.key.URLToken()
	order := `{"id":1,"status":"processing"}`
	otherSite := strings.ReplaceAll(extendedPing, "https://example.com/", "https://elsewhere.example/")
	cases := []struct {
		name, path, body string
		header           []string
		answer           string
	}{
		{"github ping", "", `{"zen":"x"}`, github(f.key, "ping", "1", `{"zen":"x"}`), `"ignored"`},
		{"woo order", "", order, woo(f.key, "order.updated", "1", order), `"ignored"`},
		{"woo creation ping, unsigned", "", "webhook_id=12", []string{"Content-Type", "application/x-www-form-urlencoded"}, `"ignored"`},
		{"woo creation ping with a token", token, "webhook_id=12", []string{"Content-Type", "application/x-www-form-urlencoded"}, `"ignored"`},
		{"wp webhooks log-in", "", `{}`, wpWebhooks(f.key, "login_user", "application/json", `{}`), `"ignored"`},
		{"wordpress.com comment", token, "hook=comment_post&comment_ID=4", []string{"Content-Type", "application/x-www-form-urlencoded"}, `"ignored"`},
		{"plugin's test button", "", `{"type":"site.test","data":{"url":"https://example.com/"}}`, standard(f.key, "t1", now, `{"type":"site.test","data":{"url":"https://example.com/"}}`), `"ignored"`},
		{"ping of another site", token, otherSite, []string{"Content-Type", "text/xml"}, "<boolean>1</boolean>"},
		{"another method", token, `<?xml version="1.0"?><methodCall><methodName>system.listMethods</methodName></methodCall>`, []string{"Content-Type", "text/xml"}, "<boolean>1</boolean>"},
	}
	for _, c := range cases {
		r := f.request("POST", "/hooks/1"+c.path, c.body, c.header...)
		if answer := text(t, r); r.StatusCode != 200 || !strings.Contains(answer, c.answer) {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, answer)
		}
	}
	if len(f.triggers) != 0 || len(f.woken) != 0 {
		t.Errorf("%d stored, %d woken", len(f.triggers), len(f.woken))
	}
	log := decode[struct{ Items []models.Delivery }](t, f.get("/api/v1/sites/1/deliveries"))
	if len(log.Items) != len(cases)-1 { // the unsigned ping is nobody's
		t.Errorf("%d rows in the log", len(log.Items))
	}
}

// counted counts what is read of a body.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

func TestHooks_Refuse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other, err := hook.NewKey("other", now.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	expired, _ := hook.NewKey("expired", now.Add(-time.Hour))
	future, _ := hook.NewKey("future", now.Add(time.Hour))
	f.store.HookKeysFunc = func(siteID int64) ([]models.HookKey, error) {
		if siteID != 1 {
			return nil, nil
		}
		return []models.HookKey{
			{ID: "future", Secret: future.Secret(), NotBefore: now.Add(time.Hour)},
			{ID: "key-1", Secret: f.key.Secret(), NotBefore: now.Add(-time.Hour)},
			{ID: "expired", Secret: expired.Secret(), NotBefore: now.Add(-48 * time.Hour), NotAfter: now},
		}, nil
	}
	good := func(changes ...string) []string {
		h := standard(f.key, "msg_1", now, published)
		for i := 0; i+1 < len(changes); i += 2 {
			for j := 0; j+1 < len(h); j += 2 {
				if h[j] == changes[i] {
					h[j+1] = changes[i+1]
				}
			}
		}
		return h
	}
	signature := good()[5]
	body := published
	large := `{"type":"post.published","pad":"` + strings.Repeat("x", handlers.MaxHookBody-34) + `"}`
	if len(large) != handlers.MaxHookBody+1 {
		large += strings.Repeat(" ", handlers.MaxHookBody+1-len(large))
	}
	token := f.key.URLToken()
	hexSum := hex.EncodeToString(mac([]byte(f.key.Secret()), body))
	wooSum := base64.StdEncoding.EncodeToString(mac([]byte(f.key.Secret()), body))
	without := func(name string) []string {
		var h []string
		for i, v := range good() {
			if i%2 == 0 && v != name {
				h = append(h, v, good()[i+1])
			}
		}
		return h
	}
	cases := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		chunked                  bool
	}{
		// The signature's form.
		{name: "signature cut to a prefix", header: good("Webhook-Signature", signature[:len(signature)-8])},
		{name: "signature of one byte", header: good("Webhook-Signature", "v1,QQ==")},
		{name: "empty signature in the list", header: good("Webhook-Signature", "v1,")},
		{name: "signature with a byte more", header: good("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(append(mac(raw(f.key), "x"), 0)))},
		{name: "signature without its version", header: good("Webhook-Signature", signature[3:])},
		{name: "signature of version v1a", header: good("Webhook-Signature", "v1a,"+signature[3:])},
		{name: "signature of version v2", header: good("Webhook-Signature", "v2,"+signature[3:])},
		{name: "signature in URL alphabet without padding", header: good("Webhook-Signature", "v1,"+base64.RawURLEncoding.EncodeToString(mac(raw(f.key), "msg_1."+good()[3]+"."+body)))},
		{name: "signature in hex", header: good("Webhook-Signature", "v1,"+hex.EncodeToString(mac(raw(f.key), "msg_1."+good()[3]+"."+body)))},
		{name: "right signature behind eight wrong ones", header: good("Webhook-Signature", strings.Repeat("v1,"+base64.StdEncoding.EncodeToString(make([]byte, 32))+" ", 8)+signature)},
		{name: "signature header twice", header: append(good(), "Webhook-Signature", signature)},
		{name: "last bit of the signature turned", header: good("Webhook-Signature", flipped(signature))},
		// What is signed.
		{name: "another body", header: good(), body: published + " "},
		{name: "one byte of the body changed", header: good(), body: strings.Replace(published, "new", "neu", 1)},
		{name: "empty body", header: good(), body: "-"},
		{name: "another id", header: good("Webhook-Id", "msg_2")},
		{name: "another timestamp", header: good("Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10))},
		{name: "signature over the body alone", header: good("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac(raw(f.key), body)))},
		{name: "key used as text", header: good("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac([]byte(f.key.Secret()), "msg_1."+good()[3]+"."+body)))},
		{name: "border moved between id and timestamp", header: good("Webhook-Id", "msg_1."+good()[3], "Webhook-Timestamp", "")},
		{name: "id with a dot", header: standard(f.key, "msg.1", now, body)},
		// Missing and strange headers.
		{name: "no signature at all"},
		{name: "no id", header: without("Webhook-Id")},
		{name: "no timestamp", header: without("Webhook-Timestamp")},
		{name: "id of 257 bytes", header: standard(f.key, strings.Repeat("i", 257), now, body)},
		{name: "timestamp with a sign", header: good("Webhook-Timestamp", "+"+good()[3])},
		{name: "timestamp with a fraction", header: good("Webhook-Timestamp", good()[3]+".0")},
		{name: "timestamp in milliseconds", header: good("Webhook-Timestamp", good()[3]+"000")},
		{name: "timestamp as a date", header: good("Webhook-Timestamp", now.Format(time.RFC3339))},
		// Time.
		{name: "301 s old", header: standard(f.key, "msg_1", now.Add(-301*time.Second), body)},
		{name: "301 s in the future", header: standard(f.key, "msg_1", now.Add(301*time.Second), body)},
		{name: "from 1970", header: standard(f.key, "msg_1", time.Unix(0, 0), body)},
		// Keys.
		{name: "key of another site", header: standard(other, "msg_1", now, body)},
		{name: "key that expired this second", header: standard(expired, "msg_1", now, body)},
		{name: "key of the future", header: standard(future, "msg_1", now, body)},
		{name: "empty key", header: good("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac(nil, "msg_1."+good()[3]+"."+body)))},
		// Endpoints.
		{name: "unknown endpoint", path: "/hooks/2", header: good()},
		{name: "unknown endpoint without a signature", path: "/hooks/nobody"},
		{name: "token cut", path: "/hooks/1/" + token[:len(token)-1]},
		{name: "token with a letter more", path: "/hooks/1/" + token + "A"},
		{name: "token of another site's key", path: "/hooks/1/" + other.URLToken()},
		{name: "token of an expired key", path: "/hooks/1/" + expired.URLToken()},
		{name: "token of an empty key", path: "/hooks/1/" + (hook.Key{}).URLToken()},
		{name: "right token at an unknown endpoint", path: "/hooks/2/" + token},
		{name: "secret itself as token", path: "/hooks/1/" + url.PathEscape(f.key.Secret())},
		// Other dialects.
		{name: "github, wrong key", header: github(other, "push", "1", body)},
		{name: "github, sha1 under the old name", header: []string{"X-Hub-Signature", "sha1=" + hexSum[:40]}},
		{name: "github, prefix of the sum", header: []string{"X-Hub-Signature-256", "sha256=" + hexSum[:62]}},
		{name: "github, without sha256=", header: []string{"X-Hub-Signature-256", hexSum}},
		{name: "github, base64 instead of hex", header: []string{"X-Hub-Signature-256", "sha256=" + wooSum}},
		{name: "woo, wrong key", header: woo(other, "product.updated", "1", body)},
		{name: "woo, hex instead of base64", header: []string{"X-WC-Webhook-Signature", hexSum}},
		{name: "woo, prefix of the sum", header: []string{"X-WC-Webhook-Signature", wooSum[:40]}},
		{name: "woo creation ping with more in it", body: "webhook_id=12&a=b", header: []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{name: "woo creation ping as JSON", body: "webhook_id=12", header: []string{"Content-Type", "application/json"}},
		{name: "wp webhooks, wrong key", header: wpWebhooks(other, "post_create", "application/json", body)},
		{name: "basic authorization", header: []string{"Authorization", "Basic eDp5"}},
		// Size and coding.
		{name: "65,537 bytes with the right signature", body: large, header: standard(f.key, "msg_1", now, large), status: 413},
		{name: "65,537 bytes in chunks", body: large, header: standard(f.key, "msg_1", now, large), status: 413, chunked: true},
		{name: "65,537 bytes at an unknown endpoint", path: "/hooks/2", body: large, status: 413},
		{name: "a megabyte at a token", path: "/hooks/1/" + token, body: strings.Repeat("x", 1<<20), status: 413, chunked: true},
		{name: "gzip", header: append(good(), "Content-Encoding", "gzip"), status: 415},
		{name: "brotli at an unknown endpoint", path: "/hooks/2", header: []string{"Content-Encoding", "br"}, status: 415},
		{name: "identity and gzip", header: append(good(), "Content-Encoding", "identity, gzip"), status: 415},
		// Methods.
		{name: "GET", method: "GET", header: good(), status: 405},
		{name: "PUT", method: "PUT", header: good(), status: 405},
		{name: "GET with a token and nothing asked", method: "GET", path: "/hooks/1/" + token, status: 405},
	}
	if len(cases) < 45 {
		t.Fatalf("only %d cases", len(cases))
	}
	refusal := ""
	for _, c := range cases {
		if c.method == "" {
			c.method = "POST"
		}
		if c.path == "" {
			c.path = "/hooks/1"
		}
		switch c.body {
		case "":
			c.body = body
		case "-":
			c.body = ""
		}
		if c.status == 0 {
			c.status = 401
		}
		reader := &counted{Reader: strings.NewReader(c.body)}
		r := httptest.NewRequest(c.method, c.path, reader)
		r.ContentLength = int64(len(c.body))
		if c.chunked {
			r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
		}
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Add(c.header[i], c.header[i+1])
		}
		answer := f.do(r)
		if answer.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %s", c.name, answer.StatusCode, c.status, text(t, answer))
		}
		if reader.n > handlers.MaxHookBody+1 {
			t.Errorf("%s: %d bytes read", c.name, reader.n)
		}
		if c.status == 401 {
			p := decode[handlers.Problem](t, answer)
			p.RequestID = ""
			got := p.Error() + p.Type + answer.Header.Get("Content-Type") + answer.Header.Get("WWW-Authenticate")
			if refusal == "" {
				refusal = got
			}
			if got != refusal {
				t.Errorf("%s: this refusal looks different: %s, not %s", c.name, got, refusal)
			}
		}
	}
	if len(f.triggers) != 0 || len(f.woken) != 0 {
		t.Errorf("%d stored, %d woken", len(f.triggers), len(f.woken))
	}
}

func flipped(signature string) string {
	b, _ := base64.StdEncoding.DecodeString(signature[3:])
	b[31] ^= 1
	return "v1," + base64.StdEncoding.EncodeToString(b)
}

func TestHooks_AcceptAtTheBorders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	full := `{"type":"post.published","pad":"` + strings.Repeat("x", handlers.MaxHookBody-34) + `"}`
	if len(full) != handlers.MaxHookBody {
		t.Fatal(len(full))
	}
	wrong := "v1," + base64.StdEncoding.EncodeToString(make([]byte, 32)) + " "
	listed := standard(f.key, "d", now, published)
	listed[5] = "v1a,xyz " + strings.Repeat(wrong, 6) + listed[5]
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"300 s old":            {published, standard(f.key, "a", now.Add(-300*time.Second), published)},
		"300 s ahead":          {published, standard(f.key, "b", now.Add(300*time.Second), published)},
		"65,536 bytes":         {full, standard(f.key, "c", now, full)},
		"eighth of signatures": {published, listed},
		"identity coding":      {published, append(standard(f.key, "e", now, published), "Content-Encoding", "identity")},
		"unreadable body":      {"\x00\xff", standard(f.key, "f", now, "\x00\xff")},
		"by name":              {published, standard(f.key, "g", now, published)},
	} {
		path := "/hooks/1"
		if name == "by name" {
			path = "/hooks/example.com"
		}
		if r := f.request("POST", path, c.body, c.header...); r.StatusCode != 200 {
			t.Errorf("%s: %d %s", name, r.StatusCode, text(t, r))
		}
	}
	if len(f.triggers) != 7 {
		t.Errorf("%d stored", len(f.triggers))
	}
}

func TestHooks_RepeatedDeliveryIsAnsweredAlikeAndStoredOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	post := func(id string, at time.Time, body string) string {
		r := f.request("POST", "/hooks/1", body, standard(f.key, id, at, body)...)
		wantStatus(t, r, 200)
		return text(t, r)
	}
	first := post("msg_1", now, published)
	// A retry is signed anew; a replay is not. Both are the same delivery.
	if retry := post("msg_1", now.Add(5*time.Second), published); retry != first {
		t.Errorf("%q after %q", retry, first)
	}
	if len(f.triggers) != 1 || len(f.woken) != 1 {
		t.Errorf("%d stored, %d woken", len(f.triggers), len(f.woken))
	}
	// The same id with another body, authentic, is another event: losing it would be worse than a run too many.
	post("msg_1", now, published+" ")
	// WooCommerce's ids collide within a second.
	for _, body := range []string{`{"id":1,"status":"publish"}`, `{"id":2,"status":"publish"}`, `{"id":2,"status":"publish"}`} {
		wantStatus(t, f.request("POST", "/hooks/1", body, woo(f.key, "product.updated", "same", body)...), 200)
	}
	if len(f.triggers) != 4 {
		t.Errorf("%d stored, want 4", len(f.triggers))
	}
	// Pings are all alike, and each may announce something new.
	for range 2 {
		wantStatus(t, f.request("POST", "/hooks/1/"+f.key.URLToken(), extendedPing, "Content-Type", "text/xml"), 200)
	}
	if len(f.triggers) != 6 {
		t.Errorf("%d stored, want 6", len(f.triggers))
	}
}

func TestHooks_WhatCannotBeStoredIsNotAccepted(t *testing.T) {
	t.Parallel()
	broken := errors.New("database is gone: dsn root:secret@tcp")
	for name, breakIt := range map[string]func(*store){
		"find site": func(s *store) { s.FindSiteFunc = func(string) (models.Site, error) { return models.Site{}, broken } },
		"keys":      func(s *store) { s.HookKeysFunc = func(int64) ([]models.HookKey, error) { return nil, broken } },
		"insert": func(s *store) {
			s.SaveTriggerFunc = func(models.Trigger) (int64, bool, error) { return 0, false, broken }
		},
	} {
		f := newFixture(t)
		breakIt(f.store)
		for _, path := range []string{"/hooks/1", "/hooks/1/" + f.key.URLToken()} {
			r := f.request("POST", path, published, standard(f.key, "1", now, published)...)
			body := text(t, r)
			if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" || strings.Contains(body, "secret") {
				t.Errorf("%s at %s: %d %v %s", name, path, r.StatusCode, r.Header, body)
			}
		}
		if len(f.woken) != 0 {
			t.Errorf("%s: woken", name)
		}
	}
}

func TestHooks_OldSecretWorksUntilItsOverlapEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	fresh, _ := hook.NewKey("key-2", now)
	f.store.HookKeysFunc = func(int64) ([]models.HookKey, error) {
		return []models.HookKey{{ID: "key-1", Secret: f.key.Secret(), NotAfter: now.Add(time.Second)}, {ID: "key-2", Secret: fresh.Secret(), NotBefore: now}}, nil
	}
	for i, key := range []hook.Key{f.key, fresh} {
		wantStatus(t, f.request("POST", "/hooks/1", published, standard(key, "m"+strconv.Itoa(i), now, published)...), 200)
		wantStatus(t, f.request("POST", "/hooks/1/"+key.URLToken(), "", "Content-Type", "text/plain"), 200)
	}
	metrics := text(t, f.get("/metrics"))
	for _, want := range []string{`sitemapd_webhook_key_uses_total{key="key-1",site="1"} 2`, `sitemapd_webhook_key_uses_total{key="key-2",site="1"} 2`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestHooks_WebSubVerification(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := "/hooks/1/" + f.key.URLToken() + "?hub.mode=subscribe&hub.lease_seconds=864000&hub.challenge=%3Cb%3Ec&hub.topic="
	r := f.request("GET", base+"https%3A%2F%2Fexample.com%2Ffeed%2F", "")
	if body := text(t, r); r.StatusCode != 200 || body != "<b>c" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %q %s", r.StatusCode, body, r.Header.Get("Content-Type"))
	}
	wantStatus(t, f.request("GET", base+"https%3A%2F%2Felsewhere.example%2Ffeed%2F", ""), 404)
	wantStatus(t, f.request("GET", strings.Replace(base, "/1/", "/2/", 1)+"https%3A%2F%2Fexample.com%2Ffeed%2F", ""), 401)
	wantStatus(t, f.request("GET", "/hooks/1/"+f.key.URLToken()+"?url=https%3A%2F%2Fexample.com%2Fq&key=abc", ""), 200)
	if len(f.triggers) != 1 || f.triggers[0].Dialect != hook.IndexNow || f.triggers[0].Hints[0].URL != "https://example.com/q" {
		t.Errorf("%+v", f.triggers)
	}
}

func TestDeliveries_LogSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	served := models.Trigger{ID: 5, SiteID: 1, Kind: "hook", Dialect: hook.StandardWebhooks, ReceivedAt: now.Add(-time.Minute), ServedRun: 123,
		Hints: []models.Hint{{Event: "post.updated", URL: "https://example.com/a"}}, Body: []byte("{}")}
	f.store.TriggersFunc = func(_, before int64, limit int) ([]models.Trigger, error) {
		if before != 0 && before <= 5 {
			return nil, nil
		}
		return []models.Trigger{served}, nil
	}
	f.store.TriggerFunc = func(_, id int64) (models.Trigger, error) {
		if id != 5 {
			return models.Trigger{}, models.ErrNotFound
		}
		return served, nil
	}
	wantStatus(t, f.request("POST", "/hooks/1", published, standard(f.key, "1", now.Add(-time.Hour), published)...), 401)
	type page struct {
		Items []models.Delivery
		Next  string `json:"next_page_token"`
	}
	all := decode[page](t, f.get("/api/v1/sites/1/deliveries?page_size=1"))
	if len(all.Items) != 1 || all.Items[0].Result != "rejected" || all.Items[0].Cause != hook.CauseTimestamp || all.Next == "" {
		t.Fatalf("%+v", all)
	}
	rest := decode[page](t, f.get("/api/v1/sites/1/deliveries?page_size=1&page_token="+all.Next))
	if len(rest.Items) != 1 || rest.Items[0].Run != 123 || rest.Items[0].Result != "accepted" || rest.Items[0].Trigger != 5 {
		t.Fatalf("%+v", rest)
	}
	only := decode[page](t, f.get("/api/v1/sites/1/deliveries?result=accepted"))
	if len(only.Items) != 1 || only.Next != "" {
		t.Errorf("%+v", only)
	}
	wantStatus(t, f.post("/api/v1/sites/1/deliveries/6/replay", ""), 404)
	r := f.post("/api/v1/sites/1/deliveries/5/replay", "")
	wantStatus(t, r, 202)
	if len(f.triggers) != 1 || f.triggers[0].ServedRun != 0 || f.triggers[0].DedupeKey == served.DedupeKey || f.triggers[0].Hints[0].URL != "https://example.com/a" {
		t.Errorf("%+v", f.triggers)
	}
}

func TestHooks_UnknownEndpointIsRefusedWhateverTheStoreSays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store.HookKeysFunc = func(int64) ([]models.HookKey, error) {
		return []models.HookKey{{ID: "key-1", Secret: f.key.Secret()}}, nil
	}
	wantStatus(t, f.request("POST", "/hooks/2", published, standard(f.key, "1", now, published)...), 401)
	wantStatus(t, f.request("POST", "/hooks/2/"+f.key.URLToken(), published), 401)
	wantStatus(t, f.request("GET", "/hooks/2/"+f.key.URLToken()+"?url=https://example.com/", ""), 401)
	if len(f.triggers) != 0 {
		t.Errorf("%d stored", len(f.triggers))
	}
}
