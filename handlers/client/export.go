package client

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
)

// ExportURLs writes the pages that query selects to w as a file: csv, ndjson, xlsx, parquet, sitemap or sitemap-zip. An
// error after the first byte means that the file is not whole.
func (c *Client) ExportURLs(ctx context.Context, name, format string, query url.Values, w io.Writer) error {
	all := url.Values{"format": {format}}
	maps.Copy(all, query)
	response, err := c.open(ctx, http.MethodGet, site(name)+"/export", all, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("read the export of %s: %w", name, err)
	}
	return nil
}
