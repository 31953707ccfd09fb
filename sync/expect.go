package syncer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// expectationStorage is what expectations need of the database.
type expectationStorage interface {
	// OpenExpectations stores new ones; one that is stored already (trigger, page, kind) stays as it is. Older open ones
	// about the same page are superseded.
	OpenExpectations(ctx context.Context, lease models.Lease, expectations []models.Expectation) error
	// Expectations gives the open ones of a site, oldest first.
	Expectations(ctx context.Context, site int64) ([]models.Expectation, error)
	// SaveExpectations writes checks, next check, outcome and finding.
	SaveExpectations(ctx context.Context, lease models.Lease, expectations []models.Expectation) error
	// PageHistory gives every state of a page, the current one last.
	PageHistory(ctx context.Context, site int64, key models.Key) ([]models.Page, error)
	// PlanSite sets when the site is due next.
	PlanSite(ctx context.Context, lease models.Lease, site int64, next *time.Time) error
}

// ownKey gives the identity of a URL that a message names; false when it is none of the site's.
func (r *run) ownKey(raw string) (models.Key, bool) {
	u, problem := weburl.Parse(nil, []byte(raw))
	if raw == "" || problem != weburl.None || !r.owns(u.Identity) {
		return models.Key{}, false
	}
	return models.Key(u.Key()), true
}

// expect notes what the triggers of this run say, before anything is fetched: a run that is killed leaves them open.
func (r *run) expect(ctx context.Context, triggers []models.Trigger) error {
	r.vouched = map[models.Key]string{}
	var opened []models.Expectation
	for _, t := range triggers {
		for _, e := range expectations(t, r.ownKey) {
			e.OpenedRun = r.record.ID
			e.NextCheck = nextCheck(e, r.o.Now())
			opened = append(opened, e)
		}
	}
	r.told = map[models.Key]models.Expectation{}
	if len(opened) > 0 {
		before, err := r.o.Store.Expectations(ctx, r.site.ID)
		if err != nil {
			return fmt.Errorf("read expectations: %w", err)
		}
		r.told = moves(append(before, opened...))
		for _, e := range overtaken(before, opened) {
			e.OpenedRun, e.NextCheck = r.record.ID, nextCheck(e, r.o.Now())
			opened = append(opened, e)
		}
		if err := r.o.Store.OpenExpectations(ctx, r.lease, opened); err != nil {
			return fmt.Errorf("note what hooks say: %w", err)
		}
	}
	if a := r.site.Agenda; a.Known && !a.Expectations && len(opened) == 0 {
		return nil
	}
	open, err := r.o.Store.Expectations(ctx, r.site.ID)
	if err != nil {
		return fmt.Errorf("read expectations: %w", err)
	}
	r.expected = open
	if len(opened) == 0 {
		r.told = moves(open)
	}
	r.supersede(opened)
	for _, e := range r.expected {
		switch {
		case e.Outcome != models.OutcomeOpen: // the page has left that address, or came back to its old one
		case e.Kind == models.ExpectGone:
			r.vouched[e.Key] = saidByHook
		case e.Kind == models.ExpectMoved:
			r.vouched[e.PreviousKey] = saidByHook
		}
	}
	return nil
}

// supersede ends what earlier messages said of an address that the page has left since: it will not be listed there again,
// and nobody is at fault for that. A move counts even where a later message about the new address took its place.
func (r *run) supersede(opened []models.Expectation) {
	left := map[models.Key]int64{}
	for _, e := range slices.Concat(opened, r.expected) {
		if e.Kind == models.ExpectMoved {
			left[e.PreviousKey] = max(left[e.PreviousKey], e.Trigger)
		}
	}
	for i := range r.expected {
		e := &r.expected[i]
		if e.Kind != models.ExpectGone && e.Trigger < left[e.Key] {
			at := micros(r.o.Now())
			e.Outcome, e.DecidedRun, e.DecidedAt, e.NextCheck = models.OutcomeSuperseded, r.record.ID, &at, nil
		}
	}
}

// check compares what hooks said with what the run made visible. It decides, plans the next look and never fails the
// run: that is finished already.
func (r *run) check(ctx context.Context) {
	if len(r.expected) == 0 {
		return
	}
	if err := r.checkAll(ctx); err != nil && ctx.Err() == nil {
		r.log.Error("check what hooks said", "error", err)
	}
}

