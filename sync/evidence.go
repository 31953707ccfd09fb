package syncer

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// evidence is what a removal rests on, for whoever asks why: each run whose walk missed the page when that mattered, with
// the document that should list it and the hash of the bytes in which it was looked for.
type evidence struct {
	Missing []sighting `json:"missing"`
	Hook    bool       `json:"hook,omitempty"`        // a hook said that it is gone
	Status  int        `json:"page_status,omitempty"` // what the page itself answered
}

// sighting is one complete walk without the page. A document that the index does not list any more is proved by the index.
type sighting struct {
	Run      int64     `json:"run"`
	Walks    int       `json:"walks"` // of this run that agree
	Document string    `json:"document"`
	Verdict  string    `json:"verdict"`
	ByteHash string    `json:"byte_hash,omitempty"` // XXH3-128 of the body as it was read, in hex
	Observed time.Time `json:"observed_at"`         // when the origin said it
}

// mostSightings bounds what is kept of a case: its first sighting and the last ones.
const mostSightings = 4

// evidence adds this run to what a case rests on.
func (r *run) evidence(s *settlement, c *models.Removal, before []byte) []byte {
	var e evidence
	if len(before) > 0 && json.Unmarshal(before, &e) != nil {
		e = evidence{} // written by a later version: begin anew
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
	e.Missing = append(e.Missing, sighting{Run: r.record.ID, Walks: walks, Document: shown.URL, Verdict: string(d.Verdict),
		ByteHash: hex.EncodeToString(shown.ByteHash), Observed: shown.ObservedAt})
	if n := len(e.Missing); n > mostSightings {
		e.Missing = append(e.Missing[:1], e.Missing[n-mostSightings+1:]...)
	}
	e.Hook = e.Hook || r.vouched[c.Key]
	if status := s.answers[place{c.Key, c.Document}]; status != 0 {
		e.Status = status
	}
	text, err := json.Marshal(e)
	if err != nil { // cannot happen: texts and numbers
		return before
	}
	return text
}
