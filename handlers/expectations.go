package handlers

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// expectationStore holds what triggers said should become true, and what became of it.
type expectationStore interface {
	// ExpectationHistory gives those of one site whose trigger is below before (0: all), newest trigger first
	// and those of one trigger always in the same order.
	ExpectationHistory(ctx context.Context, siteID, before int64, limit int) ([]models.Expectation, error)
}

type expectation struct {
	models.Expectation
	Lag float64 `json:"lag_seconds,omitempty" doc:"From the message to the decision; absent while open."`
}

func (s *Server) expectationRoutes() {
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-expectations", Method: "GET", Path: "/sites/{site}/expectations", Tags: []string{"hooks"}, Errors: []int{404, 422},
		Summary:     "What deliveries announced, and whether the sitemaps came to say it, newest first",
		Description: "Open, met or expired; an expired one says which layer is at fault, as far as that can be known.",
	}, func(ctx context.Context, in *struct {
		SiteInput
		PageInput
		Resolved
	}) (*jsonOut[list[expectation]], error) {
		if s.deps.Expectations == nil {
			return nil, unavailable("the record of expectations")
		}
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		at, err := readPosition(in.PageToken, in.hash(site))
		if err != nil {
			return nil, err
		}
		size := in.size()
		all, err := s.deps.Expectations.ExpectationHistory(ctx, site.ID, at.Number, int(at.Run)+size+1)
		if err != nil {
			return nil, err
		}
		page := list[expectation]{Items: []expectation{}, Run: site.CurrentRun}
		at.Filter = in.hash(site)
		all, page.NextPageToken = cutExpectations(all, at, size)
		for i := range all {
			page.Items = append(page.Items, expectation{all[i], all[i].Lag().Seconds()})
		}
		return &jsonOut[list[expectation]]{page}, nil
	})
}

// cutExpectations takes one page. A trigger can open many expectations and the store counts by trigger, so the place
// is the last trigger of the page, and beside it how many of its expectations were shown already.
func cutExpectations(all []models.Expectation, at position, size int) (page []models.Expectation, next string) {
	page = all[min(int(at.Run), len(all)):]
	if len(page) <= size {
		return page, ""
	}
	page = page[:size]
	last, shown := page[size-1].Trigger, int64(0)
	for _, e := range all[:int(at.Run)+size] {
		if e.Trigger == last {
			shown++
		}
	}
	return page, encodePosition(position{Filter: at.Filter, Number: last + 1, Run: shown})
}
