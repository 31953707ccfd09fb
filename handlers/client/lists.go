package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_page_token"`
}

// all reads a list to its end. An error ends it and comes with a zero row.
func all[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		asked := url.Values{}
		for name, values := range query {
			asked[name] = values
		}
		for {
			var p page[T]
			if err := c.do(ctx, http.MethodGet, path, asked, nil, nil, &p); err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, row := range p.Items {
				if !yield(row, nil) {
					return
				}
			}
			if p.Next == "" {
				return
			}
			asked.Set("page_token", p.Next)
		}
	}
}

// ListSites gives the sites.
func (c *Client) ListSites(ctx context.Context) iter.Seq2[models.Site, error] {
	return all[models.Site](ctx, c, "/sites", nil)
}

// ListURLs gives the inventory. The filter has the API's own names: state, as_of, contains, prefix, document, ...
func (c *Client) ListURLs(ctx context.Context, name string, filter url.Values) iter.Seq2[models.Page, error] {
	return all[models.Page](ctx, c, site(name)+"/urls", filter)
}

// ListSegments gives the named filters that a site has; their names are values of the filter's parameter segment.
func (c *Client) ListSegments(ctx context.Context, name string) iter.Seq2[models.Segment, error] {
	return all[models.Segment](ctx, c, site(name)+"/segments", nil)
}

// PageHistory gives every state of one page, oldest first.
func (c *Client) PageHistory(ctx context.Context, name, link string) iter.Seq2[models.Page, error] {
	return all[models.Page](ctx, c, site(name)+"/history", url.Values{"url": {link}})
}

// ListRuns gives the runs, newest first.
func (c *Client) ListRuns(ctx context.Context, name string) iter.Seq2[models.Run, error] {
	return all[models.Run](ctx, c, site(name)+"/runs", nil)
}

// ListDocuments gives the sitemap files; the filter has the API's names.
func (c *Client) ListDocuments(ctx context.Context, name string, filter url.Values) iter.Seq2[models.Document, error] {
	return all[models.Document](ctx, c, site(name)+"/documents", filter)
}

// DocumentHistory gives every version of one document, oldest first.
func (c *Client) DocumentHistory(ctx context.Context, name string, document int32) iter.Seq2[models.Document, error] {
	return all[models.Document](ctx, c, site(name)+"/documents/"+strconv.Itoa(int(document))+"/history", nil)
}

// ListFindings gives findings; the filter has the API's names.
func (c *Client) ListFindings(ctx context.Context, name string, filter url.Values) iter.Seq2[models.Finding, error] {
	return all[models.Finding](ctx, c, site(name)+"/findings", filter)
}

// ListFindingRules gives what every finding's code means, costs and asks for.
func (c *Client) ListFindingRules(ctx context.Context) iter.Seq2[models.FindingRule, error] {
	return all[models.FindingRule](ctx, c, "/finding-rules", nil)
}

// ListHeld gives the removals that wait for a decision.
func (c *Client) ListHeld(ctx context.Context, name string) iter.Seq2[models.Removal, error] {
	return all[models.Removal](ctx, c, site(name)+"/held", nil)
}

// ListDeliveries gives what arrived at the hooks, newest first; result "" gives all.
func (c *Client) ListDeliveries(ctx context.Context, name, result string) iter.Seq2[models.Delivery, error] {
	query := url.Values{}
	if result != "" {
		query.Set("result", result)
	}
	return all[models.Delivery](ctx, c, site(name)+"/deliveries", query)
}

// ListExpectations gives what deliveries announced and what became of it, newest first.
func (c *Client) ListExpectations(ctx context.Context, name string) iter.Seq2[models.Expectation, error] {
	return all[models.Expectation](ctx, c, site(name)+"/expectations", nil)
}

// ListHookKeys gives the secrets of a site's hooks without their texts.
func (c *Client) ListHookKeys(ctx context.Context, name string) iter.Seq2[HookKey, error] {
	return all[HookKey](ctx, c, site(name)+"/hook-keys", nil)
}

// ListTokens gives the tokens without their texts.
func (c *Client) ListTokens(ctx context.Context) iter.Seq2[models.Token, error] {
	return all[models.Token](ctx, c, "/tokens", nil)
}

// SitemapMetadata gives the ontology's view, one JSON object for each document; the query has the ontology's inputs.
func (c *Client) SitemapMetadata(ctx context.Context, name string, query url.Values) iter.Seq2[json.RawMessage, error] {
	return all[json.RawMessage](ctx, c, site(name)+"/sitemap-metadata", query)
}

// Changes is one reading of the change feed.
type Changes struct {
	Items  []models.Change `json:"items"`
	Cursor string          `json:"cursor"` // give it to the next reading, however much later
	More   bool            `json:"more"`
}

// ListChanges reads the change feed once, from after a cursor; "" is the beginning.
func (c *Client) ListChanges(ctx context.Context, name, after string, kinds ...string) (Changes, error) {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	if len(kinds) > 0 {
		query.Set("kind", strings.Join(kinds, ","))
	}
	return answer[Changes](ctx, c, http.MethodGet, site(name)+"/changes", query, nil, nil)
}

// Diff gives what is different of a site's pages between two moments, each a run's number or a time (RFC 3339); an empty
// later one means now.
func (c *Client) Diff(ctx context.Context, name, from, to string, kinds ...string) iter.Seq2[models.Change, error] {
	query := url.Values{"from": {from}}
	if to != "" {
		query.Set("to", to)
	}
	if len(kinds) > 0 {
		query.Set("kind", strings.Join(kinds, ","))
	}
	return all[models.Change](ctx, c, site(name)+"/diff", query)
}

// WatchSite sends the progress of a site's runs until ctx ends.
func (c *Client) WatchSite(ctx context.Context, name string) iter.Seq2[models.Progress, error] {
	return c.watch(ctx, site(name)+"/progress")
}

// WatchRun sends the progress of one run until it has finished.
func (c *Client) WatchRun(ctx context.Context, name string, run int64) iter.Seq2[models.Progress, error] {
	return c.watch(ctx, site(name)+"/runs/"+strconv.FormatInt(run, 10)+"/progress")
}

const maxEvent = 1 << 20

func (c *Client) watch(ctx context.Context, path string) iter.Seq2[models.Progress, error] {
	return func(yield func(models.Progress, error) bool) {
		response, err := c.open(ctx, http.MethodGet, path, nil, http.Header{"Accept": {"text/event-stream"}}, nil)
		if err != nil {
			yield(models.Progress{}, err)
			return
		}
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, maxEvent)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var p models.Progress
			if err := json.Unmarshal([]byte(data), &p); err != nil {
				yield(p, fmt.Errorf("read an event of %s: %w", path, err))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(models.Progress{}, fmt.Errorf("read %s: %w", path, err))
		}
	}
}
