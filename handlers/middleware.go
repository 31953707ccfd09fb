package handlers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

type contextKey int

const (
	keyRequestID contextKey = iota
	keyPrincipal
)

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(keyRequestID).(string)
	return id
}

// identify gives each request an id of our own making: one that came in from outside could
// name another request of the log.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var b [8]byte
		_, _ = rand.Read(b[:])
		id := hex.EncodeToString(b[:])
		c.Response().Header().Set("X-Request-Id", id)
		c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), keyRequestID, id)))
		return next(c)
	}
}

// observe logs and counts each request by its route, never by its URL: URLs hold secrets and are endless.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		end := func(string, int) {}
		if s.deps.Trace != nil {
			var ctx context.Context
			ctx, end = s.deps.Trace(c.Request())
			c.SetRequest(c.Request().WithContext(ctx))
		}
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		route := c.Path()
		if route == "" {
			route = "unknown"
		}
		status, took := c.Response().Status, time.Since(start)
		end(route, status)
		s.metrics.requests.WithLabelValues(c.Request().Method, route, strconv.Itoa(status/100)+"xx").Inc()
		s.metrics.seconds.WithLabelValues(c.Request().Method, route).Observe(took.Seconds())
		s.log.DebugContext(c.Request().Context(), "request", "method", c.Request().Method, "route", route, "status", status,
			"seconds", took.Seconds(), "bytes", c.Response().Size, "remote", c.RealIP(), "request_id", requestID(c.Request().Context()))
		return nil
	}
}

// recoverPanics turns a panic into a 500 with its stack in the log; an aborted stream stays aborted.
func (s *Server) recoverPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler:
				panic(p)
			default:
				s.log.ErrorContext(c.Request().Context(), "panic in a request", "request_id", requestID(c.Request().Context()),
					"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				err = newProblem(http.StatusInternalServerError, "something went wrong inside the daemon; its log has the cause under this request's id")
			}
		}()
		return next(c)
	}
}

// pageCSP allows our own files and nothing inline; docsCSP is the same for the API's documentation,
// whose viewer keeps its icons in data: URLs.
const (
	pageCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	apiCSP = "default-src 'none'; frame-ancestors 'none'"
)

// secure sets the headers that every answer carries; a handler may set a wider policy for its page.
func secure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", apiCSP)
		return next(c)
	}
}

// Time for a request's body to come in, and for an answer to go out; streams and exports move the latter on.
const (
	bodyTimeout  = 10 * time.Second
	writeTimeout = 60 * time.Second
)

// deadlines bounds how long a body may take to arrive and an answer to be written.
func deadlines(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		control := http.NewResponseController(c.Response())
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		if r := c.Request(); r.Body != nil && r.Body != http.NoBody {
			_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
			r.Body = &timedBody{ReadCloser: r.Body, done: func() { _ = control.SetReadDeadline(time.Time{}) }}
		}
		return next(c)
	}
}

// timedBody takes the deadline back once the body is there, so that it does not cut the handler's work short. After a
// fault it stays: the server reads on behind a handler that gave up.
type timedBody struct {
	io.ReadCloser
	done func()
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.done()
	}
	return n, err
}
