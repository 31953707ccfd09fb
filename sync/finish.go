package syncer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// finish records the run and makes it visible.
func (r *run) finish(ctx context.Context, verdict models.Verdict) error {
	c, now := &r.record.Counts, micros(r.o.Now())
	r.record.Verdict, r.record.FinishedAt, r.record.Current = verdict, &now, true
	r.record.Reason = r.reason(verdict)
	if failed := r.failedDocuments(); len(failed) > 0 {
		stale, err := r.o.Store.CountListed(ctx, r.site.ID, failed)
		if err != nil {
			return fmt.Errorf("count stale pages: %w", err)
		}
		c.Stale += stale
	}
	c.Unchanged = max(0, c.Live-c.Added-c.Changed-c.Moved-c.Restored)
	r.record.SemanticHash = r.semanticHash()
	if len(r.findings) > 0 {
		if err := r.o.Store.SaveRunFindings(ctx, r.lease, r.site.ID, r.record.ID, r.findings); err != nil {
			return fmt.Errorf("save findings: %w", err)
		}
	}
	lease := r.lease
	lease.GiveBack = len(r.expected) == 0 // else they are checked while the host is ours
	if err := r.o.Store.Finish(ctx, lease, r.record, r.served, r.due(now)); err != nil {
		return fmt.Errorf("finish: %w", err)
	}
	r.givenBack = lease.GiveBack
	r.record.Findings = append([]models.Finding{}, r.findings...)
	for _, d := range r.order {
		r.record.Findings = append(r.record.Findings, d.findings...)
	}
	for _, number := range slices.Backward(sortedKeys(r.compared)) { // as the store gives them
		r.record.Findings = append(r.record.Findings, r.compared[number]...)
	}
	return nil
}

// due is when the site wants its next run: by its schedule, or sooner to confirm a removal.
func (r *run) due(now time.Time) *time.Time {
	var next *time.Time
	if r.o.NextDue != nil {
		next = r.o.NextDue(r.site, now)
	}
	if r.record.Counts.Pending > 0 {
		next = earliest(next, now.Add(orElse(r.site.Settings.ConfirmAfter, r.o.Policy.ConfirmAfter)))
	}
	return next
}

func (r *run) reason(verdict models.Verdict) string {
	if verdict == models.VerdictComplete {
		return ""
	}
	if r.limited != "" {
		return r.limited
	}
	failed, first := 0, ""
	for _, d := range r.order {
		if d.failed {
			failed++
			if first == "" {
				first = string(d.Verdict) + ": " + d.URL + ": " + d.Reason
			}
		}
	}
	if failed > 1 {
		return fmt.Sprintf("%s (and %d more of %d documents)", first, failed-1, len(r.order))
	}
	return first
}

func (r *run) failedDocuments() []int32 {
	var out []int32
	for _, d := range sortedByNumber(r.documents) {
		if !d.Verdict.Read() && d.Verdict != models.VerdictGone && !d.alias {
			out = append(out, d.Number)
		}
	}
	return out
}

// semanticHash stands for what the site's documents mean together, whatever they are called and in which order they come.
func (r *run) semanticHash() string {
	var hashes []string
	for _, d := range r.documents {
		if d.Verdict != models.VerdictGone && d.Type != typeIndex && len(d.SemanticHash) > 0 && !d.alias {
			hashes = append(hashes, string(d.SemanticHash))
		}
	}
	sort.Strings(hashes)
	sum := sha256.New()
	for _, h := range hashes {
		sum.Write([]byte(h))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
