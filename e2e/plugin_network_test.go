package e2e_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestPlugin_Network turns the small site into a network and checks that each site has its own outbox, numbers and address.
func TestPlugin_Network(t *testing.T) {
	one := siteFrom(t, "SITEMAPD_TEST_WP_EMPTY_URL", "SITEMAPD_TEST_WP_EMPTY_PHP")
	one.set(t, "network-on")
	var made struct {
		ID  int
		URL string
	}
	one.do(t, &made, "network-site", "two")
	one.set(t, "network-plugin")
	two := site{url: made.URL, driver: one.driver, path: "/two/"}
	if two.url != one.url+"two/" {
		t.Fatalf("the second site is at %s", two.url)
	}
	r := newReceiver(t)
	one.set(t, "configure", r.server.URL+"/hooks/one", secret)
	two.set(t, "configure", r.server.URL+"/hooks/two", secret)
	one.set(t, "outbox-clear")
	two.set(t, "outbox-clear")
	r.take()

	p := two.act(t, "publish", "On the second site")
	got := expect(t, r, "second site", "post.published "+p.URL)
	if !strings.HasPrefix(p.URL, two.url) || got[0].path != "/hooks/two" {
		t.Errorf("%s was announced at %s", p.URL, got[0].path)
	}
	q := one.act(t, "publish", "On the first site")
	got = expect(t, r, "first site", "post.published "+q.URL)
	if got[0].path != "/hooks/one" {
		t.Errorf("%s was announced at %s", q.URL, got[0].path)
	}
	// A network tool on the first site publishes on the second.
	elsewhere := one.act(t, "publish-on", strconv.Itoa(made.ID), "From elsewhere")
	got = expect(t, r, "switched site", "post.published "+elsewhere.URL)
	if got[0].path != "/hooks/two" || !strings.HasPrefix(elsewhere.URL, two.url) {
		t.Errorf("%s was announced at %s", elsewhere.URL, got[0].path)
	}

	var left struct {
		Tables, Options []string
		Cron            int
	}
	one.do(t, &left, "uninstall")
	if len(left.Tables) > 0 || len(left.Options) > 0 || left.Cron != 0 {
		t.Errorf("left behind: %+v", left)
	}
}
