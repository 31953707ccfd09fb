package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// VerifyRequest says which pages to look at now, whatever the schedule says.
type VerifyRequest struct {
	SiteID int64
	URLs   []string // none: every listed page, those never looked at first
	Limit  int      // pages at most, 0 for all
	Busy   time.Duration
	Looked func(url string, reading canonical.Reading) // called after each page; may be nil
}

// VerifyResult is what became of them.
type VerifyResult struct {
	Keys    []models.Key // the pages asked for, in the order they were looked at
	Looked  int          // pages looked at, targets and redirects included
	Unread  int          // of Keys: no answer that says anything of the page
	Foreign []string     // URLs that are none of the site's
}

// Verify looks at pages at once. It stops in time for a run that becomes due and goes on when that has ended. An error
// means that we or the database failed, the host stayed busy (models.ErrBusy), or ctx ended; the result then tells how
// far it came.
func (v *Verifier) Verify(ctx context.Context, req VerifyRequest) (VerifyResult, error) {
	var result VerifyResult
	var todo []models.CanonicalWatch
	site, err := v.o.Store.Site(ctx, req.SiteID)
	if err != nil {
		return result, fmt.Errorf("read site %d: %w", req.SiteID, err)
	}
	hosts := ownHosts(site)
	for _, raw := range req.URLs {
		key, ok := keyOf(raw)
		if !ok || !hosts[authorityOf([]byte(raw))] {
			result.Foreign = append(result.Foreign, raw)
			continue
		}
		if req.Limit == 0 || len(todo) < req.Limit {
			todo = append(todo, models.CanonicalWatch{Key: key, URL: raw})
		}
	}
	begun, yieldFrom := v.now(), time.Now().Add(time.Minute)
	planned := len(req.URLs) > 0
	for {
		var end bool
		err := v.stay(ctx, req.SiteID, req.Busy, func(ctx context.Context, x *visit) error {
			x.yieldFrom = yieldFrom
			if err := x.notice(ctx); errors.Is(err, errWanted) {
				return nil
			} else if err != nil {
				return err
			}
			if err := x.spread(ctx); err != nil { // what an earlier stay, or process, did not come to
				return err
			}
			if !planned {
				keys, err := v.o.Store.OldestWatches(ctx, req.SiteID, req.Limit)
				if err != nil {
					return err
				}
				for _, k := range keys {
					todo = append(todo, models.CanonicalWatch{Key: k})
				}
				planned = true
			}
			var err error
			end, err = x.work(ctx, req, &todo, &result, begun)
			return err
		})
		if err != nil || end {
			return result, err
		}
		// A run is due: it gets the host. Where no daemon is there to make it, the work goes on.
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-time.After(3 * v.o.Rest):
		}
		yieldFrom = time.Now().Add(time.Minute)
	}
}

// work goes through a list, then through the targets that it brought up, until a run is due.
func (x *visit) work(ctx context.Context, req VerifyRequest, todo *[]models.CanonicalWatch, result *VerifyResult, begun time.Time) (end bool, err error) {
	for len(*todo) > 0 {
		if wanted, err := x.wanted(ctx); wanted || err != nil {
			return false, err
		}
		w := (*todo)[0]
		if w.URL == "" {
			known, err := x.o.Store.Watches(ctx, x.site.ID, []models.Key{w.Key})
			if err != nil {
				return false, err
			}
			var ok bool
			if w, ok = known[w.Key]; !ok {
				*todo = (*todo)[1:]
				continue
			}
		}
		reading, err := x.examined(ctx, w.Key, w.URL)
		if errors.Is(err, errWanted) {
			return false, nil
		}
		if errors.Is(err, errAgain) { // after all others
			*todo = append((*todo)[1:], w)
			continue
		}
		if err != nil {
			return false, err
		}
		*todo = (*todo)[1:]
		result.Keys = append(result.Keys, w.Key)
		result.Looked++
		if unread(reading) {
			result.Unread++
		}
		if req.Looked != nil {
			req.Looked(w.URL, reading)
		}
	}
	for {
		due, err := x.o.Store.DueWatches(ctx, x.site.ID, x.now(), models.LookTarget, 20)
		if err != nil {
			return false, err
		}
		n := 0
		for _, w := range due {
			// Only what this command brought up; the daemon has the rest.
			if w.Listed || w.Class != models.LookTarget || !w.LastLook.IsZero() && !w.LastLook.Before(begun) {
				continue
			}
			if wanted, err := x.wanted(ctx); wanted || err != nil {
				return false, err
			}
			if _, err := x.examined(ctx, w.Key, w.URL); errors.Is(err, errWanted) {
				return false, nil
			} else if err != nil && !errors.Is(err, errAgain) { // it is due still
				return false, err
			}
			n++
			result.Looked++
		}
		if n == 0 {
			return !x.unsettled, nil
		}
	}
}

