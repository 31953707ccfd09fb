package fetch_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

func TestRedirect_RecordsHopsAndFollows(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			w.Header().Set("Location", "b?x=1#part")
			w.WriteHeader(http.StatusMovedPermanently)
		case "/b":
			w.Header().Set("Location", "//"+r.Host+"/c%e6%97")
			w.WriteHeader(http.StatusPermanentRedirect)
		default:
			_, _ = fmt.Fprint(w, r.RequestURI)
		}
	})
	r := newClient(t, loopback()).Do(t.Context(), fetch.Request{URL: s.URL + "/a"})
	want := []fetch.Hop{
		{URL: s.URL + "/a", Status: 301, Location: "b?x=1#part"},
		{URL: s.URL + "/b?x=1", Status: 308, Location: strings.TrimPrefix(s.URL, "http:") + "/c%e6%97"},
	}
	for i := range r.Hops {
		if r.Hops[i].Header.Get("Location") != r.Hops[i].Location {
			t.Errorf("hop %d has not its header: %v", i, r.Hops[i].Header)
		}
		r.Hops[i].Header = nil
	}
	if diff := cmp.Diff(want, r.Hops); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
	if got := readAll(t, r); r.Outcome != fetch.OK || got != "/c%e6%97" || r.FinalURL != s.URL+"/c%e6%97" {
		t.Errorf("outcome %q, asked %q, final %q", r.Outcome, got, r.FinalURL)
	}
}

func TestRedirect_Refusals(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		if r.URL.Path == "/count" {
			n := 0
			_, _ = fmt.Sscan(r.URL.Query().Get("n"), &n)
			if n == 0 {
				return
			}
			to = fmt.Sprintf("/count?n=%d", n-1)
		}
		if to != "" {
			w.Header()["Location"] = []string{to}
		}
		w.WriteHeader(http.StatusFound)
	})
	c := newClient(t, loopback())
	for _, row := range []struct {
		path    string
		kind    fetch.Kind
		outcome fetch.Outcome
		hops    int
	}{
		{"/?to=/x", fetch.Document, fetch.BadRedirect, 2},
		{"/", fetch.Document, fetch.BadRedirect, 1},
		{"/?to=ftp://example.org/", fetch.Document, fetch.BadRedirect, 1},
		{"/?to=javascript:alert(1)", fetch.Page, fetch.BadRedirect, 1},
		{"/?to=file:///etc/passwd", fetch.Page, fetch.BadRedirect, 1},
		{"/?to=http://u:p@127.0.0.1/", fetch.Document, fetch.BadRedirect, 1},
		{"/?to=http://[::1/", fetch.Document, fetch.BadRedirect, 1},
		{"/?to=%2F%3Fto%3D%252F%253Fto%253D", fetch.Document, fetch.BadRedirect, 3},
		{"/?to=%23top", fetch.Document, fetch.RedirectLoop, 1},
		{"/count?n=5", fetch.Document, fetch.OK, 5},
		{"/count?n=6", fetch.Document, fetch.TooManyRedirects, 6},
		{"/count?n=10", fetch.Page, fetch.OK, 10},
		{"/count?n=11", fetch.Page, fetch.TooManyRedirects, 11},
	} {
		r := c.Do(t.Context(), fetch.Request{URL: s.URL + row.path, Kind: row.kind})
		if r.Outcome != row.outcome || len(r.Hops) != row.hops {
			t.Errorf("%s: %q after %d hops (%s), want %q after %d", row.path, r.Outcome, len(r.Hops), r.Reason, row.outcome, row.hops)
		}
		if row.outcome != fetch.OK && (r.HasBody() || r.Reason == "") {
			t.Errorf("%s: body %v, reason %q", row.path, r.HasBody(), r.Reason)
		}
	}
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, map[string]string{"/a": "/b", "/b": "/a"}[r.URL.Path], http.StatusFound)
	})
	if r := c.Do(t.Context(), fetch.Request{URL: loop.URL + "/a"}); r.Outcome != fetch.RedirectLoop || len(r.Hops) != 2 {
		t.Errorf("loop: %q after %d hops", r.Outcome, len(r.Hops))
	}
}

