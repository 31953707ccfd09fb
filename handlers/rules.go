package handlers

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/handlers/web"
	"github.com/sitemapd/sitemapd/models"
)

func (s *Server) ruleRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-finding-rules", Method: "GET", Path: "/finding-rules", Tags: []string{"sitemaps"},
		Summary: "What each finding's code means, costs and asks for",
	}, func(_ context.Context, in *struct {
		About string `query:"about" enum:"documents,pages"`
	}) (*jsonOut[list[models.FindingRule]], error) {
		out := list[models.FindingRule]{Items: []models.FindingRule{}}
		for _, r := range s.rules() {
			if in.About == "" || r.About == in.About {
				out.Items = append(out.Items, r)
			}
		}
		return &jsonOut[list[models.FindingRule]]{out}, nil
	})
}

func (s *Server) rules() []models.FindingRule {
	if s.deps.Rules == nil {
		return nil
	}
	return s.deps.Rules()
}

// rulesPage explains every code, each at an anchor of its name.
func (s *Server) rulesPage(c echo.Context) error {
	page := web.Rules{}
	for _, r := range s.rules() {
		if r.About == models.AboutPages {
			page.Pages = append(page.Pages, r)
		} else {
			page.Documents = append(page.Documents, r)
		}
	}
	return s.show(c, http.StatusOK, "rules", "Findings explained", page)
}

// advice is what the catalogues say of a finding about documents or pages.
func (s *Server) advice(about, code string) models.FindingRule {
	if s.deps.RuleOf == nil {
		return models.FindingRule{}
	}
	rule, _ := s.deps.RuleOf(about, code)
	return rule
}
