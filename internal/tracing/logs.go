package tracing

import (
	"context"
	"log/slog"
)

// Logs adds trace_id and span_id to the log lines of whatever is traced.
func Logs(next slog.Handler) slog.Handler { return logs{next} }

type logs struct{ slog.Handler }

func (h logs) Handle(ctx context.Context, r slog.Record) error {
	if traceID, spanID := IDs(ctx); traceID != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", traceID), slog.String("span_id", spanID))
	}
	return h.Handler.Handle(ctx, r)
}

func (h logs) WithAttrs(attrs []slog.Attr) slog.Handler { return logs{h.Handler.WithAttrs(attrs)} }
func (h logs) WithGroup(name string) slog.Handler       { return logs{h.Handler.WithGroup(name)} }