// unread says that an answer told nothing of the page.
func unread(r canonical.Reading) bool {
	switch r {
	case canonical.ReadingTempFail, canonical.ReadingMaintenance, canonical.ReadingUnreachable, canonical.ReadingChallenge, canonical.ReadingUnverified,
		canonical.ReadingTruncated, canonical.ReadingEmpty, canonical.ReadingUndecodable:
		return true
	}
	return false
}

// examined is examine with what a site's pass over its pages comes to. A host that somebody else talks to is put off.
func (x *visit) examined(ctx context.Context, key models.Key, url string) (canonical.Reading, error) {
	began := time.Now()
	reading, err := x.examine(ctx, key, url)
	if err == nil && x.o.Observe != nil {
		x.o.Observe(x.site, string(reading), time.Since(began))
	}
	if errors.Is(err, errBusyHost) {
		x.o.Logger.Info("a page is put off: another daemon talks to its host", "url", url)
		return "", x.putOff(ctx, key, 10*time.Minute)
	}
	if errors.Is(err, errAgain) {
		return "", errAgain
	}
	if err != nil {
		return "", fmt.Errorf("verify %s: %w", url, err)
	}
	return reading, x.incidents(ctx)
}

// errWanted says that a look was given up because a run became due.
var errWanted = errors.New("a run is due")

// pollWanted is how often a look that waits for its turn asks whether a run is due.
const pollWanted = time.Second

// untilWanted gives a context that ends when a run becomes due, so that a long pause between two pages keeps no run waiting.
func (x *visit) untilWanted(ctx context.Context) (context.Context, func()) {
	look, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(pollWanted)
		defer ticker.Stop()
		for {
			select {
			case <-look.Done():
				return
			case <-ticker.C:
				if wanted, err := x.wanted(look); err == nil && wanted {
					cancel(errWanted)
					return
				}
			}
		}
	}()
	return look, func() { cancel(nil); <-done }
}

func (x *visit) putOff(ctx context.Context, key models.Key, by time.Duration) error {
	known, err := x.o.Store.Watches(ctx, x.site.ID, []models.Key{key})
	if err != nil {
		return err
	}
	w, ok := known[key]
	if !ok {
		return nil
	}
	next := x.now().Add(by)
	w.Next = &next
	_, err = x.o.Store.PlanWatches(ctx, x.lease, x.site.ID, []models.CanonicalWatch{w})
	return err
}

// incidents notes changes that many pages share, once when they are found and again as they grow by a half.
func (x *visit) incidents(ctx context.Context) error {
	for _, i := range x.sweep.Incidents() {
		if noted := x.sweep.known[i.Change]; noted > 0 && i.Pages < noted+noted/2 {
			continue
		}
		x.sweep.known[i.Change] = i.Pages
		x.o.Logger.Warn("many pages changed alike", "site", x.site.Name, "change", i.Change, "pages", i.Pages, "looked_at", i.Looked)
		examples, err := json.Marshal(i.Examples)
		if err != nil {
			return fmt.Errorf("write an incident: %w", err)
		}
		incident := models.Incident{StartedAt: x.sweep.since, LastSeen: x.now(), What: i.Change, Pages: int64(i.Pages), Looked: int64(i.Looked), Examples: examples}
		if err = x.o.Store.SaveIncident(ctx, x.site.ID, incident); err != nil {
			return err
		}
		if x.o.MassChanged != nil {
			x.o.MassChanged(x.site, incident)
		}
	}
	return nil
}

// wanted says whether a run of the site is due: it gets the host.
func (v *Verifier) wanted(ctx context.Context, site int64) (bool, error) {
	s, err := v.o.Store.Site(ctx, site)
	if err != nil {
		return false, err
	}
	if !s.Paused && s.NextDue != nil && !s.NextDue.After(v.now()) {
		return true, nil
	}
	triggers, err := v.o.Store.PendingTriggers(ctx, site)
	return len(triggers) > 0, err
}

func (x *visit) wanted(ctx context.Context) (bool, error) {
	if time.Now().Before(x.yieldFrom) {
		return false, nil
	}
	return x.Verifier.wanted(ctx, x.site.ID)
}

