package handlers

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/hook"
	"github.com/sitemapd/sitemapd/models"
)

// MaxHookBody is the largest body of a hook; one byte more is refused before anything is computed over it.
const MaxHookBody = 64 << 10

const hookRetryAfter = "30"

// hookKeyStore holds the secrets of the hooks.
type hookKeyStore interface {
	// HookKeys gives the secrets of a site, also those of no site: none.
	HookKeys(ctx context.Context, siteID int64) ([]models.HookKey, error)
	// RotateHookKey makes a new secret; the older ones stay valid for the overlap.
	RotateHookKey(ctx context.Context, siteID int64, overlap time.Duration) (models.HookKey, error)
}

// HookToken is the last path element of the hook's URL for senders that cannot sign.
func HookToken(secret string) (string, error) {
	key, err := hook.ParseKey("", secret)
	if err != nil {
		return "", err
	}
	return key.URLToken(), nil
}

// arrival is one request at a hook while it is looked at.
type arrival struct {
	name    string // of the endpoint, as the path has it
	body    []byte
	header  http.Header
	remote  string
	at      time.Time
	site    models.Site
	known   bool
	dialect string
	keyID   string
	id      string // the sender's id of the delivery
}

// hookRefused is the same answer for a bad signature, a wrong token and an endpoint that does not exist.
var hookRefused = newProblem(http.StatusUnauthorized, "not accepted: unknown hook or bad signature")

// signedHook answers POST /hooks/{site}.
func (s *Server) signedHook(c echo.Context) error {
	a, err := s.arrive(c)
	if err != nil {
		return err
	}
	// WooCommerce tries the URL when a webhook is saved, unsigned, and insists on 200. The answer says nothing of the endpoint.
	if hook.IsWooPing(a.header, a.body) {
		return c.JSON(http.StatusOK, hookAnswer{Status: models.DeliveryIgnored})
	}
	keys, err := s.endpoint(c.Request().Context(), a)
	if err != nil {
		return s.notStored(c, a, err)
	}
	verdict := hook.Verify(a.header, a.body, keys, a.at)
	a.dialect, a.keyID, a.id = verdict.Dialect, verdict.Key, verdict.ID
	if !a.known || !verdict.Authentic() {
		return s.refuse(a, verdict.Cause)
	}
	return s.take(c, a, hook.Read(verdict.Dialect, a.header, a.body))
}

// tokenHook answers POST /hooks/{site}/{token}: the token in the address stands for the signature.
func (s *Server) tokenHook(c echo.Context) error {
	a, err := s.arrive(c)
	if err != nil {
		return err
	}
	keys, err := s.endpoint(c.Request().Context(), a)
	if err != nil {
		return s.notStored(c, a, err)
	}
	a.dialect = hook.Token
	id, ok := hook.MatchToken(c.Param("token"), keys, a.at)
	if !a.known || !ok {
		return s.refuse(a, "bad_token")
	}
	a.keyID = id
	message := hook.Read(hook.Token, a.header, a.body)
	a.dialect = message.Dialect
	return s.take(c, a, message)
}

// verifyHook answers GET /hooks/{site}/{token}: a hub that makes sure we subscribed (WebSub section 5.3), or IndexNow's short form.
func (s *Server) verifyHook(c echo.Context) error {
	a := &arrival{name: c.Param("site"), header: c.Request().Header, remote: c.RealIP(), at: s.deps.Now(), dialect: hook.WebSub}
	keys, err := s.endpoint(c.Request().Context(), a)
	if err != nil {
		return s.notStored(c, a, err)
	}
	id, ok := hook.MatchToken(c.Param("token"), keys, a.at)
	if !a.known || !ok {
		return s.refuse(a, "bad_token")
	}
	a.keyID = id
	query := c.QueryParams()
	switch mode := query.Get("hub.mode"); {
	case mode == "subscribe" || mode == "unsubscribe":
		challenge := query.Get("hub.challenge")
		if !belongs(a.site, query.Get("hub.topic")) || challenge == "" || len(challenge) > 1024 {
			return newProblem(http.StatusNotFound, "this site has no such topic")
		}
		return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(challenge))
	case mode == "denied":
		s.log.WarnContext(c.Request().Context(), "a hub denied the subscription", "site", a.site.ID, "topic", query.Get("hub.topic"))
		return c.NoContent(http.StatusOK)
	case query.Get("url") != "":
		a.dialect = hook.IndexNow
		return s.take(c, a, hook.ReadAddress(query.Get("url")))
	}
	c.Response().Header().Set("Allow", "POST")
	return newProblem(http.StatusMethodNotAllowed, "send it with POST")
}

// arrive reads the body under its limits. Nothing here depends on the endpoint, so nothing tells of it.
func (s *Server) arrive(c echo.Context) (*arrival, error) {
	r := c.Request()
	a := &arrival{name: c.Param("site"), header: r.Header, remote: c.RealIP(), at: s.deps.Now(), dialect: hook.None}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		s.count(a, models.DeliveryRejected, "content_encoding")
		return nil, newProblem(http.StatusUnsupportedMediaType, "send the body without a content encoding")
	}
	if r.ContentLength > MaxHookBody {
		s.count(a, models.DeliveryRejected, "too_large")
		c.Response().Header().Set("Connection", "close")
		return nil, newProblem(http.StatusRequestEntityTooLarge, "a hook's body is at most 64 KiB")
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response().Writer, r.Body, MaxHookBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.count(a, models.DeliveryRejected, "too_large")
		return nil, newProblem(http.StatusRequestEntityTooLarge, "a hook's body is at most 64 KiB")
	case err != nil:
		s.count(a, models.DeliveryRejected, "cut_body")
		return nil, newProblem(http.StatusBadRequest, "the body ended too early")
	}
	a.body = body
	return a, nil
}

