package syncer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// absence is what one walk found missing, in numbers: enough for the mass guard.
type absence struct {
	pages      int64           // new and undecided together
	remaining  int64           // pages that the walk did find on the site
	known      int64           // pages listed before the walk, undecided ones included
	byDocument map[int32]int64 // pages missing from each document
	listed     map[int32]int64 // declarations of each document before
}

// guard is the mass guard's judgement on an absence.
type guard struct {
	site      string           // why everything is held; "" when it is not
	documents map[int32]string // why what is missing from a document is held
}

// limit is the largest number of pages that may go at once out of total.
func (p Policy) limit(total int64) int64 { return max(p.GuardPages, total*p.GuardPercent/100) }

// judge applies the mass guard: per site, per document, and always when nothing would remain.
func (p Policy) judge(a absence) guard {
	g := guard{documents: map[int32]string{}}
	switch {
	case a.pages == 0:
		return g
	case a.remaining == 0:
		g.site = fmt.Sprintf("nothing would remain of the site's %d pages", a.known)
	case a.pages > p.limit(a.known):
		g.site = fmt.Sprintf("%d of the site's %d pages would go at once, the limit is %d", a.pages, a.known, p.limit(a.known))
	}
	for document, pages := range a.byDocument {
		if limit := p.limit(a.listed[document]); pages > limit {
			g.documents[document] = fmt.Sprintf("%d of the document's %d pages would go at once, the limit is %d",
				pages, a.listed[document], limit)
		}
	}
	return g
}

// why gives the reason for holding a page that left a document, "" when it need not be held.
func (g guard) why(document int32) string {
	if g.site != "" {
		return g.site
	}
	return g.documents[document]
}

// walkProof is what a finished walk proves about absent pages.
type walkProof struct {
	run       int64
	now       time.Time
	complete  bool   // every document was read: absence is a fact of this walk
	confirmed bool   // a second walk in the same run agreed
	vouched   string // who said that the page is gone; "" nobody
}

// openCase begins the removal of a page that a complete walk missed for the first time.
func (p Policy) openCase(row models.Declaration, proof walkProof, held string) models.Removal {
	c := models.Removal{Key: row.Key, URL: row.URL, Document: row.Document, FromRun: proof.run, FirstRun: row.FirstRun,
		DecidedRun: models.Open, Stage: models.StagePending, Since: proof.now, AgreedRun: proof.run,
		Reason: "not listed by a complete walk; a second one that agrees removes it"}
	switch {
	case held != "":
		c.Stage, c.HeldRun, c.Reason = models.StageHeld, proof.run, held
	case proof.vouched != "":
		p.remove(&c, proof, proof.vouched+", and a complete walk misses it")
	case proof.confirmed:
		p.remove(&c, proof, "not listed by two complete walks of this run")
	}
	return c
}

// carryOn moves an undecided removal on after a walk that missed the page again. It reports whether the case changed:
// an agreement is worth a write only when it decides.
func (p Policy) carryOn(c *models.Removal, confirmAfter, releaseAfter time.Duration, proof walkProof, held string) bool {
	if !proof.complete {
		return false
	}
	age := proof.now.Sub(c.Since)
	switch {
	case c.Stage == models.StageApproved:
		p.remove(c, proof, "approved, and not listed by a complete walk since")
	case c.Stage == models.StageHeld && releaseAfter > 0 && age >= releaseAfter:
		p.remove(c, proof, fmt.Sprintf("held for %s while complete walks agreed", releaseAfter))
	case c.Stage == models.StageHeld || c.Stage == models.StageRejected:
		return false
	case c.Stage == models.StageLeftWindow && proof.vouched == "": // a window that goes on agrees with itself
		return false
	case held != "" && c.Stage != models.StageLeftWindow:
		c.Stage, c.HeldRun, c.Reason = models.StageHeld, proof.run, held
	case proof.vouched != "":
		p.remove(c, proof, proof.vouched+", and a complete walk misses it")
	case proof.confirmed || age >= confirmAfter:
		p.remove(c, proof, "not listed by a second complete walk")
	default:
		return false
	}
	return true
}

func (p Policy) remove(c *models.Removal, proof walkProof, reason string) {
	c.Stage, c.DecidedRun, c.AgreedRun, c.Reason = models.StageRemoved, proof.run, proof.run, reason
}

// newsWindow is how old an article may be before a news sitemap drops it: two days (Google's news sitemap rules), less an
// hour for clocks.
const newsWindow = 47 * time.Hour

// windowLeft tells whether a page left its document because a rolling window moved on: an article of a news sitemap that
// grew too old, or the page with the oldest lastmod of a document that always holds the same number of newest pages. Of
// such a window something stays: one with nothing in common with the last is another list, of another scheme or host say.
func windowLeft(row models.Declaration, before, now *models.DocumentVersion, diff documentDiff) bool {
	if bytes.Contains(row.Extensions, []byte(`"news":`)) {
		return newsDate(row.Extensions, now.ObservedAt)
	}
	full := before != nil && before.Entries == now.Entries && now.Entries >= 10 && diff.appearedCount >= int64(len(diff.left)) &&
		int64(len(diff.left)) < before.Entries
	return full && newestOnly(now) && row.Lastmod != nil && !diff.oldest.IsZero() && !row.Lastmod.Instant.After(diff.oldest)
}

// newestOnly tells whether a document may hold the newest pages alone: The SEO Framework's does, and so may one of an
// unknown program with a round number of entries. WordPress itself, Yoast, Rank Math and the others list everything; what
// leaves a full file of theirs was unpublished.
func newestOnly(v *models.DocumentVersion) bool {
	name, _, _ := strings.Cut(v.Generator, " ")
	return name == "seo_framework" || (name == "" || name == "unknown") && v.Entries%50 == 0
}

// newsDate tells whether an article's own publication date is older than the window.
func newsDate(extensions []byte, now time.Time) bool {
	var block struct {
		News struct {
			Date string `json:"publication_date"`
		} `json:"news"`
	}
	if json.Unmarshal(extensions, &block) != nil {
		return false
	}
	date := sitemap.ParseDate([]byte(block.News.Date))
	return date.State == sitemap.Valid && now.Sub(time.UnixMicro(date.Instant)) >= newsWindow
}