// stay holds a site's host while work goes on.
func (v *Verifier) stay(ctx context.Context, siteID int64, busy time.Duration, work func(context.Context, *visit) error) error {
	site, err := v.o.Store.Site(ctx, siteID)
	if err != nil {
		return fmt.Errorf("read site %d: %w", siteID, err)
	}
	lease, asked, err := v.o.Engine.acquireLease(ctx, HostKey(site.Root), busy)
	if err != nil {
		return fmt.Errorf("take the lease of %s: %w", site.Root, err)
	}
	held, stop := v.o.Engine.keep(ctx, lease, asked)
	defer stop(false)
	x, err := v.visit(held, site, lease)
	if err != nil {
		return err
	}
	err = work(held, x)
	if err != nil && context.Cause(held) != nil && !errors.Is(err, context.Cause(held)) {
		err = fmt.Errorf("%w: %w", context.Cause(held), err)
	}
	return err
}

// Slice works at what is due on one site for a time, and says how many pages it looked at and whether more is due.
func (v *Verifier) Slice(ctx context.Context, siteID int64) (looked int, more bool, err error) {
	end := time.Now().Add(v.o.Slice)
	err = v.stay(ctx, siteID, 0, func(ctx context.Context, x *visit) error {
		if err := x.notice(ctx); errors.Is(err, errWanted) {
			more = true
			return nil
		} else if err != nil {
			return err
		}
		if err := x.spread(ctx); err != nil {
			return err
		}
		if unfinished, err := x.dueGraphAudit(ctx); unfinished || err != nil {
			more = true
			return err
		}
		failures := 0
		for time.Now().Before(end) {
			if wanted, err := x.wanted(ctx); wanted || err != nil {
				more = true
				return err
			}
			due, err := v.o.Store.DueWatches(ctx, siteID, v.now(), models.LookClock, 1)
			if err != nil || len(due) == 0 {
				more = false
				return err
			}
			w := due[0]
			if w.Class != models.LookHook {
				granted, err := v.o.Store.Spend(ctx, HostKey(w.URL), v.now().UTC().Format(time.DateOnly), v.o.PerDay)
				if err != nil || !granted {
					more = false // tomorrow is another day
					return err
				}
			}
			reading, err := x.examined(ctx, w.Key, w.URL)
			if errors.Is(err, errWanted) {
				more = true
				return nil
			}
			again := errors.Is(err, errAgain)
			if again {
				err = x.putOff(ctx, w.Key, againAfter)
			}
			if err != nil {
				return err
			}
			looked, more = looked+1, true
			if failures++; !again && !unread(reading) {
				failures = 0
			}
			if failures >= 5 { // the host has trouble: more requests are no help
				v.leave(siteID, 5*time.Minute)
				return nil
			}
		}
		return nil
	})
	return looked, more, err
}

func (v *Verifier) leave(site int64, pause time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rest[site] = v.now().Add(pause)
}

// Run looks at pages of all sites as they become due, until ctx ends.
func (v *Verifier) Run(ctx context.Context) error {
	slots := make(chan struct{}, v.o.Sites)
	var wg sync.WaitGroup
	defer wg.Wait()
	working := map[int64]bool{}
	var mu sync.Mutex
	for {
		sites, err := v.o.Store.Sites(ctx)
		if err != nil && ctx.Err() == nil {
			v.o.Logger.Error("read sites", "error", err)
		}
		rand.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
		for _, site := range sites {
			mu.Lock()
			busy := working[site.ID]
			mu.Unlock()
			if busy || site.Paused || site.CurrentRun == 0 || !v.ready(ctx, site) {
				continue
			}
			select {
			case slots <- struct{}{}:
			default:
				continue
			}
			mu.Lock()
			working[site.ID] = true
			mu.Unlock()
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer func() {
					mu.Lock()
					delete(working, site.ID)
					mu.Unlock()
					<-slots
				}()
				v.slice(ctx, site)
			}()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(v.o.Rest/2 + rand.N(v.o.Rest)):
		}
	}
}

// ready says whether there is work on a site that nobody else does, without taking its lease.
func (v *Verifier) ready(ctx context.Context, site models.Site) bool {
	v.mu.Lock()
	until := v.rest[site.ID]
	v.mu.Unlock()
	if v.now().Before(until) {
		return false
	}
	wanted, err := v.wanted(ctx, site.ID)
	return err == nil && !wanted
}

func (v *Verifier) slice(ctx context.Context, site models.Site) {
	looked, more, err := v.Slice(ctx, site.ID)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, models.ErrBusy):
		v.leave(site.ID, 10*time.Second)
	case err != nil:
		v.o.Logger.Error("verify pages", "site", site.Name, "error", err)
		v.leave(site.ID, time.Minute)
	case !more:
		v.leave(site.ID, 15*time.Second)
	case looked > 0:
		v.o.Logger.Debug("pages verified", "site", site.Name, "pages", looked)
	}
}
