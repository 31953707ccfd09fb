package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Promises for every screen and list endpoint (docs/benchmarks.md).
const (
	screenLimit = 200 * time.Millisecond // p95 on the server
	weightLimit = 100_000                // bytes of one screen as sent
)

type screens struct {
	program, folder string
	pages, perFile  int
	rounds          int
	keep, verbose   bool
	server          server
}

// benchScreens fills a database and asks the daemon on it for every screen and list, many times.
func benchScreens(ctx context.Context, flags *flag.FlagSet, arguments []string) error {
	var b screens
	only := flags.String("only", "", "sqlite or mariadb; both when empty")
	flags.IntVar(&b.pages, "pages", 1_000_000, "pages of the large site")
	flags.IntVar(&b.perFile, "per-file", 2000, "pages a document")
	flags.IntVar(&b.rounds, "rounds", 12, "how often each address is asked for")
	flags.BoolVar(&b.keep, "keep", false, "use a database that an earlier call left, and leave it")
	flags.BoolVar(&b.verbose, "v", false, "tell each first answer")
	flags.StringVar(&b.program, "program", "", "the sitemapd to measure")
	flags.StringVar(&b.folder, "folder", "", "for SQLite's file")
	flags.StringVar(&b.server.socket, "socket", "", "MariaDB's socket; without it SQLite alone is measured")
	flags.StringVar(&b.server.base, "mysql", "", "mysql://USER:PASSWORD@HOST:PORT/")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	missed := 0
	for _, name := range []string{"sqlite", "mariadb"} {
		if *only != "" && *only != name || name == "mariadb" && b.server.socket == "" {
			continue
		}
		n, err := b.database(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		missed += n
	}
	fmt.Printf("\n%d targets missed\n", missed)
	return nil
}

func (b *screens) database(ctx context.Context, name string) (missed int, err error) {
	var d database = &sqlite{filepath.Join(b.folder, "screens.db")}
	dialect := []string{"'f' || document || '-' || HEX(url_key)", "1764000000000000", "1764500000000000", "1764500000000000"}
	run := func(statements string) error {
		return exec.CommandContext(ctx, "sqlite3", filepath.Join(b.folder, "screens.db"), statements).Run()
	}
	there := func() bool { _, err := os.Stat(filepath.Join(b.folder, "screens.db")); return err == nil }
	if name == "mariadb" {
		dialect = []string{"CONCAT('f', document, '-', HEX(url_key))", "'2026-11-01'", "'2026-11-20'", "'2026-11-20'"}
		m := &mariadb{&b.server, "screens"}
		d = m
		run = func(statements string) error { _, err := m.sql(ctx, "USE screens;"+statements); return err }
		there = func() bool { out, err := m.sql(ctx, "SHOW DATABASES LIKE 'screens'"); return err == nil && out != "" }
	}
	if !b.keep || !there() {
		began := time.Now()
		if name == "mariadb" {
			_, err = b.server.create(ctx, "screens")
		} else {
			err = d.drop(ctx)
		}
		if err == nil {
			err = fill(ctx, d.dsn(), b.pages, b.perFile)
		}
		if err != nil {
			return 0, err
		}
		if err := run(fmt.Sprintf(canonicalSQL, dialect[0], dialect[1], dialect[2], dialect[3])); err != nil {
			fmt.Fprintln(os.Stderr, "left out: canonical lists are empty:", err)
		}
		fmt.Fprintf(os.Stderr, "%s filled in %.0f s\n", name, time.Since(began).Seconds())
	}
	base, pid, stop, err := b.daemon(ctx, d.dsn())
	if err != nil {
		return 0, err
	}
	defer stop()
	pids := []int{pid}
	if name == "mariadb" {
		pids = append(pids, b.server.pid())
	}
	missed, err = b.ask(ctx, name, base, pids)
	if err == nil && !b.keep {
		stop()
		err = d.drop(ctx)
	}
	return missed, err
}

// daemon serves a database, without runs of its own.
func (b *screens) daemon(ctx context.Context, dsn string) (base string, pid int, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, nil, err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	command := exec.CommandContext(ctx, b.program, "serve", "--listen", address, "--database", dsn)
	command.Env = append(os.Environ(), "SITEMAPD_SYNC_SCHEDULE=off", "SITEMAPD_VERIFY_ENABLED=false", "SITEMAPD_HTTP_RATE_PER_MINUTE=1000000", "SITEMAPD_LOG_LEVEL=warn")
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return "", 0, nil, err
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = command.Process.Signal(syscall.SIGTERM)
			_ = command.Wait()
		}
	}
	for range 600 {
		if r, err := http.Get("http://" + address + "/readyz"); err == nil {
			_ = r.Body.Close()
			return "http://" + address, command.Process.Pid, stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return "", 0, nil, fmt.Errorf("the daemon does not answer")
}

// asked is what one route took over all its addresses and rounds.
type asked struct {
	screen bool
	first  time.Duration // the slowest first answer of an address: nothing is cached then
	all    []time.Duration
	worst  time.Duration
	where  string
	cpu    time.Duration // of the dearest address, on average
	dear   string
	bytes  int
}

func (b *screens) ask(ctx context.Context, name, base string, pids []int) (missed int, err error) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: time.Minute}
	routes := map[string]*asked{}
	var order []string
	used := map[string]time.Duration{}
	for round := range b.rounds {
		for _, a := range b.addresses() {
			before := spent(pids...)
			took, sent, _, err := get(ctx, client, base+a.path, a.screen)
			if err != nil {
				return 0, err
			}
			if used[a.path] += spent(pids...) - before; round == 0 && b.verbose {
				fmt.Fprintf(os.Stderr, "  first: %8s ms, CPU %8s ms %7d bytes %s\n", ms(took), ms(used[a.path]), sent, a.path)
			}
			r := routes[a.route]
			if r == nil {
				r = &asked{screen: a.screen}
				routes[a.route] = r
				order = append(order, a.route)
			}
			r.all = append(r.all, took)
			if round == 0 {
				r.first = max(r.first, took)
			}
			if took > r.worst {
				r.worst, r.where = took, a.path
			}
			r.bytes = max(r.bytes, sent)
		}
	}
	for _, a := range b.addresses() {
		if r, cpu := routes[a.route], used[a.path]/time.Duration(b.rounds); cpu > r.cpu {
			r.cpu, r.dear = cpu, a.path
		}
	}
	fmt.Printf("\n%s, %d pages, %d rounds, milliseconds with transfer and compression\n\n", name, b.pages, b.rounds)
	fmt.Printf("| screen or list | asked | p50 | p95 | p99 | slowest first | worst | bytes sent | CPU | | worst; most CPU |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, route := range order {
		r := routes[route]
		slices.Sort(r.all)
		at := func(percent int) time.Duration { return r.all[(len(r.all)-1)*percent/100] }
		verdict := "ok"
		if at(95) > screenLimit || r.screen && r.bytes > weightLimit {
			verdict = "**miss**"
			missed++
		}
		fmt.Printf("| %s | %d | %s | %s | %s | %s | %s | %d | %s | %s | %s; %s |\n", route, len(r.all), ms(at(50)), ms(at(95)), ms(at(99)), ms(r.first), ms(r.worst), r.bytes,
			ms(r.cpu), verdict, strings.TrimPrefix(r.where, route), strings.TrimPrefix(r.dear, route))
	}
	return missed, nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// get asks once and reads all of the answer, which a browser would have had compressed.
