package syncer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// mostCompared is how many changed rows of a document are compared field by field for its track record.
const mostCompared = 2000

// findingZeroDate is the reader's word for a date that a program wrote because it knew none.
const findingZeroDate = "lastmod-zero-date"

// distrusted is the trust below which a finding says so.
const distrusted = 0.5

// lastmods judges the lastmod values of a reading that changed something, and continues the document's track record.
// A shift of all by a time zone's offset is one event: its rows count as no changes.
func (r *run) lastmods(ctx context.Context, d *document, v *models.DocumentVersion, found *collection) error {
	keepRecord(v, d.previous)
	if len(d.diff.add)+len(d.diff.left) == 0 {
		return nil
	}
	var record trackRecord
	if len(v.LastmodRecord) > 0 {
		if err := json.Unmarshal(v.LastmodRecord, &record); err != nil {
			return fmt.Errorf("read the track record: %w", err)
		}
	}
	var moves lastmodMoves
	if d.diff.changed > 0 {
		picks, keys := changedPicks(found, d.diff.add, r.record.ID)
		old, err := r.o.Store.Rows(ctx, r.site.ID, d.Number, keys)
		if err != nil {
			return fmt.Errorf("read rows that changed: %w", err)
		}
		now := found.declarations(nil, d.Number, r.record.ID, picks)
		moves = compareLastmods(old, now, d.diff.kept*int64(len(picks))/d.diff.changed)
		if moves.Shift != 0 {
			v.LastmodShift = moves.Shift.Microseconds()
			only := int64(onlyShifted(old, now, moves.Shift))
			d.diff.shifted = d.diff.changed * only / int64(len(picks))
			d.diff.changed -= d.diff.shifted
		}
	}
	sample := found.sample(v.ObservedAt)
	sample.Zero = slices.ContainsFunc(d.findings, func(f models.Finding) bool { return f.Code == findingZeroDate })
	d.diff.oldest = sample.Oldest
	record = record.extend(sample, moves)
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write the track record: %w", err)
	}
	v.LastmodRecord = text
	if record.Readings > 0 {
		v.LastmodTrust, _ = record.trust()
	}
	return nil
}

// keepRecord carries the track record over to a version that was read anew.
func keepRecord(v, before *models.DocumentVersion) {
	if before != nil && len(v.LastmodRecord) == 0 {
		v.LastmodRecord, v.LastmodTrust = before.LastmodRecord, before.LastmodTrust
	}
}

func changedPicks(found *collection, add []pick, run int64) (picks []pick, keys []models.Key) {
	for _, p := range add {
		if p.firstRun < run && p.role == models.RoleDeclaration {
			picks = append(picks, p)
			keys = append(keys, found.at(int(p.entry)).key)
		}
		if len(picks) == mostCompared {
			break
		}
	}
	return picks, keys
}

// onlyShifted counts pairs that differ in lastmod alone, and there by the shift; both ascend by key.
func onlyShifted(old, now []models.Declaration, shift time.Duration) int {
	n, j := 0, 0
	for i := range old {
		for j < len(now) && bytes.Compare(now[j].Key[:], old[i].Key[:]) < 0 {
			j++
		}
		if j == len(now) || now[j].Key != old[i].Key {
			continue
		}
		a, b := &old[i], &now[j]
		samePriority := a.Priority == b.Priority || a.Priority != nil && b.Priority != nil && *a.Priority == *b.Priority
		moved := a.Lastmod != nil && b.Lastmod != nil && b.Lastmod.Instant.Sub(a.Lastmod.Instant) == shift
		if moved && a.Changefreq == b.Changefreq && samePriority && bytes.Equal(a.Extensions, b.Extensions) {
			n++
		}
	}
	return n
}

// lastmodFindings says what of a document's lastmod values is not to be trusted.
func lastmodFindings(url string, v *models.DocumentVersion) []models.Finding {
	var out []models.Finding
	if v.LastmodShift != 0 {
		out = append(out, models.Finding{Code: "lastmod-shifted", Severity: models.SeverityInfo, Document: url,
			Text: fmt.Sprintf("every lastmod moved by %+d minutes: another time zone's offset, no edits", v.LastmodShift/60e6)})
	}
	var record trackRecord
	if v.LastmodTrust == 0 || v.LastmodTrust >= distrusted || json.Unmarshal(v.LastmodRecord, &record) != nil {
		return out
	}
	score, reasons := record.trust()
	return append(out, models.Finding{Code: "lastmod-untrusted", Severity: models.SeverityWarning, Document: url,
		Text: fmt.Sprintf("trust %.2f: %s", score, strings.Join(reasons, "; "))})
}

// LastmodTrust reads a document's track record: the score of its lastmod values, 0.1 to 1, and the evidence against them.
// The score is 0 when there is nothing to judge.
func LastmodTrust(record []byte) (score float64, reasons []string) {
	var t trackRecord
	if len(record) == 0 || json.Unmarshal(record, &t) != nil || t.Readings == 0 {
		return 0, nil
	}
	return t.trust()
}
