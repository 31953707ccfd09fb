package handlers

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// PageInput is what every list takes. A page may be shorter than asked for; the end is an absent token.
type PageInput struct {
	PageSize  int    `query:"page_size" minimum:"1" maximum:"1000" doc:"At most so many rows; default 100 for JSON, everything for NDJSON and CSV."`
	PageToken string `query:"page_token" maxLength:"2000" doc:"next_page_token of the page before, with the same filter and order."`
}

func (p PageInput) size() int {
	if p.PageSize == 0 {
		return defaultPageSize
	}
	return min(p.PageSize, maxPageSize)
}

// position is the content of a page token: where the page before ended, at which run, under which filter.
type position struct {
	Filter []byte `json:"f"`
	Cursor string `json:"c,omitempty"`
	Number int64  `json:"n,omitempty"`
	Run    int64  `json:"r,omitempty"`
}

// filterHash names a filter: everything of the query but where in the list one is.
func filterHash(query url.Values, path string) []byte {
	names := make([]string, 0, len(query))
	for name := range query {
		if name != "page_token" && name != "page_size" && name != "include" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	h := sha256.New()
	_, _ = h.Write([]byte(path))
	for _, name := range names {
		for _, value := range query[name] {
			_, _ = h.Write([]byte("\x00" + name + "\x00" + value))
		}
	}
	return h.Sum(nil)[:8]
}

// encodePosition writes a token of version 1.
func encodePosition(p position) string {
	text, _ := json.Marshal(p)
	return "1" + base64.RawURLEncoding.EncodeToString(text)
}

// readPosition reads a token and refuses one that was given out for another filter.
func readPosition(token string, filter []byte) (position, error) {
	var p position
	if token == "" {
		return p, nil
	}
	refused := models.Invalid("query.page_token", "start again without page_token", "this token is not one of this list")
	if token[0] != '1' {
		return p, refused
	}
	text, err := base64.RawURLEncoding.DecodeString(token[1:])
	if err != nil || json.Unmarshal(text, &p) != nil {
		return p, refused
	}
	if !slices.Equal(p.Filter, filter) {
		return p, models.Invalid("query.page_token", "keep every parameter but page_size as it was", "this token belongs to another filter or order")
	}
	return p, nil
}
