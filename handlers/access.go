package handlers

import (
	"net/http"
)

// accountStore holds people who may log in, and their sessions.
type accountStore interface{}

type prober interface{}

func (s *Server) proxyUser(r *http.Request) *principal            { return nil }
func (s *Server) sessionUser(r *http.Request) (*principal, error) { return nil, nil }
func loginPath(r *http.Request) string                            { return "/login" }
func (s *Server) accountRoutes()                                  {}
