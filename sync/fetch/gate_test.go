package fetch_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/sitemapd/sitemapd/sync/fetch"
)

func TestGated_IsAskedBeforeEachRequest(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		switch r.URL.Path {
		case "/moved":
			w.Header().Set("Location", "/there")
			w.WriteHeader(http.StatusFound)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	for _, row := range []struct {
		path    string
		granted int64 // how often the gate says yes
		served  int64
		outcome fetch.Outcome
	}{
		{"/", 0, 0, fetch.Cancelled},
		{"/", 1, 1, fetch.OK},
		{"/moved", 1, 1, fetch.Cancelled},
		{"/moved", 2, 2, fetch.OK},
		{"/busy", 2, 2, fetch.Cancelled}, // its second attempt was the last that it was granted
	} {
		served.Store(0)
		left := row.granted
		ctx := fetch.Gated(t.Context(), func(context.Context) error {
			if left--; left < 0 {
				return errors.New("the host is somebody else's")
			}
			return nil
		})
		r, _ := newClient(t, loopback()).Read(ctx, fetch.Request{URL: s.URL + row.path}, func(*fetch.Result) error { return nil })
		if r.Outcome != row.outcome || served.Load() != row.served {
			t.Errorf("%s with %d permissions: %s, %d served; want %s, %d", row.path, row.granted, r.Outcome, served.Load(), row.outcome, row.served)
		}
	}
}
