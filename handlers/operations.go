package handlers

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
)

const apiPrefix = "/api/v1"

// newAPI makes the API and its document. The library's own documentation pages stay off: they load
// scripts from elsewhere; ours is in docs.go.
func newAPI(e *echo.Echo, group *echo.Group, version string) huma.API {
	if version == "" {
		version = "dev"
	}
	config := huma.DefaultConfig("sitemapd", version)
	config.CreateHooks = nil // no $schema links in answers
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.RejectUnknownQueryParameters = true
	config.AllowAdditionalPropertiesByDefault = true // fields may be added to answers at any time
	config.Info.Description = apiDescription
	config.Servers = []*huma.Server{{URL: apiPrefix}}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "A token made by `sitemapd token create` or on the settings page."},
	}
	config.Tags = apiTags
	registerAliases(config.Components.Schemas)
	return humaecho.NewWithGroup(e, group, config)
}

// register adds one operation: its scope is checked before anything of it runs, and every error
// goes through the one map to problems.
func register[I, O any](s *Server, scope string, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	op.Security = []map[string][]string{{"bearer": {scope}}}
	op.Errors = append([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, op.Errors...)
	op.Middlewares = append(op.Middlewares, s.guard(scope))
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.answer(ctx, err)
		}
		return out, nil
	})
}

// answer makes an error one that huma writes as a problem, with its headers.
func (s *Server) answer(ctx context.Context, err error) error {
	p := s.problem(ctx, err)
	if p.Status == http.StatusServiceUnavailable {
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {"10"}})
	}
	return p
}

// guard lets a request through whose principal has the scope and has not asked too often.
func (s *Server) guard(scope string) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		c := humaecho.Unwrap(hc)
		who := principalOf(c.Request().Context())
		left := s.limits.take(who, c.RealIP())
		s.limits.tell(c.Response().Header(), left)
		if left.wait > 0 {
			p := newProblem(http.StatusTooManyRequests, "too many requests; wait and come back")
			p.RequestID = requestID(c.Request().Context())
			c.Response().Header().Set("Retry-After", seconds(left.wait))
			writeProblem(c.Response(), p)
			return
		}
		if err := allow(who, scope); err != nil {
			if err.Status == http.StatusUnauthorized {
				c.Response().Header().Set("WWW-Authenticate", "Bearer")
			}
			err.RequestID = requestID(c.Request().Context())
			writeProblem(c.Response(), err)
			return
		}
		next(hc)
	}
}

func allow(who *principal, scope string) *Problem {
	switch {
	case who == nil:
		p := newProblem(http.StatusUnauthorized, "a bearer token is needed here")
		p.Hint = "make one with: sitemapd token create"
		return p
	case !who.may(scope):
		return newProblem(http.StatusForbidden, "this needs the scope "+scope)
	}
	return nil
}

// require is guard for routes outside the API.
func (s *Server) require(scope string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := allow(principalOf(c.Request().Context()), scope); err != nil {
				if err.Status == http.StatusUnauthorized && s.deps.Accounts != nil && wantsHTML(c.Request()) {
					return c.Redirect(http.StatusSeeOther, loginPath(c.Request()))
				}
				return err
			}
			return next(c)
		}
	}
}

// jsonOut is an answer with one JSON body.
type jsonOut[T any] struct {
	Body T
}

// list is the body of every list that is read page by page.
type list[T any] struct {
	Items         []T    `json:"items"`
	NextPageToken string `json:"next_page_token,omitempty" doc:"Give it as page_token to go on; absent at the end."`
	Run           int64  `json:"run,omitempty" doc:"The run at which the list was read; all pages of one reading show the same."`
	Total         *int64 `json:"total,omitempty" doc:"Number of all rows that match, when asked for with include=total."`
}

var errStream = errors.New("stream ended")

const apiDescription = `The inventory of what WordPress sites publish in their sitemaps, with its whole history.

Lists are read page by page: take next_page_token until it is absent. A token belongs to its filter and shows the
state of one run from the first page to the last. The change feed has a cursor instead, which never expires.
Every list also comes as NDJSON (one object a line) and as CSV, whole and unlimited: ask with format= or Accept.

What a sitemap declares is never presented as verified: listing says nothing of existence, crawling, indexing or
canonical identity, and lastmod is the publisher's claim.`

var apiTags = []*huma.Tag{
	{Name: "sites", Description: "Web sites that are followed"},
	{Name: "inventory", Description: "Pages, their history and the change feed"},
	{Name: "sitemaps", Description: "Documents, findings and the ontology's view"},
	{Name: "canonical", Description: "What pages say of themselves, and what is wrong with them"},
	{Name: "runs", Description: "Walks through a site's sitemaps"},
	{Name: "hooks", Description: "What arrived at publish hooks, and their secrets"},
	{Name: "channels", Description: "Webhooks, mail and chats that are told what happens, and what they were sent"},
	{Name: "alerts", Description: "Alert rules, what came of them, and digests"},
	{Name: "access", Description: "Tokens"},
}
