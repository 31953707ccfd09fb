package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// floor reads a site's documents with as little work as can be: fetch, gunzip, and with -scan hops from one <loc> to
// the next and hashes what stands between the tags. It checks nothing, so a reader that does cannot be faster.
func floor(ctx context.Context, flags *flag.FlagSet, arguments []string) error {
	index := flags.String("index", "", "URL of the index")
	scan := flags.Bool("scan", false, "find and hash the entries too")
	workers := flags.Int("workers", 2, "documents at a time")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	r := &leanReader{client: &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: *workers}}}
	var children []string
	err := r.read(ctx, *index, func(body []byte) {
		for _, loc := range texts(body, "<loc>", "</loc>") {
			children = append(children, string(loc))
		}
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(*workers)
	var mu sync.Mutex
	urls, sum := 0, uint64(0)
	for _, child := range children {
		g.Go(func() error {
			return r.read(ctx, child, func(body []byte) {
				if !*scan {
					return
				}
				n, h := hop(body)
				mu.Lock()
				urls, sum = urls+n, sum+h
				mu.Unlock()
			})
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	fmt.Println(len(children), urls, sum)
	return nil
}

type leanReader struct {
	client *http.Client
	spare  sync.Pool
}

// work is what one worker reuses.
type work struct {
	wire, plain bytes.Buffer
	gunzip      gzip.Reader
}

func (r *leanReader) read(ctx context.Context, url string, use func(body []byte)) error {
	w, _ := r.spare.Get().(*work)
	if w == nil {
		w = &work{}
	}
	defer r.spare.Put(w)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	w.wire.Reset()
	if _, err := w.wire.ReadFrom(response.Body); err != nil {
		return err
	}
	if response.Header.Get("Content-Encoding") != "gzip" {
		use(w.wire.Bytes())
		return nil
	}
	if err := w.gunzip.Reset(&w.wire); err != nil {
		return err
	}
	w.plain.Reset()
	if _, err := io.Copy(&w.plain, &w.gunzip); err != nil {
		return err
	}
	use(w.plain.Bytes())
	return nil
}

func texts(body []byte, open, end string) [][]byte {
	var out [][]byte
	for {
		_, rest, found := bytes.Cut(body, []byte(open))
		text, after, closed := bytes.Cut(rest, []byte(end))
		if !found || !closed {
			return out
		}
		out = append(out, text)
		body = after
	}
}

var loc, endLoc, lastmod, endLastmod = []byte("<loc>"), []byte("</loc>"), []byte("<lastmod>"), []byte("</lastmod>")

// hop counts entries and sums their hashes.
func hop(body []byte) (n int, sum uint64) {
	for {
		_, rest, found := bytes.Cut(body, loc)
		if !found {
			return n, sum
		}
		url, rest, _ := bytes.Cut(rest, endLoc)
		n++
		sum += xxh3.Hash(url)
		if body = rest; bytes.HasPrefix(body, lastmod) {
			date, rest, _ := bytes.Cut(body[len(lastmod):], endLastmod)
			sum += xxh3.Hash(date)
			body = rest
		}
	}
}
