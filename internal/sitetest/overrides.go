package sitetest

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

// Faults of pages: what plugins, themes and hosts make of a page that is listed. They are laid over paths with Fail.

// Page answers 200 with a document and header fields of one's own.
func Page(document string, header http.Header) Fault {
	return PageStatus(http.StatusOK, document, header)
}

// PageStatus is Page with any status.
func PageStatus(code int, document string, header http.Header) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		for name, values := range header {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, document)
	}
}

var canonicalLink = regexp.MustCompile(`<link rel="canonical"[^>]*>\n`)

// Canonical lets a page declare other canonical URLs than its own, none without any: a plugin's fault.
func Canonical(urls ...string) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		var links bytes.Buffer
		for _, u := range urls {
			fmt.Fprintf(&links, "<link rel=\"canonical\" href=\"%s\" />\n", html.EscapeString(u))
		}
		body := canonicalLink.ReplaceAllLiteral(c.body.Bytes(), links.Bytes())
		c.body.Reset()
		c.body.Write(body)
		c.replay(w)
	}
}

// InHead puts markup before the end of a page's head.
func InHead(markup string) Fault { return insert("</head>", markup) }

// BeforeCanonical puts markup where it ends the head before the canonical link.
func BeforeCanonical(markup string) Fault { return insert(`<link rel="canonical"`, markup) }

func insert(before, markup string) Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		body := bytes.Replace(c.body.Bytes(), []byte(before), []byte(markup+before), 1)
		c.body.Reset()
		c.body.Write(body)
		c.replay(w)
	}
}

// NoIndex asks in the header that a page is not indexed.
func NoIndex() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		c.header.Set("X-Robots-Tag", "noindex")
		c.replay(w)
	}
}

// RedirectTo answers with a redirect of any status and, when they are given, header fields.
func RedirectTo(code int, target string, header http.Header) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		for name, values := range header {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
		w.Header().Set("Location", target)
		w.WriteHeader(code)
	}
}

// Validated answers a page with an ETag of its content, and 304 to whoever has it.
func Validated() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		etag := `"` + strconv.FormatUint(hash(c.body.Bytes()), 16) + `"`
		c.header.Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.Header().Set("ETag", etag)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		c.replay(w)
	}
}

func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// CutHead sends the beginning of a page, ending within its head, and cuts the connection.
func CutHead() Fault {
	return func(w http.ResponseWriter, r *http.Request, honest http.Handler) {
		c := capture(r, honest)
		at := bytes.Index(c.body.Bytes(), []byte("<title>"))
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.Header().Set("Content-Length", strconv.Itoa(c.body.Len()))
		_, _ = w.Write(c.body.Bytes()[:max(at, 0)])
		abort(w)
	}
}

// Path is the path with query of a URL, as Fail names it.
func Path(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.RequestURI()
}
