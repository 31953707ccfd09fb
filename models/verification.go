package models

import "time"

// Verification is how far the pages of a site are verified, and what waits.
type Verification struct {
	At          time.Time        `json:"at"`
	Pages       int64            `json:"pages" doc:"Listed pages that are watched."`
	Verified    int64            `json:"verified" doc:"Of them, those that were looked at."`
	Statuses    map[string]int64 `json:"statuses" doc:"Listed pages by what is known of their canonical URL: unknown, declared, validated, conflicting, invalid. Stale is worked out when a page is read."`
	Resolutions map[string]int64 `json:"resolutions" doc:"Listed pages by where their canonical links and permanent redirects lead: self, none, chain, loop, into_loop, conflict, too_long."`
	Conflicts   map[string]int64 `json:"conflicts" doc:"Open contradictions by kind; one may be of several kinds."`
	Waiting     map[string]int64 `json:"waiting" doc:"Looks that are due by class, in the order of work: hook, moved, target, first, clock."`
	Due         int64            `json:"due" doc:"Looks that are due, of all classes."`
	OldestDue   *time.Time       `json:"oldest_due,omitempty" doc:"Since when the one that waits longest is due."`
	Unsettled   int64            `json:"unsettled" doc:"URLs whose place in the graph, or whose judgement, is to be worked out anew."`
	Findings    int64            `json:"findings" doc:"On pages, open and not muted."`
	Muted       int64            `json:"muted" doc:"Mutes in force."`
	Incidents   int64            `json:"incidents" doc:"Changes that many pages shared, going on in the last 7 days."`
	Host        string           `json:"host,omitempty"`
	Budget      int64            `json:"budget" doc:"Looks that the host may be asked for a day; those that hooks name come on top."`
	Spent       int64            `json:"spent" doc:"Of today's budget (UTC)."`
	GraphAudit  *GraphAudit      `json:"graph_audit,omitempty" doc:"The last comparison of where URLs lead with a full computation."`
}

// QueueAge is how long the oldest due look has been waiting; zero if none is due.
func (v *Verification) QueueAge() time.Duration {
	if v.OldestDue == nil || v.OldestDue.After(v.At) {
		return 0
	}
	return v.At.Sub(*v.OldestDue)
}

// LookClasses names the classes of looks in the order of work.
var LookClasses = []string{LookHook: "hook", LookMoved: "moved", LookTarget: "target", LookFirst: "first", LookClock: "clock"}

// GraphAudit is one comparison of where a site's URLs lead, as it is on record, with a full computation of it.
type GraphAudit struct {
	At          time.Time `json:"at"`
	Seconds     float64   `json:"seconds"`
	URLs        int64     `json:"urls" doc:"With an edge: a canonical link or a permanent redirect."`
	Differences int64     `json:"differences" doc:"Whose state on record was another; each was put right."`
	Examples    []string  `json:"examples,omitempty"`
}
