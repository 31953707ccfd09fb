package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Client is one daemon's API. The zero HTTP is http.DefaultClient.
type Client struct {
	Base  string // address of the daemon, without /api/v1
	Token string // bearer token; "" where the daemon is open to this machine
	HTTP  *http.Client
}

// Problem is an answer that is no success (RFC 9457).
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Hint      string `json:"hint"`
	RequestID string `json:"request_id"`
	Errors    []struct {
		Message  string `json:"message"`
		Location string `json:"location"`
	} `json:"errors"`
	RetryAfter string `json:"-"` // seconds, as the header has them
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("sitemapd answered %d %s: %s", p.Status, p.Title, p.Detail)
	for _, e := range p.Errors {
		text += "; " + e.Location + ": " + e.Message
	}
	return text
}

// maxAnswer bounds one answer: a page of 1,000 rows with every extension is far below.
const maxAnswer = 64 << 20

func (c *Client) do(ctx context.Context, method, path string, query url.Values, header http.Header, body, out any) error {
	response, err := c.open(ctx, method, path, query, header, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("read the answer of %s %s: %w", method, path, err)
	}
	return nil
}

// answer is do for an answer of one type.
func answer[T any](ctx context.Context, c *Client, method, path string, query url.Values, header http.Header, body any) (T, error) {
	var out T
	err := c.do(ctx, method, path, query, header, body, &out)
	return out, err
}

// open sends a request and gives the answer if it is a success; the caller closes its body.
func (c *Client) open(ctx context.Context, method, path string, query url.Values, header http.Header, body any) (*http.Response, error) {
	address := strings.TrimSuffix(c.Base, "/") + "/api/v1" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the body of %s %s: %w", method, path, err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	problem := &Problem{Status: response.StatusCode, Title: http.StatusText(response.StatusCode), RetryAfter: response.Header.Get("Retry-After")}
	_ = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(problem) // a proxy's answer may be none of ours
	return nil, problem
}

// site writes the name of a site as one path element.
func site(name string) string { return "/sites/" + url.PathEscape(name) }
