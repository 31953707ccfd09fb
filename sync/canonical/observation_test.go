package canonical_test

import (
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

func TestObserve_KeepsIntervals(t *testing.T) {
	t.Parallel()
	var all, changed []canonical.Observation
	look := func(r canonical.Response, hours int) {
		ev := canonical.Extract(r)
		all, changed = canonical.Observe(all, &ev, epoch.Add(time.Duration(hours)*time.Hour))
	}
	moved := func(r *canonical.Response) { r.Body = append([]byte("<!doctype html>\n\n"), r.Body...) }
	look(answer(200, source), 0)
	look(answer(200, source, moved), 1)
	look(answer(304, ""), 2)
	look(answer(500, ""), 3)
	if len(all) != 1 || all[0].Times != 3 || !all[0].FirstSeen.Equal(epoch) || !all[0].LastSeen.Equal(epoch.Add(2*time.Hour)) || len(changed) != 0 {
		t.Errorf("after four looks: %+v, last changed %d", all, len(changed))
	}
	look(answer(200, "https://example.com/q/"), 4)
	if len(all) != 2 || len(changed) != 2 || all[0].Current || !all[1].Current || all[0].Times != 3 {
		t.Errorf("after another value: %+v", all)
	}
	look(answer(200, source), 5)
	if len(all) != 2 || !all[0].Current || all[1].Current || all[0].Times != 4 {
		t.Errorf("after its return: %+v", all)
	}
}

func TestKeyOf_IsTheKeyOfPages(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"https://example.com/", "HTTP://Example.com:80/%7ea?x=ü#f", "https://exämple.com/a b"} {
		p, problem := weburl.ParseString(nil, u)
		if problem != weburl.None || canonical.KeyOf(u) != canonical.Key(p.Key()) {
			t.Errorf("%s: %s, pages have %x", u, canonical.KeyOf(u), p.Key())
		}
	}
}
