package handlers

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxTagged bounds the answers that are held back to be tagged; longer ones go out as they come.
const maxTagged = 4 << 20

// tagged gives JSON answers to GET a strong ETag over their bytes and answers 304 when the client has them.
// The bytes are what decides, so a decision made outside runs (a removal approved) shows at once.
func tagged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().Method != http.MethodGet {
			return next(c)
		}
		response := c.Response()
		held := &heldWriter{ResponseWriter: response.Writer}
		response.Writer = held
		defer func() { response.Writer = held.ResponseWriter }()
		err := next(c)
		if err == nil {
			held.finish(c.Request().Header.Get("If-None-Match"))
		}
		return err
	}
}

// heldWriter keeps a small 200 JSON answer back until it is complete.
type heldWriter struct {
	http.ResponseWriter
	status  int
	body    bytes.Buffer
	passing bool
}

// Unwrap lets http.ResponseController set deadlines.
func (w *heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *heldWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if status != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/") || w.Header().Get("Content-Type") == mediaNDJSON {
		w.pass()
	}
}

func (w *heldWriter) pass() {
	if w.passing {
		return
	}
	w.passing = true
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.ResponseWriter.WriteHeader(w.status)
	if w.body.Len() > 0 {
		_, _ = w.ResponseWriter.Write(w.body.Bytes())
		w.body.Reset()
	}
}

func (w *heldWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.passing && w.body.Len()+len(b) > maxTagged {
		w.pass()
	}
	if w.passing {
		return w.ResponseWriter.Write(b)
	}
	return w.body.Write(b)
}

// Flush sends what is there: a stream is no answer to hold back.
func (w *heldWriter) Flush() {
	w.pass()
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *heldWriter) finish(have string) {
	if w.passing || w.status == 0 {
		return
	}
	h := w.Header()
	tag := h.Get("ETag") // an operation may know better what its answer depends on
	if tag == "" {
		tag = strongTag(w.body.Bytes())
		h.Set("ETag", tag)
	}
	h.Set("Cache-Control", "private, no-cache")
	h.Add("Vary", "Accept, Authorization, Cookie")
	if matches(have, tag) {
		h.Del("Content-Type")
		w.ResponseWriter.WriteHeader(http.StatusNotModified)
		w.passing = true
		return
	}
	w.pass()
}

// strongTag names a text.
func strongTag(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// matches compares weakly, as RFC 9110 section 13.1.2 says for If-None-Match.
func matches(have, tag string) bool {
	for part := range strings.SplitSeq(have, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		part = strings.Replace(part, tagSuffix+`"`, `"`, 1)
		if part == tag || part == "*" {
			return true
		}
	}
	return false
}
