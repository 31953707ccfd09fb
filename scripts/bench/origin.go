package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

// origin serves the site until it is killed. It prints its index and the number of its documents when it is ready.
//
// POST /-/edit?each=N edits every N-th post, POST /-/reorder serves other bytes that mean the same,
// POST /-/conditional?on=0|1 hides or shows validators. Bodies are rendered before the answer.
func origin(flags *flag.FlagSet, arguments []string) error {
	var o sitetest.Options
	flags.IntVar(&o.Posts, "posts", 1_000_000, "posts")
	flags.IntVar(&o.PerFile, "per-file", 2000, "URLs a file")
	flags.BoolVar(&o.Gzip, "gzip", false, "compress")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	o.BaseURL, o.Seed, o.Permalinks, o.Conditional = "http://"+l.Addr().String(), 1, sitetest.DayName, true
	c := &control{site: sitetest.New(o)}
	c.validators.Store(true)
	c.site.Warm()
	fmt.Println(c.site.Index(), len(c.site.Documents()))
	server := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

type control struct {
	site       *sitetest.Site
	validators atomic.Bool
}

func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	action, ours := strings.CutPrefix(r.URL.Path, "/-/")
	switch {
	case !ours && c.validators.Load():
		c.site.ServeHTTP(w, r)
		return
	case !ours:
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Modified-Since")
		c.site.ServeHTTP(&bare{w}, r)
		return
	}
	switch action {
	case "edit":
		each, _ := strconv.Atoi(r.URL.Query().Get("each"))
		fmt.Fprintln(w, c.site.EditShare(max(1, each)))
	case "reorder":
		c.site.Reorder()
	case "conditional":
		c.validators.Store(r.URL.Query().Get("on") == "1")
		return
	default:
		http.NotFound(w, r)
		return
	}
	c.site.Warm()
	c.site.ResetLog()
}

// bare leaves the validators out of answers, as WordPress does without a cache.
type bare struct{ http.ResponseWriter }

func (b *bare) WriteHeader(status int) {
	b.Header().Del("ETag")
	b.Header().Del("Last-Modified")
	b.ResponseWriter.WriteHeader(status)
}