// web serves any host: port 443 over TLS as example.com, any other in clear.
func web(t *testing.T, o fetch.Options, h http.HandlerFunc) *fetch.Client {
	t.Helper()
	clear := serve(t, h)
	secure := httptest.NewUnstartedServer(h)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	o.RootCAs = x509.NewCertPool()
	o.RootCAs.AddCert(secure.Certificate())
	c := newClient(t, o)
	c.DialWith(func(ctx context.Context, network, address string) (net.Conn, error) {
		to := clear.Listener.Addr().String()
		if strings.HasSuffix(address, ":443") {
			to = secure.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	})
	return c
}

func TestHeaders_StayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]http.Header{}
	c := web(t, loopback(), func(w http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		mu.Lock()
		got[scheme+"://"+r.Host+r.URL.Path] = r.Header.Clone()
		mu.Unlock()
		w.Header().Set("Set-Cookie", "session=1")
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	for _, row := range []struct {
		origin, target string
		sent           bool
	}{
		{"http://example.com/", "http://example.com/t", true},
		{"http://example.com/", "http://EXAMPLE.com:80/t", true},
		{"http://example.com/", "https://example.com/t", false},
		{"http://example.com/", "http://www.example.com/t", false},
		{"http://example.com/", "http://example.com:8080/t", false},
		{"http://example.com/", "http://example.com.evil.test/t", false},
		{"http://example.com/", "http://evil.test/t", false},
		{"https://example.com/", "http://example.com/t", false},
		{"https://example.com/", "https://example.com/t", true},
		{"https://example.com/", "http://example.com:443/t", false},
	} {
		mu.Lock()
		clear(got)
		mu.Unlock()
		r := c.Do(t.Context(), fetch.Request{
			URL: row.origin + "start?secret=1&to=" + row.target, Origin: row.origin, Kind: fetch.Page,
			Username: "editor", Password: "word", Header: http.Header{"X-Pass": {"firewall"}, "Cookie": {"a=b"}},
			ETag: `"e"`, LastModified: "Mon, 02 Nov 2026 10:00:00 GMT",
		})
		start := got[strings.TrimSuffix(row.origin, "/")+"/start"]
		if start.Get("Authorization") == "" || start.Get("X-Pass") == "" {
			t.Errorf("%s: credentials were not sent to their own origin", row.origin)
		}
		if start.Get("If-None-Match") == "" || start.Get("If-Modified-Since") == "" {
			t.Errorf("%s: validators were not sent", row.origin)
		}
		if strings.HasSuffix(row.target, ":443/t") && r.Outcome != fetch.OK {
			continue // http to a TLS port: never answered, nothing seen
		}
		end, ok := got[strings.Replace(row.target, ":80/", "/", 1)]
		if !ok {
			end, ok = got[row.target]
		}
		if !ok {
			t.Errorf("%s: target not reached: %q %s; saw %v", row.target, r.Outcome, r.Reason, got)
			continue
		}
		if sent := end.Get("Authorization") != "" || end.Get("X-Pass") != "" || end.Get("Cookie") != ""; sent != row.sent {
			t.Errorf("%s -> %s: credentials sent = %v, want %v: %v", row.origin, row.target, sent, row.sent, end)
		}
		if end.Get("Referer") != "" || strings.Contains(end.Get("Cookie"), "session") {
			t.Errorf("%s -> %s leaks %v", row.origin, row.target, end)
		}
		if end.Get("If-None-Match") != "" || end.Get("If-Modified-Since") != "" {
			t.Errorf("%s -> %s: validators of another resource were sent", row.origin, row.target)
		}
	}
}

func TestRedirect_DowngradeIsForPagesAlone(t *testing.T) {
	t.Parallel()
	c := web(t, loopback(), func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			http.Redirect(w, r, "http://example.com/", http.StatusMovedPermanently)
		}
	})
	r := c.Do(t.Context(), fetch.Request{URL: "https://example.com/"})
	if r.Outcome != fetch.BadRedirect || len(r.Hops) != 1 || !r.Hops[0].Downgrade {
		t.Errorf("document: %q %+v", r.Outcome, r.Hops)
	}
	r = c.Do(t.Context(), fetch.Request{URL: "https://example.com/", Kind: fetch.Page})
	if r.Outcome != fetch.OK || len(r.Hops) != 1 || !r.Hops[0].Downgrade || r.FinalURL != "http://example.com/" {
		t.Errorf("page: %q %+v", r.Outcome, r.Hops)
	}
}

func TestDo_SpeaksHTTP2(t *testing.T) {
	t.Parallel()
	c := web(t, loopback(), func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Proto)) })
	r := c.Do(t.Context(), fetch.Request{URL: "https://example.com/wp-sitemap.xml"})
	if got := readAll(t, r); got != "HTTP/2.0" || r.Proto != "HTTP/2.0" {
		t.Errorf("protocol = %q, %q (%s)", got, r.Proto, r.Reason)
	}
	if r = c.Do(t.Context(), fetch.Request{URL: "https://other.test/"}); r.Outcome != fetch.TLS || r.Reason != "the certificate is for another host" {
		t.Errorf("wrong certificate: %q %q", r.Outcome, r.Reason)
	}
}

func TestRedirect_OneHopIsTheCallersToFollow(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Link", `</b>; rel="canonical"`)
		http.Redirect(w, r, "/b", http.StatusMovedPermanently)
	}))
	defer s.Close()
	r := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, PageDelay: -1}).
		Do(t.Context(), fetch.Request{URL: s.URL + "/a", Kind: fetch.Page, OneHop: true})
	if asked != 1 || len(r.Hops) != 1 || r.Hops[0].Location != "/b" || r.Hops[0].Header.Get("Link") == "" {
		t.Errorf("%d requests, %+v", asked, r.Hops)
	}
}
