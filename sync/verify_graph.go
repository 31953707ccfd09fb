package syncer

import (
	"context"
	"fmt"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/graph"
)

// edgeStorage is what the graph of canonical and redirect edges needs of the database.
type edgeStorage interface {
	EdgeTargets(ctx context.Context, site int64, keys []models.Key) (map[models.Key]models.Key, error)
	EdgeDependents(ctx context.Context, site int64, target models.Key, after *models.Key, limit int) ([]models.Key, error)
	EdgeStates(ctx context.Context, site int64, keys []models.Key) (map[models.Key]models.EdgeState, error)
	DirtyEdges(ctx context.Context, site int64, n int) ([]models.DirtyEdge, error)
	SettleEdges(ctx context.Context, site int64, done []models.DirtyEdge, states map[models.Key]models.EdgeState, next []models.DirtyEdge, news []models.Key) error
	SetEdge(ctx context.Context, site int64, source, target models.Key) error
	Edges(ctx context.Context, site int64, fn func(source, target models.Key, state models.EdgeState) error) error
}

// Edges is a site's graph of canonical and redirect edges as package graph wants it. A URL is named by the 16 bytes of
// its key. It lives as long as its context.
type Edges struct {
	ctx   context.Context // of the one call that uses it
	store edgeStorage
	site  int64
	over  map[string]string // edges that are about to be written; "" for none
}

// NewEdges gives a site's graph for the time of ctx.
func NewEdges(ctx context.Context, store edgeStorage, site int64) *Edges {
	return &Edges{ctx: ctx, store: store, site: site}
}

func edgeKey(k string) (out models.Key) {
	copy(out[:], k)
	return out
}

func edgeName(k models.Key) string {
	if k == (models.Key{}) {
		return ""
	}
	return string(k[:])
}

// Targets implements graph.Edges.
func (e *Edges) Targets(keys []string) (map[string]string, error) {
	out := make(map[string]string, len(keys))
	ask := make([]models.Key, 0, len(keys))
	for _, k := range keys {
		if to, ok := e.over[k]; ok {
			if to != "" {
				out[k] = to
			}
			continue
		}
		ask = append(ask, edgeKey(k))
	}
	found, err := e.store.EdgeTargets(e.ctx, e.site, ask)
	if err != nil {
		return nil, err
	}
	for k, to := range found {
		out[edgeName(k)] = edgeName(to)
	}
	return out, nil
}

// Dependents implements graph.Store.
func (e *Edges) Dependents(target string, after *string, limit int) ([]string, error) {
	var from *models.Key
	if after != nil {
		k := edgeKey(*after)
		from = &k
	}
	found, err := e.store.EdgeDependents(e.ctx, e.site, edgeKey(target), from, limit)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(found))
	for i, k := range found {
		out[i] = edgeName(k)
	}
	return out, nil
}

// States implements graph.Store.
func (e *Edges) States(keys []string) (map[string]graph.State[string], error) {
	ask := make([]models.Key, len(keys))
	for i, k := range keys {
		ask[i] = edgeKey(k)
	}
	found, err := e.store.EdgeStates(e.ctx, e.site, ask)
	if err != nil {
		return nil, err
	}
	out := make(map[string]graph.State[string], len(found))
	for k, s := range found {
		out[edgeName(k)] = stateOf(s)
	}
	return out, nil
}

func stateOf(s models.EdgeState) graph.State[string] {
	return graph.State[string]{Resolution: graph.Resolution(s.Resolution), Final: edgeName(s.Final), Depth: s.Depth, Loop: edgeName(s.Loop)}
}

// Take implements graph.Store.
func (e *Edges) Take(n int) ([]graph.Dirty[string], error) {
	found, err := e.store.DirtyEdges(e.ctx, e.site, n)
	if err != nil {
		return nil, err
	}
	out := make([]graph.Dirty[string], len(found))
	for i, d := range found {
		out[i] = graph.Dirty[string]{Key: edgeName(d.Key), Hop: d.Hop, After: edgeName(d.After), Paging: d.Paging, Seq: d.Seq}
	}
	return out, nil
}

