package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options say where traces go.
type Options struct {
	Endpoint string                      // base URL of an OTLP/HTTP receiver, "" to ask the environment
	Version  string                      // of this program
	Lookup   func(string) (string, bool) // environment
	Logger   *slog.Logger
	HTTP     *http.Client // http.DefaultClient's transport with a time limit unless given
}

// Tracer makes spans. A nil one is tracing switched off.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	carrier  propagation.TraceContext
}

// New gives a tracer, or nil when nobody says where traces should go: by Options.Endpoint, else by the standard variables
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (taken as it is) or OTEL_EXPORTER_OTLP_ENDPOINT (with /v1/traces). OTEL_SDK_DISABLED
// and OTEL_TRACES_EXPORTER=none switch it off.
func New(o Options) (*Tracer, error) {
	env := func(name string) string { value, _ := o.Lookup(name); return strings.TrimSpace(value) }
	target := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	base := o.Endpoint
	if base == "" && target == "" {
		base = env("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if base != "" {
		target = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if target == "" || strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || env("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("tracing: %q is no http or https URL of an OTLP receiver", target)
	}
	e, err := newExporter(target, env, o.HTTP)
	if err != nil {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Logger.Warn("send traces", "component", "tracing", "error", err) }))
	attributes := []attribute.KeyValue{attribute.String("service.name", "sitemapd"), attribute.String("service.version", o.Version)}
	// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME come last and win.
	about, err := resource.New(context.Background(), resource.WithAttributes(attributes...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/sitemapd/sitemapd", trace.WithInstrumentationVersion(o.Version))}, nil
}

// Close sends what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Span begins a step of our own work. key and value, if given, say what it works on; the function that ends it says how it
// ended, in one word, and by which error of ours. It fits the engine's Options.Span.
func (t *Tracer) Span(ctx context.Context, name, key, value string) (context.Context, func(outcome string, err error)) {
	var about []attribute.KeyValue
	if key != "" {
		about = []attribute.KeyValue{attribute.String(key, value)}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(about...))
	return ctx, func(outcome string, err error) {
		if outcome != "" {
			span.SetAttributes(attribute.String("sitemapd.outcome", outcome))
		}
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// Parent gives the span that ctx belongs to as the value of a traceparent header, "" when it belongs to none. It fits
// handlers.Deps.TraceParent.
func (t *Tracer) Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	t.carrier.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// Link links the span that ctx belongs to to spans by their traceparents; what is none is passed over.
func (t *Tracer) Link(ctx context.Context, parents []string) {
	span := trace.SpanFromContext(ctx)
	for _, parent := range parents {
		from := t.carrier.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
		if c := trace.SpanContextFromContext(from); c.IsValid() {
			span.AddLink(trace.Link{SpanContext: c})
		}
	}
}

// Request begins the span of an incoming HTTP request, within the trace that its traceparent header names. The function
// that ends it takes the route, never the URL, which may hold a secret, and the status. It fits handlers.Deps.Trace.
func (t *Tracer) Request(r *http.Request) (context.Context, func(route string, status int)) {
	ctx := t.carrier.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.request.method", r.Method)))
	return ctx, func(route string, status int) {
		span.SetName(r.Method + " " + route)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
		if status >= 500 {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// IDs gives the trace and span that ctx belongs to, for log lines; "" when it belongs to none.
func IDs(ctx context.Context) (traceID, spanID string) {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		return c.TraceID().String(), c.SpanID().String()
	}
	return "", ""
}
