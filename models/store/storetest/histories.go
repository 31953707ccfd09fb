package storetest

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// modelPage is what the model knows of one page.
type modelPage struct {
	document int32 // that declares it, 0 when none does
	content  string
	first    int64
	removed  bool
	stage    string // of the undecided case, "" for none
	from     int64  // run that began the case
	ruling   string
	twin     int32 // document with a duplicate listing, 0 for none
}

// model is a site in memory, as it should be after a run.
type model struct {
	pages map[string]modelPage
	good  map[int32]bool
}

func (m model) clone() model { return model{maps.Clone(m.pages), maps.Clone(m.good)} }

// states gives "content state" of every page that the inventory has.
func (m model) states() map[string]string {
	out := map[string]string{}
	for url, p := range m.pages {
		state := models.StateLive
		switch {
		case p.removed:
			state = models.StateRemoved
		case p.document == 0:
			continue
		case p.stage == models.StageLeftWindow:
			state = models.StateStale
		case p.stage != "" && p.ruling == "" && p.stage == models.StageHeld:
			state = models.StateHeld
		case p.stage != "" && p.ruling != models.StageRejected:
			state = models.StatePending
		case !m.good[p.document]:
			state = models.StateStale
		}
		out[url] = p.content + " " + string(state)
	}
	return out
}

const modelDocuments = 3

var modelURLs = []string{"https://m.example/1", "https://m.example/2", "https://m.example/3", "https://m.example/4", "https://m.example/5"}

// history drives one site by random steps.
type history struct {
	*Fixture
	t        *rapid.T
	now      model           // at the current run
	past     map[int64]model // by run
	ended    map[int64]model // the same without what a person ruled after the run's end
	runs     []int64
	expected map[int64][]string // kinds of changes by run, as "kind url"
}

var modelSites atomic.Int64

// histories checks that whatever was staged, killed, failed, finished and ruled: every past run reads as the model was
// then, a page's history has no gap and no overlap, and the feed tells each step once.
func histories(t *testing.T, open func() *store.Store) {
	s := open()
	left := 1 << 30
	if s.Dialect() == store.MySQL { // the same code over a slower wire: fewer do
		left = 30
	}
	if _, watched := watchers.Load(s); watched {
		left = min(left, 30) / 3
	}
	rapid.Check(t, func(rt *rapid.T) {
		if left--; left < 0 {
			return
		}
		f := NewSite(t, s, fmt.Sprintf("m%d.example", modelSites.Add(1)))
		h := &history{Fixture: f, t: rt, now: model{map[string]modelPage{}, map[int32]bool{}}, past: map[int64]model{}, ended: map[int64]model{}, expected: map[int64][]string{}}
		for range rapid.IntRange(1, 6).Draw(rt, "runs") {
			h.step()
		}
		h.check()
		h.followed()
		h.compare()
		h.prune()
	})
}

func (h *history) step() {
	if len(h.runs) > 0 && rapid.IntRange(0, 4).Draw(h.t, "ruling") == 0 {
		h.rule(rapid.Bool().Draw(h.t, "approve"))
	}
	run := h.Begin()
	next := h.now.clone()
	began := map[string]bool{} // one step for each page and run, as an engine decides
	for number := range int32(modelDocuments) {
		verdict := models.VerdictComplete
		if _, known := next.good[number+1]; known && rapid.IntRange(0, 5).Draw(h.t, "fails") == 0 {
			verdict = models.VerdictUnavailable
		}
		if good, known := next.good[number+1]; !known || good != verdict.Read() {
			h.SaveDocument(run, number+1, verdict)
			next.good[number+1] = verdict.Read()
		}
	}
	for range rapid.IntRange(0, 8).Draw(h.t, "steps") {
		url := rapid.SampledFrom(modelURLs).Draw(h.t, "url")
		if !began[url] {
			began[url] = h.change(run, &next, url)
		}
	}
	h.looked()
	switch rapid.IntRange(0, 5).Draw(h.t, "end") {
	case 0: // killed: nothing is written any more
	case 1:
		h.must(h.Store.FailRun(h.Fixture.t.Context(), h.Lease, h.Site.ID, run.ID, "failed"))
	default:
		h.Finish(run)
		last := model{}
		if len(h.runs) > 0 {
			last = h.ended[h.runs[len(h.runs)-1]]
		}
		h.expected[run.ID] = follow(last, h.now, next)
		h.now = next
		h.runs = append(h.runs, run.ID)
		h.past[run.ID], h.ended[run.ID] = next.clone(), next.clone()
	}
	h.looked()
}

