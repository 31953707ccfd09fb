package simulate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// history is one simulated life: what the site is like at first, and what happens, step by step.
type history struct {
	Seed  int   `json:"seed"`
	Setup setup `json:"setup"`
	Steps []op  `json:"steps"`
	// Note says, in a fixture, what it once broke.
	Note string `json:"note,omitempty"`
}

type setup struct {
	Layout      int  `json:"layout,omitempty"`
	PerFile     int  `json:"per_file"`
	Posts       int  `json:"posts,omitempty"`
	Pages       int  `json:"pages,omitempty"`
	Categories  int  `json:"categories,omitempty"`
	Tags        int  `json:"tags,omitempty"`
	Users       int  `json:"users,omitempty"`
	Gzip        bool `json:"gzip,omitempty"`
	Conditional bool `json:"conditional,omitempty"`
	BlogPage    int  `json:"blog_page,omitempty"`
	NoPosts404  bool `json:"no_posts_404,omitempty"`
	Gone        bool `json:"gone,omitempty"`
	GuardPages  int  `json:"guard_pages,omitempty"`
	Release     bool `json:"release,omitempty"` // held removals go by themselves after an hour
	TwoRoots    bool `json:"two_roots,omitempty"`
	Window      int  `json:"window,omitempty"` // a rolling window beside the other documents, see its kinds
}

// op is one step. Numbers name their targets by the rest of a division, so that every operation makes sense anywhere.
type op struct {
	Do string `json:"do"`
	A  int    `json:"a,omitempty"`
	B  int    `json:"b,omitempty"`
	C  int    `json:"c,omitempty"`
	// Of a run: edits made while it reads, each before the request with its number.
	Torn []torn `json:"torn,omitempty"`
	// Of a run: the statement or call at which the daemon dies or the database fails.
	Fail *failure `json:"fail,omitempty"`
}

type torn struct {
	Request int `json:"request"`
	Edit    op  `json:"edit"`
}

type failure struct {
	Kind string `json:"kind"` // see the kinds below
	At   int    `json:"at"`
	// Share places it where At is 0: in thousandths of what the last run that ended well needed.
	Share int `json:"share,omitempty"`
}

// Kinds of failures.
const (
	killStatement = "kill-statement" // the daemon dies before the n-th statement
	killBefore    = "kill-before"    // ... before the n-th call of the store
	killAfter     = "kill-after"     // ... after it, before the answer is seen
	failBefore    = "fail-before"    // the n-th call fails, the daemon lives
	failAfter     = "fail-after"     // the n-th call does its work and reports a failure
)

func (o op) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

type weight struct {
	do string
	n  int
}

var edits = []weight{{"publish", 10}, {"edit", 8}, {"slug", 4}, {"trash", 6}, {"unpublish", 3}, {"delete", 6}, {"restore", 8},
	{"import", 2}, {"share", 2}, {"reorder", 4}, {"per-file", 2}, {"layout", 2}, {"zone", 2}, {"scheme", 1}, {"permalinks", 1}, {"purge", 1}}

var others = []weight{{"clock", 8}, {"fault", 14}, {"stale", 4}, {"offset", 2}, {"outcome", 5}, {"heal", 8}, {"hook", 8}, {"retry", 3}, {"approve", 5},
	{"reject", 3}, {"root", 2}, {"reopen", 1}}

// rolls are what happens to a rolling window; "day" lets it go on.
var rolls = []weight{{"article", 8}, {"withdraw", 2}, {"day", 4}, {"window-fault", 3}, {"window-heal", 3}}

// dice makes a history's choices. They are even: a generator that prefers small numbers, as those of property tests do so
// that they shrink well, let half of all runs die at their first statement and none at a late one.
type dice struct{ *rand.Rand }

// number is one of 0 to to.
func (d dice) number(to int) int { return d.IntN(to + 1) }

func (d dice) oneIn(outOf int) bool { return d.IntN(outOf) == 0 }

