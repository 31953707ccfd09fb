package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

// accountRoutes let people in and out.
func (s *Server) accountRoutes() {
	e := s.echo
	open := func(next echo.HandlerFunc) echo.HandlerFunc { return smallForms(fromHere(s.withAccounts(next))) }
	e.GET("/login", s.loginForm, open)
	e.POST("/login", s.login, open)
	e.POST("/logout", s.logout, open)
	e.GET("/first/:token", s.firstForm, open)
	e.POST("/first/:token", s.first, open)
	inside := func(next echo.HandlerFunc) echo.HandlerFunc {
		return smallForms(s.authenticate(s.require(ScopeRead)(s.withAccounts(next))))
	}
	e.GET("/account", s.accountForm, inside)
	e.POST("/account", s.changePassword, inside)
}

func (s *Server) withAccounts(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.deps.Accounts == nil {
			return unavailable("log-in")
		}
		return next(c)
	}
}

// fromHere refuses forms that another site's page sends, also before anybody is logged in.
func fromHere(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := http.NewCrossOriginProtection().Check(c.Request()); err != nil {
			return newProblem(http.StatusForbidden, "this request came from another site's page")
		}
		return next(c)
	}
}

func (s *Server) loginForm(c echo.Context) error {
	return s.show(c, http.StatusOK, "login", "Log in", web.Login{Next: ownPath(c.QueryParam("next"))})
}

// login checks name and password. Unknown names cost as much as wrong passwords, and both are told apart by nobody.
func (s *Server) login(c echo.Context) error {
	ctx := c.Request().Context()
	name, next := strings.TrimSpace(c.FormValue("name")), ownPath(c.FormValue("next"))
	page := web.Login{Name: name, Next: next}
	for _, who := range []string{"login from " + c.RealIP(), "login as " + name} {
		if wait := s.logins.takeNamed(who, 1); wait > 0 {
			c.Response().Header().Set("Retry-After", seconds(wait))
			page.Problem = "Too many attempts. Try again in " + seconds(wait) + " seconds."
			return s.show(c, http.StatusTooManyRequests, "login", "Log in", page)
		}
	}
	account, err := s.deps.Accounts.Account(ctx, name)
	if err != nil && !isNotFound(err) {
		return err
	}
	if !checkPassword(ctx, account.Password, c.FormValue("password")) || err != nil {
		s.log.WarnContext(ctx, "log-in refused", "remote", c.RealIP())
		page.Problem = "Name or password is wrong."
		return s.show(c, http.StatusUnauthorized, "login", "Log in", page)
	}
	if err := s.logIn(c, account.Name); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, next)
}

func (s *Server) logout(c echo.Context) error {
	if value := sessionCookie(c.Request()); value != "" {
		if err := s.deps.Accounts.EndSession(c.Request().Context(), hashOf(value)); err != nil && !isNotFound(err) {
			return err
		}
	}
	c.SetCookie(s.cookie(c, "", -1))
	return c.Redirect(http.StatusSeeOther, "/login")
}

// firstForm shows the form without using the link up: programs that look at links must not.
func (s *Server) firstForm(c echo.Context) error {
	return s.show(c, http.StatusOK, "login", "Welcome", web.Login{First: c.Param("token"), Next: "/"})
}

// first makes the administrator. The password is looked at before the link is used up.
func (s *Server) first(c echo.Context) error {
	ctx, token := c.Request().Context(), c.Param("token")
	name := strings.TrimSpace(c.FormValue("name"))
	page := web.Login{First: token, Name: name, Next: "/"}
	if wait := s.logins.takeNamed("login from "+c.RealIP(), 1); wait > 0 {
		page.Problem = "Too many attempts. Try again in " + seconds(wait) + " seconds."
		return s.show(c, http.StatusTooManyRequests, "login", "Welcome", page)
	}
	password := c.FormValue("password")
	if name == "" || len(name) > 100 || len(password) < MinPassword || len(password) > maxPassword {
		page.Problem = "Choose a name, and a password of 12 characters or more."
		return s.show(c, http.StatusUnprocessableEntity, "login", "Welcome", page)
	}
	err := s.deps.Accounts.TakeLink(ctx, hashOf(token), s.deps.Now().UTC())
	if isNotFound(err) {
		page.Problem = "This link was used already, or is older than a day. Start the daemon anew, or use sitemapd token create."
		return s.show(c, http.StatusForbidden, "login", "Welcome", page)
	}
	if err != nil {
		return err
	}
	stored, err := HashPassword(password)
	if err != nil {
		return err
	}
	account := models.Account{Name: name, Password: stored, Scopes: []string{ScopeAdmin}, CreatedAt: s.deps.Now().UTC()}
	if err := s.deps.Accounts.SaveAccount(ctx, account); err != nil {
		return err
	}
	if err := s.deps.Accounts.EndSessions(ctx, name); err != nil {
		return err
	}
	if err := s.logIn(c, name); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

func (s *Server) accountForm(c echo.Context) error {
	return s.show(c, http.StatusOK, "account", "Your account", web.Account{})
}

// changePassword ends every session of the account but the one it opens.
func (s *Server) changePassword(c echo.Context) error {
	ctx := c.Request().Context()
	who := principalOf(ctx)
	if who.Kind != "session" {
		return newProblem(http.StatusForbidden, "only somebody who logged in has a password here")
	}
	if wait := s.logins.takeNamed("login as "+who.Name, 1); wait > 0 {
		return newProblem(http.StatusTooManyRequests, "too many attempts; wait and come back")
	}
	account, err := s.deps.Accounts.Account(ctx, who.Name)
	if err != nil {
		return err
	}
	if !checkPassword(ctx, account.Password, c.FormValue("current")) {
		return s.show(c, http.StatusUnauthorized, "account", "Your account", web.Account{Problem: "The current password is wrong."})
	}
	if account.Password, err = HashPassword(c.FormValue("password")); err != nil {
		return s.show(c, http.StatusUnprocessableEntity, "account", "Your account", web.Account{Problem: "The new password needs 12 characters or more."})
	}
	if err := s.deps.Accounts.SaveAccount(ctx, account); err != nil {
		return err
	}
	if err := s.deps.Accounts.EndSessions(ctx, account.Name); err != nil {
		return err
	}
	if err := s.logIn(c, account.Name); err != nil {
		return err
	}
	return s.show(c, http.StatusOK, "account", "Your account", web.Account{Done: true})
}