// follow gives the changes that follow from two models. told is the first one without what a person ruled since.
func follow(told, before, after model) []string {
	var out []string
	for url, p := range after.pages {
		q, known := before.pages[url]
		was, is := known && q.document != 0 && !q.removed, p.document != 0 && !p.removed
		add := func(kind string) { out = append(out, kind+" "+url) }
		switch {
		case is && !known:
			add(models.KindAdded)
		case is && !was:
			add(models.KindRestored)
		case was && !is:
			add(models.KindRemoved)
		case is && q.content != p.content:
			add(models.KindChanged)
		}
		if is && !was && !after.good[p.document] {
			add(models.KindStale)
		}
		if !was || !is {
			continue
		}
		switch {
		case p.stage != q.stage && p.stage == models.StageHeld:
			add(models.KindHeld)
		case p.stage != q.stage && p.stage == models.StagePending:
			add(models.KindPending)
		case p.stage != q.stage && p.stage == models.StageLeftWindow:
			add(models.KindStale)
		case p.stage == "" && q.stage == models.StageLeftWindow:
			if after.good[p.document] {
				add(models.KindFresh)
			}
			continue
		case p.stage == "" && q.stage != "" && q.ruling != models.StageRejected:
			add(models.KindRestored)
		}
		if ruled := told.pages[url]; q.stage != "" && q.ruling != ruled.ruling {
			switch {
			case q.ruling == models.StageRejected && after.good[p.document]:
				add(models.KindFresh)
			case q.ruling == models.StageRejected:
				add(models.KindStale)
			case p.stage != "" && (ruled.ruling != "" || ruled.stage == models.StageHeld):
				add(models.KindPending)
			}
			if q.ruling == models.StageRejected {
				continue
			}
		}
		if p.stage == "" || p.ruling == models.StageRejected { // what its document is, wherever it is listed now
			live := before.good[q.document]
			if q.stage != "" && q.ruling != models.StageRejected {
				live = true // it was said to be restored
			}
			switch {
			case live && !after.good[p.document]:
				add(models.KindStale)
			case !live && after.good[p.document]:
				add(models.KindFresh)
			}
		}
	}
	slices.Sort(out)
	return out
}

// check compares everything that can be read with the model.
func (h *history) check() {
	fatal := func(what string, want, got any) {
		if diff := cmp.Diff(want, got); diff != "" {
			h.t.Fatalf("%s (-want +got):\n%s", what, diff)
		}
	}
	for _, run := range h.runs {
		want := h.past[run].states()
		got := map[string]string{}
		counts := map[models.State]int64{}
		for _, p := range h.Pages(models.PageFilter{State: models.StateAll, AsOf: models.AsOf{Run: run}}) {
			got[p.URL] = p.Changefreq + " " + string(p.State)
			counts[p.State]++
		}
		fatal(fmt.Sprint("states at run ", run), want, got)
		for _, state := range []models.State{models.StateLive, models.StateStale, models.StatePending, models.StateHeld, models.StateRemoved} {
			n, err := h.Store.CountPages(h.Fixture.t.Context(), h.Site.ID, models.PageFilter{State: state, AsOf: models.AsOf{Run: run}})
			h.must(err)
			fatal(fmt.Sprint("count of ", state, " at run ", run), counts[state], n)
			fatal(fmt.Sprint("list of ", state, " at run ", run), int(n), len(h.Pages(models.PageFilter{State: state, AsOf: models.AsOf{Run: run}})))
		}
		if _, told := h.expected[run]; !told {
			continue
		}
		feed := []string(nil)
		for _, c := range h.Changes(models.ChangeFilter{Run: run}) {
			feed = append(feed, c.Kind+" "+c.URL)
		}
		slices.Sort(feed)
		fatal(fmt.Sprint("changes of run ", run), h.expected[run], feed)
	}
	for _, url := range modelURLs {
		pages, err := h.Store.PageHistory(h.Fixture.t.Context(), h.Site.ID, KeyOf(url))
		h.must(err)
		for i := range pages {
			if last := i == len(pages)-1; last != (pages[i].ToRun == nil) || !last && *pages[i].ToRun != pages[i+1].FromRun {
				h.t.Fatalf("history of %s has a gap or an overlap at %d: %+v", url, i, pages)
			}
		}
		if kept := h.runs; len(kept) > 0 && len(pages) > 0 && pages[0].FromRun < kept[0] {
			h.t.Fatalf("history of %s begins at run %d, before what is kept from run %d on", url, pages[0].FromRun, kept[0])
		}
		for _, run := range h.runs {
			got := ""
			for _, p := range pages {
				if p.FromRun <= run && (p.ToRun == nil || *p.ToRun > run) {
					got = p.Changefreq + " " + string(p.State)
				}
			}
			fatal(fmt.Sprint("history of ", url, " at run ", run), h.past[run].states()[url], got)
		}
	}
}
