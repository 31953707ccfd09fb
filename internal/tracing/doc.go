// Package tracing sends OpenTelemetry traces of runs, requests and hooks, when somebody asks for them. It is the only
// package that knows OpenTelemetry: the engine and the HTTP side get plain functions, nil while tracing is off, so that
// it costs nothing then.
//
// The SDK decides what is sampled and batches it (OTEL_TRACES_SAMPLER, OTEL_BSP_…). What is sent is OTLP over HTTP in its
// JSON form, written here: the official exporter brings gRPC and its descriptors, 6 MB of program and 15 ms of start, for
// those too who never trace. It imports nothing of ours.
package tracing
