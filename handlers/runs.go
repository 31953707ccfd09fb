package handlers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// runStore is what the API needs of the stored runs.
type runStore interface {
	Runs(ctx context.Context, siteID, before int64, limit int) ([]models.Run, error)
	Run(ctx context.Context, siteID, id int64) (models.Run, error)
	// CurrentRuns gives the run that readers see of every site that has one, without what it found.
	CurrentRuns(ctx context.Context) (map[int64]models.Run, error)
}

// triggerStore is the inbox.
type triggerStore interface {
	SaveTrigger(ctx context.Context, trigger models.Trigger) (id int64, duplicate bool, err error)
	Triggers(ctx context.Context, siteID, before int64, limit int) ([]models.Trigger, error)
	Trigger(ctx context.Context, siteID, id int64) (models.Trigger, error)
}

// accepted says that a request to look is stored: a run that starts after it will serve it.
type accepted struct {
	Trigger   int64  `json:"trigger" doc:"Inbox id; ask for it at /sites/{site}/triggers/{trigger} to learn which run served it."`
	Duplicate bool   `json:"duplicate" doc:"The same Idempotency-Key was used before; this is that request's trigger."`
	Progress  string `json:"progress" doc:"Event stream of the site's runs."`
}

type runsInput struct {
	SiteInput
	PageInput
	FormatInput
	Resolved
}

func normalRun(r *models.Run) {
	if r.Findings == nil {
		r.Findings = []models.Finding{}
	}
}

func (s *Server) runsPage(ctx context.Context, siteID int64, token string, size int, hash []byte) (list[models.Run], error) {
	var out list[models.Run]
	at, err := readPosition(token, hash)
	if err != nil {
		return out, err
	}
	out.Items, err = s.deps.Runs.Runs(ctx, siteID, at.Number, size+1)
	if err != nil {
		return out, err
	}
	if len(out.Items) > size {
		out.Items = out.Items[:size]
		out.NextPageToken = encodePosition(position{Filter: hash, Number: out.Items[size-1].ID})
	}
	for i := range out.Items {
		normalRun(&out.Items[i])
	}
	return out, nil
}

// RunInput names one run of an operation. (Embedded inputs are exported: huma fills no others.)
type RunInput struct {
	SiteInput
	Run int64 `path:"run" minimum:"1" doc:"Number of the run within the site." example:"12"`
}

func (s *Server) run(ctx context.Context, in RunInput) (models.Site, models.Run, error) {
	site, err := s.site(ctx, in.SiteInput)
	if err != nil {
		return site, models.Run{}, err
	}
	run, err := s.deps.Runs.Run(ctx, site.ID, in.Run)
	if isNotFound(err) {
		return site, run, notFound("run of this site")
	}
	normalRun(&run)
	return site, run, err
}

func (s *Server) runRoutes() {
	tags := []string{"runs"}
	register(s, ScopeRead, huma.Operation{
		OperationID: "list-runs", Method: "GET", Path: "/sites/{site}/runs", Tags: tags, Summary: "Runs, newest first", Errors: []int{404, 422},
		Responses: listResponses[list[models.Run], models.Run](s),
	}, func(ctx context.Context, in *runsInput) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		if format := in.chosen(); format != formatJSON {
			return streamed(s, format, runColumns, s.allRuns(site.ID, in.PageSize)), nil
		}
		page, err := s.runsPage(ctx, site.ID, in.PageToken, in.size(), in.hash(site))
		if err != nil {
			return nil, err
		}
		return in.linked(page, page.NextPageToken), nil
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "get-run", Method: "GET", Path: "/sites/{site}/runs/{run}", Tags: tags, Summary: "One run", Errors: []int{404},
	}, func(ctx context.Context, in *RunInput) (*jsonOut[models.Run], error) {
		_, run, err := s.run(ctx, *in)
		return &jsonOut[models.Run]{run}, err
	})

	register(s, ScopeRun, huma.Operation{
		OperationID: "start-run", Method: "POST", Path: "/sites/{site}/runs", Tags: tags, Summary: "Start a run: a full one, or one that looks at failed documents alone",
		Description: "The request is stored before the answer. A run that begins after it serves it, possibly together with others. " +
			"With an Idempotency-Key the same request can be sent again without starting another run. With only=failed the run reads " +
			"the indexes, the documents that could not be read, and none else, unless somebody asks for more meanwhile.",
		DefaultStatus: 202, Errors: []int{404},
	}, func(ctx context.Context, in *struct {
		SiteInput
		Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Any text that names this request."`
		Only string `query:"only" enum:"failed" doc:"failed: no other documents than those that could not be read."`
	}) (*jsonOut[accepted], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		out, err := s.startRun(ctx, site, in.Key, in.Only == onlyFailed)
		return &jsonOut[accepted]{out}, err
	})

	register(s, ScopeRun, huma.Operation{
		OperationID: "stop-run", Method: "POST", Path: "/sites/{site}/runs/{run}/stop", Tags: tags, Summary: "Stop a running walk",
		Description: "What was stored of it stays invisible; the inventory remains as it was.", DefaultStatus: 204, Errors: []int{404, 409},
	}, func(ctx context.Context, in *RunInput) (*struct{}, error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		return nil, s.stopRun(site.ID, in.Run)
	})

	register(s, ScopeRead, huma.Operation{
		OperationID: "get-trigger", Method: "GET", Path: "/sites/{site}/triggers/{trigger}", Tags: tags, Errors: []int{404},
		Summary: "One stored request to look, and the run that served it",
	}, func(ctx context.Context, in *struct {
		SiteInput
		Trigger int64 `path:"trigger" minimum:"1"`
	}) (*jsonOut[models.Trigger], error) {
		site, err := s.site(ctx, in.SiteInput)
		if err != nil {
			return nil, err
		}
		trigger, err := s.deps.Triggers.Trigger(ctx, site.ID, in.Trigger)
		if isNotFound(err) {
			err = notFound("trigger of this site")
		}
		return &jsonOut[models.Trigger]{trigger}, err
	})
}

