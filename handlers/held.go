package handlers

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// removalStore is what the API needs of the removals that the guard holds.
type removalStore interface {
	// HeldRemovals gives a part of those that wait for a person, behind a cursor of theirs.
	HeldRemovals(ctx context.Context, siteID int64, after string, limit int) ([]models.Removal, error)
	CountHeld(ctx context.Context, siteID int64, limit int) (int64, error)
	DecideRemovals(ctx context.Context, siteID int64, keys []models.Key, approve bool) (int64, error)
}

type decision struct {
	_    struct{} `additionalProperties:"false"`
	URLs []string `json:"urls,omitempty" maxItems:"1000" doc:"The pages to decide on, in any spelling of their addresses."`
	All  bool     `json:"all,omitempty" doc:"Decide on everything that is held now."`
}

type decided struct {
	Decided int64 `json:"decided" doc:"Number of removals that were held and are decided now."`
}

type decisionInput struct {
	SiteInput
	Body decision
}

// heldRemoval is one of them as the API shows it.
type heldRemoval struct {
	URL       string    `json:"url"`
	Document  int32     `json:"document" doc:"Number of the document that listed it last."`
	FromRun   int64     `json:"from_run" doc:"First run that missed the page."`
	HeldRun   int64     `json:"held_run,omitempty"`
	AgreedRun int64     `json:"agreed_run,omitempty" doc:"Last complete run that missed it too."`
	Stage     string    `json:"stage"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
	MovedTo   string    `json:"moved_to,omitempty"`
}

func shownRemovals(all []models.Removal) []heldRemoval {
	shown := make([]heldRemoval, len(all))
	for i, r := range all {
		shown[i] = heldRemoval{r.URL, r.Document, r.FromRun, r.HeldRun, r.AgreedRun, r.Stage, r.Since, r.Reason, r.MovedTo}
	}
	return shown
}

// heldPart is how many held removals are read at a time where all are wanted.
const heldPart = 1000

// everyHeld reads all removals that wait for a person.
func (s *Server) everyHeld(siteID int64) rows[heldRemoval] {
	return func(ctx context.Context, emit func(*heldRemoval) error) error {
		for after := ""; ; {
			part, err := s.deps.Removals.HeldRemovals(ctx, siteID, after, heldPart)
			if err != nil {
				return err
			}
			for _, row := range shownRemovals(part) {
				if err := emit(&row); err != nil {
					return err
				}
			}
			if len(part) < heldPart {
				return nil
			}
			after = part[len(part)-1].Cursor
		}
	}
}

// heldPage reads one page of them.
func (s *Server) heldPage(ctx context.Context, site models.Site, token string, size int, hash []byte) (list[heldRemoval], []models.Removal, error) {
	out := list[heldRemoval]{Run: site.CurrentRun}
	at, err := readPosition(token, hash)
	if err != nil {
		return out, nil, err
	}
	held, err := s.deps.Removals.HeldRemovals(ctx, site.ID, at.Cursor, size+1)
	if err != nil {
		return out, nil, err
	}
	if len(held) > size {
		held = held[:size]
		out.NextPageToken = encodePosition(position{Filter: hash, Cursor: held[size-1].Cursor})
	}
	out.Items = shownRemovals(held)
	return out, held, nil
}

// decide approves or rejects. Nil keys mean everything, so an empty choice must never come that far.
func (s *Server) decide(ctx context.Context, site models.Site, urls []string, all, approve bool) (int64, error) {
	if all == (len(urls) > 0) {
		return 0, models.Invalid("body", `give {"urls":[…]} or {"all":true}`, "say which removals to decide on")
	}
	var keys []models.Key
	for _, link := range urls {
		key, err := s.deps.KeyFor(link)
		if err != nil {
			return 0, models.Invalid("body.urls", "absolute http or https URLs", "one of them is not the address of a page")
		}
		keys = append(keys, key)
	}
	n, err := s.deps.Removals.DecideRemovals(ctx, site.ID, keys, approve)
	if err != nil {
		return 0, err
	}
	s.log.InfoContext(ctx, "held removals decided", "site", site.ID, "approved", approve, "decided", n, "by", principalName(ctx))
	if approve && n > 0 {
		s.deps.Engine.Trigger(site.ID, models.CauseConfirm)
	}
	return n, nil
}

func principalName(ctx context.Context) string {
	if p := principalOf(ctx); p != nil {
		return p.Kind + ":" + p.Name
	}
	return ""
}

func (s *Server) heldRoutes() {
	tags := []string{"inventory"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-held", Method: "GET", Path: "/sites/{site}/held", Tags: tags,
		Summary: "Removals that the guard holds until a person decides", Errors: []int{404},
		Responses: listResponses[list[heldRemoval], heldRemoval](s),
	}, func(ctx context.Context, in *struct {
		SiteInput
		PageInput
		FormatInput
		Resolved
	}) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			return streamed(s, format, removalColumns, s.everyHeld(site.ID)), nil
		}
		page, _, err := s.heldPage(ctx, site, in.PageToken, in.size(), in.hash(site))
		if err != nil {
			return nil, err
		}
		return in.linked(page, page.NextPageToken), nil
	})
	for _, op := range []struct {
		id, path, summary, description string
		approve                        bool
	}{
		{"approve-held", "approve", "Approve held removals", "The next complete run that still misses the pages removes them.", true},
		{"reject-held", "reject", "Reject held removals", "The pages stay live; they count as missing again only after they were seen again.", false},
	} {
		register(s, ScopeWrite, huma.Operation{
			OperationID: op.id, Method: "POST", Path: "/sites/{site}/held/" + op.path, Tags: tags, Summary: op.summary,
			Description: op.description, Errors: []int{404, 422},
		}, func(ctx context.Context, in *decisionInput) (*jsonOut[decided], error) {
			site, err := s.site(ctx, in.SiteInput)
			if err != nil {
				return nil, err
			}
			n, err := s.decide(ctx, site, in.Body.URLs, in.Body.All, op.approve)
			return &jsonOut[decided]{decided{n}}, err
		})
	}
}

var removalColumns = []column[heldRemoval]{
	{"url", func(r *heldRemoval) string { return r.URL }},
	{"stage", func(r *heldRemoval) string { return r.Stage }},
	{"reason", func(r *heldRemoval) string { return r.Reason }},
	{"since", func(r *heldRemoval) string { return moment(&r.Since) }},
	{"document", func(r *heldRemoval) string { return number(int64(r.Document)) }},
	{"from_run", func(r *heldRemoval) string { return number(r.FromRun) }},
	{"held_run", func(r *heldRemoval) string { return number(r.HeldRun) }},
}
