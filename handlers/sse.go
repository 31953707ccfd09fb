package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/sitemapd/sitemapd/models"
)

const (
	mediaSSE       = "text/event-stream"
	heartbeat      = 15 * time.Second
	streamDeadline = 60 * time.Second // of one write: a dead client is noticed, a quiet stream is not cut
	feedPoll       = 5 * time.Second  // the change feed asks again at the latest then, for runs of other daemons
	maxStreamLife  = 6 * time.Hour
)

// stream is one open event stream.
type stream struct {
	w   *echo.Response
	ctx context.Context // ends with the client, the daemon's stop, or old age
}

// maxStreams bounds the streams of one token, user or address; a browser opens six at most.
const maxStreams = 32

// openStreams counts streams by who has them open.
type openStreams struct {
	mu    sync.Mutex
	count map[string]int
}

func (o *openStreams) enter(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[name] >= maxStreams {
		return false
	}
	o.count[name]++
	return true
}

func (o *openStreams) leave(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[name]--; o.count[name] <= 0 {
		delete(o.count, name)
	}
}

// stream opens an event stream and runs it until its context ends. Proxies are told not to buffer.
func (s *Server) stream(c echo.Context, run func(*stream) error) {
	name := caller(principalOf(c.Request().Context()), c.RealIP())
	if !s.open.enter(name) {
		c.Response().Header().Set("Retry-After", "10")
		writeProblem(c.Response(), newProblem(http.StatusTooManyRequests, "too many streams are open; close one"))
		return
	}
	defer s.open.leave(name)
	s.streams.Add(1)
	defer s.streams.Done()
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	ctx, cancel := context.WithTimeout(c.Request().Context(), maxStreamLife)
	defer cancel()
	go func() {
		select {
		case <-s.draining:
			cancel()
		case <-ctx.Done():
		}
	}()
	w := c.Response()
	w.Header().Set("Content-Type", mediaSSE)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	st := &stream{w: w, ctx: ctx}
	if st.comment("open") != nil {
		return
	}
	_ = run(st)
}

func (st *stream) write(text string) error {
	control := http.NewResponseController(st.w)
	_ = control.SetWriteDeadline(time.Now().Add(streamDeadline))
	if _, err := st.w.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}

func (st *stream) comment(text string) error { return st.write(": " + text + "\n\n") }

// event sends one event; its data is JSON and so has no line breaks.
func (st *stream) event(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var b strings.Builder
	if id = strings.Map(dropControls, id); id != "" {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("event: " + name + "\ndata: ")
	b.Write(text)
	b.WriteString("\n\n")
	return st.write(b.String())
}

func dropControls(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// extendDeadline gives a long answer that is still moving more time.
func extendDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// progressStream sends each progress of a site; with a run, it ends when that run does.
func (s *Server) progressStream(siteID, run int64) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		s.stream(humaecho.Unwrap(hc), func(st *stream) error { return s.sendProgress(st, siteID, run) })
	}}
}

func (s *Server) sendProgress(st *stream, siteID, run int64) error {
	updates := s.deps.Engine.Watch(st.ctx, siteID)
	if p, running := s.deps.Engine.Progress(siteID); running {
		if run != 0 && p.Run > run {
			return st.event("finished", "", models.Progress{SiteID: siteID, Run: run, Phase: "finished"})
		}
		if err := st.event("progress", "", p); err != nil {
			return err
		}
	} else if run == 0 {
		if err := st.event("idle", "", models.Progress{SiteID: siteID}); err != nil {
			return err
		}
	}
	// The run may have ended between the caller's look at it and our watching.
	if run != 0 {
		if stored, err := s.deps.Runs.Run(st.ctx, siteID, run); err == nil && stored.FinishedAt != nil {
			return st.event("finished", "", models.Progress{SiteID: siteID, Run: run, Phase: "finished", Verdict: string(stored.Verdict)})
		}
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-st.ctx.Done():
			return errStream
		case <-beat.C:
			if err := st.comment("alive"); err != nil {
				return err
			}
		case p, open := <-updates:
			if !open {
				return errStream
			}
			name := "progress"
			if p.Phase == "finished" {
				name = "finished"
			}
			if err := st.event(name, "", p); err != nil {
				return err
			}
			if name == "finished" && run != 0 && p.Run >= run {
				return nil
			}
		}
	}
}

// changeStream sends changes as runs end, each with its cursor as id.
func (s *Server) changeStream(siteID int64, f models.ChangeFilter) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		s.stream(humaecho.Unwrap(hc), func(st *stream) error { return s.sendChanges(st, siteID, f) })
	}}
}

func (s *Server) sendChanges(st *stream, siteID int64, f models.ChangeFilter) error {
	updates := s.deps.Engine.Watch(st.ctx, siteID)
	poll := time.NewTicker(feedPoll)
	defer poll.Stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		for more := true; more; {
			page, err := s.changesPage(st.ctx, siteID, f, maxPageSize)
			if err != nil {
				s.log.WarnContext(st.ctx, "change feed not read", "site", siteID, "error", err)
				return st.event("error", "", s.problem(st.ctx, err))
			}
			for i := range page.Items {
				if err := st.event("change", page.Items[i].Cursor, page.Items[i]); err != nil {
					return err
				}
			}
			f.After, more = page.Cursor, page.More
		}
	wait:
		for {
			select {
			case <-st.ctx.Done():
				return errStream
			case <-beat.C:
				if err := st.comment("alive"); err != nil {
					return err
				}
			case <-poll.C:
				break wait
			case p, open := <-updates:
				switch {
				case !open:
					updates = nil
				case p.Phase == "finished":
					break wait
				}
			}
		}
	}
}

func (s *Server) progressRoutes() {
	responses := func() map[string]*huma.Response {
		return map[string]*huma.Response{"200": {
			Description: "Events named progress, finished or idle; data is a Progress",
			Content:     map[string]*huma.MediaType{mediaSSE: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}
	}
	register(s, ScopeRead, huma.Operation{
		OperationID: "watch-site", Method: "GET", Path: "/sites/{site}/progress", Tags: []string{"runs"},
		Summary: "Watch a site's runs as they go (event stream)", Errors: []int{404}, Responses: responses(),
	}, func(ctx context.Context, in *SiteInput) (*huma.StreamResponse, error) {
		site, err := s.site(ctx, *in)
		if err != nil {
			return nil, err
		}
		return s.progressStream(site.ID, 0), nil
	})
	register(s, ScopeRead, huma.Operation{
		OperationID: "watch-run", Method: "GET", Path: "/sites/{site}/runs/{run}/progress", Tags: []string{"runs"},
		Summary: "Watch one run until it ends (event stream)", Errors: []int{404}, Responses: responses(),
	}, func(ctx context.Context, in *RunInput) (*huma.StreamResponse, error) {
		site, run, err := s.run(ctx, *in)
		if err != nil {
			return nil, err
		}
		return s.progressStream(site.ID, run.ID), nil
	})
}

func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int((d+time.Second-1)/time.Second)))
}