func (d dice) of(weights []weight) string {
	total := 0
	for _, w := range weights {
		total += w.n
	}
	at := d.IntN(total)
	for _, w := range weights {
		if at -= w.n; at < 0 {
			return w.do
		}
	}
	return ""
}

func (d dice) edit() op {
	return op{Do: d.of(edits), A: d.number(999), B: d.number(999), C: d.number(9)}
}

func (d dice) run() op {
	o := op{Do: "run", A: d.number(999), B: d.number(3)}
	if d.number(9) < 3 {
		for range 1 + d.number(1) {
			o.Torn = append(o.Torn, torn{1 + d.number(12), d.edit()})
		}
	}
	switch n := d.number(99); {
	case n < 10:
		o.Fail = &failure{Kind: killStatement, Share: 1 + d.number(999)}
	case n < 16:
		o.Fail = &failure{Kind: killBefore, Share: 1 + d.number(999)}
	case n < 21:
		o.Fail = &failure{Kind: killAfter, Share: 1 + d.number(999)}
	case n < 25:
		o.Fail = &failure{Kind: failBefore, Share: 1 + d.number(999)}
	case n < 29:
		o.Fail = &failure{Kind: failAfter, Share: 1 + d.number(999)}
	}
	return o
}

func (d dice) op() op {
	switch n := d.number(99); {
	case n < 36:
		return d.run()
	case n < 74:
		return d.edit()
	}
	return op{Do: d.of(others), A: d.number(999), B: d.number(999), C: d.number(9)}
}

func (d dice) setup() setup {
	s := setup{Layout: d.number(2), PerFile: 2 + d.number(10), Posts: d.number(40), Pages: d.number(6), Gzip: d.oneIn(3), Conditional: d.oneIn(2),
		NoPosts404: d.oneIn(4), Gone: d.oneIn(2), GuardPages: []int{0, 0, 1, 3, 6}[d.number(4)]}
	if d.oneIn(8) { // files as full as those of plugins that list their newest pages alone
		s.PerFile, s.Posts = 50, 45+d.number(60)
	}
	if d.oneIn(2) {
		s.Categories, s.Tags, s.Users = d.number(4), d.number(8), d.number(3)
	}
	if d.oneIn(4) {
		s.BlogPage = 5 + d.number(15)
	}
	s.Release, s.TwoRoots = d.oneIn(4), d.oneIn(6)
	return s
}

// made is the history of a seed: 40 steps or some more.
func made(seed int) history {
	d := dice{rand.New(rand.NewPCG(uint64(seed), 0x517))}
	h := history{Seed: seed, Setup: d.setup()}
	for range 40 + d.number(6) {
		h.Steps = append(h.Steps, d.op())
	}
	h.rolling()
	h.sleeping()
	return h
}

// rolling adds a rolling window to some histories: by dice of its own, so that all else of a seed is what it was.
func (h *history) rolling() {
	d := dice{rand.New(rand.NewPCG(uint64(h.Seed), 0x1107))}
	if h.Setup.Window = []int{0, 0, 0, newsWindow, newestWindow}[d.number(4)]; h.Setup.Window == 0 {
		return
	}
	steps := h.Steps
	h.Steps = nil
	for _, step := range steps {
		if d.oneIn(3) {
			h.Steps = append(h.Steps, op{Do: d.of(rolls), A: d.number(999), B: d.number(999), C: d.number(9)})
		}
		h.Steps = append(h.Steps, step)
	}
}

// sleeping lets a daemon stand still in the midst of runs of some histories, and another one take its host over: by dice of
// its own too.
func (h *history) sleeping() {
	d := dice{rand.New(rand.NewPCG(uint64(h.Seed), 0x51ee9))}
	if !d.oneIn(3) {
		return
	}
	for i := range h.Steps {
		if o := &h.Steps[i]; o.Do == "run" && o.Fail == nil && d.oneIn(5) {
			o.Fail = &failure{Kind: freezeBefore, Share: 1 + d.number(999)}
		}
	}
}
