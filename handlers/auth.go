package handlers

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/models"
)

// Scopes of a token. Each includes the ones before it.
const (
	ScopeRead  = "read"  // every GET
	ScopeRun   = "run"   // start and stop runs, replay deliveries
	ScopeWrite = "write" // decide held removals, add and change sites
	ScopeAdmin = "admin" // tokens, secrets, users
)

var scopeOrder = []string{ScopeRead, ScopeRun, ScopeWrite, ScopeAdmin}

// principal is who asks.
type principal struct {
	Name   string
	Kind   string // local, token, session, proxy
	Scopes []string
	ID     int64  // of the token
	CSRF   string // of the session
}

func (p *principal) may(scope string) bool {
	if p == nil {
		return false
	}
	need := slices.Index(scopeOrder, scope)
	for _, have := range p.Scopes {
		if slices.Index(scopeOrder, have) >= need {
			return true
		}
	}
	return false
}

func principalOf(ctx context.Context) *principal {
	p, _ := ctx.Value(keyPrincipal).(*principal)
	return p
}

// authenticate finds out who asks, and lets everybody through: what a request needs is its operation's matter.
// A wrong token is an error at once, though: silence would hide a typing mistake behind "no token".
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		who, err := s.who(r)
		if err != nil {
			if !strings.HasPrefix(r.URL.Path, "/api/") {
				return err
			}
			c.Response().Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			return err
		}
		if who != nil {
			if err := sameOrigin(r, who); err != nil {
				return err
			}
			c.SetRequest(r.WithContext(context.WithValue(r.Context(), keyPrincipal, who)))
		}
		return next(c)
	}
}

func (s *Server) who(r *http.Request) (*principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		return s.bearer(r.Context(), header)
	}
	if who := s.proxyUser(r); who != nil {
		return who, nil
	}
	if who, err := s.sessionUser(r); who != nil || err != nil {
		return who, err
	}
	if s.deps.OpenLocal && isLocal(r) {
		return &principal{Name: "local", Kind: "local", Scopes: []string{ScopeAdmin}}, nil
	}
	return nil, nil
}

// bearer looks a token up by its hash: the comparison that could leak is made by an index over hashes.
func (s *Server) bearer(ctx context.Context, header string) (*principal, error) {
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	bad := newProblem(http.StatusUnauthorized, "this token is not valid")
	if !strings.EqualFold(scheme, "bearer") || token == "" || len(token) > 200 || s.deps.Tokens == nil {
		return nil, bad
	}
	stored, err := s.deps.Tokens.TokenByHash(ctx, sha256.Sum256([]byte(token)))
	switch {
	case errors.Is(err, models.ErrNotFound):
		return nil, bad
	case err != nil:
		return nil, err
	}
	now := s.deps.Now()
	if !stored.Live(now) {
		return nil, bad
	}
	// Once a minute is enough to see whether a token is in use, and keeps reads from becoming writes.
	if stored.LastUsedAt == nil || now.Sub(*stored.LastUsedAt) > time.Minute {
		if err := s.deps.Tokens.TouchToken(ctx, stored.ID, now); err != nil {
			s.log.WarnContext(ctx, "token use not noted", "error", err)
		}
	}
	return &principal{Name: stored.Name, Kind: "token", Scopes: stored.Scopes, ID: stored.ID}, nil
}

// sameOrigin refuses writes that another page's script or form makes in the name of this browser.
// Tokens are never sent by a browser on its own, so they need no such proof.
func sameOrigin(r *http.Request, who *principal) error {
	if who.Kind == "token" || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return nil
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return newProblem(http.StatusForbidden, "this request came from another site's page")
	}
	return nil
}

// isLocal is true for a client on this machine that speaks to a loopback listener under a loopback name,
// with no proxy between. The name keeps a rebound DNS name in a browser out.
func isLocal(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !peerAddr(r).IsLoopback() {
		return false
	}
	bound, err := netip.ParseAddrPort(local.String())
	if err != nil || !bound.Addr().Unmap().IsLoopback() {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// lastFirst splits comma lists of several header lines, the last written first.
func lastFirst(lines []string) []string {
	var parts []string
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			parts = append(parts, strings.TrimSpace(part))
		}
	}
	slices.Reverse(parts)
	return parts
}

func validScopes(scopes []string) bool {
	for _, scope := range scopes {
		if !slices.Contains(scopeOrder, scope) {
			return false
		}
	}
	return len(scopes) > 0
}
