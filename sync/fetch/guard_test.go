package fetch_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

// forbidden are private, reserved and disguised addresses: none may be reached.
var forbidden = strings.Fields(`0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.2 127.1.1.1
	127.255.255.254 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.8
	192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1
	198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
	:: ::1 ::127.0.0.1 ::ffff:127.0.0.2 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
	64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1
	2001:db8::1 2002:7f00:1:: 2002:a00:1::1 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1
	fd00::1 fd00:ec2::254 fe80::1 fec0::1 fec0::a:1 ff02::1 ff05::2`)

// oneAddress allows nothing but the test server.
func oneAddress() fetch.Options {
	o := loopback()
	o.AllowPrivate = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	return o
}

func TestGuard_RefusesForbiddenAddresses(t *testing.T) {
	t.Parallel()
	if len(forbidden) < 60 {
		t.Fatalf("the table has shrunk to %d", len(forbidden))
	}
	table := map[string][]string{}
	for i, address := range forbidden {
		table[fmt.Sprintf("h%d.test", i)] = []string{address}
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	o := oneAddress()
	o.Resolver = (&names{table: table}).resolver()
	c := newClient(t, o)
	for i, address := range forbidden {
		direct := "http://" + net.JoinHostPort(address, "80") + "/"
		named := fmt.Sprintf("http://h%d.test/", i)
		for how, target := range map[string]string{
			"direct":           direct,
			"https":            "https://" + net.JoinHostPort(address, "443") + "/",
			"name":             named,
			"redirect":         s.URL + "/?to=" + url.QueryEscape(direct),
			"redirect to name": s.URL + "/?to=" + url.QueryEscape(named),
		} {
			for _, kind := range []fetch.Kind{fetch.Document, fetch.Page} {
				r := c.Do(t.Context(), fetch.Request{URL: target, Origin: s.URL, Kind: kind})
				if r.Outcome != fetch.BlockedAddress {
					t.Errorf("%s, %s: outcome %q (%s)", address, how, r.Outcome, r.Reason)
				}
				if how == "name" && strings.Contains(r.Reason, address) {
					t.Errorf("reason names the address: %q", r.Reason)
				}
			}
		}
	}
}

func TestGuard_RefusesOddSpellings(t *testing.T) {
	t.Parallel()
	o := oneAddress()
	o.AllowPrivate = nil
	o.Resolver = (&names{table: map[string][]string{"localhost": {"127.0.0.2"}}}).resolver()
	c := newClient(t, o)
	for _, host := range []string{
		"127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.2.", "[fe80::1%25lo]", "[fe80::1%25eth0]:80",
		"[::1%25lo]", "[::ffff:7f00:2]", "localhost.", "LOCALHOST:443",
	} {
		r := c.Do(t.Context(), fetch.Request{URL: "http://" + host + "/"})
		switch r.Outcome {
		case fetch.BlockedAddress, fetch.DNS, fetch.BadURL:
		default: // Refused would mean that a connection was tried
			t.Errorf("%s: outcome %q", host, r.Outcome)
		}
	}
}

func TestGuard_ChecksEveryConnectionAnew(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
	o := oneAddress()
	o.Resolver = (&names{table: map[string][]string{"rebind.test": {"127.0.0.1", "127.0.0.2"}}}).resolver()
	c := newClient(t, o)
	target := strings.Replace(s.URL, "127.0.0.1", "rebind.test", 1)
	for i, want := range []fetch.Outcome{fetch.OK, fetch.BlockedAddress} {
		if r := c.Do(t.Context(), fetch.Request{URL: target}); r.Outcome != want {
			t.Errorf("request %d: outcome %q, want %q", i, r.Outcome, want)
		}
	}
}

func TestGuard_Ports(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := newClient(t, oneAddress())
	if r := c.Do(t.Context(), fetch.Request{URL: s.URL}); r.Outcome != fetch.OK {
		t.Errorf("any port of an allowed prefix: %q", r.Outcome)
	}
	for _, target := range []string{"http://192.0.9.1:22/", "http://[2a00:1450::1]:6379/", "https://192.0.9.1:8443/"} {
		r := c.Do(t.Context(), fetch.Request{URL: target, Origin: "http://example.org:8080/"})
		if r.Outcome != fetch.BlockedAddress || r.Reason != "the port is not allowed" {
			t.Errorf("%s: %q %q", target, r.Outcome, r.Reason)
		}
	}
}

func TestGuard_IgnoresProxyVariables(t *testing.T) {
	asked := 0
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { asked++ })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	o := oneAddress()
	o.Resolver = (&names{table: map[string][]string{"site.test": {"127.0.0.1"}}}).resolver()
	r := newClient(t, o).Do(t.Context(), fetch.Request{URL: strings.Replace(s.URL, "127.0.0.1", "site.test", 1)})
	if r.Outcome != fetch.OK || asked != 0 {
		t.Errorf("outcome %q, the proxy was asked %d times", r.Outcome, asked)
	}
}

func TestGuard_BadURLsAreNotSent(t *testing.T) {
	t.Parallel()
	c := newClient(t, loopback())
	for _, target := range []string{
		"", "/wp-sitemap.xml", "ftp://example.org/", "file:///etc/passwd", "http://", "http:example.org", "http://user:pw@127.0.0.1/",
		"http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://exa mple/", "http://[::1/", "http://127.0.0.1/%zz", "gopher://127.0.0.1:70/",
		"http://127.0.0.1/\x00",
	} {
		r := c.Do(t.Context(), fetch.Request{URL: target})
		if r.Outcome != fetch.BadURL || r.Reason == "" || r.Close() != nil || r.Body == nil || r.Header == nil {
			t.Errorf("%q: %+v", target, r)
		}
	}
	if r := c.Do(t.Context(), fetch.Request{URL: "http://127.0.0.1/", Method: "POST"}); r.Outcome != fetch.BadURL {
		t.Errorf("POST: %q", r.Outcome)
	}
}

func TestOutcome_NetworkFaults(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	closed := httptest.NewServer(nil)
	closed.Close()
	garbage, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = garbage.Close() })
	go func() {
		for {
			conn, err := garbage.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 mail.example.org ESMTP\r\n"))
			_ = conn.Close()
		}
	}()
	o := loopback()
	o.Resolver = (&names{}).resolver()
	c := newClient(t, o)
	for _, row := range []struct {
		url     string
		outcome fetch.Outcome
		tries   int
	}{
		{"http://no-such-host.test/", fetch.DNS, 1},
		{closed.URL, fetch.Refused, 3},
		{secure.URL, fetch.TLS, 1},
		{strings.Replace(plain.URL, "http:", "https:", 1), fetch.TLS, 1},
		{"http://" + garbage.Addr().String() + "/", fetch.Protocol, 3},
	} {
		r := c.Do(t.Context(), fetch.Request{URL: row.url})
		if r.Outcome != row.outcome || r.Attempts != row.tries || r.Status != 0 || r.HasBody() || strings.Contains(r.Reason, "127.0.0.1") {
			t.Errorf("%s: %q after %d attempts (%s), want %q after %d", row.url, r.Outcome, r.Attempts, r.Reason, row.outcome, row.tries)
		}
	}
}
