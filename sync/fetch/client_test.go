package fetch_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

// loopback are the options of most tests: the test server may be reached, and
// nothing is waited for.
func loopback() fetch.Options {
	return fetch.Options{
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		PageDelay:    -1, Backoff: time.Microsecond,
	}
}

func newClient(t *testing.T, o fetch.Options) *fetch.Client {
	t.Helper()
	c := fetch.New(o)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func readAll(t *testing.T, r *fetch.Result) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	_ = r.Close()
	return string(text)
}

func TestDo_StreamsWireBytesAndTellsTheAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "gzip" {
			t.Errorf("Accept-Encoding = %q", got)
		}
		w.Header().Set("Content-Type", "application/xml; charset=UTF-8")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
		w.Header().Set("Age", "90")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "<urlset/>")
		_ = z.Close()
	})
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	o := loopback()
	o.Now = func() time.Time { return now }
	o.UserAgent, o.Contact = "sitemapd/1.0", "https://example.org/bot"
	c := newClient(t, o)
	r := c.Do(t.Context(), fetch.Request{URL: s.URL + "/wp-sitemap.xml#top"})
	if r.Outcome != fetch.OK || r.Status != 200 || r.FinalURL != s.URL+"/wp-sitemap.xml" || r.Attempts != 1 {
		t.Fatalf("result = %+v", r)
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Fatalf("the body is not the wire bytes: %v", err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != "<urlset/>" {
		t.Fatalf("body = %q, %v", text, err)
	}
	if r.ETag != `"v1"` || r.LastModified == "" || r.ContentEncoding != "gzip" || r.Age != 90*time.Second ||
		!r.FetchedAt.Equal(now) || !r.ObservedAt.Equal(now.Add(-90*time.Second)) {
		t.Fatalf("result = %+v", r)
	}
}
