package canonical_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/graph"
)

// world is a small engine without I/O: it plays a fixture's fetches through
// the whole of the package, as the daemon does with a database in between.
type world struct {
	evidence map[canonical.Key]canonical.Evidence
	failures map[canonical.Key]canonical.Failures
	targets  map[canonical.Key]canonical.Target
	records  map[canonical.Key]canonical.Record
	options  map[canonical.Key]fetch
	edges    map[string]string
	urls     map[string]string
	looks    []*look
}

// look is what one fetch came to for one URL, in a form to read.
type look struct {
	URL           string   `json:"url"`
	At            string   `json:"at"`
	Reading       string   `json:"reading"`
	Charset       string   `json:"charset,omitempty"`
	Head          any      `json:"head,omitempty"`
	Items         []string `json:"items,omitempty"`
	Remarks       []string `json:"remarks,omitempty"`
	Status        string   `json:"status"`
	Reason        string   `json:"reason,omitempty"`
	Relationships []string `json:"relationships,omitempty"`
	Candidates    []string `json:"candidates,omitempty"`
	Conflict      []string `json:"conflict,omitempty"`
	Resolution    string   `json:"resolution"`
	Action        string   `json:"action"`
	Current       []string `json:"current,omitempty"`
	Closed        []string `json:"closed,omitempty"`
	Findings      []string `json:"findings,omitempty"`

	ev       canonical.Evidence
	v        canonical.Verdict
	step     canonical.Step
	findings []canonical.Finding
	replaced bool
}

func play(t *testing.T, f fixture) *world {
	t.Helper()
	w := &world{map[canonical.Key]canonical.Evidence{}, map[canonical.Key]canonical.Failures{}, map[canonical.Key]canonical.Target{},
		map[canonical.Key]canonical.Record{}, map[canonical.Key]fetch{}, map[string]string{}, map[string]string{}, nil}
	for _, x := range f.fetches {
		ev := canonical.Extract(x.response)
		all := append([]canonical.Evidence{ev}, ev.Along...)
		for i := range all {
			w.learn(&all[i], x)
		}
		for i := len(all) - 1; i >= 0; i-- {
			w.judge(all[i], x)
		}
	}
	return w
}

// learn takes an answer as knowledge about a URL that others may name.
func (w *world) learn(e *canonical.Evidence, x fetch) {
	w.failures[e.Key] = w.failures[e.Key].Note(e.Reading, x.at)
	before := w.targets[e.Key]
	look := canonical.Look{Source: "https://example.com/", Target: e.Source, Evidence: *e, Failures: w.failures[e.Key], At: x.at,
		Soft404: x.opts["soft404"] != nil}
	if _, ok := w.targets[e.Key]; ok {
		look.Before = &before
	}
	for _, c := range []canonical.Compared{canonical.ComparedMatch, canonical.ComparedMismatch, canonical.ComparedNear} {
		if v := x.opts["content"]; v != nil && v[0] == c.String() {
			look.Content = c
		}
		if v := x.opts["identifier"]; v != nil && v[0] == c.String() {
			look.Identifier = c
		}
	}
	w.targets[e.Key] = canonical.Validate(look)
	w.evidence[e.Key] = *e
	w.urls[e.Key.String()] = e.Source
	w.options[e.Key] = x
}

func (w *world) judge(e canonical.Evidence, x fetch) {
	rec := w.records[e.Key]
	in := canonical.Input{Evidence: e, Targets: w.targets, At: x.at, Flapping: rec.Flapping(x.at)}
	v := canonical.Judge(in)
	if e.Reading.Clean() || e.Reading == canonical.ReadingRedirect {
		delete(w.edges, e.Key.String())
		if !v.Head.EdgeKey.IsZero() {
			w.edges[e.Key.String()] = v.Head.EdgeKey.String()
			w.urls[v.Head.EdgeKey.String()] = v.Head.Edge
		}
	}
	if s := graph.Full(w.edges)[e.Key.String()]; s.Resolution != "" {
		in.Graph = canonical.GraphState{Resolution: canonical.Resolution(s.Resolution), Final: w.urls[s.Final], Depth: s.Depth, LoopID: w.urls[s.Loop]}
		if s.Final != "" {
			_ = in.Graph.FinalKey.UnmarshalText([]byte(s.Final))
		}
		v = canonical.Judge(in)
	}
	o := canonical.Observed{Evidence: e, Verdict: v, At: x.at, Generation: x.response.Generation(), Unlisted: x.opts["unlisted"] != nil}
	step := canonical.Advance(rec, o)
	w.records[e.Key] = step.Next
	c := canonical.Case{Evidence: e, Verdict: v, Failures: w.failures[e.Key], Home: canonical.KeyOf("https://example.com/"), Soft404: x.opts["soft404"] != nil,
		Listing: canonical.Listing{Listed: x.opts["sitemap"] != nil}, BareArchive: x.opts["archive"] != nil}
	w.add(e, v, step, canonical.Report(c), x)
}

