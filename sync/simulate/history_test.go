package simulate_test

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"
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

var others = []weight{{"clock", 8}, {"fault", 14}, {"stale", 4}, {"offset", 2}, {"outcome", 5}, {"heal", 8}, {"hook", 8}, {"approve", 5},
	{"reject", 3}, {"root", 2}, {"reopen", 1}}

func drawn(t *rapid.T, label string, weights []weight) string {
	total := 0
	for _, w := range weights {
		total += w.n
	}
	at := rapid.IntRange(0, total-1).Draw(t, label)
	for _, w := range weights {
		if at -= w.n; at < 0 {
			return w.do
		}
	}
	return ""
}

func number(t *rapid.T, to int) int { return rapid.IntRange(0, to).Draw(t, "n") }

func drawEdit(t *rapid.T) op {
	return op{Do: drawn(t, "edit", edits), A: number(t, 999), B: number(t, 999), C: number(t, 9)}
}

func drawRun(t *rapid.T) op {
	o := op{Do: "run", A: number(t, 999), B: number(t, 3)}
	if number(t, 9) < 3 {
		for range 1 + number(t, 1) {
			o.Torn = append(o.Torn, torn{1 + number(t, 12), drawEdit(t)})
		}
	}
	switch n := number(t, 99); {
	case n < 10:
		o.Fail = &failure{killStatement, 1 + number(t, 400)}
	case n < 16:
		o.Fail = &failure{killBefore, 1 + number(t, 60)}
	case n < 21:
		o.Fail = &failure{killAfter, 1 + number(t, 60)}
	case n < 25:
		o.Fail = &failure{failBefore, 1 + number(t, 60)}
	case n < 29:
		o.Fail = &failure{failAfter, 1 + number(t, 60)}
	}
	return o
}

func drawOp(t *rapid.T) op {
	switch n := number(t, 99); {
	case n < 36:
		return drawRun(t)
	case n < 74:
		return drawEdit(t)
	}
	return op{Do: drawn(t, "other", others), A: number(t, 999), B: number(t, 999), C: number(t, 9)}
}

func oneIn(t *rapid.T, outOf int) bool { return number(t, outOf-1) == 0 }

func drawSetup(t *rapid.T) setup {
	s := setup{Layout: number(t, 2), PerFile: 2 + number(t, 10), Posts: number(t, 40), Pages: number(t, 6), Gzip: oneIn(t, 3), Conditional: oneIn(t, 2),
		NoPosts404: oneIn(t, 4), Gone: oneIn(t, 2), GuardPages: rapid.SampledFrom([]int{0, 0, 1, 3, 6}).Draw(t, "guard")}
	if oneIn(t, 8) { // files as full as those of plugins that list their newest pages alone
		s.PerFile, s.Posts = 50, 45+number(t, 60)
	}
	if oneIn(t, 2) {
		s.Categories, s.Tags, s.Users = number(t, 4), number(t, 8), number(t, 3)
	}
	if oneIn(t, 4) {
		s.BlogPage = 5 + number(t, 15)
	}
	s.Release, s.TwoRoots = oneIn(t, 4), oneIn(t, 6)
	return s
}

// histories makes lives of least to most steps.
func histories(least, most int) *rapid.Generator[history] {
	return rapid.Custom(func(t *rapid.T) history {
		h := history{Setup: drawSetup(t)}
		for range rapid.IntRange(least, most).Draw(t, "steps") {
			h.Steps = append(h.Steps, drawOp(t))
		}
		return h
	})
}

// made is the history of a seed.
func made(seed int) history {
	h := histories(40, 56).Example(seed)
	h.Seed = seed
	return h
}
