package syncer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
)

// newsroom is a lab whose edits are told by hooks, of which some come late, twice, in another order or never.
type newsroom struct {
	*lab
	rng     *rand.Rand
	waiting []models.Trigger // edits whose hooks are on the way
	touched map[string]bool  // pages that hooks of the coming run name: true when the last one says that it is gone
	log     []string
}

// edit makes one edit and its hook.
func (n *newsroom) edit() {
	posts := n.origin.PublishedPosts()
	post := posts[n.rng.IntN(len(posts))]
	var e sitetest.Event
	expect := models.ExpectChanged
	switch n.rng.IntN(9) {
	case 0, 1:
		e, expect = n.origin.Publish(sitetest.Spec{}), models.ExpectListed
	case 2:
		e = n.origin.Edit(post)
	case 3, 4:
		e = n.origin.ChangeSlug(post, fmt.Sprintf("renamed-%d", len(n.log)))
		if expect = models.ExpectMoved; e.PreviousURL == "" {
			expect = models.ExpectChanged
		}
	case 5:
		e, expect = n.origin.Trash(post), models.ExpectGone
	case 6:
		e, expect = n.origin.Delete(post), models.ExpectGone
	case 7:
		e, expect = n.origin.Unpublish(post), models.ExpectGone
	case 8:
		if len(n.gone()) == 0 {
			return
		}
		e, expect = n.origin.Restore(n.gone()[n.rng.IntN(len(n.gone()))]), models.ExpectListed
	}
	if e.Type == "" {
		return
	}
	n.log = append(n.log, fmt.Sprintf("%s %s %s <- %s", expect, e.Type, e.URL, e.PreviousURL))
	n.waiting = append(n.waiting, models.Trigger{SiteID: n.site.ID, Kind: models.CauseHook, Dialect: "standard_webhooks",
		Hints: []models.Hint{{Event: e.Type, URL: e.URL, PreviousURL: e.PreviousURL, PostType: e.PostType, Expect: expect}}})
}

// gone gives the numbers of posts that are not published.
func (n *newsroom) gone() []uint32 {
	published := n.origin.PublishedPosts()
	var out []uint32
	for id := uint32(1); id <= published[len(published)-1]; id++ {
		if _, found := slices.BinarySearch(published, id); !found {
			out = append(out, id)
		}
	}
	return out
}

// deliver stores the hooks that arrive now: mostly all, in order; some stay on the way, some arrive twice or swapped.
func (n *newsroom) deliver() {
	n.Helper()
	n.touched = map[string]bool{}
	if n.rng.IntN(5) == 0 {
		n.rng.Shuffle(len(n.waiting), func(i, j int) { n.waiting[i], n.waiting[j] = n.waiting[j], n.waiting[i] })
	}
	var later []models.Trigger
	for _, t := range n.waiting {
		times := 1
		switch n.rng.IntN(12) {
		case 0:
			later, times = append(later, t), 0
		case 1:
			times = 2
		case 2:
			times = 0
		}
		for range times {
			t.ReceivedAt = n.clock.now()
			if _, _, err := n.store.SaveTrigger(n.Context(), t); err != nil {
				n.Fatal(err)
			}
			h := t.Hints[0]
			n.touched[h.URL] = h.Expect == models.ExpectGone
			if h.PreviousURL != "" {
				n.touched[h.PreviousURL] = h.Expect == models.ExpectMoved
			}
			n.log = append(n.log, fmt.Sprintf("  arrives: %s %s", t.Hints[0].Expect, t.Hints[0].URL))
		}
	}
	n.waiting = later
}

// truthful fails when a run states what is not so. Pages that it removed, moved away or added must be so at the origin now: nothing
// was edited since.
func (n *newsroom) truthful(r models.Run) {
	n.Helper()
	inventory := n.origin.Inventory()
	feed := n.feed(r.ID)
	for _, kind := range []string{models.KindRemoved, models.KindAdded, models.KindRestored, models.KindChanged} {
		for _, url := range feed[kind] {
			if _, listed := inventory[url]; listed == (kind == models.KindRemoved) {
				n.Errorf("run %d (targeted %v) says that %s was %s", r.ID, r.Targeted, url, kind)
			}
		}
	}
	for _, text := range feed[models.KindMoved] {
		from, to, _ := strings.Cut(text, " -> ")
		_, stands := inventory[from]
		if _, listed := inventory[to]; stands || !listed {
			n.Errorf("run %d (targeted %v) says that %s moved to %s", r.ID, r.Targeted, from, to)
		}
	}
	live := n.live()
	if int64(len(live)) > r.Counts.Live+r.Counts.Stale || r.Counts.Live < int64(len(live)) {
		n.Errorf("run %d counts %d live pages, %d are", r.ID, r.Counts.Live, len(live))
	}
	for url, gone := range n.touched {
		_, listed := inventory[url]
		if _, is := live[url]; gone && is && !listed {
			n.Errorf("run %d (targeted %v): %s is live, which a hook of this run says is gone, and so it is", r.ID, r.Targeted, url)
		}
	}
	if n.Failed() {
		n.Fatalf("seed: see the test's name; what happened:\n%s", strings.Join(n.log[max(0, len(n.log)-60):], "\n"))
	}
}

// TestTargeted_RunsStateNothingUntrue makes targeted runs after random edits whose hooks are late, doubled, swapped or lost.
// After each run every statement is true of the site. At the end full runs find nothing that was lost for good, and what
// targeted runs removed by mistake would show as a page that comes back.
func TestTargeted_RunsStateNothingUntrue(t *testing.T) {
	t.Parallel()
	seeds, rounds := uint64(40), 25
	if testing.Short() {
		seeds = 4
	}
	if n, err := strconv.ParseUint(os.Getenv("SITEMAPD_TEST_SEEDS"), 10, 64); err == nil { // for a longer search by hand
		seeds = n
	}
	all := []uint64{107, 108} // a listing of an unread document told as a change; a page removed that had shifted, its return untold
	for seed := range seeds {
		if !slices.Contains(all, seed) {
			all = append(all, seed)
		}
	}
	for _, seed := range all {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			n := &newsroom{rng: rand.New(rand.NewPCG(seed, 7))}
			n.lab = newLab(t, sitetest.Options{Posts: 60, Pages: 2, PerFile: 5, Seed: seed, Layout: []sitetest.Layout{sitetest.Core, sitetest.Yoast, sitetest.RankMath}[seed%3]})
			n.run(false)
			targeted := 0
			for round := range rounds {
				for range 1 + n.rng.IntN(3) {
					n.edit()
					n.clock.advance(time.Second)
				}
				n.deliver()
				n.clock.advance(10 * time.Second)
				cause := models.CauseHook
				if len(n.touched) == 0 {
					cause = models.CauseRecheck
				}
				r := n.recheck(cause)
				n.log = append(n.log, fmt.Sprintf("round %d: run %d targeted %v %+v", round, r.ID, r.Targeted, r.Counts))
				if r.Targeted {
					targeted++
				}
				n.truthful(r)
				n.clock.advance(time.Duration(n.rng.IntN(100)) * time.Second)
			}
			if targeted < rounds/4 {
				t.Errorf("%d of %d runs were targeted", targeted, rounds)
			}
			n.run(true)
			n.clock.advance(time.Hour)
			n.run(true)
			if diff := differ(n.published(), n.live()); diff != "" {
				t.Errorf("after the last full runs: %s\n%s", diff, strings.Join(n.log, "\n"))
			}
		})
	}
}
