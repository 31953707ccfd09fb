package canonical

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds at which equal changes of many pages are one event of the site.
const (
	MassMinimum = 50
	MassShare   = 5 // one in five
)

// Sweep counts what one pass over a site's pages changed, to tell many equal
// changes (a plugin switched off, a staging host leaked, a hack) from many
// pages that changed.
type Sweep struct {
	looked int
	alike  map[string][]string // change -> pages, at most examples kept
	count  map[string]int
}

// Incident is one change that many pages share.
type Incident struct {
	Change   string   `json:"change"` // e.g. "absent", "target https://staging.example.com/*", "noindex"
	Pages    int      `json:"pages"`
	Looked   int      `json:"looked"`
	Examples []string `json:"examples"`
}

const maxExamples = 10

// Add counts one look. The changes are those that Alike names.
func (s *Sweep) Add(page string, changes []string) {
	if s.alike == nil {
		s.alike, s.count = map[string][]string{}, map[string]int{}
	}
	s.looked++
	for _, c := range changes {
		s.count[c]++
		if len(s.alike[c]) < maxExamples {
			s.alike[c] = append(s.alike[c], page)
		}
	}
}

// Incidents lists the changes that at least MassMinimum pages and more than one
// in MassShare of those looked at have in common.
func (s *Sweep) Incidents() []Incident {
	var out []Incident
	for c, n := range s.count {
		if n >= MassMinimum && n*MassShare > s.looked {
			out = append(out, Incident{Change: c, Pages: n, Looked: s.looked, Examples: s.alike[c]})
		}
	}
	slices.SortFunc(out, func(a, b Incident) int { return cmp.Or(b.Pages-a.Pages, strings.Compare(a.Change, b.Change)) })
	return out
}

// HoldAbsence says that absences are to wait for a second sample.
func (s *Sweep) HoldAbsence() bool {
	return slices.ContainsFunc(s.Incidents(), func(i Incident) bool { return i.Change == "absent" })
}

// Alike names what a step changed, in the ways in which changes of many pages can be the same.
func Alike(s Step, before, after *Evidence) []string {
	var out []string
	if s.Reason == ReasonAbsentOnce || s.Reason == ReasonRemoved || s.Reason == ReasonMassChange {
		out = append(out, "absent")
	}
	if s.Action == ActionSupersede || s.Action == ActionConflict {
		for _, r := range s.Opened {
			out = append(out, "target "+r.Target)
			if u := parseBase(r.Target); u != nil && r.Scope != ScopeSelf {
				out = append(out, "target "+string(u.Origin())+"/*")
			}
		}
	}
	if before != nil && after != nil && !before.Robots.NoIndex && after.Robots.NoIndex {
		out = append(out, "noindex")
	}
	return out
}