func get(ctx context.Context, client *http.Client, address string, screen bool) (took time.Duration, sent int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, nil, err
	}
	if request.Header.Set("Accept-Encoding", "gzip"); screen {
		request.Header.Set("Accept", "text/html")
	}
	began := time.Now()
	r, err := client.Do(request)
	if err != nil {
		return 0, 0, nil, err
	}
	defer r.Body.Close()
	body, err = io.ReadAll(r.Body)
	took = time.Since(began)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", address, r.Status, body)
	}
	return took, len(body), body, err
}

type address struct {
	route, path string
	screen      bool
}

// addresses are every screen and list, with filters, sorts and places that people would ask for.
func (b *screens) addresses() []address {
	var all []address
	add := func(screen bool, route string, queries ...string) {
		for _, q := range queries {
			path := strings.ReplaceAll(route, "{site}", "1")
			if q != "" {
				path += "?" + q
			}
			all = append(all, address{route, path, screen})
		}
	}
	// The place in the middle of the list that a reader comes to after hundreds of pages.
	f := &filler{perFile: b.perFile, pages: b.pages}
	f.site.Home, f.site.Root = "https://large.example/", "https://large.example/wp-sitemap.xml"
	middle := f.documents() / 2
	page := url.Values{"url": {f.url(middle, 7)}}.Encode()
	changed := url.Values{"url": {f.url(3, 7)}}.Encode()
	filters := []string{"", "state=all", "state=stale", "state=held", "state=pending", "state=removed", "contains=/blog/", "contains=title-of-usual-length-" + fmt.Sprint(f.documents()) + "-19",
		"contains=nowhere-to-be-found", "prefix=https://large.example/docs/", "prefix=https://large.example/none/", "lastmod_from=-30d", "lastmod_to=-365d", "extension=image", "extension=video", "extension=news", "language=de", "language=fr",
		"first_from=-7d", "title=nothing+has+this", "object_type=post&lastmod_to=-12m", "object_type=page", "lastmod=none", "document=" + fmt.Sprint(middle), "as_of=1000", "as_of=2026-11-01", "state=all&as_of=1200&contains=/news/", "segment=not+changed+for+a+year", page}
	sorted := []string{"sort=url", "sort=-lastmod", "sort=first_seen&contains=/blog/", "sort=-changed&state=all", "sort=-lastmod&state=held", "sort=url&state=removed"}
	const s, api = "/sites/{site}", "/api/v1/sites/{site}"
	add(true, "/", "", "q=client")
	add(true, "/sites/new", "")
	add(true, "/settings", "")
	add(true, s, "")
	add(true, "/sites/17", "")
	add(true, s+"/urls", filters...)
	add(true, s+"/urls", sorted...) // the first answer is that a million pages are being sorted
	add(true, s+"/page", page, changed)
	add(true, s+"/changes", "", "kind=removed", "kind=held", "kind=stale", "contains=/docs/", "segment=with+images", "before=900")
	add(true, s+"/compare", "", "from=2000", "from=-7d", "from=1000&to=1500", "from=-30d&kind=removed", "from=1")
	add(true, s+"/hreflang", "", "contains=/blog/")
	add(true, s+"/runs", "")
	add(true, s+"/runs/1", "", "kind=changed", "contains=/blog/")
	add(true, s+"/runs/1001", "", "kind=removed")
	add(true, s+"/runs/1998", "", "kind=held")
	add(true, s+"/runs/1999", "", "kind=stale")
	add(true, s+"/documents", "", "verdict=unavailable", "verdict=complete")
	add(true, s+"/documents/"+fmt.Sprint(middle), "")
	add(true, s+"/findings", "", "severity=error", "code=lastmod-in-future", "code=duplicate-loc&severity=info")
	add(true, s+"/held", "")
	add(true, "/findings", "")
	add(true, s+"/reports", "", "days=7", "days=365")
	add(true, s+"/stale", "", "by=document", "by=path")
	add(true, s+"/deliveries", "", "result=rejected")
	add(true, s+"/expectations", "", "outcome=expired", "outcome=met")
	add(true, s+"/settings", "")
	add(true, s+"/canonical", "")
	add(false, "/api/v1/sites", "")
	add(false, api, "")
	add(false, api+"/urls", filters...)
	add(false, api+"/urls", sorted...)
	add(false, api+"/urls", "page_size=1000", "page_size=1000&state=all")
	add(false, api+"/urls", "include=total")
	add(false, api+"/history", page, changed)
	add(false, api+"/changes", "", "run=1001", "run=1998", "after=900.1.2.00000000000000000000000000000000", "kind=stale", "kind=removed,held", "segment=with+images")
	add(false, api+"/diff", "from=2000", "from=1000&to=1500", "from=2026-11-01", "from=1&kind=changed")
	add(false, api+"/runs", "", "page_size=1000")
	add(false, api+"/runs/1998", "")
	add(false, api+"/documents", "", "page_size=1000")
	add(false, api+"/documents/"+fmt.Sprint(middle)+"/history", "")
	add(false, api+"/findings", "", "severity=error", "code=duplicate-loc", "page_size=1000")
	add(false, api+"/held", "")
	add(false, api+"/segments", "")
	add(false, api+"/deliveries", "", "result=rejected", "page_size=1000")
	add(false, api+"/expectations", "", "page_size=1000")
	add(false, api+"/sitemap-metadata", "", "page_size=5")
	add(false, api+"/canonical", "", "status=conflicting")
	add(false, api+"/verification", "")
	add(false, api+"/incidents", "")
	add(false, api+"/mutes", "")
	add(false, api+"/audit", "", "code=canonical-missing")
	add(false, api+"/audit-groups", "")
	add(false, api+"/hook-keys", "")
	add(false, "/feeds/{site}.atom", "", "segment=with+images")
	return all
}
