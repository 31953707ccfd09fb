package syncer

import (
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/sitemapd/sitemapd/models"
)

// mostSightings bounds what is kept of a case: its first sighting and the last ones.
const mostSightings = 4

// evidence adds this run to what a case rests on.
func (r *run) evidence(s *settlement, c *models.Removal, before []byte) []byte {
	var e models.RemovalEvidence
	if len(before) > 0 && json.Unmarshal(before, &e) != nil {
		e = models.RemovalEvidence{} // written by a later version: begin anew
	}
	d := r.byNumber(c.Document)
	if d == nil {
		return before
	}
	shown := d
	if d.Verdict == models.VerdictGone {
		if parent := r.byNumber(d.Parent); parent != nil {
			shown = parent
		}
	}
	walks := 1
	if s.twice && (s.agreed[place{c.Key, c.Document}] || s.lost[c.Key]) {
		walks = 2
	}
	e.Missing = append(e.Missing, models.Sighting{Run: r.record.ID, Walks: walks, Document: shown.URL, Verdict: string(d.Verdict),
		ByteHash: hex.EncodeToString(shown.ByteHash), Observed: shown.ObservedAt})
	if n := len(e.Missing); n > mostSightings {
		e.Missing = append(e.Missing[:1], e.Missing[n-mostSightings+1:]...)
	}
	e.Hook = e.Hook || r.vouched[c.Key] == saidByHook
	e.Plugin = e.Plugin || r.vouched[c.Key] == saidByPlugin
	if status := s.answers[place{c.Key, c.Document}]; status != 0 {
		e.Status = status
		if control := s.controls[c.Document]; control.URL != "" && status == http.StatusNotFound {
			e.Control = &control
		}
	}
	text, err := json.Marshal(e)
	if err != nil { // cannot happen: texts and numbers
		return before
	}
	return text
}
