package syncer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// run is one run under way: the lease is held, everything it writes is staged under its number.
type run struct {
	*Engine
	site    models.Site
	lease   models.Lease
	request Request
	log     *slog.Logger

	record    models.Run
	triggers  []models.Trigger // that it serves
	served    []int64
	givenBack bool            // the lease, by the transaction that made the run visible
	hosts     map[string]bool // authorities whose URLs belong to the site, without "www."
	documents map[models.Key]*document
	numbered  map[int32]*document // the same by number, see byNumber
	order     []*document         // in walk order
	numbers   int32               // highest document number given out
	undecided map[models.Key]*models.Removal
	expected  []models.Expectation              // open ones
	vouched   map[models.Key]string             // pages that are said to be gone, and by whom
	told      map[models.Key]models.Expectation // what hooks say moved, by the address that it had
	plugin    pluginReading
	target    map[int32]bool         // documents that a targeted run reads beside the roots; nil for a full run
	listed    map[models.Key][]int32 // documents that listed each named page before the run
	benches   sync.Pool
	slots     chan struct{} // one for each document being parsed and staged

	mu        sync.Mutex
	claimed   map[models.Key]*document   // by final URL, in this walk
	appeared  []models.Key               // pages listed anew, until there are massKeys of them
	total     atomic.Int64               // of those
	mass      bool                       // there were more than massKeys
	pages     atomic.Int64               // entries read, for progress
	strangers map[string]int64           // authorities of other hosts that a first run met, and how often
	limited   string                     // a limit of ours that cut the walk short
	findings  []models.Finding           // of the run as a whole
	compared  map[int32][]models.Finding // those of pages that it saved, by document, see lookAcross
	traces    traces                     // pages that it wrote, see lookAcross
	lastWalk  *walkTime                  // the last complete run that no cache answered; nil until it is asked for
	summary   summary                    // of stored rows, see sums
	batch     batch                      // small differences that wait to be written together
}

// massKeys is how many pages may appear before resolving turns from look-ups to one ordered scan.
const massKeys = 50_000

// execute is the run from first write to last. Its one exit records how it ended.
func (r *run) execute(ctx context.Context) (record models.Run, err error) {
	if r.record.ID == 0 {
		if err := r.beginAnew(ctx); err != nil {
			return models.Run{}, err
		}
	}
	r.record.Site, r.site.Live = r.site.Name, r.record.LiveBefore
	if r.o.Link != nil && len(r.served) > 0 {
		r.o.Link(ctx, r.site.ID, r.served)
	}
	r.log = r.log.With("run", r.record.ID)
	defer func() { record = r.conclude(ctx, err) }()
	if err := r.prepare(ctx); err != nil {
		return r.record, err
	}
	if err := r.expect(ctx, r.triggers); err != nil {
		return r.record, err
	}
	if err := r.aimAt(ctx, r.triggers); err != nil {
		return r.record, err
	}
	r.log.Info("run started", "cause", r.record.Cause, "triggers", len(r.served), "targeted", r.record.Targeted)
	if err := r.traced(ctx, "plugin inventory", r.readPlugin); err != nil {
		return r.record, err
	}
	if err := r.traced(ctx, "walk", r.walk); err != nil {
		return r.record, err
	}
	if err := r.adopt(ctx); err != nil {
		return r.record, err
	}
	var s *settlement
	err = r.traced(ctx, "plan", func(ctx context.Context) (err error) {
		if s, err = r.meet(ctx); err != nil {
			return err
		}
		if r.request.Confirm && r.verdict() == models.VerdictComplete && s.doubtful() {
			if s, err = r.confirm(ctx, s); err != nil {
				return err
			}
		}
		if s, err = r.widen(ctx, s); err != nil {
			return err
		}
		s, err = r.reread(ctx, s)
		return err
	})
	if err != nil {
		return r.record, err
	}
	if err := r.traced(ctx, "apply", func(ctx context.Context) error { return r.settle(ctx, s) }); err != nil {
		return r.record, err
	}
	r.check(ctx)
	return r.record, nil
}

