package syncer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/sketch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// visit is a stay at one site: its host's lease is held.
type visit struct {
	*Verifier
	site       models.Site
	lease      models.Lease
	home       canonical.Key
	hosts      []string          // of the site, without port and "www."
	generators map[string]string // of documents by URL
	sweep      *sweep
	requests   int
	declarers  map[models.Key]int // how many pages declare a target, as far as it was counted
	unsettled  bool               // some are still to be judged anew
	yieldFrom  time.Time          // from then on runs that become due get the host; by our own clock
}

func (v *Verifier) visit(ctx context.Context, site models.Site, lease models.Lease) (*visit, error) {
	x := &visit{Verifier: v, site: site, lease: lease, home: canonical.KeyOf(site.Home), hosts: hostNames(site), generators: map[string]string{},
		declarers: map[models.Key]int{}}
	documents, err := v.o.Store.DocumentsAt(ctx, site.ID, models.AsOf{})
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	for i := range documents {
		x.generators[documents[i].URL] = documents[i].Generator
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	x.sweep = v.sweeps[site.ID]
	if x.sweep == nil || v.now().Sub(x.sweep.since) > 24*time.Hour {
		x.sweep = &sweep{since: v.now(), known: map[string]int{}}
		v.sweeps[site.ID] = x.sweep
	}
	return x, nil
}

// hostNames lists the names of a site's hosts, without ports.
func hostNames(site models.Site) []string {
	var names []string
	for authority := range ownHosts(site) {
		name := authority
		if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, ']') {
			name = name[:i]
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listing is what the inventory says of a page.
type listing struct {
	listed    bool
	loc       string
	lastmod   time.Time
	documents []string
	generator string
}

func (v *visit) listing(ctx context.Context, key models.Key) (listing, error) {
	var l listing
	err := v.o.Store.Pages(ctx, v.site.ID, models.PageFilter{State: models.StateAll, Key: &key}, func(p *models.Page) error {
		if p.State == models.StateRemoved {
			return nil
		}
		l.listed, l.loc = true, p.URL
		if p.Document != "" {
			l.documents = append(l.documents, p.Document)
		}
		l.documents = append(l.documents, p.Listings...)
		l.generator = v.generators[p.Document]
		if p.Lastmod != nil {
			l.lastmod = p.Lastmod.Instant
		}
		return nil
	})
	if err != nil {
		return l, fmt.Errorf("read the listing of a page: %w", err)
	}
	return l, nil
}

// examine looks at one URL and puts what it says on record, with what the same fetch says of the URLs that it was
// redirected to.
func (v *visit) examine(ctx context.Context, key models.Key, url string) (canonical.Reading, error) {
	s, err := v.known(ctx, key, url)
	if err != nil {
		return "", err
	}
	l, err := v.listing(ctx, key)
	if err != nil {
		return "", err
	}
	a, err := v.lookUnlessWanted(ctx, s)
	if err != nil {
		return "", err
	}
	if a.passing && s.record.Failures.Count == 0 && v.firstTry(key) {
		return "", errAgain
	}
	v.tried(key)
	if err := v.tell(ctx, &a.response, l); err != nil {
		return "", err
	}
	ev := canonical.Extract(a.response)
	if ev.Renews(s.evidence) { // of what the body says now nothing is known
		s.watch.ETag, s.watch.LastModified = "", ""
		full, err := v.lookUnlessWanted(ctx, s)
		if err != nil {
			return "", err
		}
		if err := v.tell(ctx, &full.response, l); err != nil {
			return "", err
		}
		if whole := canonical.Extract(full.response); takes(&whole) {
			a, ev = full, whole
		}
	}
	done := map[canonical.Key]bool{canonical.Key(key): true}
	for i := range ev.Along {
		along := &ev.Along[i]
		if along.Key.IsZero() || done[along.Key] || along.Reading != canonical.ReadingRedirect && along.Status == 0 {
			continue
		}
		done[along.Key] = true
		if err := v.along(ctx, along, &a, i == len(ev.Along)-1); err != nil {
			return "", err
		}
	}
	along := ev.Along
	ev.Along = nil
	if len(along) > 0 { // validators and text belong to the page that was reached
		a.etag, a.lastModified, a.sketch, a.cut = "", "", sketch.Sketch{}, false
	}
	told := ev.Reading
	if ev.HasRemark(canonical.HintNoRobots) { // an answer of the host, not of the page
		told = canonical.ReadingUnreachable
	}
	return told, v.put(ctx, s, l, &ev, &a)
}

// tell adds what sitemaps, and the site's system, say of the URL that was asked and of those that it led through and to.
func (v *visit) tell(ctx context.Context, r *canonical.Response, l listing) error {
	told := func(url string, l listing) (out canonical.Told, err error) {
		for _, document := range l.documents {
			out.Sitemaps = append(out.Sitemaps, canonical.SitemapListing{Document: document, Loc: l.loc})
		}
		out.Config, err = v.configured(ctx, models.Key(canonical.KeyOf(url)), url)
		return out, err
	}
	own, err := told(r.URL, l)
	if err != nil {
		return err
	}
	r.Sitemaps, r.Config = own.Sitemaps, own.Config
	for i := range r.Hops {
		url := r.FinalURL
		if i+1 < len(r.Hops) {
			url = r.Hops[i+1].URL
		}
		key := canonical.KeyOf(url)
		l, err := v.listing(ctx, models.Key(key))
		if err != nil {
			return err
		}
		if r.Along == nil {
			r.Along = map[canonical.Key]canonical.Told{}
		}
		if r.Along[key], err = told(url, l); err != nil {
			return err
		}
	}
	return nil
}

// along records a URL that a redirect led through or to.
func (v *visit) along(ctx context.Context, ev *canonical.Evidence, a *pageAnswer, last bool) error {
	key := models.Key(ev.Key)
	s, err := v.known(ctx, key, ev.Source)
	if err != nil {
		return err
	}
	l, err := v.listing(ctx, key)
	if err != nil {
		return err
	}
	own := *a
	own.response = canonical.Response{URL: ev.Source, FinalURL: ev.Source, Status: ev.Status}
	if last {
		own.response = a.response
	} else {
		own.etag, own.lastModified, own.sketch, own.cut, own.retryAfter = "", "", sketch.Sketch{}, false, 0
	}
	if s.watch.Revision == 0 && weburl.Site([]byte(hostOf(ev.Source))) != weburl.Site([]byte(hostOf(v.site.Home))) {
		s.memory.CrossDomain = true
	}
	return v.put(ctx, s, l, ev, &own)
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

func (v *visit) known(ctx context.Context, key models.Key, url string) (*subject, error) {
	found, err := v.o.Store.Dossiers(ctx, v.site.ID, []models.Key{key})
	if err != nil {
		return nil, err
	}
	return newSubject(found[key], key, url)
}

// put judges one look and writes what came of it; then everybody whom that concerns is judged anew.
func (v *visit) put(ctx context.Context, s *subject, l listing, ev *canonical.Evidence, a *pageAnswer) error {
	j, before := judging{visit: v, s: s, l: l, ev: ev, a: a, at: a.ended, before: s.record}, s.evidence
	for _, step := range []func(context.Context) error{j.judge, j.settle, j.crossed, j.audit} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	look, err := j.pack()
	if err != nil {
		return err
	}
	err = v.o.Store.SaveLook(ctx, v.lease, v.site.ID, look)
	if j.recount {
		clear(v.declarers)
	}
	if errors.Is(err, models.ErrConflict) {
		v.o.Logger.Info("a page was written by somebody else meanwhile; it is looked at again", "url", s.watch.URL)
		return nil
	}
	if err != nil {
		return err
	}
	if l.listed {
		v.sweep.Add(s.watch.URL, canonical.Alike(j.step, s.evidence, ev))
	}
	if err := v.planTargets(ctx, &j); err != nil {
		return err
	}
	if told := append(v.arrived(v.site.ID, ev), turned(before, ev)...); len(told) > 0 {
		if err := v.o.Store.SettleEdges(ctx, v.site.ID, nil, nil, nil, told); err != nil {
			return err
		}
	}
	if look.EdgeMoved || len(look.Stirred) > 0 {
		if _, err := NewEdges(ctx, v.o.Store, v.site.ID).Drain(); err != nil {
			return err
		}
	}
	return v.spread(ctx)
}

// judging is the way of one look from evidence to what is written.
type judging struct {
	*visit
	s      *subject
	l      listing
	ev     *canonical.Evidence
	a      *pageAnswer
	at     time.Time
	before canonical.Record

	verdict  canonical.Verdict
	step     canonical.Step
	head     models.CanonicalHead
	moved    bool         // the edge
	stirred  []models.Key // targets over the limit of declarers, or back, by this look
	recount  bool         // this look declares another target than the one before
	informed bool         // the look told something of the page itself
	shown    *canonical.Evidence
	memory   memory
	touched  *bool // whether the text changed
	again    bool  // no new look: what is known was judged anew
	findings []models.PageFinding
}

// takes says whether a look may say what the page declares, absence included.
func takes(ev *canonical.Evidence) bool {
	return ev.Reading.Clean() || ev.Reading == canonical.ReadingRedirect
}

func (j *judging) judge(ctx context.Context) error {
	in := canonical.Input{Evidence: *j.ev, Flapping: j.before.Flapping(j.at), At: j.at}
	first := canonical.Judge(in)
	edge := models.Key(first.Head.EdgeKey)
	if !takes(j.ev) && j.s.head != nil {
		edge = j.s.head.EdgeKey
	}
	edges := NewEdges(ctx, j.o.Store, j.site.ID)
	graph, err := edges.lead(j.s.watch.Key, edge)
	if err != nil {
		return err
	}
	in.Graph = graph
	names := map[canonical.Key]string{}
	for _, r := range first.Relationships {
		if !r.TargetKey.IsZero() && r.TargetKey != j.ev.Key {
			names[r.TargetKey] = r.Target
		}
	}
	for _, c := range first.Candidates {
		if c.TargetKey != j.ev.Key {
			names[c.TargetKey] = c.Target
		}
	}
	if !graph.FinalKey.IsZero() {
		if in.Graph.Final, err = j.urlOf(ctx, graph.FinalKey, names); err != nil {
			return err
		}
		names[graph.FinalKey] = in.Graph.Final
	}
	// The text of this look, not of the one before, is what targets are compared with.
	source := &subject{watch: j.s.watch, evidence: j.ev, sketch: j.a.sketch, memory: memory{Cut: j.a.cut}}
	if in.Targets, err = j.targets(ctx, source, names, j.before.Current); err != nil {
		return err
	}
	intoLoop(in.Targets, graph)
	j.verdict = canonical.Judge(in)
	unlisted := !j.l.listed && !j.s.memory.Removed.IsZero()
	j.step = canonical.Advance(j.before, canonical.Observed{Evidence: *j.ev, Verdict: j.verdict, Generation: j.a.response.Generation(),
		Started: j.a.started, At: j.at, Unlisted: unlisted, HoldMass: j.sweep.HoldAbsence()})
	return nil
}

func (j *judging) urlOf(ctx context.Context, key canonical.Key, names map[canonical.Key]string) (string, error) {
	if u, ok := names[key]; ok {
		return u, nil
	}
	found, err := j.o.Store.Dossiers(ctx, j.site.ID, []models.Key{models.Key(key)})
	if err != nil {
		return "", err
	}
	if d := found[models.Key(key)]; d != nil {
		return d.Watch.URL, nil
	}
	return "", nil
}

// settle works out everything that follows from the step: head, memory, the text, when to look next.
func (j *judging) settle(ctx context.Context) error {
	s := j.s
	j.informed = takes(j.ev) || j.ev.Reading == canonical.ReadingNotModified
	j.shown = j.ev
	if j.ev.Reading == canonical.ReadingNotModified && s.evidence != nil {
		j.shown = s.evidence
	}
	j.memory = s.memory
	j.memory.Record = j.step.Next
	j.memory.Record.Current, j.memory.Record.Conflict = nil, nil
	j.compareTexts()
	text := j.a.sketch
	if j.ev.Reading == canonical.ReadingNotModified { // the host's page for missing URLs may be known only now
		text = s.sketch
	}
	if (j.ev.Reading == canonical.ReadingRead || j.ev.Reading == canonical.ReadingNotModified) && len(text.Hashes) > 0 {
		soft, err := j.softNotFound(ctx, s.watch.URL, text)
		if err != nil {
			return err
		}
		j.memory.Soft404 = soft
	}
	j.memory.NoRobots = j.ev.HasRemark(canonical.HintNoRobots)
	j.settleHead()
	j.memory.TroubleSince = trouble(j.memory.TroubleSince, j.head.Status, j.head.Resolution, j.at)
	j.memory.RetryAfter = time.Time{}
	if j.a.retryAfter > 0 {
		j.memory.RetryAfter = j.at.Add(j.a.retryAfter)
	}
	if j.informed { // a look that told nothing of the page has not held this lastmod against it
		j.memory.Lastmod = j.l.lastmod
	}
	bearing := j.bearing()
	if bearing != s.memory.Bearing {
		j.memory.Bearing = bearing
		if !j.moved {
			n, err := j.o.Store.CountDependents(ctx, j.site.ID, s.watch.Key, 1)
			if err != nil {
				return err
			}
			j.moved = n > 0
		}
	}
	return nil
}

// compareTexts says whether the text is another than at the look before; small differences, which dates and related
// posts make, tell nothing.
func (j *judging) compareTexts() {
	if j.ev.Reading == canonical.ReadingNotModified {
		no := false
		j.touched = &no
		return
	}
	if j.ev.Reading != canonical.ReadingRead {
		return
	}
	j.memory.Cut = j.a.cut
	a, ok := sketch.Containment(j.s.sketch, j.a.sketch)
	b, ok2 := sketch.Containment(j.a.sketch, j.s.sketch)
	if !ok || !ok2 {
		return
	}
	share, touched := min(a, b), false
	switch {
	case share >= 0.98:
		j.touched = &touched
	case share < 0.90:
		touched = true
		j.touched = &touched
	}
}

// settleHead fills the row that lists read: from this look where it may say, else as it was.
func (j *judging) settleHead() {
	s := j.s
	h := models.CanonicalHead{Key: s.watch.Key, URL: s.watch.URL, Own: "none", EdgeState: models.EdgeState{Resolution: "none"}}
	if s.head != nil {
		h = *s.head
	}
	before := h.EdgeKey
	h.Listed = j.l.listed
	held := j.step.Action == canonical.ActionHold && j.step.Reason != canonical.ReasonRedirected && j.step.Reason != canonical.ReasonLoop || j.step.Action == canonical.ActionKeep
	if takes(j.ev) && !held || j.step.Reason == canonical.ReasonSourceGone {
		n := j.verdict.Head
		h.Target, h.TargetKey, h.Edge, h.EdgeKey, h.EdgeKind = n.Target, models.Key(n.TargetKey), n.Edge, models.Key(n.EdgeKey), string(n.EdgeKind)
		h.Own = "none"
		if n.Resolution == canonical.ResolutionSelf {
			h.Own = "self"
		}
	}
	if j.step.Next.Conflict != nil {
		h.Own, h.Target, h.TargetKey = "conflict", "", models.Key{}
		if h.EdgeKind == string(canonical.KindHTMLLink) || h.EdgeKind == string(canonical.KindHTTPLink) || h.EdgeKind == string(canonical.KindConfig) {
			h.Edge, h.EdgeKey, h.EdgeKind = "", models.Key{}, ""
		}
	} else if h.Own == "conflict" {
		h.Own = "none"
	}
	h.Status, h.Reason = statusOf(j.step.Next.Current, j.verdict.Status, j.verdict.Reason)
	if j.ev.Reading == canonical.ReadingNotModified && len(j.step.Next.Current) == 0 { // it stays for the reason that the body gave
		h.Reason = string(canonical.UnknownReason(j.shown))
	}
	j.moved = h.EdgeKey != before
	if g := j.verdict.Head; j.moved && g.Resolution != "" && h.EdgeKey != (models.Key{}) { // until the queue is worked off
		h.Resolution = string(g.Resolution)
	}
	j.head = h
}

// statusOf is the status of a page: that of its worst declared relationship, or why there is none.
func statusOf(current []canonical.Relationship, status canonical.Status, reason canonical.Reason) (string, string) {
	worst := -1
	for _, r := range current {
		if r.Method.Explicit() && r.Status.Rank() > worst {
			worst, status, reason = r.Status.Rank(), r.Status, r.Reason
		}
	}
	if worst < 0 && status != canonical.StatusUnknown { // this look declares something, but the record was kept as it is
		status, reason = canonical.StatusUnknown, canonical.ReasonNoDeclaration
	}
	return string(status), string(reason)
}

func trouble(since time.Time, status, resolution string, at time.Time) time.Time {
	switch {
	case status != string(canonical.StatusConflicting) && status != string(canonical.StatusInvalid) && resolution != string(canonical.ResolutionLoop):
		return time.Time{}
	case since.IsZero():
		return at
	}
	return since
}

// bearing is what those rest on that name this URL. When it changes they are judged anew.
func (j *judging) bearing() string {
	look := canonical.Look{Source: j.s.watch.URL, Target: j.s.watch.URL, Evidence: *j.shown, Failures: j.step.Next.Failures, Soft404: j.memory.Soft404, At: j.at}
	t := canonical.Validate(look)
	return fmt.Sprintf("%d %d %t %s %s", t.State, t.Validation.Status, t.Validation.Noindex, t.Validation.TargetCanonical, t.Validation.RedirectTarget)
}