// endpoint finds the site and its live keys, newest first. An unknown endpoint costs the same two queries.
func (s *Server) endpoint(ctx context.Context, a *arrival) ([]hook.Key, error) {
	name, err := url.PathUnescape(a.name)
	if err != nil {
		name = a.name
	}
	a.site, err = s.deps.Sites.FindSite(ctx, name)
	switch {
	case err == nil:
		a.known = true
	case !isNotFound(err):
		return nil, err
	}
	stored, err := s.deps.HookKeys.HookKeys(ctx, a.site.ID)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	slices.SortStableFunc(stored, func(x, y models.HookKey) int { return y.NotBefore.Compare(x.NotBefore) })
	var keys []hook.Key
	for _, k := range stored {
		key, err := hook.ParseKey(k.ID, k.Secret)
		if err != nil {
			s.log.ErrorContext(ctx, "a stored hook secret is not readable", "site", a.site.ID, "key", k.ID)
			continue
		}
		key.NotBefore, key.NotAfter = k.NotBefore, k.NotAfter
		if key.Live(a.at) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

type hookAnswer struct {
	Status  string `json:"status"`
	Trigger int64  `json:"trigger,omitempty"`
}

// take stores an authentic request, in one INSERT, before it is answered.
func (s *Server) take(c echo.Context, a *arrival, m hook.Message) error {
	ctx := c.Request().Context()
	if m.Home != "" && !belongs(a.site, m.Home) {
		m.Ignore = hook.IgnoreOtherSite
	}
	s.metrics.keys.WithLabelValues(number(a.site.ID), a.keyID).Inc()
	if m.Ignore != "" {
		s.note(ctx, a, models.DeliveryIgnored, m.Ignore, 0, nil)
		return s.reply(c, m, hookAnswer{Status: models.DeliveryIgnored})
	}
	for i := range m.Hints {
		if !belongs(a.site, m.Hints[i].URL) {
			m.Hints[i].URL = ""
		}
		if !belongs(a.site, m.Hints[i].PreviousURL) {
			m.Hints[i].PreviousURL = ""
		}
		if m.Hints[i].URL == "" && m.Hints[i].PreviousURL == "" {
			m.Hints[i].Expect = "" // nothing that could be looked up
		}
	}
	id, duplicate, err := s.deps.Triggers.SaveTrigger(ctx, models.Trigger{
		SiteID: a.site.ID, Kind: m.Kind, Dialect: a.dialect, ReceivedAt: a.at.UTC(), Hints: m.Hints, Body: a.body,
		DedupeKey: a.dedupe(), Trace: s.traceParent(ctx),
	})
	if err != nil {
		return s.notStored(c, a, err)
	}
	if duplicate {
		s.note(ctx, a, models.DeliveryDuplicate, "", id, m.Hints)
	} else {
		s.count(a, models.DeliveryAccepted, "")
		s.deps.Engine.Trigger(a.site.ID, m.Kind)
	}
	// A repeated delivery is answered like the first.
	return s.reply(c, m, hookAnswer{Status: models.DeliveryAccepted, Trigger: id})
}

// dedupe names the delivery by the sender's id and the body together: WooCommerce gives two events of
// one second the same id, and a sender that reuses an id for another body must not lose it. Senders without
// ids get no deduplication: the same words a minute later can be news that no run has looked for yet.
func (a *arrival) dedupe() models.Key {
	return dedupeKey("hook", a.site.ID, a.dialect+"\x00"+a.id+"\x00"+string(a.body), a.id == "")
}

func (s *Server) reply(c echo.Context, m hook.Message, answer hookAnswer) error {
	switch m.Reply {
	case hook.ReplyXMLRPC:
		failed, text := m.Ignore != "", "Thanks for the ping."
		if failed {
			text = "Ignored: " + strings.ReplaceAll(m.Ignore, "_", " ") + "."
		}
		return c.Blob(http.StatusOK, "text/xml; charset=utf-8", hook.XMLRPCAnswer(failed, text))
	case hook.ReplyHub:
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, answer)
}

func (s *Server) refuse(a *arrival, cause string) error {
	if !a.known {
		cause = "unknown_hook"
	}
	s.note(context.Background(), a, models.DeliveryRejected, cause, 0, nil)
	return hookRefused
}

// notStored makes the sender come again: what could not be written was not accepted.
func (s *Server) notStored(c echo.Context, a *arrival, err error) error {
	s.count(a, models.DeliveryRejected, "not_stored")
	s.log.ErrorContext(c.Request().Context(), "hook not stored", "request_id", requestID(c.Request().Context()), "error", err)
	c.Response().Header().Set("Retry-After", hookRetryAfter)
	return newProblem(http.StatusServiceUnavailable, "it could not be stored; send it again later")
}

func (s *Server) count(a *arrival, result, cause string) {
	s.metrics.deliveries.WithLabelValues("in", a.dialect, result, cause).Inc()
}

// belongs reports whether a URL is on one of the site's hosts; www and port make no difference.
func belongs(site models.Site, link string) bool {
	if link == "" {
		return false
	}
	host := plainHost(link)
	if host == "" {
		return false
	}
	for _, own := range append([]string{site.Home, site.Root}, rootURLs(site)...) {
		if plainHost(own) == host {
			return true
		}
	}
	return slices.ContainsFunc(site.Settings.Hosts, func(name string) bool { return plainHost("http://"+name) == host })
}

func rootURLs(site models.Site) []string {
	urls := make([]string, len(site.Roots))
	for i, root := range site.Roots {
		urls[i] = root.URL
	}
	return urls
}

func plainHost(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

func hashOf(text string) [32]byte { return sha256.Sum256([]byte(text)) }
