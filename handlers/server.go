package handlers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
)

// Server answers every HTTP request of the daemon. Make it with New; it is an http.Handler.
type Server struct {
	deps     Deps
	log      *slog.Logger
	echo     *echo.Echo
	api      huma.API
	metrics  *metrics
	rejects  *rejectLog
	limits   *limiter
	logins   *limiter
	reports  reportCache
	counting slots
	open     openStreams

	streams    sync.WaitGroup
	background sync.WaitGroup // log rows that are written after the answer
	draining   chan struct{}  // closed when streams have to end
	drain      sync.Once
}

// New wires the routes. It starts nothing: Serve does, or the caller's own http.Server.
func New(deps Deps) (*Server, error) {
	if err := deps.validate(); err != nil {
		return nil, err
	}
	web.Load()
	s := &Server{
		deps: deps, log: deps.Log, echo: echo.New(), metrics: newMetrics(deps.Registry, deps.Version),
		rejects: newRejectLog(), limits: newLimiter(deps.RatePerMinute, deps.Now),
		logins: newLimiter(loginsPerMinute, deps.Now), open: openStreams{count: map[string]int{}}, draining: make(chan struct{}),
	}
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.IPExtractor = s.clientIP
	s.echo.SchemeExtractor = s.scheme
	if err := s.routes(); err != nil {
		return nil, err
	}
	return s, nil
}

// loginsPerMinute bounds attempts from one address and at one account; ten may come at once.
const loginsPerMinute = 6

// ServeHTTP makes the server an http.Handler, for tests and for callers with a server of their own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Limits of one connection. There is no WriteTimeout: streams are long, each route sets its own deadline. And no
// ReadTimeout: net/http keeps reading behind a request to notice that the client left, and takes a deadline that
// passes meanwhile for just that; every stream and export would end after it. The body has its own deadline.
const (
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
	shutdownTimeout   = 8 * time.Second
)

// Serve answers on the listener until ctx ends. Then open streams are closed, requests under way get
// 8 s to finish, and what is left is cut. It returns nil after an orderly stop.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	s.background.Go(func() { s.warm(ctx) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.CloseStreams()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil {
		s.log.Warn("requests were cut at the end", "error", err)
		_ = server.Close()
	}
	s.streams.Wait()
	s.background.Wait()
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// CloseStreams ends every live stream (progress, change feed); new ones end at once, and /readyz says so.
func (s *Server) CloseStreams() { s.drain.Do(func() { close(s.draining) }) }

func (s *Server) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// clientIP believes X-Forwarded-For only as far as trusted proxies wrote it.
func (s *Server) clientIP(r *http.Request) string {
	peer := peerAddr(r)
	if !s.trusted(peer) {
		return peer.String()
	}
	addr := peer
	for _, part := range lastFirst(r.Header.Values("X-Forwarded-For")) {
		next, err := netip.ParseAddr(part)
		if err != nil {
			break
		}
		if addr = next.Unmap(); !s.trusted(addr) {
			break
		}
	}
	return addr.String()
}

// scheme believes X-Forwarded-Proto only from a trusted proxy.
func (s *Server) scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	if s.trusted(peerAddr(r)) && r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https"
	}
	return "http"
}

func (s *Server) trusted(addr netip.Addr) bool {
	for _, prefix := range s.deps.TrustedProxies {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

func peerAddr(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// Routes lists what is served as "METHOD /path/:parameter", for the test that compares it with the document.
func (s *Server) Routes() []string {
	var routes []string
	for _, r := range s.echo.Routes() {
		routes = append(routes, r.Method+" "+r.Path)
	}
	return routes
}
