package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Spans are named by routes, never by addresses: the last element of a hook's is a secret.
// What a hook and a person ask for is kept with the span of their request.
func TestTrace_GoesWithTheTrigger(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(f *fixture) {
		f.deps.TraceParent = func(context.Context) string { return "00-trace" }
	})
	f.post("/api/v1/sites/1/runs", "{}")
	if len(f.triggers) == 0 || f.triggers[len(f.triggers)-1].Trace != "00-trace" {
		t.Errorf("%+v", f.triggers)
	}
}

func TestTrace_TellsRouteAndStatus(t *testing.T) {
	t.Parallel()
	var ended []string
	f := newFixture(t, func(f *fixture) {
		f.deps.Trace = func(r *http.Request) (context.Context, func(string, int)) {
			return r.Context(), func(route string, status int) { ended = append(ended, fmt.Sprint(r.Method, " ", route, " ", status)) }
		}
	})
	f.get("/api/v1/sites/1")
	f.get("/api/v1/sites/9")
	f.request("POST", "/hooks/1/not-the-token", "x")
	f.get("/nothing/here")
	want := []string{"GET /api/v1/sites/:site 200", "GET /api/v1/sites/:site 404", "POST /hooks/:site/:token 401", "GET unknown 404"}
	if diff := cmp.Diff(want, slices.Clone(ended)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
