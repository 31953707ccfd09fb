package sitetest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// captured is an honest answer kept in memory.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *captured) Header() http.Header { return c.header }

func (c *captured) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
}

func (c *captured) Write(p []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(p)
}

// capture asks for the plain, full answer whatever the client sent.
func capture(r *http.Request, honest http.Handler) *captured {
	plain := r.Clone(r.Context())
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "If-Modified-Since"} {
		plain.Header.Del(name)
	}
	c := &captured{header: http.Header{}}
	honest.ServeHTTP(c, plain)
	c.header.Del("Content-Length")
	return c
}

func (c *captured) replay(w http.ResponseWriter) {
	for name, values := range c.header {
		w.Header()[name] = values
	}
	w.WriteHeader(max(c.status, http.StatusOK))
	_, _ = w.Write(c.body.Bytes())
}

// Status answers with a code and the theme's error page.
func Status(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>"+http.StatusText(code)+"</title></head><body></body></html>\n")
	}
}

// StatusWithBody answers with a code and the true body: core's fault.
func StatusWithBody(code int) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		c.status = code
		c.replay(w)
	}
}

// Busy answers with a code (429, 503) and Retry-After in seconds or as a date;
// 503 with 600 is WordPress' maintenance mode.
func Busy(code int, retryAfter string) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		w.Header().Set("Retry-After", retryAfter)
		Status(code)(w, r, honest)
	}
}

// Empty answers 200 without a byte.
func Empty() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		c.status = http.StatusOK
		c.body.Reset()
		c.replay(w)
	}
}

// EmptyWhenConditional answers requests with validators by an empty 200, as
// LiteSpeed was seen to do, and others truly.
func EmptyWhenConditional() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		if r.Header.Get("If-None-Match") == "" && r.Header.Get("If-Modified-Since") == "" {
			honest.ServeHTTP(w, r)
			return
		}
		Empty()(w, r, honest)
	}
}

// Body answers 200 with a text of the test's own.
func Body(contentType, text string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text)
	}
}

// HTML answers 200 with a web page; Parked and Challenge are pages of a known sort.
func HTML() Fault {
	return Body("text/html; charset=UTF-8", "<!DOCTYPE html>\n<html><head><title>A site</title></head><body><p>Hello</p></body></html>\n")
}

// Parked is the page of a registrar whose domain ran out.
func Parked() Fault {
	return Body("text/html", "<html><head><title>example.com is for sale</title></head><body><a href=\"/buy\">Buy this domain</a></body></html>")
}

// Challenge is a firewall's question to browsers: 403 or 503 with a script.
func Challenge() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.Header().Set("Server", "cloudflare")
		w.Header().Set("Cf-Mitigated", "challenge")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>")
	}
}

// ShortLength declares the true Content-Length and cuts the body after share of
// it (0 to 1), then closes.
func ShortLength(share float64) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		w.Header().Set("Content-Length", strconv.Itoa(c.body.Len()))
		c.body.Truncate(int(float64(c.body.Len()) * share))
		c.replay(w)
		abort(w)
	}
}

// AbortChunk sends the whole or a share of the body in chunks and cuts the
// connection before the last chunk. With 1 the reader sees the closed root first.
func AbortChunk(share float64) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		c.body.Truncate(int(float64(c.body.Len()) * share))
		c.replay(w)
		abort(w)
	}
}

// CutCleanly sends a share of the body as if that were all: only the open root tells.
func CutCleanly(share float64) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		c.body.Truncate(int(float64(c.body.Len()) * share))
		c.replay(w)
	}
}

func abort(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TruncatedGzip sends a gzip stream without its last bytes, declared as the whole.
func TruncatedGzip() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		gz := deflate(c.body.Bytes())
		c.header.Set("Content-Encoding", "gzip")
		c.body.Reset()
		c.body.Write(gz[:len(gz)*3/4])
		c.replay(w)
	}
}

// Bomb sends size bytes of blanks inside an open urlset, compressed about a
// thousandfold.
func Bomb(size int64) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/xml; charset=UTF-8")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="`+sitemapNamespace+`">`)
		blanks := bytes.Repeat([]byte(" "), 64<<10)
		for ; size > 0; size -= int64(len(blanks)) {
			if _, err := z.Write(blanks); err != nil {
				return
			}
		}
		_, _ = io.WriteString(z, `</urlset>`)
		_ = z.Close()
	}
}

