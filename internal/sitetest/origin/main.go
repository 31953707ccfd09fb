// Command origin serves a sitetest.Site as a process of its own, so that a
// benchmark can measure its client alone.
//
//	go run ./internal/sitetest/origin -listen 127.0.0.1:8099 -posts 1000000 -warm
//
// It prints one JSON line when it is ready. POST /-/edit?each=100 edits every
// hundredth post, POST /-/import?n=1000 adds posts, POST /-/delete?each=1000
// removes some, POST /-/warm renders again; each answers with what was done.
// GET /-/stats tells how many requests and bytes were served.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8099", "address")
	layout := flag.String("layout", "core", "core, yoast or rank_math")
	permalinks := flag.String("permalinks", "day", "name, day or plain")
	var o sitetest.Options
	flag.IntVar(&o.Posts, "posts", 1_000_000, "posts")
	flag.IntVar(&o.Pages, "pages", 0, "pages")
	flag.IntVar(&o.PerFile, "per-file", 0, "URLs a file, by layout")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of the content")
	flag.BoolVar(&o.Gzip, "gzip", false, "compress")
	flag.BoolVar(&o.Conditional, "conditional", false, "ETag, Last-Modified and 304")
	warm := flag.Bool("warm", false, "render everything before the first request")
	flag.Parse()
	var known, knownLinks bool
	o.Layout, known = map[string]sitetest.Layout{
		"core": sitetest.Core, "yoast": sitetest.Yoast, "rank_math": sitetest.RankMath,
	}[*layout]
	o.Permalinks, knownLinks = map[string]sitetest.Permalinks{
		"name": sitetest.PostName, "day": sitetest.DayName, "plain": sitetest.Plain,
	}[*permalinks]
	if !known || !knownLinks {
		log.Fatalf("unknown layout %q or permalinks %q", *layout, *permalinks)
	}
	if err := run(*listen, o, *warm); err != nil {
		log.Fatal(err)
	}
}

func run(listen string, o sitetest.Options, warm bool) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	o.BaseURL = "http://" + l.Addr().String()
	site := sitetest.New(o)
	kept := int64(0)
	if warm {
		kept = site.Warm()
	}
	ready, _ := json.Marshal(map[string]any{"index": site.Index(), "documents": len(site.Documents()), "bytes_kept": kept})
	fmt.Println(string(ready))
	server := &http.Server{Handler: control(site), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

func control(site *sitetest.Site) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		action, ours := strings.CutPrefix(r.URL.Path, "/-/")
		if !ours {
			site.ServeHTTP(w, r)
			return
		}
		number := func(name string, otherwise int) int {
			if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil && n > 0 {
				return n
			}
			return otherwise
		}
		done := map[string]any{"action": action}
		switch {
		case action == "stats":
			bytes := int64(0)
			for _, line := range site.Requests() {
				bytes += line.Bytes
			}
			done["requests"], done["bytes"], done["most_at_once"] = site.Count(""), bytes, site.MostAtOnce()
		case r.Method != http.MethodPost:
			http.Error(w, "POST", http.StatusMethodNotAllowed)
			return
		case action == "edit":
			done["posts"] = site.EditShare(number("each", 100))
		case action == "import":
			done["posts"] = len(site.BulkImport(number("n", 1000)))
		case action == "delete":
			each, n := number("each", 1000), 0
			for _, id := range site.PublishedPosts() {
				if int(id)%each == 0 {
					site.Delete(id)
					n++
				}
			}
			done["posts"] = n
		case action == "warm":
			done["bytes_kept"] = site.Warm()
		case action == "reset":
			site.ResetLog()
		default:
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(done)
	})
}