func (r *run) checkAll(ctx context.Context) error {
	next := r.due(micros(r.o.Now()))
	for i := range r.expected {
		e := &r.expected[i]
		if e.Outcome != models.OutcomeOpen {
			continue // superseded before anything was fetched
		}
		now, page, err := r.sight(ctx, e.Key, e.OpenedRun)
		if err != nil {
			return err
		}
		var before sight
		if e.Kind == models.ExpectMoved {
			if before, _, err = r.sight(ctx, e.PreviousKey, e.OpenedRun); err != nil {
				return err
			}
		}
		e.Checks++
		at := micros(r.o.Now())
		e.NextCheck = nextCheck(*e, at)
		switch {
		case met(*e, now, before):
			r.decide(e, models.OutcomeMet, at)
			e.Text = fmt.Sprintf("recorded %s after the message", e.Lag().Round(time.Second))
		case e.NextCheck == nil:
			r.decide(e, models.OutcomeExpired, at)
			r.explain(ctx, e, page)
		case e.Checks > 1:
			r.suspect(ctx, e, page)
		}
		if e.NextCheck != nil {
			next = earliest(next, *e.NextCheck)
		}
	}
	if err := r.o.Store.SaveExpectations(ctx, r.lease, r.expected); err != nil {
		return err
	}
	return r.o.Store.PlanSite(ctx, r.lease, r.site.ID, next)
}

func (r *run) decide(e *models.Expectation, outcome string, at time.Time) {
	e.Outcome, e.DecidedRun, e.DecidedAt, e.NextCheck = outcome, r.record.ID, &at, nil
	if r.o.Expected != nil {
		r.o.Expected(r.site, *e)
	}
}

// sight looks a page up as the finished run left it.
func (r *run) sight(ctx context.Context, key models.Key, since int64) (sight, *models.Page, error) {
	states, err := r.o.Store.PageHistory(ctx, r.site.ID, key)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return sight{}, nil, fmt.Errorf("read a page's state: %w", err)
	}
	if len(states) == 0 {
		return sight{}, nil, nil
	}
	p := &states[len(states)-1]
	s := sight{listed: p.State == models.StateLive || p.State == models.StateStale, fresh: p.FromRun >= since}
	if p.Lastmod != nil {
		s.lastmod = &p.Lastmod.Instant
	}
	return s, p, nil
}

// explain says which layer is at fault when a message never came true: the page itself is asked.
func (r *run) explain(ctx context.Context, e *models.Expectation, page *models.Page) {
	result, _ := r.o.Web.Read(ctx, fetch.Request{URL: e.URL, Origin: r.site.Root, Kind: fetch.Page, Method: http.MethodHead,
		Username: r.site.Settings.Username, Password: r.site.Settings.Password}, func(*fetch.Result) error { return nil })
	lag := e.Lag().Round(time.Second)
	switch {
	case e.Finding == findingEdgeStale:
	case e.Kind == models.ExpectGone && (result.Status == http.StatusNotFound || result.Status == http.StatusGone):
		e.Finding = "declared-but-gone"
		e.Text = fmt.Sprintf("the page answers %d but is still listed after %s: %s", result.Status, lag, advice(r.generator(page)))
	case e.Kind == models.ExpectGone:
		e.Text = fmt.Sprintf("still listed after %s, and the page answers %d: the message was premature", lag, result.Status)
	case result.Outcome == fetch.OK:
		e.Finding = "published-not-declared"
		e.Text = fmt.Sprintf("the page answers 200 but the sitemap does not say so after %s: %s", lag, advice(r.generator(page)))
	default:
		e.Text = fmt.Sprintf("not listed after %s, and the page answers %d: the message was premature", lag, result.Status)
	}
	r.log.Warn("a hook's message did not come true", "url", e.URL, "kind", e.Kind, "finding", e.Finding, "text", e.Text)
}

const findingEdgeStale = "edge-stale"

// suspect asks a document past the caches, with a parameter that no cache knows. When that answer shows what the
// ordinary one does not, a cache on the way is at fault.
func (r *run) suspect(ctx context.Context, e *models.Expectation, page *models.Page) {
	for _, d := range r.likely(e, page) {
		b := r.benches.Get().(*bench)
		a := r.fetchURL(ctx, d, b, pastCaches(d.URL, r.record.ID, e.Checks), nil)
		got := r.read(&document{Document: models.Document{URL: d.URL}}, a, b)
		shown := false
		if got.version.Verdict == models.VerdictComplete {
			b.found.index()
			shown = b.found.has(e.Key) != (e.Kind == models.ExpectGone)
		}
		r.benches.Put(b)
		r.record.Requests += got.requests
		if shown && got.version.Verdict == models.VerdictComplete {
			e.Finding = findingEdgeStale
			e.Text = fmt.Sprintf("%s is served from a cache: asked past it, the document says what the message says", d.URL)
			return
		}
	}
}

func (r *run) generator(page *models.Page) string {
	for _, d := range r.order {
		if page == nil || d.URL == page.Document {
			if d.Generator != "" && d.Generator != "unknown" {
				return d.Generator
			}
		}
	}
	return "unknown"
}