// Commit implements graph.Store. Whoever leads somewhere else now, and whoever names a URL that changed, is queued to be
// judged anew in the same transaction.
func (e *Edges) Commit(done []graph.Dirty[string], states map[string]graph.State[string], next []graph.Dirty[string]) error {
	news := make([]models.Key, 0, len(states))
	for k := range states {
		news = append(news, edgeKey(k))
	}
	for _, d := range done {
		if _, changed := states[d.Key]; d.Hop == 1 && !d.Paging && !changed {
			news = append(news, edgeKey(d.Key))
		}
	}
	return e.store.SettleEdges(e.ctx, e.site, dirtyEdges(done), edgeStates(states), dirtyEdges(next), news)
}

func dirtyEdges(list []graph.Dirty[string]) []models.DirtyEdge {
	out := make([]models.DirtyEdge, len(list))
	for i, d := range list {
		out[i] = models.DirtyEdge{Key: edgeKey(d.Key), Hop: d.Hop, After: edgeKey(d.After), Paging: d.Paging, Seq: d.Seq}
	}
	return out
}

func edgeStates(states map[string]graph.State[string]) map[models.Key]models.EdgeState {
	out := make(map[models.Key]models.EdgeState, len(states))
	for k, s := range states {
		out[edgeKey(k)] = models.EdgeState{Resolution: string(s.Resolution), Final: edgeKey(s.Final), Depth: s.Depth, Loop: edgeKey(s.Loop)}
	}
	return out
}

// SetEdge writes one edge (nil: none) and queues its source.
func (e *Edges) SetEdge(source string, target *string) error {
	var to models.Key
	if target != nil {
		to = edgeKey(*target)
	}
	return e.store.SetEdge(e.ctx, e.site, edgeKey(source), to)
}

// AllEdges reads the whole graph, for audits: 32 bytes an edge are held in memory.
func (e *Edges) AllEdges() (map[string]string, error) {
	out := map[string]string{}
	err := e.store.Edges(e.ctx, e.site, func(source, target models.Key, _ models.EdgeState) error {
		if target != (models.Key{}) {
			out[edgeName(source)] = edgeName(target)
		}
		return nil
	})
	return out, err
}

// AllStates reads where every URL leads, as it is on record.
func (e *Edges) AllStates() (map[string]graph.State[string], error) {
	out := map[string]graph.State[string]{}
	err := e.store.Edges(e.ctx, e.site, func(source, _ models.Key, state models.EdgeState) error {
		out[edgeName(source)] = stateOf(state)
		return nil
	})
	return out, err
}

// Drain works the queue off and says how many states it wrote.
func (e *Edges) Drain() (int, error) {
	_, n, err := graph.Drain[string](e, 0)
	if err != nil {
		return n, fmt.Errorf("follow canonical edges: %w", err)
	}
	return n, nil
}

// lead follows one URL by an edge that is about to be written.
func (e *Edges) lead(from, to models.Key) (canonical.GraphState, error) {
	if to == (models.Key{}) {
		return canonical.GraphState{Resolution: canonical.ResolutionNone}, nil
	}
	ahead := &Edges{ctx: e.ctx, store: e.store, site: e.site, over: map[string]string{edgeName(from): edgeName(to)}}
	states, err := graph.Walk[string](ahead, []string{edgeName(from)})
	if err != nil {
		return canonical.GraphState{}, fmt.Errorf("follow canonical edges: %w", err)
	}
	s := states[edgeName(from)]
	g := canonical.GraphState{Resolution: canonical.Resolution(s.Resolution), FinalKey: canonical.Key(edgeKey(s.Final)), Depth: s.Depth}
	if s.Loop != "" {
		g.LoopID = edgeKey(s.Loop).String()
	}
	return g, nil
}
