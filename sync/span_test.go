package syncer_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	syncer "github.com/sitemapd/sitemapd/sync"

	"github.com/sitemapd/sitemapd/internal/sitetest"
)

type spanKey struct{}

// spans remembers each span as "parent > name outcome" with the number of its documents left out.
type spans struct {
	mu  sync.Mutex
	all []string
	on  []string // what spans worked on
}

func (s *spans) begin(ctx context.Context, name, key, value string) (context.Context, func(string, error)) {
	parent, _ := ctx.Value(spanKey{}).(string)
	return context.WithValue(ctx, spanKey{}, name), func(outcome string, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		text := strings.TrimSpace(parent + " > " + name + " " + outcome)
		if err != nil {
			text += " failed"
		}
		s.all = append(s.all, text)
		if key != "" {
			s.on = append(s.on, key+"="+value)
		}
	}
}

func TestEngine_TracesItsSteps(t *testing.T) {
	t.Parallel()
	l := newLab(t, sitetest.Options{Posts: 3})
	var s spans
	l.restart(func(o *syncer.Options) { o.Span = s.begin })
	l.run(false)
	documents := len(l.origin.Documents())
	slices.Sort(s.all)
	got := map[string]int{}
	for _, text := range s.all {
		got[text]++
	}
	want := map[string]int{"> run complete": 1, "run > walk": 1, "walk > document complete": documents, "document > fetch ok": documents, "run > plan": 1, "run > apply": 1,
		"run > plugin inventory": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !slices.Contains(s.on, "sitemapd.site=shop") || !slices.Contains(s.on, "url.full="+l.origin.Index()) {
		t.Errorf("%v", s.on)
	}
}