func (w *world) add(e canonical.Evidence, v canonical.Verdict, step canonical.Step, findings []canonical.Finding, x fetch) {
	for _, l := range w.looks {
		l.replaced = l.replaced || l.URL == e.Source
	}
	l := &look{URL: e.Source, At: x.at.Sub(epoch).String(), Reading: string(e.Reading), Status: string(v.Status), Reason: string(v.Reason),
		Resolution: string(v.Head.Resolution), ev: e, v: v, step: step, findings: findings}
	if e.Charset != "" {
		l.Charset = e.Charset + " (" + e.CharsetFrom + ")"
	}
	if e.Head != (canonical.DocumentHead{}) {
		l.Head = e.Head
	}
	if v.Head.Depth > 0 {
		l.Resolution += fmt.Sprintf(" %d %s%s", v.Head.Depth, v.Head.Final, v.Head.LoopID)
	}
	for _, it := range e.Items {
		l.Items = append(l.Items, itemText(&it))
	}
	for _, r := range e.Remarks {
		l.Remarks = append(l.Remarks, strings.TrimSpace(fmt.Sprintf("%s %s line %d", r.Hint, r.Detail, r.Line)))
	}
	for _, r := range v.Relationships {
		l.Relationships = append(l.Relationships, relationText(r))
	}
	for _, c := range v.Candidates {
		l.Candidates = append(l.Candidates, fmt.Sprintf("%s %.2f %s %v", c.Rule, c.Score, c.Target, c.Signals))
	}
	if v.Conflict != nil {
		l.Conflict = append(l.Conflict, fmt.Sprint(v.Conflict.Kinds))
		for _, m := range v.Conflict.Members {
			l.Conflict = append(l.Conflict, fmt.Sprintf("%s %s", m.Signal, m.Target))
		}
	}
	l.Action = strings.TrimSpace(string(step.Action) + " " + string(step.Reason))
	for _, r := range step.Next.Current {
		l.Current = append(l.Current, relationText(r))
	}
	for _, r := range step.Closed {
		l.Closed = append(l.Closed, relationText(r)+" end "+string(r.EndReason))
	}
	for _, f := range findings {
		l.Findings = append(l.Findings, f.Code+": "+f.Text)
	}
	w.looks = append(w.looks, l)
}

func itemText(it *canonical.Item) string {
	s := fmt.Sprintf("%s %s:%d:%d", it.Kind, it.Place, it.Line, it.Offset)
	if it.Hop > 0 {
		s += fmt.Sprintf(" hop %d %d", it.Hop, it.Status)
	}
	raw := it.Raw
	if len(raw) > 200 {
		raw = raw[:200] + "..."
	}
	s += fmt.Sprintf(" %q", raw)
	if it.URL != "" {
		u := it.URL
		if len(u) > 200 {
			u = u[:200] + "..."
		}
		s += " -> " + u + " (" + string(it.Scope) + ")"
	}
	if it.Accepted {
		s += " accepted"
	} else {
		s += " refused: " + string(it.Reason)
	}
	if len(it.Hints) > 0 {
		s += fmt.Sprintf(" hints %v", it.Hints)
	}
	if it.Node != nil {
		s += fmt.Sprintf(" node %s %s %s", it.Node.Syntax, it.Node.Type, it.Node.Property)
	}
	if it.ID != "" {
		s += " id " + it.ID
	}
	if it.Lang != "" {
		s += " lang " + it.Lang
	}
	return s
}

func relationText(r canonical.Relationship) string {
	u := r.Target
	if len(u) > 200 {
		u = u[:200] + "..."
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.2f %s %s -> %s (%s) %s", r.Rule, r.Score, r.Status, r.Method, u, r.Scope, r.Reason))
}

// hints says whether the look carries a hint, in a statement or as a remark with that detail.
func (l *look) hints(h canonical.Hint, detail string) bool {
	for _, it := range l.ev.Items {
		if detail == "" && it.HasHint(h) {
			return true
		}
	}
	for _, r := range l.ev.Remarks {
		if r.Hint == h && strings.Contains(r.Detail, detail) {
			return true
		}
	}
	return false
}
