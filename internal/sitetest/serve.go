package sitetest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Listen serves the site on address, for instance "127.0.0.1:0", and makes that
// its base URL unless one was given.
func (s *Site) Listen(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.mu.Lock()
	s.listener, s.server = l, server
	if s.base == "" {
		s.base = "http://" + l.Addr().String()
	}
	s.mu.Unlock()
	go func() { _ = server.Serve(l) }()
	return nil
}

// Close ends serving and cuts whatever hangs.
func (s *Site) Close() error {
	s.mu.RLock()
	server := s.server
	s.mu.RUnlock()
	if server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return nil
}

// ServeHTTP logs, runs OnRequest, and lets the first fault that fits answer.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.base == "" {
		s.base = "http://" + r.Host
	}
	s.mu.Unlock()
	counted, done := s.log.begin(w, r)
	defer done()
	s.log.hook(r)
	if fault := s.faults.take(r); fault != nil {
		fault(counted, r, http.HandlerFunc(s.honest))
		return
	}
	s.honest(counted, r)
}

// honest answers as the site would without faults.
func (s *Site) honest(w http.ResponseWriter, r *http.Request) {
	if user, pass, _ := r.BasicAuth(); s.opt.Username != "" && (user != s.opt.Username || pass != s.opt.Password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="staging"`)
		http.Error(w, "401", http.StatusUnauthorized)
		return
	}
	path := r.URL.EscapedPath()
	if path == "/robots.txt" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		s.mu.RLock()
		text := s.robots()
		s.mu.RUnlock()
		_, _ = w.Write([]byte(text))
		return
	}
	s.reply(path, r.URL.Query(), strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"))(w, r)
}

// reply looks up what a path leads to, and gives what writes it: a slow client must not hold the site.
func (s *Site) reply(path string, query url.Values, takesGzip bool) http.HandlerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.sitemapAnswer(path, query)
	switch {
	case !ok || a.home || a.notFound:
		p := s.webPage(path, query, a)
		return func(w http.ResponseWriter, _ *http.Request) { p.write(w) }
	case a.redirect != "":
		target := s.base + a.redirect
		return func(w http.ResponseWriter, _ *http.Request) { redirect(w, target, a.by) }
	case a.stylesheet:
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml; charset=UTF-8")
			_, _ = w.Write([]byte(stylesheet))
		}
	}
	compressed := s.opt.Gzip && takesGzip
	doc, code, opt := s.document(a, compressed), s.statusOf(a), s.opt
	return func(w http.ResponseWriter, r *http.Request) { writeDocument(w, r, doc, compressed, code, opt) }
}

// statusOf imitates two faults of core: see Options.BlogPage and NoPosts404.
func (s *Site) statusOf(a answer) int {
	if s.opt.Layout != Core {
		return http.StatusOK
	}
	if s.opt.NoPosts404 && len(s.posts) == 0 {
		return http.StatusNotFound
	}
	if s.opt.BlogPage > 0 && a.n > max(1, (len(s.posts)+s.opt.BlogPage-1)/s.opt.BlogPage) {
		return http.StatusNotFound
	}
	return http.StatusOK
}

func redirect(w http.ResponseWriter, target, by string) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Set("X-Redirect-By", by)
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusMovedPermanently)
}

func writeDocument(w http.ResponseWriter, r *http.Request, doc rendered, compressed bool, code int, o Options) {
	h := w.Header()
	switch o.Layout {
	case Core:
		h.Set("Content-Type", "application/xml; charset=UTF-8")
		if code != http.StatusOK {
			h.Set("Cache-Control", "no-cache, must-revalidate, max-age=0, no-store, private")
		}
	case Yoast:
		h.Set("Content-Type", "text/xml; charset=UTF-8")
		h.Set("X-Robots-Tag", "noindex, follow")
	case RankMath:
		h.Set("Content-Type", "text/xml; charset=UTF-8")
		h.Set("X-Robots-Tag", "noindex")
		h.Set("Cache-Control", "no-cache, no-store, must-revalidate, max-age=0")
		h.Set("Pragma", "public")
		h.Set("Expires", "0")
	}
	if o.Conditional {
		h.Set("ETag", doc.etag)
		h.Set("Last-Modified", doc.changed)
		if r.Header.Get("If-None-Match") == doc.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	body := doc.plain
	if compressed {
		h.Set("Content-Encoding", "gzip")
		h.Set("Vary", "Accept-Encoding")
		body = doc.gz
	}
	if o.Cache { // PHP sends chunks; what keeps bodies knows their length
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

const stylesheet = `<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html/></xsl:template></xsl:stylesheet>
`
