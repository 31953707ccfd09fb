package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// sites measures many small sites that change nothing: the daemon's loop walks each once when all are due, and the server
// tells how many statements that took.
func sites(ctx context.Context, flags *flag.FlagSet, arguments []string) error {
	database := flags.String("database", "", "sqlite:PATH or mysql://…, empty")
	socket := flags.String("socket", "", "MariaDB's, to count statements")
	count := flags.Int("sites", 5000, "sites, each on a host of its own")
	pages := flags.Int("pages", 200, "URLs of a site, in one document below an index")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	origin, port, err := manyHosts(*pages)
	if err != nil {
		return err
	}
	defer origin.Close()
	s, err := store.Open(ctx, *database, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	client := fetch.New(fetch.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	defer client.Close()
	for i := range *count {
		root := fmt.Sprintf("http://127.1.%d.%d:%d/sitemap.xml", i/250+1, i%250+1, port)
		if _, err := s.AddSite(ctx, models.Site{Name: strconv.Itoa(i), Home: root, Root: root, Roots: []models.Root{{URL: root, Discovery: "direct_URL"}}}); err != nil {
			return err
		}
	}
	for _, round := range []string{"first run", "no change"} {
		if err := everySite(ctx, s, client, *count, round, *socket); err != nil {
			return fmt.Errorf("%s: %w", round, err)
		}
	}
	return nil
}

// manyHosts answers on every loopback address with an index and one document.
func manyHosts(pages int) (*http.Server, int, error) {
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		return nil, 0, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		const space = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
		base := "http://" + r.Host
		if r.URL.Path == "/sitemap.xml" {
			fmt.Fprintf(w, "<?xml version=\"1.0\"?><sitemapindex%s<sitemap><loc>%s/posts.xml</loc></sitemap></sitemapindex>", space, base)
			return
		}
		var text strings.Builder
		fmt.Fprintf(&text, "<?xml version=\"1.0\"?><urlset%s", space)
		for i := range pages {
			fmt.Fprintf(&text, "<url><loc>%s/2026/a-page-of-this-site-%d/</loc><lastmod>2026-01-02T03:04:05+00:00</lastmod></url>", base, i)
		}
		text.WriteString("</urlset>")
		_, _ = w.Write([]byte(text.String())) // the reader may be gone
	})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return server, listener.Addr().(*net.TCPAddr).Port, nil
}

// everySite makes all sites due and lets the loop walk them.
func everySite(ctx context.Context, s *store.Store, client *fetch.Client, count int, round, socket string) error {
	all, err := s.Sites(ctx)
	if err != nil {
		return err
	}
	due := time.Now().UTC()
	for _, site := range all {
		site.NextDue = &due
		if err := s.SaveSite(ctx, site); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var ended, changed, failed atomic.Int64
	engine, err := syncer.New(syncer.Options{Store: s, Web: client, Owner: "bench", Observe: func(_ models.Site, run models.Run) {
		changed.Add(run.Counts.Added + run.Counts.Changed + run.Counts.Removed)
		if run.Verdict != models.VerdictComplete {
			failed.Add(1)
		}
		if ended.Add(1) == int64(count) {
			stop()
		}
	}})
	if err != nil {
		return err
	}
	before, err := statementsOf(context.WithoutCancel(ctx), socket)
	if err != nil {
		return err
	}
	started := time.Now()
	loop := syncer.NewLoop(engine, syncer.LoopOptions{Store: s})
	if err := loop.Run(ctx); err != nil {
		return err
	}
	took := time.Since(started)
	after, err := statementsOf(context.WithoutCancel(ctx), socket)
	if err != nil {
		return err
	}
	runs := float64(ended.Load())
	fmt.Fprintf(os.Stdout, "%s: %d runs in %s, %d pages changed, %d runs not complete", round, ended.Load(), took.Round(time.Millisecond), changed.Load(), failed.Load())
	if before != nil {
		control := float64(after["Com_begin"] + after["Com_commit"] + after["Com_rollback"] - before["Com_begin"] - before["Com_commit"] - before["Com_rollback"])
		questions := float64(after["Questions"] - before["Questions"])
		fmt.Fprintf(os.Stdout, "; statements a run: %.2f, and %.2f that begin and end transactions", (questions-control)/runs, control/runs)
	}
	fmt.Fprintln(os.Stdout)
	return nil
}

// statementsOf reads the server's counters; nil without a server.
func statementsOf(ctx context.Context, socket string) (map[string]int64, error) {
	if socket == "" {
		return nil, nil
	}
	out, err := (&server{socket: socket}).sql(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_begin', 'Com_commit', 'Com_rollback')")
	if err != nil {
		return nil, err
	}
	counters := map[string]int64{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if counters[name], err = strconv.ParseInt(value, 10, 64); err != nil {
			return nil, fmt.Errorf("read counter %s: %w", name, err)
		}
	}
	return counters, nil
}
