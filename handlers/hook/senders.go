package hook

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// event is the body of our plugin and of any Standard Webhooks sender.
type event struct {
	Type string `json:"type"`
	Data struct {
		URL         string  `json:"url"`
		PreviousURL string  `json:"previous_url"`
		PostID      flexInt `json:"post_id"`
		PostType    string  `json:"post_type"`
		ModifiedGMT string  `json:"modified_gmt"`
		Seq         flexInt `json:"seq"`
		Events      []event `json:"events"`
	} `json:"data"`
}

func (m *Message) readStandard(raw json.RawMessage) {
	var e event
	if raw == nil || json.Unmarshal(raw, &e) != nil {
		return
	}
	events := []event{e}
	if e.Type == "batch" {
		events = e.Data.Events
	}
	tests := 0
	for _, e := range events {
		if isTest(e.Type) {
			tests++
			continue
		}
		m.Hints = append(m.Hints, models.Hint{
			Event: e.Type, URL: e.Data.URL, PreviousURL: e.Data.PreviousURL, PostID: int64(e.Data.PostID), PostType: e.Data.PostType,
			ModifiedGMT: e.Data.ModifiedGMT, Seq: int64(e.Data.Seq), Expect: expectation(e.Type, e.Data.URL, e.Data.PreviousURL),
		})
	}
	if tests > 0 && tests == len(events) {
		m.Ignore = IgnoreTest
	}
}

func isTest(kind string) bool {
	return kind == "test" || kind == "ping" || kind == "site.test" || kind == "site.ping"
}

// expectation is what an event of a post lets expect of its page. Events of terms, users and the
// whole site change many pages, none of which they name for certain.
func expectation(kind, current, previous string) string {
	switch kind {
	case "post.published":
		if previous != "" && previous != current {
			return models.ExpectMoved
		}
		return models.ExpectListed
	case "post.updated":
		if previous != "" && previous != current {
			return models.ExpectMoved
		}
		return models.ExpectChanged
	case "post.unpublished", "post.trashed", "post.deleted":
		return models.ExpectGone
	}
	return ""
}

func (m *Message) readGitHub(h http.Header) {
	name := h.Get("X-GitHub-Event")
	if name == "ping" {
		m.Ignore = IgnoreTest
		return
	}
	m.Hints = []models.Hint{{Event: "github." + name}}
}

// readWoo reads WooCommerce's topics "resource.event". Orders, coupons and customers are in no sitemap.
func (m *Message) readWoo(h http.Header, b body) {
	topic := h.Get("X-Wc-Webhook-Topic")
	resource, name, _ := strings.Cut(topic, ".")
	if topic == "" {
		m.Ignore = IgnoreTest
		return
	}
	if resource == "order" || resource == "coupon" || resource == "customer" {
		m.Ignore = IgnoreUnrelated
		return
	}
	var product struct {
		ID        flexInt `json:"id"`
		Permalink string  `json:"permalink"`
		Status    string  `json:"status"`
		Modified  string  `json:"date_modified_gmt"`
	}
	_ = json.Unmarshal(b.json, &product)
	hint := models.Hint{Event: topic, URL: product.Permalink, PostID: int64(product.ID), ModifiedGMT: product.Modified}
	if resource == "product" {
		hint.PostType = "product"
		hint.Expect = byStatus(product.Status, name == "created" || name == "restored")
		if name == "deleted" {
			hint.Expect = models.ExpectGone
		}
	}
	m.Hints = []models.Hint{hint}
}

// byStatus is what WordPress' post status lets expect of the page.
func byStatus(status string, first bool) string {
	switch {
	case status == "":
		return ""
	case status != "publish":
		return models.ExpectGone
	case first:
		return models.ExpectListed
	}
	return models.ExpectChanged
}

