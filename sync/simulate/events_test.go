package simulate_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// events counts what really happened in histories, as the engine met it: a fault that is planned and never seen tests
// nothing.
type events struct {
	mu sync.Mutex
	n  map[string]int64
}

func newEvents() *events { return &events{n: map[string]int64{}} }

func (e *events) add(name string, n int64) {
	if n == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n[name] += n
}

// mustHappen are the events without which the simulation does not test what it says it does. Each happens in some of
// a few hundred histories.
var mustHappen = []string{
	"site: publish", "site: edit", "site: slug", "site: trash", "site: unpublish", "site: delete", "site: restore", "site: import",
	"site: share", "site: reorder", "site: per-file", "site: layout", "site: zone", "site: scheme", "site: permalinks", "site: purge",
	"site: edited while it is read", "operator: approve", "operator: reject", "operator: new root", "operator: restart", "clock: back",
	"hook: told", "hook: told a lie", "run: complete", "run: partial", "run: unavailable", "run: targeted", "run: two walks", "run: read again",
	"run: served a trigger", "fault: kill-statement", "fault: kill-before", "fault: kill-after", "fault: fail-before", "fault: fail-after", "fault: freeze-before", "daemon: refused after a takeover", "daemon: went on in the midst of another's run",
	"answer: 304", "answer: old copy", "answer: cut", "answer: 404 with a sitemap", "answer: 410 with a sitemap", "answer: 404", "answer: 410",
	"answer: 401", "answer: 429", "answer: 500", "answer: 503", "answer: 5xx with a sitemap", "answer: HTML", "answer: empty body",
	"answer: empty urlset", "answer: empty index", "answer: redirected", "answer: redirect loop", "answer: wrong namespace",
	"answer: good",
	"network: timeout", "network: dns", "network: tls", "network: refused", "network: too large", "network: protocol", "network: too slow",
	"page: added", "page: changed", "page: pending", "page: held", "page: removed", "page: moved", "page: restored", "page: stale", "page: fresh",
	"page: moved between files", "ended: removed", "ended: moved", "ended: migrated",
	"ended: its own 404", "ended: its own 410",
	"window: article", "window: withdrawn", "window: fault", "page: left-window",
}

// missing names the events that should have happened and did not.
func (e *events) missing() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(mustHappen), func(name string) bool { return e.n[name] > 0 })
}

func (e *events) print(w io.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	group := ""
	for _, name := range slices.Sorted(maps.Keys(e.n)) {
		kind, what, _ := strings.Cut(name, ": ")
		if kind != group {
			group = kind
			fmt.Fprintf(w, "\n%s:", kind)
		}
		fmt.Fprintf(w, " %s %d;", what, e.n[name])
	}
	fmt.Fprintln(w)
}

// check fails a test whose histories were many enough to see everything, and did not.
func (e *events) check(t testing.TB, lived int64) {
	if missing := e.missing(); lived >= 300 && len(missing) > 0 {
		t.Errorf("in %d histories these never happened: %s", lived, strings.Join(missing, ", "))
	}
}

// answered counts an answer as the engine got it.
func (e *events) answered(l *look, result *fetch.Result) {
	if l.page {
		e.add("page asked: "+string(result.Outcome), 1)
		return
	}
	switch {
	case result.Reason == simulated:
		e.add("network: "+strings.ReplaceAll(string(result.Outcome), "_", " "), 1)
		return
	case l.status == 304:
		e.add("answer: 304", 1)
	case l.status == 200 && l.complete && l.index && len(l.children) == 0:
		e.add("answer: empty index", 1)
	case l.status == 200 && l.complete && !l.index && len(l.pages) == 0:
		e.add("answer: empty urlset", 1)
	case (l.status == 404 || l.status == 410) && l.complete:
		e.add(fmt.Sprintf("answer: %d with a sitemap", l.status), 1)
	case l.status >= 500 && (bytes.Contains(l.wire, []byte("<urlset")) || bytes.Contains(l.wire, []byte("<sitemapindex"))):
		e.add("answer: 5xx with a sitemap", 1)
	case l.status >= 400:
		e.add(fmt.Sprintf("answer: %d", l.status), 1)
	case l.status == 200 && len(l.wire) == 0:
		e.add("answer: empty body", 1)
	case l.status == 200 && bytes.Contains(bytes.ToLower(l.wire), []byte("<html")):
		e.add("answer: HTML", 1)
	case l.cut || l.status == 200 && !l.complete && len(l.pages)+len(l.children) > 0:
		e.add("answer: cut", 1)
	case l.complete:
		e.add("answer: good", 1)
	default:
		e.add("answer: "+strings.ReplaceAll(string(result.Outcome), "_", " "), 1)
	}
	if bytes.Contains(l.wire, []byte("<urlset")) && !bytes.Contains(l.wire, []byte("http://www.sitemaps.org/schemas/sitemap/0.9")) {
		e.add("answer: wrong namespace", 1)
	}
	if l.aged {
		e.add("answer: old copy", 1)
	}
	if l.hops > 0 && l.status < 300 {
		e.add("answer: redirected", 1)
	}
}

// recorded counts what a visible run made known.
func (e *events) recorded(now *snapshot, record models.Run, feed []models.Change) {
	e.add("run: "+string(record.Verdict), 1)
	e.add("page: moved between files", record.Counts.Moved)
	if record.Targeted {
		e.add("run: targeted", 1)
	}
	if len(now.walks) > 1 {
		e.add("run: two walks", 1)
	}
	if len(record.Triggers) > 0 {
		e.add("run: served a trigger", 1)
	}
	for _, w := range now.walks {
		if len(w.before) > 0 {
			e.add("run: read again", 1)
		}
	}
	for _, c := range feed {
		e.add("page: "+c.Kind, 1)
	}
	for _, c := range now.cases {
		if c.FromRun == now.run && c.Stage == models.StageLeftWindow { // in silence
			e.add("page: left-window", 1)
		}
	}
}

var places = regexp.MustCompile(`https?://\S+|[0-9]+`)

// failed counts a planned failure that struck, and where.
func (e *events) failed(f failure, failed error) {
	e.add("fault: "+f.Kind, 1)
	if failed == nil {
		e.add("fault struck in: what may fail", 1)
		return
	}
	parts := strings.Split(failed.Error(), ": ")
	at := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, "simulated") })
	if at > 0 {
		e.add("fault struck in: "+strings.TrimSpace(places.ReplaceAllString(parts[at-1], "")), 1)
	}
}
