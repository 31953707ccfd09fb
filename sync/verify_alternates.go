package syncer

import (
	"context"
	"slices"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// A page cannot be held against a language version that was not read yet. It is judged anew when that is: in memory, for
// the next look at the page itself finds the same.
const (
	mostAwaited  = 20_000 // language versions that are waited for
	mostAwaiting = 500    // pages that wait for one
)

// awaited names a language version of a site that was not read yet.
type awaited struct {
	site int64
	key  models.Key
}

// mostAlternates bounds the language versions that are compared with a page.
const mostAlternates = 50

func (j *judging) alternates(ctx context.Context, c *canonical.Case) error {
	var keys []models.Key
	for _, it := range j.shown.Of(canonical.KindHreflang) {
		if it.Accepted && it.Key != j.shown.Key && !it.Key.IsZero() && len(keys) < mostAlternates {
			keys = append(keys, models.Key(it.Key))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := j.o.Store.Dossiers(ctx, j.site.ID, keys)
	if err != nil {
		return err
	}
	known := map[canonical.Key]*canonical.Evidence{}
	for k, d := range found {
		s, err := newSubject(d, k, d.Watch.URL)
		if err != nil {
			return err
		}
		if s.evidence != nil {
			known[canonical.Key(k)] = s.evidence
		}
	}
	c.NoReturn, c.NonCanonical = canonical.Alternates(j.shown, known)
	for _, k := range keys {
		if other := known[canonical.Key(k)]; other == nil || other.Reading != canonical.ReadingRead {
			j.await(j.site.ID, k, j.s.watch.Key)
		}
	}
	return nil
}

// await notes that source is to be judged anew when key is read.
func (v *Verifier) await(site int64, key, source models.Key) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := awaited{site, key}
	waiting := v.awaited[at]
	if len(waiting) >= mostAwaiting || waiting == nil && len(v.awaited) >= mostAwaited || slices.Contains(waiting, source) {
		return
	}
	v.awaited[at] = append(waiting, source)
}

// arrived gives the pages that waited for a language version and may have to be told something of it, now that it was read.
func (v *Verifier) arrived(site int64, ev *canonical.Evidence) []models.Key {
	if ev.Reading != canonical.ReadingRead {
		return nil
	}
	v.mu.Lock()
	at := awaited{site, models.Key(ev.Key)}
	waiting := v.awaited[at]
	delete(v.awaited, at)
	v.mu.Unlock()
	if d := ev.Declared(); slices.ContainsFunc(d, func(it canonical.Item) bool { return it.Scope != canonical.ScopeSelf }) {
		return waiting
	}
	for _, back := range ev.Of(canonical.KindHreflang) {
		if back.Accepted {
			waiting = slices.DeleteFunc(waiting, func(k models.Key) bool { return k == models.Key(back.Key) })
		}
	}
	return waiting
}

// turned gives the pages that a page names as language versions no more, or that it names now: what is said of them may
// have come true, or be true no longer.
func turned(before, now *canonical.Evidence) []models.Key {
	if before == nil || before.Reading != canonical.ReadingRead || now.Reading != canonical.ReadingRead {
		return nil
	}
	names := func(ev *canonical.Evidence) map[models.Key]bool {
		out := map[models.Key]bool{}
		for _, it := range ev.Of(canonical.KindHreflang) {
			if it.Accepted && it.Key != ev.Key && !it.Key.IsZero() && len(out) < mostAlternates {
				out[models.Key(it.Key)] = true
			}
		}
		return out
	}
	var out []models.Key
	a, b := names(before), names(now)
	for k := range a {
		if !b[k] {
			out = append(out, k)
		}
	}
	for k := range b {
		if !a[k] {
			out = append(out, k)
		}
	}
	return out
}
