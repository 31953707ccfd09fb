package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
)

// forgetLease is how long a host is kept from runs by whoever forgets and died; it is renewed thrice in that time. Each
// bounded transaction proves that it still holds.
const forgetLease = time.Minute

// forget takes the host and forgets what no run from one on shows. A host that is walked is models.ErrBusy.
func forget(ctx context.Context, s *store.Store, site models.Site, run int64) (pruned models.Pruned, err error) {
	lease, err := s.AcquireLease(ctx, syncer.HostKey(site.Root), "prune-"+strconv.FormatInt(time.Now().UnixNano(), 36), forgetLease)
	if err != nil {
		return pruned, err
	}
	renewing, stop := context.WithCancel(ctx)
	var renewal sync.WaitGroup
	held := lease
	renewal.Go(func() {
		every := time.NewTicker(forgetLease / 3)
		defer every.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-every.C:
				// A lease that is lost is told by the next transaction, which changes nothing then.
				_ = s.RenewLease(renewing, &held, forgetLease)
			}
		}
	})
	defer func() {
		stop()
		renewal.Wait()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, s.ReleaseLease(end, lease))
	}()
	return s.Prune(ctx, lease, site.ID, run)
}

// Retention is looked after this often, and sooner for a site whose host was busy.
const (
	forgetEvery = 6 * time.Hour
	forgetAgain = time.Minute
)

// leastRetention is kept whatever a site says: a slip of the pen must not cost the history of today.
const leastRetention = 24 * time.Hour

// retention forgets, site by site, what is older than the site keeps.
type retention struct {
	*app
	store *store.Store
	kept  map[int64]int64 // by site: the oldest run that the last look kept
}

// forgetting looks after the retention of all sites until ctx ends. Without any it only reads the sites now and then:
// a setting of one may come at any time.
func (d *daemon) forgetting(ctx context.Context) {
	r := retention{app: d.app, store: d.store, kept: map[int64]int64{}}
	next := time.NewTimer(forgetAgain) // after a start runs go first
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		wait := forgetEvery
		if !r.look(ctx, time.Now().UTC()) {
			wait = forgetAgain
		}
		next.Reset(wait)
	}
}

// look forgets what is too old at a moment, of every site. It reports whether every site was done; a host that is walked is
// not, and is left alone.
func (r *retention) look(ctx context.Context, now time.Time) bool {
	sites, err := r.store.Sites(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Error("look after the retention", "error", err)
		}
		return false
	}
	all := true
	for _, site := range sites {
		keep := site.Settings.Retention
		if keep == 0 {
			keep = r.config.Sync.Retention
		}
		if keep == 0 || site.CurrentRun == 0 || ctx.Err() != nil {
			continue
		}
		pruned, err := r.site(ctx, site, now.Add(-max(keep, leastRetention)))
		switch {
		case errors.Is(err, models.ErrBusy):
			all = false
		case err != nil && ctx.Err() == nil:
			r.log.Error("forget old history", "site", site.Name, "error", err)
		case err == nil && pruned.Declarations+pruned.Versions+pruned.Findings+pruned.Removals > 0:
			r.log.Info("old history is forgotten", "site", site.Name, "retention", keep.String(), "kept_from_run", pruned.Run, "declarations", pruned.Declarations,
				"document_versions", pruned.Versions, "findings", pruned.Findings, "removals", pruned.Removals)
		}
	}
	return all
}

// site forgets what no moment from one on shows: the run that readers saw then is the oldest that is kept.
func (r *retention) site(ctx context.Context, site models.Site, from time.Time) (models.Pruned, error) {
	run, err := r.store.PruneBefore(ctx, site.ID, models.AsOf{Time: from})
	if errors.Is(err, models.ErrNotFound) || err == nil && run == r.kept[site.ID] { // nothing is so old, or it is done
		return models.Pruned{}, nil
	}
	if err != nil {
		return models.Pruned{}, err
	}
	pruned, err := forget(ctx, r.store, site, run)
	if err == nil {
		r.kept[site.ID] = run
	}
	return pruned, err
}
