package syncer

import (
	"errors"
	"maps"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// A page that fails for what may pass (no answer, a server error, a body cut short) is tried once more before anything of
// it is put on record: not on the spot, where it would keep all others waiting, but after them. One that is failing already waits for its turn.
const (
	againAfter = time.Minute      // in the daemon
	patience   = 10 * time.Second // a longer Retry-After is an answer, and waited for by the schedule
	mostFailed = 4096             // pages that are remembered
)

// errAgain says that a look failed for what may pass, for the first time: nothing was put on record.
var errAgain = errors.New("to be tried again")

// firstTry notes that a page failed, and says whether it is to be tried again.
func (v *Verifier) firstTry(key models.Key) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, again := v.failed[key]; again {
		return false
	}
	now := v.now()
	if len(v.failed) >= mostFailed {
		maps.DeleteFunc(v.failed, func(_ models.Key, at time.Time) bool { return now.Sub(at) > time.Hour })
	}
	if len(v.failed) >= mostFailed { // a whole site is down: one look tells as much
		return false
	}
	v.failed[key] = now
	return true
}

// tried forgets a page's failure: a look of it is put on record.
func (v *Verifier) tried(key models.Key) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.failed, key)
}
