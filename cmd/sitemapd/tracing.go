package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/sitemapd/sitemapd/internal/tracing"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// tracesEnd is how long the end of a command waits for its last spans to be taken.
const tracesEnd = 3 * time.Second

// trace starts tracing where it is asked for; the function that it gives sends what is left. Log lines name their trace then.
func (a *app) trace() (end func(), err error) {
	t, err := tracing.New(tracing.Options{Endpoint: a.config.Tracing.Endpoint, Version: version(), Lookup: os.LookupEnv, Logger: a.log})
	if err != nil {
		return nil, models.Invalid("tracing.endpoint", "for example http://127.0.0.1:4318", "%s", err)
	}
	if t == nil {
		return func() {}, nil
	}
	a.tracer, a.log = t, slog.New(tracing.Logs(a.log.Handler()))
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), tracesEnd)
		defer cancel()
		if err := t.Close(ctx); err != nil {
			a.log.Warn("send the last traces", "error", err)
		}
	}, nil
}

// linkTraces links runs to the requests at hooks that asked for them.
func (a *app) linkTraces(s *store.Store) func(context.Context, int64, []int64) {
	return func(ctx context.Context, site int64, triggers []int64) {
		traces, err := s.TriggerTraces(ctx, site, triggers)
		if err != nil { // the run does not hang on it
			a.log.WarnContext(ctx, "read traces of triggers", "error", err)
			return
		}
		a.tracer.Link(ctx, traces)
	}
}
