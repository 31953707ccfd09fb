package syncer

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// The companion plugin lists what a site has published, post by post, to whoever signs like a hook does
// (docs/wordpress-plugin.md). This file is the wire: how one answer is asked for, proved and read. It knows no run.

// listing forms of WordPress' REST interface: the second works without pretty addresses as well.
const (
	prettyForm = "wp-json/sitemapd/v1/inventory"
	plainForm  = "?rest_route=/sitemapd/v1/inventory"
)

// publishedQuery are the parameters of one answer, as they are signed and sent.
func publishedQuery(after int64, limit int) string {
	return fmt.Sprintf("after_id=%d&limit=%d", after, limit)
}

// publishedURL adds parameters to an endpoint of either form.
func publishedURL(endpoint string, after int64, limit int) string {
	separator := "?"
	if strings.Contains(endpoint, "?") {
		separator = "&"
	}
	return endpoint + separator + publishedQuery(after, limit)
}

// signedHeader proves a request as Standard Webhooks 1.0 would a message whose content is "inventory?after_id=N&limit=N".
// A secret is base64 after "whsec_", any other text stands for itself; false when it is neither.
func signedHeader(secret string, after int64, limit int, now time.Time) (http.Header, bool) {
	key := []byte(secret)
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, false
		}
	}
	nonce := make([]byte, 12)
	if _, err := rand.Read(nonce); err != nil || len(key) == 0 {
		return nil, false
	}
	id, at := "inv_"+hex.EncodeToString(nonce), strconv.FormatInt(now.Unix(), 10)
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(id + "." + at + ".inventory?" + publishedQuery(after, limit)))
	return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at},
		"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))}}, true
}

// publishedPage is one answer, read and checked.
type publishedPage struct {
	home, siteURL, permalinks, system string
	seq                               int64
	posts                             []models.PublishedPost // those whose address is one of the site's
	ids                               []int64                // of all that it lists, ascending
	next                              int64                  // number to go on after; 0 at the end
}

// publishedWire is an answer as the plugin writes it. Pointers tell what is missing from what is zero.
type publishedWire struct {
	Home       *string           `json:"home"`
	SiteURL    string            `json:"site_url"`
	Permalinks string            `json:"permalink_structure"`
	System     map[string]string `json:"system"`
	Seq        *int64            `json:"seq"`
	Items      *[]publishedItem  `json:"items"`
	Next       json.RawMessage   `json:"next_after_id"`
	Code       string            `json:"code"` // of an error of WordPress' own
}

type publishedItem struct {
	ID        int64           `json:"id"`
	URL       json.RawMessage `json:"url"` // false where WordPress knows no address
	Type      string          `json:"type"`
	Status    string          `json:"status"`
	Modified  string          `json:"modified_gmt"`
	Password  bool            `json:"password"`
	Noindex   bool            `json:"noindex"`
	Canonical string          `json:"canonical"`
}

// longestPublished bounds the texts of one post.
const longestPublished = 8 << 10

// parsePublished reads an answer that should list posts with numbers above after, at most limit. The text says what is
// wrong with one that is no such list; owns tells whether an identity is the site's own.
func parsePublished(body []byte, after int64, limit int, owns func([]byte) bool) (p publishedPage, wrong string) {
	var w publishedWire
	if err := json.Unmarshal(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), &w); err != nil {
		return p, "the answer is no list of posts: " + err.Error()
	}
	switch {
	case w.Home == nil || w.Items == nil || w.Seq == nil:
		return p, "the answer is no list of posts: home, seq or items are missing"
	case len(w.Next) == 0:
		return p, "the answer does not say whether there is more"
	case len(*w.Items) > limit:
		return p, fmt.Sprintf("the answer has %d posts, %d were asked for", len(*w.Items), limit)
	}
	p = publishedPage{home: *w.Home, siteURL: w.SiteURL, permalinks: w.Permalinks, system: systemName(w.System), seq: *w.Seq}
	last := after
	for _, item := range *w.Items {
		if item.ID <= last || item.Status != models.PostPublished {
			return p, fmt.Sprintf("post %d does not belong behind post %d of a list of published posts", item.ID, last)
		}
		last = item.ID
		p.ids = append(p.ids, item.ID)
		if post, ok := item.post(owns); ok {
			p.posts = append(p.posts, post)
		}
	}
	if string(w.Next) == "null" {
		return p, ""
	}
	next, err := strconv.ParseInt(string(w.Next), 10, 64)
	if err != nil || len(p.ids) == 0 || next != last {
		return p, fmt.Sprintf("the answer ends at post %d and goes on after %s", last, w.Next)
	}
	p.next = next
	return p, ""
}

// post gives what an item says of a page; false when its address is none of the site's.
func (i *publishedItem) post(owns func([]byte) bool) (models.PublishedPost, bool) {
	p := models.PublishedPost{PostID: i.ID, Type: i.Type, Status: models.PostPublished, Password: i.Password, Noindex: i.Noindex}
	if json.Unmarshal(i.URL, &p.URL) != nil || len(p.URL) > longestPublished {
		return p, false
	}
	u, problem := weburl.Parse(nil, []byte(p.URL))
	if problem != weburl.None || !owns(u.Identity) {
		return p, false
	}
	p.Key, p.Modified = models.Key(u.Key()), gmt(i.Modified)
	if c, problem := weburl.Parse(nil, []byte(i.Canonical)); i.Canonical != "" && len(i.Canonical) <= longestPublished && problem == weburl.None {
		p.Canonical = string(c.Wire)
	}
	return p, true
}

// systemName puts what the plugin says of the system into one text: "wordpress 6.8, yoast".
func systemName(system map[string]string) string {
	name := "wordpress"
	if v := system["wordpress"]; v != "" {
		name += " " + v
	}
	if seo := system["seo"]; seo != "" {
		name += ", " + seo
	}
	return strings.ToValidUTF8(name[:min(len(name), 200)], "?")
}

// samePost reports whether two versions say the same of a post.
func samePost(a, b *models.PublishedPost) bool {
	return a.URL == b.URL && a.Type == b.Type && a.Status == b.Status && sameMoment(a.Modified, b.Modified) && a.Password == b.Password &&
		a.Noindex == b.Noindex && a.Canonical == b.Canonical
}

func sameMoment(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