// Slow waits before the header, then sends the body in pieces with a pause
// before each.
func Slow(before time.Duration, pieces int, pause time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		if !wait(r, before) {
			return
		}
		for name, values := range c.header {
			w.Header()[name] = values
		}
		w.WriteHeader(max(c.status, http.StatusOK))
		body := c.body.Bytes()
		size := len(body)/max(1, pieces) + 1
		for len(body) > 0 && wait(r, pause) {
			n := min(size, len(body))
			_, _ = w.Write(body[:n])
			_ = http.NewResponseController(w).Flush()
			body = body[n:]
		}
	}
}

func wait(r *http.Request, pause time.Duration) bool {
	if pause <= 0 {
		return r.Context().Err() == nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// Hang sends nothing until the client goes away.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }
}

// HangInBody sends half of the body and then nothing.
func HangInBody() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		c.body.Truncate(c.body.Len() / 2)
		c.replay(w)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// Redirect answers 302 to a location, "/wp-login.php" for instance.
func Redirect(location string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

// Loop answers every path with a redirect to itself by way of another.
func Loop() Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		location := r.URL.Path + "?again=1"
		if r.URL.RawQuery == "again=1" {
			location = r.URL.Path
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

// NotModified answers 304 whatever was asked.
func NotModified() Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusNotModified) }
}

// Replaced bends the true body by replacing a text everywhere.
func Replaced(old, with string) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		text := strings.ReplaceAll(c.body.String(), old, with)
		c.body.Reset()
		c.body.WriteString(text)
		c.replay(w)
	}
}

// WrongNamespace changes the sitemap namespace to one that looks like it.
func WrongNamespace() Fault {
	return Replaced(`"`+sitemapNamespace+`"`, `"http://www.example.org/schemas/sitemap/0.9"`)
}

// EmptyURLSet answers with a valid document that lists nothing.
func EmptyURLSet() Fault {
	return Body("application/xml; charset=UTF-8",
		`<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<urlset xmlns="`+sitemapNamespace+`"></urlset>`+"\n")
}

// EmptyIndex is what plugins show until their own cron has run.
func EmptyIndex() Fault {
	return Body("application/xml; charset=UTF-8",
		`<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<sitemapindex xmlns="`+sitemapNamespace+`"/>`+"\n")
}

// ForeignHost lists every URL under another base, as a cloned database does.
func (s *Site) ForeignHost(base string) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		Replaced("<loc>"+s.URL()+"/", "<loc>"+base+"/")(w, r, honest)
	}
}

// HalfGone leaves out every second entry of a urlset or index.
func HalfGone() Fault { return without(func(n int, _ string) bool { return n%2 == 1 }) }

// Without leaves out the entries that hold a text: a child of an index, a page.
func Without(text string) Fault {
	return without(func(_ int, entry string) bool { return strings.Contains(entry, text) })
}

func without(drop func(n int, entry string) bool) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		rest := c.body.String()
		closing := "</url>"
		if strings.Contains(rest, "<sitemapindex") {
			closing = "</sitemap>"
		}
		opening := strings.Replace(closing, "/", "", 1)
		var out strings.Builder
		for n := 0; ; n++ {
			from := strings.Index(rest, opening)
			to := strings.Index(rest, closing)
			if from < 0 || to < 0 {
				break
			}
			to += len(closing)
			out.WriteString(rest[:from])
			if !drop(n, rest[from:to]) {
				out.WriteString(rest[from:to])
			}
			rest = rest[to:]
		}
		out.WriteString(rest)
		c.body.Reset()
		c.body.WriteString(out.String())
		c.replay(w)
	}
}

// Stale keeps what a path says now and answers with that from then on, as a
// cache that nobody empties does, with the Age it has.
func (s *Site) Stale(pathAndQuery string) Fault {
	r, err := http.NewRequest(http.MethodGet, s.URL()+pathAndQuery, nil)
	if err != nil {
		return Status(http.StatusInternalServerError)
	}
	kept := capture(r, http.HandlerFunc(s.honest))
	since := s.opt.Now()
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Age", strconv.Itoa(int(s.opt.Now().Sub(since).Seconds())))
		w.Header().Set("X-Cache", "HIT")
		kept.replay(w)
	}
}
