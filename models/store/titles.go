package store

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// hasTitle reports whether a title that a page's news, videos or images declare contains a text, whatever the case.
func hasTitle(p *models.Page, part string) bool {
	part = strings.ToLower(part)
	for _, block := range []json.RawMessage{p.News, p.Videos, p.Images} {
		if bytes.HasPrefix(block, []byte("{")) { // a page has one news block
			block = append(append([]byte("["), block...), ']')
		}
		var entries []struct {
			Title string `json:"title"`
		}
		if len(block) == 0 || json.Unmarshal(block, &entries) != nil {
			continue
		}
		for i := range entries {
			if strings.Contains(strings.ToLower(entries[i].Title), part) {
				return true
			}
		}
	}
	return false
}

// plainWord is the longest run of ASCII letters and digits of a text, in lower case: it stands in JSON as it is typed, so a
// search for it narrows what must be looked at. Short ones narrow nothing.
func plainWord(text string) (longest string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if len(word) > max(len(longest), 1) {
			longest = word
		}
	}
	return longest
}
