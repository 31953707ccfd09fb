package tracing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/internal/tracing"
)

// received is what a receiver understands of an OTLP/JSON request; unknown names are refused, as a strict one does.
type received struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []attribute }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []span
		}
	}
}

type attribute struct {
	Key   string
	Value struct {
		StringValue string
		IntValue    string
		BoolValue   bool
		DoubleValue float64
	}
}

type span struct {
	TraceID           string `json:"traceId"`
	SpanID            string `json:"spanId"`
	ParentSpanID      string `json:"parentSpanId"`
	TraceState        string
	Flags             uint32
	Name              string
	Kind              int
	StartTimeUnixNano string
	EndTimeUnixNano   string
	Attributes        []attribute
	Links             []struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
		Flags   uint32
	}
	Status struct {
		Code    int
		Message string
	}
}

func (s span) get(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

// receiver is an OTLP/HTTP receiver that answers with the statuses given, then 200.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	requests []*http.Request
	spans    []span
	resource map[string]string
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	r := &receiver{statuses: statuses, resource: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests = append(r.requests, q)
		if len(r.statuses) > 0 {
			status := r.statuses[0]
			r.statuses = r.statuses[1:]
			w.WriteHeader(status)
			return
		}
		var body io.Reader = q.Body
		if q.Header.Get("Content-Encoding") == "gzip" {
			var err error
			if body, err = gzip.NewReader(q.Body); err != nil {
				t.Error(err)
				return
			}
		}
		var got received
		d := json.NewDecoder(body)
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			t.Error(err)
		}
		for _, rs := range got.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				r.resource[a.Key] = a.Value.StringValue
			}
			for _, ss := range rs.ScopeSpans {
				r.spans = append(r.spans, ss.Spans...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func start(t *testing.T, o tracing.Options) *tracing.Tracer {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Lookup == nil {
		o.Lookup = env()
	}
	tracer, err := tracing.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

func TestNew_IsOffUnlessSomebodySaysWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		endpoint string
		env      []string
		on       bool
	}{
		{"", nil, false},
		{"http://127.0.0.1:1", nil, true},
		{"", []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"}, true},
		{"", []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/x"}, true},
		{"http://127.0.0.1:1", []string{"OTEL_SDK_DISABLED", "true"}, false},
		{"http://127.0.0.1:1", []string{"OTEL_TRACES_EXPORTER", "none"}, false},
	} {
		if tracer := start(t, tracing.Options{Endpoint: c.endpoint, Lookup: env(c.env...)}); (tracer != nil) != c.on {
			t.Errorf("%q %v: on is %v", c.endpoint, c.env, tracer != nil)
		} else if err := tracer.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	for _, o := range []tracing.Options{{Endpoint: "localhost:4317"}, {Lookup: env("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://x")},
		{Endpoint: "http://x", Lookup: env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")}} {
		if o.Lookup == nil {
			o.Lookup = env()
		}
		if tracer, err := tracing.New(o); err == nil || tracer != nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestSpans_ArriveWithTheirParents(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	tracer := start(t, tracing.Options{Endpoint: r.URL + "/", Version: "1.2.3", Lookup: env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, other=2",
		"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")})
	request := httptest.NewRequest("POST", "/hooks/1/secret", nil)
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	ctx, end := tracer.Request(request)
	run, endRun := tracer.Span(ctx, "run", "sitemapd.site", "exa\xffmple")
	_, endFetch := tracer.Span(run, "fetch", "", "")
	endFetch("ok", nil)
	endRun("complete", errors.New("broken"))
	end("/hooks/:site/:token", 503)
	if err := tracer.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(r.spans) != 3 || len(r.requests) != 1 {
		t.Fatalf("%d spans in %d requests", len(r.spans), len(r.requests))
	}
	q := r.requests[0]
	if q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/json" || q.Header.Get("Api-Key") != "a b" || q.Header.Get("Other") != "2" {
		t.Errorf("%s %v", q.URL, q.Header)
	}
	if r.resource["service.name"] != "sitemapd" || r.resource["service.version"] != "1.2.3" || r.resource["telemetry.sdk.language"] != "go" {
		t.Errorf("%v", r.resource)
	}
	fetch, runSpan, server := r.spans[0], r.spans[1], r.spans[2]
	if server.TraceID != "0af7651916cd43dd8448eb211c80319c" || server.ParentSpanID != "b7ad6b7169203331" || server.Kind != 2 || server.Name != "POST /hooks/:site/:token" ||
		server.get("http.response.status_code") != "503" || server.get("http.route") != "/hooks/:site/:token" || server.Status.Code != 2 {
		t.Errorf("%+v", server)
	}
	if runSpan.ParentSpanID != server.SpanID || runSpan.TraceID != server.TraceID || runSpan.get("sitemapd.site") != "exa\uFFFDmple" || runSpan.Status.Message != "broken" ||
		runSpan.get("sitemapd.outcome") != "complete" || runSpan.Kind != 1 {
		t.Errorf("%+v", runSpan)
	}
	if fetch.ParentSpanID != runSpan.SpanID || fetch.get("sitemapd.outcome") != "ok" || fetch.Status.Code != 0 {
		t.Errorf("%+v", fetch)
	}
	for _, s := range r.spans {
		if !regexp.MustCompile(`^\d{19}$`).MatchString(s.StartTimeUnixNano) || s.EndTimeUnixNano < s.StartTimeUnixNano || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(s.SpanID) {
			t.Errorf("%+v", s)
		}
		if strings.Contains(s.Name+s.get("http.route"), "secret") {
			t.Errorf("a secret of an address is in a span: %+v", s)
		}
	}
}

// A run begins long after the request that asked for it was answered, in a trace of its own.
func TestLink_LeadsFromARunToTheRequestThatAskedForIt(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	tracer := start(t, tracing.Options{Endpoint: r.URL})
	ctx, end := tracer.Request(httptest.NewRequest("POST", "/hooks/1", nil))
	parent := tracer.Parent(ctx)
	end("/hooks/:site", 200)
	if parent == "" || tracer.Parent(context.Background()) != "" {
		t.Errorf("traceparents %q and %q", parent, tracer.Parent(context.Background()))
	}
	run, endRun := tracer.Span(context.Background(), "run", "", "")
	tracer.Link(run, []string{"", "no traceparent", parent, "00-00000000000000000000000000000000-0000000000000000-00"})
	endRun("complete", nil)
	if err := tracer.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	server, span := r.spans[0], r.spans[1]
	if len(span.Links) != 1 || span.Links[0].TraceID != server.TraceID || span.Links[0].SpanID != server.SpanID || span.Links[0].Flags != 1 || span.TraceID == server.TraceID {
		t.Errorf("server %+v\nrun %+v", server, span)
	}
}

func TestSpans_ARequestOfNobodyBeginsATrace(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	tracer := start(t, tracing.Options{Endpoint: r.URL, Lookup: env()})
	request := httptest.NewRequest("GET", "/", nil)
	request.Header.Set("Traceparent", "00-rubbish")
	ctx, end := tracer.Request(request)
	var out bytes.Buffer
	log := slog.New(tracing.Logs(slog.NewJSONHandler(&out, nil))).With("component", "x")
	log.InfoContext(ctx, "inside")
	log.Info("outside")
	end("/", 200)
	_ = tracer.Close(context.Background())
	if len(r.spans) != 1 || r.spans[0].ParentSpanID != "" {
		t.Fatalf("%+v", r.spans)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], `"trace_id":"`+r.spans[0].TraceID+`","span_id":"`+r.spans[0].SpanID+`"`) || strings.Contains(lines[1], "trace_id") {
		t.Errorf("%s", out.String())
	}
}

func TestExport_TriesAgainWhenTheReceiverIsBusyAndSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		statuses []int
		requests int
		spans    int
	}{{[]int{503}, 2, 1}, {[]int{400}, 1, 0}} {
		r := newReceiver(t, c.statuses...)
		tracer := start(t, tracing.Options{Endpoint: r.URL, Lookup: env()})
		_, end := tracer.Span(context.Background(), "run", "", "")
		end("", nil)
		err := tracer.Close(context.Background())
		if len(r.requests) != c.requests || len(r.spans) != c.spans {
			t.Errorf("%v: %d requests, %d spans, %v", c.statuses, len(r.requests), len(r.spans), err)
		}
	}
	var nobody *tracing.Tracer
	if diff := cmp.Diff(error(nil), nobody.Close(context.Background())); diff != "" {
		t.Error(diff)
	}
}
