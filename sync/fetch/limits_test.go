package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

// raw answers every connection with a text, after the request was read.
func raw(t *testing.T, write func(io.Writer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = conn.Read(make([]byte, 4096))
				write(conn)
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

func TestLimits_EndlessBodyEndsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 64<<10)
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	o := loopback()
	o.MaxWire = 20 << 20
	c := newClient(t, o)
	r := c.Do(t.Context(), fetch.Request{URL: s.URL})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, r.Body)
	runtime.ReadMemStats(&after)
	if n != 20<<20 || !errors.Is(err, fetch.ErrTooLarge) || r.BodyOutcome() != fetch.TooLarge {
		t.Errorf("read %d bytes, %v, %q", n, err, r.BodyOutcome())
	}
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 16<<20 {
		t.Errorf("reading allocated %d bytes", grown)
	}
	if _, again := r.Body.Read(make([]byte, 1)); !errors.Is(again, fetch.ErrTooLarge) {
		t.Errorf("a further read: %v", again)
	}
}

func TestLimits_DeclaredLengthAndExactSize(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		if r.URL.Query().Has("declare") {
			w.Header().Set("Content-Length", strconv.Itoa(size))
		}
		for range size {
			_, _ = w.Write([]byte("x"))
		}
	})
	c := newClient(t, loopback())
	r := c.Do(t.Context(), fetch.Request{URL: s.URL + "?declare&size=1001", MaxWire: 1000})
	if r.Outcome != fetch.TooLarge || r.HasBody() || r.Attempts != 1 {
		t.Errorf("declared too large: %+v", r)
	}
	for _, query := range []string{"?size=1000", "?declare&size=1000"} {
		r = c.Do(t.Context(), fetch.Request{URL: s.URL + query, MaxWire: 1000})
		if got := readAll(t, r); len(got) != 1000 || r.BodyOutcome() != fetch.OK {
			t.Errorf("%s: %d bytes, %q", query, len(got), r.BodyOutcome())
		}
	}
}

func TestLimits_HeaderAndInformationalFlood(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer){
		"one field of 10 MiB": func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("a", 10<<20)+"\r\n\r\n")
		},
		"endless fields": func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n")
			for i := 0; ; i++ {
				if _, err := fmt.Fprintf(w, "X-%d: y\r\n", i); err != nil {
					return
				}
			}
		},
		"endless 103": func(w io.Writer) {
			for {
				if _, err := io.WriteString(w, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newClient(t, loopback()).Do(t.Context(), fetch.Request{URL: raw(t, write)})
			if r.Outcome != fetch.Protocol || r.HasBody() {
				t.Errorf("outcome %q (%s) after %d attempts", r.Outcome, r.Reason, r.Attempts)
			}
		})
	}
}

func TestBody_CutIsSeenThoughTheRootIsClosed(t *testing.T) {
	t.Parallel()
	const text = "<urlset></urlset>"
	for name, head := range map[string]string{
		"short length":  "Content-Length: 100\r\n\r\n" + text,
		"chunk cut":     "Transfer-Encoding: chunked\r\n\r\n11\r\n" + text + "\r\n",
		"chunk garbage": "Transfer-Encoding: chunked\r\n\r\n11\r\n" + text + "\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := raw(t, func(w io.Writer) { _, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n"+head) })
			r := newClient(t, loopback()).Do(t.Context(), fetch.Request{URL: url})
			got, err := io.ReadAll(r.Body)
			if r.Outcome != fetch.OK || string(got) != text || !errors.Is(err, io.ErrUnexpectedEOF) || r.BodyOutcome() != fetch.Truncated {
				t.Errorf("%q: %q, %v, %q", r.Outcome, got, err, r.BodyOutcome())
			}
			if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("the error names an address: %v", err)
			}
		})
	}
}

func TestBody_UnframedIsTold(t *testing.T) {
	t.Parallel()
	url := raw(t, func(w io.Writer) { _, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n\r\n<urlset>") })
	r := newClient(t, loopback()).Do(t.Context(), fetch.Request{URL: url})
	if got := readAll(t, r); got != "<urlset>" || !r.Unframed {
		t.Errorf("body %q, unframed %v", got, r.Unframed)
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() })
	if r = newClient(t, loopback()).Do(t.Context(), fetch.Request{URL: s.URL}); r.Unframed {
		t.Error("a chunked body is framed")
	}
	_ = r.Close()
}

func TestRead_RepeatsACutDocument(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	cuts := int32(2)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "8")
		if asked.Add(1) <= cuts {
			_, _ = w.Write([]byte("<url"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte("<urlset>"))
	})
	c := newClient(t, loopback())
	var seen []string
	read := func(r *fetch.Result) error {
		text, err := io.ReadAll(r.Body)
		seen = append(seen, string(text))
		return err
	}
	r, err := c.Read(t.Context(), fetch.Request{URL: s.URL}, read)
	if err != nil || r.Outcome != fetch.OK || r.BodyOutcome() != fetch.OK || r.Attempts != 3 || strings.Join(seen, " ") != "<url <url <urlset>" {
		t.Errorf("%v, %q, %d attempts, read %q", err, r.BodyOutcome(), r.Attempts, seen)
	}
	asked.Store(-10)
	seen = nil
	r, err = c.Read(t.Context(), fetch.Request{URL: s.URL}, read)
	if !errors.Is(err, io.ErrUnexpectedEOF) || r.BodyOutcome() != fetch.Truncated || len(seen) != 3 {
		t.Errorf("%v, %q, read %q", err, r.BodyOutcome(), seen)
	}
	asked.Store(10)
	own := errors.New("not my sort of document")
	calls := 0
	_, err = c.Read(t.Context(), fetch.Request{URL: s.URL}, func(*fetch.Result) error { calls++; return own })
	if !errors.Is(err, own) || calls != 1 {
		t.Errorf("a reader's own error: %v after %d calls", err, calls)
	}
}

