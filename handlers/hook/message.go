package hook

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// Reply is the form of answer that a sender insists on.
type Reply int

// Replies. All are 200 but ReplyHub's 204.
const (
	ReplyJSON   Reply = iota
	ReplyXMLRPC       // text/xml with a methodResponse, or WordPress pings a second time
	ReplyHub          // 204, what WebSub publishers count as success
)

// Message is what an authentic request says.
type Message struct {
	Dialect string
	Kind    string // models.CauseHook or models.CausePing
	Hints   []models.Hint
	// Ignore is why there is nothing to look for; "" when there is.
	Ignore string
	Reply  Reply
	// Home is the site that a ping is about, for comparing with the endpoint's own.
	Home string
}

// Causes for which an authentic request starts nothing.
const (
	IgnoreTest      = "test"            // a sender tried its connection
	IgnoreUnrelated = "unrelated_event" // orders, comments, log-ins: no sitemap lists them
	IgnoreOtherSite = "other_site"      // the ping names another home page
)

// Bounds of what is taken from one body. A body holds at most 64 KiB anyway.
const (
	maxHints     = 1000
	maxURLLength = 4096
)

// Read takes the hints from the body of an authentic request. It never fails: a body that says
// nothing readable still means "look again".
func Read(dialect string, header http.Header, body []byte) Message {
	m := Message{Dialect: dialect, Kind: models.CauseHook}
	fields := parseBody(header.Get("Content-Type"), body)
	if dialect == None || dialect == "" || dialect == Token {
		m.Dialect = shape(header, fields)
	}
	switch m.Dialect {
	case StandardWebhooks:
		m.readStandard(fields.json)
	case GitHub:
		m.readGitHub(header)
	case WooCommerce:
		m.readWoo(header, fields)
	case WPWebhooks:
		m.readWPWebhooks(header, fields)
	case WordPressCom:
		m.readWordPressCom(fields)
	case XMLRPC:
		m.readXMLRPC(body)
	case IndexNow:
		m.readIndexNow(fields)
	case WebSub:
		m.readWebSub(fields)
	default:
		m.readAnything(fields)
	}
	if len(m.Hints) > maxHints {
		m.Hints = m.Hints[:maxHints]
	}
	for i := range m.Hints {
		m.Hints[i] = cleaned(m.Hints[i])
	}
	return m
}

// body is a request's body in whichever form it could be read.
type body struct {
	media string
	json  json.RawMessage   // a JSON object
	form  url.Values        // form fields
	xml   map[string]string // leaf elements by name, the first of each
	root  string            // name of the XML root element
}

func parseBody(contentType string, raw []byte) body {
	media, _, _ := mime.ParseMediaType(contentType)
	b := body{media: media}
	trimmed := bytes.TrimSpace(raw)
	switch {
	case media == "application/x-www-form-urlencoded":
		b.form, _ = url.ParseQuery(string(raw))
	case bytes.HasPrefix(trimmed, []byte("{")) && json.Valid(trimmed):
		b.json = trimmed
	case bytes.HasPrefix(trimmed, []byte("<")):
		b.root, b.xml = leaves(trimmed)
	}
	return b
}

// shape guesses the sender of an unsigned request from what it sends; the URL's token made it authentic.
func shape(h http.Header, b body) string {
	switch {
	case h.Get("Webhook-Id") != "" || h.Get("Svix-Id") != "":
		return StandardWebhooks
	case h.Get("X-GitHub-Event") != "":
		return GitHub
	case h.Get("X-Wc-Webhook-Topic") != "" || IsWooPing(h, []byte(b.form.Encode())):
		return WooCommerce
	case h.Get("X-Wp-Webhook-Name") != "" || h.Get("X-Wp-Webhook-Source") != "":
		return WPWebhooks
	case b.root == "methodCall":
		return XMLRPC
	case b.form.Get("hub.mode") != "", b.root == "feed", b.root == "rss", b.root == "RDF":
		return WebSub
	case b.form.Get("hook") != "":
		return WordPressCom
	case b.json != nil && has(b.json, "urlList"):
		return IndexNow
	}
	return Token
}

// IsWooPing recognises the request by which WooCommerce tries a delivery URL when a webhook is saved:
// unsigned form data "webhook_id=N" that must be answered 200 (class-wc-webhook.php, deliver_ping).
func IsWooPing(h http.Header, raw []byte) bool {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	id, ok := strings.CutPrefix(string(raw), "webhook_id=")
	return ok && media == "application/x-www-form-urlencoded" && digits(id)
}

// cleaned drops what a hint must not carry: URLs that are no web addresses, and endless texts.
func cleaned(h models.Hint) models.Hint {
	h.URL, h.PreviousURL = webURL(h.URL), webURL(h.PreviousURL)
	h.Event, h.PostType = short(h.Event), short(h.PostType)
	h.ModifiedGMT = short(h.ModifiedGMT)
	return h
}

func webURL(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxURLLength {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return ""
	}
	return text
}

func short(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "")
	}
	return text
}

func has(object json.RawMessage, field string) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(object, &fields) == nil && fields[field] != nil
}

// ReadAddress is IndexNow's short form: GET with one page's address.
func ReadAddress(link string) Message {
	return Message{Dialect: IndexNow, Kind: models.CauseHook, Hints: []models.Hint{cleaned(models.Hint{Event: "indexnow", URL: link})}}
}
