// Package client speaks sitemapd's HTTP API in Go. Its methods follow docs/openapi.json
// one by one; a test in package handlers holds each against the real server.
//
// It promises that lists are read to their end page by page at one run, that an answer
// which is no success comes back as *Problem, and that nothing is retried on its own:
// StartRun takes an idempotency key so that the caller safely can.
//
// It imports models alone, so that programs outside can use it without the daemon.
package client
