package syncer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/graph"
)

// graphAuditStorage is what audits of the graph need of the database.
type graphAuditStorage interface {
	EdgePage(ctx context.Context, site int64, after models.Key, n int) ([]models.CanonicalHead, error)
	SaveGraphAudit(ctx context.Context, lease models.Lease, site int64, a *models.GraphAudit, findings []models.PageFinding) error
	LastGraphAudit(ctx context.Context, site int64) (*models.GraphAudit, error)
}

const (
	graphAuditEvery    = 7 * 24 * time.Hour
	graphAuditExamples = 10
	graphAuditFindings = 1000 // pages that get a finding of their own
)

// graphAudit is an audit under way. It may be left for a run and gone on with: what changes meanwhile is computed by the
// queue, and a page that was passed already is compared by the next audit.
type graphAudit struct {
	models.GraphAudit
	after models.Key
	spent time.Duration
	wrong []differing
}

// differing is one URL whose state on record was not the one computed.
type differing struct {
	head models.CanonicalHead
	want graph.State[string]
}

// AuditGraph follows every edge of a site anew and compares where it leads with what is on record: the queue promises
// that both are the same. Differences are put right, reported on the pages that they concern, and counted. No page is
// fetched; memory does not grow with the site. models.ErrBusy says that somebody else works on the site.
func (v *Verifier) AuditGraph(ctx context.Context, siteID int64) (models.GraphAudit, error) {
	var out models.GraphAudit
	for {
		done := false
		err := v.stay(ctx, siteID, 30*time.Second, func(ctx context.Context, x *visit) (err error) {
			out, done, err = x.auditGraph(ctx)
			return err
		})
		if err != nil || done {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-time.After(3 * v.o.Rest):
		}
	}
}

// graphAuditDue says whether a site's graph is to be audited by the clock.
func (v *Verifier) graphAuditDue(ctx context.Context, site int64) (bool, error) {
	v.mu.Lock()
	at, known := v.audited[site]
	v.mu.Unlock()
	if !known {
		last, err := v.o.Store.LastGraphAudit(ctx, site)
		if err != nil {
			return false, err
		}
		if last != nil {
			at = last.At
		}
		v.mu.Lock()
		v.audited[site] = at
		v.mu.Unlock()
	}
	return v.now().Sub(at) >= graphAuditEvery, nil
}

// auditGraph goes on with a site's audit until it is done or a run is due.
func (x *visit) auditGraph(ctx context.Context) (out models.GraphAudit, done bool, err error) {
	x.mu.Lock()
	a := x.audits[x.site.ID]
	if a == nil {
		a = &graphAudit{GraphAudit: models.GraphAudit{At: x.now()}}
		x.audits[x.site.ID] = a
	}
	x.mu.Unlock()
	began := time.Now()
	done, err = x.compareEdges(ctx, a)
	a.spent += time.Since(began)
	if err != nil || !done {
		return a.GraphAudit, false, err
	}
	a.Seconds = a.spent.Seconds()
	if a.Differences > 0 {
		x.o.Logger.Error("where URLs lead was not what a full computation gives; it was put right", "site", x.site.Name, "urls", a.URLs,
			"differences", a.Differences, "examples", a.Examples)
	}
	findings, err := a.findings()
	if err != nil {
		return a.GraphAudit, false, err
	}
	if err := x.o.Store.SaveGraphAudit(ctx, x.lease, x.site.ID, &a.GraphAudit, findings); err != nil {
		return a.GraphAudit, false, err
	}
	x.mu.Lock()
	delete(x.audits, x.site.ID)
	x.audited[x.site.ID] = a.At
	x.mu.Unlock()
	if x.o.GraphAudited != nil {
		x.o.GraphAudited(x.site, a.GraphAudit)
	}
	return a.GraphAudit, true, nil
}

// compareEdges compares one batch of URLs after the other. What differs is queued, computed and judged anew at once.
func (x *visit) compareEdges(ctx context.Context, a *graphAudit) (done bool, err error) {
	edges := NewEdges(ctx, x.o.Store, x.site.ID)
	if _, err := edges.Drain(); err != nil { // what waits in the queue is no difference
		return false, err
	}
	for {
		heads, err := x.o.Store.EdgePage(ctx, x.site.ID, a.after, graph.Batch)
		if err != nil {
			return false, err
		}
		if len(heads) == 0 {
			return true, nil
		}
		names := make([]string, len(heads))
		for i := range heads {
			names[i] = edgeName(heads[i].Key)
		}
		states, err := graph.Walk[string](edges, names)
		if err != nil {
			return false, fmt.Errorf("follow canonical edges: %w", err)
		}
		var wrong []differing
		for i, h := range heads {
			if want := states[names[i]]; stateOf(h.EdgeState) != want {
				wrong = append(wrong, differing{h, want})
			}
		}
		if err := x.putRight(ctx, edges, wrong); err != nil {
			return false, err
		}
		a.note(wrong)
		a.URLs += int64(len(heads))
		a.after = heads[len(heads)-1].Key
		if wanted, err := x.wanted(ctx); wanted || err != nil {
			return false, err
		}
	}
}

// putRight queues URLs as if their edges had changed: whoever leads through them is computed, and judged, anew too.
func (x *visit) putRight(ctx context.Context, edges *Edges, wrong []differing) error {
	if len(wrong) == 0 {
		return nil
	}
	dirty := make([]models.DirtyEdge, len(wrong))
	for i := range wrong {
		dirty[i] = models.DirtyEdge{Key: wrong[i].head.Key}
	}
	if err := x.o.Store.SettleEdges(ctx, x.site.ID, nil, nil, dirty, nil); err != nil {
		return err
	}
	if _, err := edges.Drain(); err != nil {
		return err
	}
	return x.spread(ctx)
}

func (a *graphAudit) note(wrong []differing) {
	a.Differences += int64(len(wrong))
	for _, d := range wrong {
		if len(a.Examples) < graphAuditExamples {
			a.Examples = append(a.Examples, d.head.URL)
		}
		if d.head.Listed && len(a.wrong) < graphAuditFindings {
			a.wrong = append(a.wrong, d)
		}
	}
}

// findings tells the pages concerned. They are closed by the next look.
func (a *graphAudit) findings() ([]models.PageFinding, error) {
	var out []models.PageFinding
	for _, d := range a.wrong {
		f := canonical.GraphCorrected(d.head.URL, string(d.head.Resolution), d.head.Depth, string(d.want.Resolution), d.want.Depth)
		row, err := findingRow(&canonical.Tracked{Finding: f, FirstSeen: a.At, LastSeen: a.At, Confirmed: 1, State: "new"}, d.head.Key, a.At)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// dueGraphAudit audits the graph where the clock asks for it, and says whether the audit has to be gone on with.
func (x *visit) dueGraphAudit(ctx context.Context) (unfinished bool, err error) {
	due, err := x.graphAuditDue(ctx, x.site.ID)
	if err != nil || !due {
		return false, err
	}
	_, done, err := x.auditGraph(ctx)
	if errors.Is(err, errWanted) {
		return true, nil
	}
	return !done && err == nil, err
}