// onlyFailed is the value of only that asks for failed documents.
const onlyFailed = "failed"

// startRun stores a person's request and wakes the engine. An idempotency key names the same request for ever.
// failed asks for a look at the documents that could not be read, and no others.
func (s *Server) startRun(ctx context.Context, site models.Site, key string, failed bool) (accepted, error) {
	who := ""
	if p := principalOf(ctx); p != nil {
		who = p.Kind + "\x00" + p.Name
	}
	var hints []models.Hint
	if failed {
		hints, key = []models.Hint{{Event: models.EventRetry}}, key+map[bool]string{true: "\x00failed"}[key != ""]
	}
	id, duplicate, err := s.deps.Triggers.SaveTrigger(ctx, models.Trigger{
		SiteID: site.ID, Kind: models.CauseManual, Dialect: "none", ReceivedAt: s.deps.Now().UTC(), Hints: hints,
		DedupeKey: dedupeKey("idempotency-key", site.ID, who+"\x00"+key, key == ""), Trace: s.traceParent(ctx),
	})
	if err != nil {
		return accepted{}, err
	}
	if !duplicate {
		s.deps.Engine.Trigger(site.ID, models.CauseManual)
	}
	return accepted{Trigger: id, Duplicate: duplicate, Progress: apiPrefix + "/sites/" + number(site.ID) + "/progress"}, nil
}

// traceParent is the span of a request, "" while nothing is traced.
func (s *Server) traceParent(ctx context.Context) string {
	if s.deps.TraceParent == nil {
		return ""
	}
	return s.deps.TraceParent(ctx)
}

func (s *Server) stopRun(siteID, run int64) error {
	progress, running := s.deps.Engine.Progress(siteID)
	if !running || (progress.Run != 0 && progress.Run != run) || !s.deps.Engine.Stop(siteID) {
		return newProblem(409, "this run is not under way")
	}
	return nil
}

// dedupeKey names a stored request: the same text is the same request, unless it is to be unique.
func dedupeKey(kind string, siteID int64, text string, unique bool) models.Key {
	var key models.Key
	if unique {
		_, _ = rand.Read(key[:])
		return key
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + number(siteID) + "\x00" + text))
	copy(key[:], sum[:])
	return key
}

// allRuns reads every run of a site in chunks.
func (s *Server) allRuns(siteID int64, limit int) rows[models.Run] {
	return func(ctx context.Context, emit func(*models.Run) error) error {
		before := int64(0)
		for n := 0; limit == 0 || n < limit; {
			runs, err := s.deps.Runs.Runs(ctx, siteID, before, maxPageSize)
			if err != nil || len(runs) == 0 {
				return err
			}
			for i := range runs {
				if limit > 0 && n == limit {
					return nil
				}
				normalRun(&runs[i])
				if err := emit(&runs[i]); err != nil {
					return err
				}
				n++
			}
			before = runs[len(runs)-1].ID
		}
		return nil
	}
}

var runColumns = []column[models.Run]{
	{"id", func(r *models.Run) string { return number(r.ID) }},
	{"cause", func(r *models.Run) string { return r.Cause }},
	{"verdict", func(r *models.Run) string { return string(r.Verdict) }},
	{"reason", func(r *models.Run) string { return r.Reason }},
	{"started_at", func(r *models.Run) string { return moment(&r.StartedAt) }},
	{"finished_at", func(r *models.Run) string { return moment(r.FinishedAt) }},
	{"documents_read", func(r *models.Run) string { return number(r.Documents.Read) }},
	{"documents_unchanged", func(r *models.Run) string { return number(r.Documents.Unchanged) }},
	{"documents_failed", func(r *models.Run) string { return number(r.Documents.Failed) }},
	{"live", func(r *models.Run) string { return number(r.Counts.Live) }},
	{"added", func(r *models.Run) string { return number(r.Counts.Added) }},
	{"removed", func(r *models.Run) string { return number(r.Counts.Removed) }},
	{"changed", func(r *models.Run) string { return number(r.Counts.Changed) }},
	{"moved", func(r *models.Run) string { return number(r.Counts.Moved) }},
	{"pending", func(r *models.Run) string { return number(r.Counts.Pending) }},
	{"held", func(r *models.Run) string { return number(r.Counts.Held) }},
	{"stale", func(r *models.Run) string { return number(r.Counts.Stale) }},
	{"requests", func(r *models.Run) string { return number(r.Requests) }},
	{"bytes", func(r *models.Run) string { return number(r.Bytes) }},
	{"error", func(r *models.Run) string { return r.Error }},
}