// readWPWebhooks reads WP Webhooks 3.3 (post_create, post_update, post_delete, post_trash, ...) as JSON, form or XML.
func (m *Message) readWPWebhooks(h http.Header, b body) {
	name := h.Get("X-Wp-Webhook-Name")
	if name == "login_user" {
		m.Ignore = IgnoreUnrelated
		return
	}
	var posted struct {
		ID        flexInt `json:"post_id"`
		Permalink string  `json:"post_permalink"`
		Post      struct {
			Status   string `json:"post_status"`
			Type     string `json:"post_type"`
			Modified string `json:"post_modified_gmt"`
		} `json:"post"`
	}
	switch {
	case b.json != nil:
		_ = json.Unmarshal(b.json, &posted)
	case b.form != nil:
		posted.ID, posted.Permalink = flexible(b.form.Get("post_id")), b.form.Get("post_permalink")
		posted.Post.Status, posted.Post.Type = b.form.Get("post[post_status]"), b.form.Get("post[post_type]")
		posted.Post.Modified = b.form.Get("post[post_modified_gmt]")
	case b.xml != nil:
		posted.ID, posted.Permalink = flexible(b.xml["post_id"]), b.xml["post_permalink"]
		posted.Post.Status, posted.Post.Type, posted.Post.Modified = b.xml["post_status"], b.xml["post_type"], b.xml["post_modified_gmt"]
	}
	hint := models.Hint{
		Event: name, URL: posted.Permalink, PostID: int64(posted.ID), PostType: posted.Post.Type, ModifiedGMT: posted.Post.Modified,
		Expect: byStatus(posted.Post.Status, name == "post_create"),
	}
	if name == "post_delete" || name == "post_trash" {
		hint.Expect = models.ExpectGone
	}
	m.Hints = []models.Hint{hint}
}

// readWordPressCom reads the form posts of WordPress.com simple sites: hook=publish_post and chosen fields.
func (m *Message) readWordPressCom(b body) {
	name := b.form.Get("hook")
	if strings.HasPrefix(name, "comment") {
		m.Ignore = IgnoreUnrelated
		return
	}
	link := b.form.Get("post_url")
	m.Hints = []models.Hint{{
		Event: name, URL: link, PostID: int64(flexible(b.form.Get("ID"))), PostType: b.form.Get("post_type"),
		ModifiedGMT: b.form.Get("post_modified_gmt"), Expect: byStatus(b.form.Get("post_status"), false),
	}}
}

// readIndexNow reads {"host":…, "key":…, "urlList":[…]} (indexnow.org). It says "changed" of pages that may as well be gone.
func (m *Message) readIndexNow(b body) {
	var list struct {
		URLs []string `json:"urlList"`
	}
	_ = json.Unmarshal(b.json, &list)
	for i, link := range list.URLs {
		if i == maxHints {
			break
		}
		m.Hints = append(m.Hints, models.Hint{Event: "indexnow", URL: link})
	}
}

// readWebSub reads a publisher's hub.mode=publish (we act as its hub) and a hub's distribution of a
// feed (we subscribed). The feed's content is not looked at.
func (m *Message) readWebSub(b body) {
	if b.form.Get("hub.mode") == "" {
		m.Hints = []models.Hint{{Event: "websub"}}
		return
	}
	m.Reply = ReplyHub
	if b.form.Get("hub.mode") != "publish" {
		m.Ignore = IgnoreUnrelated
		return
	}
	m.Hints = []models.Hint{{Event: "websub.publish"}}
	for _, topic := range append(b.form["hub.url"], b.form["hub.url[]"]...) {
		if m.Home == "" {
			m.Home = topic
		}
	}
}

// readAnything takes a page's address from a body of unknown shape, where one of the usual names holds it.
func (m *Message) readAnything(b body) {
	hint := models.Hint{Event: "token"}
	if b.json != nil && has(b.json, "data") {
		m.readStandard(b.json)
		if len(m.Hints) > 0 || m.Ignore != "" {
			return
		}
	}
	var fields map[string]any
	_ = json.Unmarshal(b.json, &fields)
	read := func(name string) string {
		if text, ok := fields[name].(string); ok {
			return text
		}
		if b.form != nil {
			return b.form.Get(name)
		}
		return b.xml[name]
	}
	for _, name := range []string{"url", "permalink", "post_url", "link", "post_permalink", "loc"} {
		if hint.URL = webURL(read(name)); hint.URL != "" {
			break
		}
	}
	hint.PreviousURL = read("previous_url")
	for _, name := range []string{"event", "type", "action"} {
		if text := read(name); text != "" {
			hint.Event = text
			break
		}
	}
	hint.Expect = expectation(hint.Event, hint.URL, hint.PreviousURL)
	m.Hints = []models.Hint{hint}
}

// flexInt reads numbers that PHP writes as numbers or as texts; anything else is 0.
type flexInt int64

// UnmarshalJSON never fails: a hint's number is not worth losing the hint.
func (f *flexInt) UnmarshalJSON(b []byte) error {
	*f = flexible(strings.Trim(string(b), `"`))
	return nil
}

func flexible(text string) flexInt {
	n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return flexInt(n)
}