func TestDo_HandsOverTheBodyOfAnErrorPage(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
		if status != 204 {
			_, _ = io.WriteString(w, "<urlset/>")
		}
	})
	c := newClient(t, loopback())
	for status, tries := range map[int]int{404: 1, 410: 1, 403: 1, 401: 1, 206: 1, 202: 1, 300: 1, 500: 3, 503: 3, 501: 1, 429: 3, 522: 3} {
		r := c.Do(t.Context(), fetch.Request{URL: fmt.Sprintf("%s/%d", s.URL, status)})
		if got := readAll(t, r); r.Outcome != fetch.HTTPError || r.Status != status || got != "<urlset/>" || r.Attempts != tries {
			t.Errorf("%d: %q, body %q, %d attempts", status, r.Outcome, got, r.Attempts)
		}
	}
	if r := c.Do(t.Context(), fetch.Request{URL: s.URL + "/204"}); r.Outcome != fetch.HTTPError || r.Body != http.NoBody {
		t.Errorf("204: %q", r.Outcome)
	}
	if r := c.Do(t.Context(), fetch.Request{URL: s.URL + "/200", Method: "HEAD"}); r.Outcome != fetch.OK || r.Body != http.NoBody || r.ContentLength != 9 {
		t.Errorf("HEAD: %q, length %d", r.Outcome, r.ContentLength)
	}
}

func TestConditional(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		conditional := r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") != ""
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/same", http.StatusFound)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		switch {
		case r.URL.Path == "/always304", r.URL.Path == "/same" && conditional:
			w.WriteHeader(http.StatusNotModified)
			return
		case r.URL.Path == "/empty" && conditional:
			return
		case r.URL.Path == "/emptychunks" && conditional:
			w.(http.Flusher).Flush()
			return
		case r.URL.Path == "/alwaysempty":
			return
		}
		_, _ = io.WriteString(w, "<urlset/>")
	})
	c := newClient(t, loopback())
	for _, row := range []struct {
		path, validated string
		plain           bool
		outcome         fetch.Outcome
		body            string
		requests        int32
		dropped         bool
	}{
		{path: "/same", outcome: fetch.NotModified, requests: 1},
		{path: "/same", plain: true, outcome: fetch.OK, body: "<urlset/>", requests: 1},
		{path: "/changed", outcome: fetch.OK, body: "<urlset/>", requests: 1},
		{path: "/old", outcome: fetch.OK, body: "<urlset/>", requests: 2},
		{path: "/old", validated: "/same", outcome: fetch.NotModified, requests: 2},
		{path: "/always304", plain: true, outcome: fetch.Protocol, requests: 1},
		{path: "/empty", outcome: fetch.OK, body: "<urlset/>", requests: 2, dropped: true},
		{path: "/emptychunks", outcome: fetch.OK, body: "<urlset/>", requests: 2, dropped: true},
		{path: "/alwaysempty", outcome: fetch.OK, requests: 2, dropped: true},
		{path: "/alwaysempty", plain: true, outcome: fetch.OK, requests: 1},
	} {
		asked.Store(0)
		req := fetch.Request{URL: s.URL + row.path, ETag: `"v1"`, LastModified: "Mon, 02 Nov 2026 10:00:00 GMT"}
		if row.plain {
			req.ETag, req.LastModified = "", ""
		}
		if row.validated != "" {
			req.ValidatedURL = s.URL + row.validated
		}
		r := c.Do(t.Context(), req)
		if got := readAll(t, r); r.Outcome != row.outcome || got != row.body || asked.Load() != row.requests || r.ValidatorsDropped != row.dropped || r.Attempts != 1 {
			t.Errorf("%+v: %q, body %q, %d requests, dropped %v, %d attempts", row, r.Outcome, got, asked.Load(), r.ValidatorsDropped, r.Attempts)
		}
	}
}

func TestDo_CancelledWhileReading(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "<urlset>")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := newClient(t, loopback())
	ctx, cancel := context.WithCancel(t.Context())
	r := c.Do(ctx, fetch.Request{URL: s.URL})
	if _, err := io.ReadFull(r.Body, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) || r.BodyOutcome() != fetch.Cancelled {
		t.Errorf("err = %v, %q", err, r.BodyOutcome())
	}
	if r = c.Do(ctx, fetch.Request{URL: s.URL}); r.Outcome != fetch.Cancelled || r.Close() != nil {
		t.Errorf("with an ended context: %q", r.Outcome)
	}
}

func TestRequest_ManyHeadersAreAsAsked(t *testing.T) {
	t.Parallel()
	var got http.Header
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	o := loopback()
	o.UserAgent, o.Contact = "sitemapd/1.2", "https://example.org/bot"
	c := newClient(t, o)
	c.Do(t.Context(), fetch.Request{URL: s.URL, NoCache: true, Kind: fetch.Page})
	for name, want := range map[string]string{
		"User-Agent": "sitemapd/1.2 (+https://example.org/bot)", "Cache-Control": "no-cache", "Pragma": "no-cache",
		"Accept": "text/html, application/xhtml+xml, */*;q=0.5", "Accept-Encoding": "gzip",
	} {
		if got.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, got.Get(name), want)
		}
	}
	if len(got) != 5 {
		t.Errorf("more was sent than meant: %v", got)
	}
}
