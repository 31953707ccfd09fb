package handlers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// routes is everything that is served, in one place but for the API's operations, which each
// resource's file registers with their documentation.
func (s *Server) routes() error {
	e := s.echo
	smaller, err := compressed()
	if err != nil {
		return err
	}
	// Groups with middleware of their own would answer a wrong method with 404, so it is bound by path.
	e.Use(identify, s.observe, s.recoverPanics, secure, deadlines, smaller, under(apiPrefix+"/", s.authenticate), under(apiPrefix+"/", tagged))

	alive := func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }
	e.GET("/livez", alive)
	e.HEAD("/livez", alive)
	e.GET("/readyz", s.ready)
	e.HEAD("/readyz", s.ready)
	e.GET("/metrics", echo.WrapHandler(s.metrics.handler), s.authenticate, s.metricsAccess)

	// The last element with a token is a secret: routes are logged, never addresses.
	e.POST("/hooks/:site", s.signedHook)
	e.POST("/hooks/:site/:token", s.tokenHook)
	e.POST("/hooks/:site/:token/indexnow", s.tokenHook)
	e.GET("/hooks/:site/:token", s.verifyHook)
	e.GET("/hooks/:site/:token/indexnow", s.verifyHook)

	e.GET("/feeds/:file", s.feed, feedToken, s.authenticate, tagged, s.require(ScopeRead))

	e.GET("/badges/:site/:file", s.badge, s.authenticate)

	api := e.Group(apiPrefix)
	s.api = newAPI(e, api, s.deps.Version)
	s.siteRoutes()
	s.probeRoutes()
	s.inventoryRoutes()
	s.changeRoutes()
	s.segmentRoutes()
	s.diffRoutes()
	s.documentRoutes()
	s.findingRoutes()
	s.ruleRoutes()
	s.metadataRoutes()
	s.runRoutes()
	s.progressRoutes()
	s.heldRoutes()
	s.deliveryRoutes()
	s.expectationRoutes()
	s.publishedRoutes()
	s.canonicalRoutes()
	s.auditKeeperRoutes()
	s.channelRoutes()
	s.alertRoutes()
	s.tokenRoutes()
	describeLimits(s.api.OpenAPI())
	if err := s.docsRoutes(api); err != nil {
		return err
	}
	return s.pageRoutes()
}

// ready says whether requests should come here: the database answers and the daemon is not stopping.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	switch err := s.deps.Ready(ctx); {
	case s.isDraining():
		c.Response().Header().Set("Retry-After", "10")
		return newProblem(http.StatusServiceUnavailable, "the daemon is stopping")
	case err != nil:
		s.log.WarnContext(ctx, "not ready", "error", err)
		c.Response().Header().Set("Retry-After", "10")
		return newProblem(http.StatusServiceUnavailable, "the database does not answer")
	}
	return c.String(http.StatusOK, "ok\n")
}

// metricsAccess keeps metrics to this machine and to tokens: their labels hold sites' numbers.
func (s *Server) metricsAccess(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if isLocal(c.Request()) {
			return next(c)
		}
		if err := allow(principalOf(c.Request().Context()), ScopeRead); err != nil {
			return err
		}
		return next(c)
	}
}

// under binds middleware to the paths that start with a prefix.
func under(prefix string, m echo.MiddlewareFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		inside := m(next)
		return func(c echo.Context) error {
			if strings.HasPrefix(c.Request().URL.Path, prefix) {
				return inside(c)
			}
			return next(c)
		}
	}
}