// draft is the record of a run that is to begin, with the triggers that it serves.
func (r *run) draft(ctx context.Context) (models.Run, error) {
	r.triggers, r.served = nil, nil
	if a := r.site.Agenda; a.Triggers || !a.Known {
		triggers, err := r.o.Store.PendingTriggers(ctx, r.site.ID)
		if err != nil {
			return models.Run{}, fmt.Errorf("read triggers: %w", err)
		}
		r.triggers = triggers
	}
	for _, t := range r.triggers {
		r.served = append(r.served, t.ID)
	}
	return models.Run{SiteID: r.site.ID, Cause: r.cause(ctx), StartedAt: micros(r.o.Now()), Triggers: r.served,
		Baseline: r.site.CurrentRun == 0}, nil
}

// beginAnew begins the run of a host that is ours. The site is read anew: another run may have moved it on.
func (r *run) beginAnew(ctx context.Context) error {
	site, err := r.o.Store.Site(ctx, r.site.ID)
	if err != nil {
		return fmt.Errorf("read site %d: %w", r.site.ID, err)
	}
	if HostKey(site.Root) != r.lease.Host {
		return fmt.Errorf("site %s moved to %s, another host: %w", site.Name, site.Root, models.ErrConflict)
	}
	r.site = site
	draft, err := r.draft(ctx)
	if err != nil {
		return err
	}
	if r.record, err = r.o.Store.BeginRun(ctx, r.lease, r.site.ID, draft); err != nil {
		return fmt.Errorf("begin run: %w", err)
	}
	return nil
}

// traced is a step of the run as a span of its own.
func (r *run) traced(ctx context.Context, name string, step func(context.Context) error) error {
	ctx, end := r.span(ctx, name, "", "")
	err := step(ctx)
	end("", err)
	return err
}

// cause turns a scheduled run into a recheck when what a hook said is still to be seen.
func (r *run) cause(ctx context.Context) string {
	if r.request.Cause != models.CauseCron || r.site.Agenda.Known && !r.site.Agenda.Expectations {
		return r.request.Cause
	}
	open, err := r.o.Store.Expectations(ctx, r.site.ID)
	if err != nil {
		return r.request.Cause // the run itself will say what is wrong with the database
	}
	for _, e := range open {
		if e.NextCheck != nil && !e.NextCheck.After(r.o.Now()) {
			return models.CauseRecheck
		}
	}
	return r.request.Cause
}

// aimAt makes the run a targeted one where its triggers name their pages.
func (r *run) aimAt(ctx context.Context, triggers []models.Trigger) error {
	if r.retries(triggers) {
		r.target, r.record.Targeted = map[int32]bool{}, true
		return nil
	}
	if r.record.Cause == models.CauseCron || r.record.Cause == models.CauseConfirm || r.record.Cause == models.CauseManual {
		return nil
	}
	var keys []models.Key
	for _, e := range r.expected {
		keys = append(keys, e.Key)
		if e.PreviousKey != (models.Key{}) {
			keys = append(keys, e.PreviousKey)
		}
	}
	rows, err := r.o.Store.Elsewhere(ctx, r.site.ID, sortKeys(keys))
	if err != nil {
		return fmt.Errorf("find the documents of named pages: %w", err)
	}
	// Every document that lists a named page: after a page shift that one run saw half of, a page has two listings, and it is
	// gone only when its last one is.
	listed := map[models.Key][]int32{}
	for _, row := range rows {
		listed[row.Key] = append(listed[row.Key], row.Document)
	}
	r.listed = listed
	r.target = r.aim(triggers, listed)
	r.record.Targeted = r.target != nil
	return nil
}

