package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter posts spans as OTLP/HTTP with JSON bodies (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"): ids
// in hex, 64-bit numbers as texts, enumerations as numbers, names in lowerCamelCase.
type exporter struct {
	target string
	header http.Header
	zip    bool
	client *http.Client
}

// defaultTimeout is the specification's for one export.
const defaultTimeout = 10 * time.Second

// tries is how often one batch is sent when the receiver says that it is busy.
const tries = 3

// newExporter reads the standard variables of OTLP exporters: headers, timeout, compression, for traces alone or for all.
func newExporter(target string, env func(string) string, client *http.Client) (*exporter, error) {
	pick := func(name string) string {
		if value := env("OTEL_EXPORTER_OTLP_TRACES_" + name); value != "" {
			return value
		}
		return env("OTEL_EXPORTER_OTLP_" + name)
	}
	if protocol := pick("PROTOCOL"); protocol != "" && !strings.HasPrefix(protocol, "http/") {
		return nil, fmt.Errorf("tracing: OTEL_EXPORTER_OTLP_PROTOCOL is %q; sitemapd sends OTLP over HTTP alone (port 4318 by custom)", protocol)
	}
	e := &exporter{target: target, header: http.Header{"Content-Type": {"application/json"}}, zip: pick("COMPRESSION") == "gzip", client: client}
	for pair := range strings.SplitSeq(pick("HEADERS"), ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		if text, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
			value = text
		}
		e.header.Set(strings.TrimSpace(name), value)
	}
	if e.client == nil {
		timeout := defaultTimeout
		if ms, err := strconv.Atoi(pick("TIMEOUT")); err == nil && ms > 0 {
			timeout = time.Duration(ms) * time.Millisecond
		}
		e.client = &http.Client{Timeout: timeout}
	}
	return e, nil
}

// ExportSpans sends one batch. A receiver that is busy (429, 502, 503, 504) is asked again; what it refuses is lost, and said.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(newExport(spans))
	if err != nil {
		return fmt.Errorf("write spans: %w", err)
	}
	if e.zip {
		var small bytes.Buffer
		w := gzip.NewWriter(&small)
		_, _ = w.Write(body)
		_ = w.Close()
		body = small.Bytes()
	}
	for try := 1; ; try++ {
		wait, err := e.post(ctx, body)
		if err == nil || wait == 0 || try == tries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait * time.Duration(try)):
		}
	}
}

// post sends a body once; wait is not 0 when it may be sent again after that time.
func (e *exporter) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.target, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("send spans: %w", err)
	}
	request.Header = e.header.Clone()
	if e.zip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := e.client.Do(request)
	if err != nil {
		return time.Second, fmt.Errorf("send spans: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(response.Body, 300))
	if response.StatusCode/100 == 2 {
		return 0, nil
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait = time.Second
		if n, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && n > 0 && n <= 30 {
			wait = time.Duration(n) * time.Second
		}
	}
	return wait, fmt.Errorf("send spans to %s: status %d: %q", e.target, response.StatusCode, said)
}

// Shutdown has nothing to end: the client's connections are idle.
func (e *exporter) Shutdown(context.Context) error { return nil }

type (
	export struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributed   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributed struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope     `json:"scope"`
		Spans []spanOut `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	spanOut struct {
		TraceID      string     `json:"traceId"`
		SpanID       string     `json:"spanId"`
		ParentSpanID string     `json:"parentSpanId,omitempty"`
		TraceState   string     `json:"traceState,omitempty"`
		Flags        uint32     `json:"flags"`
		Name         string     `json:"name"`
		Kind         int        `json:"kind"`
		Start        string     `json:"startTimeUnixNano"`
		End          string     `json:"endTimeUnixNano"`
		Attributes   []keyValue `json:"attributes,omitempty"`
		Links        []linkOut  `json:"links,omitempty"`
		Status       *status    `json:"status,omitempty"`
	}
	linkOut struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
		Flags   uint32 `json:"flags"`
	}
	status struct {
		Code    int    `json:"code"` // 1 ok, 2 error
		Message string `json:"message,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// newExport groups nothing: all spans come from one resource and one scope, our own.
func newExport(spans []sdk.ReadOnlySpan) export {
	first := spans[0]
	group := scopeSpans{Scope: scope{first.InstrumentationScope().Name, first.InstrumentationScope().Version}}
	for _, s := range spans {
		c := s.SpanContext()
		out := spanOut{TraceID: c.TraceID().String(), SpanID: c.SpanID().String(), TraceState: c.TraceState().String(), Flags: uint32(c.TraceFlags()),
			Name: s.Name(), Kind: int(s.SpanKind()), Start: nanoseconds(s.StartTime()), End: nanoseconds(s.EndTime()), Attributes: keyValues(s.Attributes())}
		if s.Parent().SpanID().IsValid() {
			out.ParentSpanID = s.Parent().SpanID().String()
		}
		for _, l := range s.Links() {
			out.Links = append(out.Links, linkOut{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String(), uint32(l.SpanContext.TraceFlags())})
		}
		switch s.Status().Code {
		case codes.Error:
			out.Status = &status{2, s.Status().Description}
		case codes.Ok:
			out.Status = &status{Code: 1}
		}
		group.Spans = append(group.Spans, out)
	}
	return export{[]resourceSpans{{Resource: attributed{keyValues(first.Resource().Attributes())}, ScopeSpans: []scopeSpans{group}}}}
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// keyValues writes the kinds of attributes that we and the resource have; any other is written as text.
func keyValues(all []attribute.KeyValue) []keyValue {
	out := make([]keyValue, 0, len(all))
	for _, a := range all {
		value := map[string]any{"stringValue": a.Value.String()}
		switch a.Value.Type() {
		case attribute.STRING:
			value = map[string]any{"stringValue": strings.ToValidUTF8(a.Value.AsString(), "\uFFFD")}
		case attribute.INT64:
			value = map[string]any{"intValue": strconv.FormatInt(a.Value.AsInt64(), 10)}
		case attribute.BOOL:
			value = map[string]any{"boolValue": a.Value.AsBool()}
		case attribute.FLOAT64:
			value = map[string]any{"doubleValue": a.Value.AsFloat64()}
		}
		out = append(out, keyValue{string(a.Key), value})
	}
	return out
}
