package handlers

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/models"
)

// accountStore holds people who may log in.
type accountStore interface {
	Accounts(ctx context.Context) ([]models.Account, error)
	Account(ctx context.Context, name string) (models.Account, error)
	SaveAccount(ctx context.Context, account models.Account) error // new, or instead of the one with the name
	sessionStore
	linkStore
}

// sessionStore holds log-ins by the hash of their cookie.
type sessionStore interface {
	SaveSession(ctx context.Context, session models.Session) error
	SessionByHash(ctx context.Context, hash [32]byte) (models.Session, error)
	TouchSession(ctx context.Context, hash [32]byte, seen, expires time.Time) error
	EndSession(ctx context.Context, hash [32]byte) error
	EndSessions(ctx context.Context, account string) error
}

// linkStore holds the hash of the one-time link by which the first administrator comes in.
type linkStore interface {
	// SaveLink keeps one link, in place of earlier ones.
	SaveLink(ctx context.Context, hash [32]byte, expires time.Time) error
	// TakeLink uses the link up: ErrNotFound when it is unknown, used or out of date. Of two at once, one gets it.
	TakeLink(ctx context.Context, hash [32]byte, now time.Time) error
}

const (
	sessionIdle  = 14 * 24 * time.Hour
	sessionLife  = 60 * 24 * time.Hour
	sessionTouch = 10 * time.Minute
	linkLife     = 24 * time.Hour

	cookieSecure = "__Host-sitemapd" // browsers keep this name to HTTPS and to this host
	cookiePlain  = "sitemapd"        // over plain HTTP, which only makes sense on one's own machine or network
)

// AdminLink makes the address by which an administrator comes in once, within a day. Earlier ones stop working.
func (s *Server) AdminLink(ctx context.Context, base string) (string, error) {
	if s.deps.Accounts == nil {
		return "", unavailable("log-in")
	}
	token, err := randomText()
	if err != nil {
		return "", err
	}
	if err := s.deps.Accounts.SaveLink(ctx, hashOf(token), s.deps.Now().UTC().Add(linkLife)); err != nil {
		return "", err
	}
	return strings.TrimSuffix(base, "/") + "/first/" + token, nil
}

// FirstLink is AdminLink for a daemon that nobody can log in to yet, and "" for others.
func (s *Server) FirstLink(ctx context.Context, base string) (string, error) {
	if s.deps.Accounts == nil {
		return "", nil
	}
	accounts, err := s.deps.Accounts.Accounts(ctx)
	if err != nil || len(accounts) > 0 {
		return "", err
	}
	return s.AdminLink(ctx, base)
}

func randomText() (string, error) {
	b := make([]byte, 32)
	_, err := rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// proxyUser is whom a trusted proxy names. An account of that name says what it may do; others may read.
func (s *Server) proxyUser(r *http.Request) *principal {
	if s.deps.UserHeader == "" || !s.trusted(peerAddr(r)) {
		return nil
	}
	name := strings.TrimSpace(r.Header.Get(s.deps.UserHeader))
	if name == "" || len(name) > 100 {
		return nil
	}
	who := &principal{Name: name, Kind: "proxy", Scopes: []string{ScopeRead}}
	if s.deps.Accounts != nil {
		if account, err := s.deps.Accounts.Account(r.Context(), name); err == nil {
			who.Scopes = account.Scopes
		}
	}
	return who
}

func sessionCookie(r *http.Request) string {
	for _, name := range []string{cookieSecure, cookiePlain} {
		if c, err := r.Cookie(name); err == nil && len(c.Value) > 0 && len(c.Value) < 100 {
			return c.Value
		}
	}
	return ""
}

// sessionUser is who logged in with the request's cookie. A cookie that means nothing any more is nobody, not an error.
func (s *Server) sessionUser(r *http.Request) (*principal, error) {
	value := sessionCookie(r)
	if value == "" || s.deps.Accounts == nil {
		return nil, nil
	}
	ctx, now := r.Context(), s.deps.Now().UTC()
	session, err := s.deps.Accounts.SessionByHash(ctx, hashOf(value))
	if isNotFound(err) || err == nil && (!now.Before(session.ExpiresAt) || now.Sub(session.CreatedAt) > sessionLife) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	account, err := s.deps.Accounts.Account(ctx, session.Account)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if now.Sub(session.SeenAt) > sessionTouch {
		if err := s.deps.Accounts.TouchSession(ctx, session.Hash, now, now.Add(sessionIdle)); err != nil {
			s.log.WarnContext(ctx, "session use not noted", "error", err)
		}
	}
	return &principal{Name: account.Name, Kind: "session", Scopes: account.Scopes}, nil
}

// logIn opens a session and sets its cookie; a session that was open before ends, so that none can be foisted on anybody.
func (s *Server) logIn(c echo.Context, name string) error {
	ctx, now := c.Request().Context(), s.deps.Now().UTC()
	if old := sessionCookie(c.Request()); old != "" {
		_ = s.deps.Accounts.EndSession(ctx, hashOf(old))
	}
	value, err := randomText()
	if err != nil {
		return err
	}
	session := models.Session{Hash: hashOf(value), Account: name, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionIdle)}
	if err := s.deps.Accounts.SaveSession(ctx, session); err != nil {
		return err
	}
	c.SetCookie(s.cookie(c, value, int(sessionLife/time.Second)))
	s.log.InfoContext(ctx, "logged in", "account", name, "remote", c.RealIP())
	return nil
}

func (s *Server) cookie(c echo.Context, value string, age int) *http.Cookie {
	cookie := &http.Cookie{Name: cookiePlain, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if c.Scheme() == "https" {
		cookie.Name, cookie.Secure = cookieSecure, true
	}
	return cookie
}

// loginPath sends somebody to the form and back to where they wanted to go.
func loginPath(r *http.Request) string {
	if r.Method != http.MethodGet {
		return "/login"
	}
	return "/login?next=" + url.QueryEscape(r.URL.RequestURI())
}

// ownPath keeps the way back on this server.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