// conclude is the one exit: a run that failed leaves nothing visible, and says so.
func (r *run) conclude(ctx context.Context, failure error) models.Run {
	if failure != nil {
		r.record.Error = failure.Error()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := r.o.Store.FailRun(end, r.lease, r.site.ID, r.record.ID, failure.Error()); err != nil && !errors.Is(err, models.ErrLeaseLost) {
			r.log.Error("record the failed run", "error", err)
		}
		level := slog.LevelError
		if ctx.Err() != nil && !errors.Is(failure, models.ErrLeaseLost) { // somebody stopped it, or the daemon
			level = slog.LevelInfo
		}
		r.log.Log(end, level, "run failed", "error", failure)
	} else {
		r.log.Info("run finished", "verdict", r.record.Verdict, "added", r.record.Counts.Added, "removed", r.record.Counts.Removed,
			"changed", r.record.Counts.Changed, "live", r.record.Counts.Live, "requests", r.record.Requests)
	}
	r.step("finished", "")
	if r.o.Observe != nil {
		r.o.Observe(r.site, r.record)
	}
	return r.record
}

func (r *run) prepare(ctx context.Context) error {
	r.hosts = ownHosts(r.site)
	r.slots = make(chan struct{}, r.o.Workers)
	r.benches.New = func() any { return &bench{} }
	stored, err := r.o.Store.Documents(ctx, r.site.ID)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	r.documents = make(map[models.Key]*document, len(stored))
	for i := range stored {
		d := &stored[i] // stays as it was stored; the run changes its own copy
		r.documents[d.Key] = &document{Document: *d, known: true, previous: &d.DocumentVersion, listedBy: d.Parent}
		r.numbers = max(r.numbers, d.Number)
	}
	var removals []models.Removal
	if a := r.site.Agenda; a.Removals || !a.Known {
		if removals, err = r.o.Store.Removals(ctx, r.site.ID); err != nil {
			return fmt.Errorf("read removals: %w", err)
		}
	}
	r.undecided = make(map[models.Key]*models.Removal, len(removals))
	for i := range removals {
		r.undecided[removals[i].Key] = &removals[i]
	}
	return nil
}

// ownHosts lists the authorities whose URLs belong to a site.
func ownHosts(site models.Site) map[string]bool {
	hosts := map[string]bool{}
	add := func(text string) {
		if at := strings.Index(text, "://"); at >= 0 {
			hosts[authorityOf([]byte(text))] = true
		} else if text != "" {
			hosts[strings.TrimPrefix(strings.ToLower(text), "www.")] = true
		}
	}
	add(site.Home)
	for _, root := range site.Roots {
		add(root.URL)
	}
	add(site.Root)
	for _, host := range site.Settings.Hosts {
		add(host)
	}
	return hosts
}

func (r *run) owns(identity []byte) bool { return r.hosts[authorityOf(identity)] }

// authorityOf gives host and port of an identity key, without "www.": the two names of one site.
func authorityOf(identity []byte) string {
	text := string(identity)
	if at := strings.Index(text, "://"); at >= 0 {
		text = text[at+3:]
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	return strings.TrimPrefix(strings.ToLower(text), "www.")
}

// noCache asks caches for the origin's word when somebody waits for a change.
func (r *run) noCache() bool {
	switch r.record.Cause {
	case models.CauseHook, models.CausePing, models.CauseRecheck, models.CauseConfirm:
		return true
	}
	return false
}

// step publishes progress.
func (r *run) step(phase, url string) {
	p := models.Progress{SiteID: r.site.ID, Run: r.record.ID, Phase: phase, Document: url, Pages: r.pages.Load()}
	r.mu.Lock()
	p.Documents = r.record.Documents.Read + r.record.Documents.Unchanged + r.record.Documents.Failed
	p.Known, p.Bytes = int64(len(r.order)), r.record.Bytes
	r.mu.Unlock()
	if phase == "finished" {
		p.Verdict = string(r.record.Verdict)
		if r.record.Error != "" {
			p.Verdict = "failed"
		}
	}
	r.publish(p)
}

func sortedHosts(hosts map[string]bool) []string {
	out := make([]string, 0, len(hosts))
	for host := range hosts {
		out = append(out, host)
	}
	slices.Sort(out)
	return out
}
