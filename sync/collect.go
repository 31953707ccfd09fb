package syncer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// collection holds what one document declares, compactly: the reader's buffers are reused, and a document's meaning is
// known only at its end. Texts live in one arena, so a document of 50,000 entries is a handful of allocations.
type collection struct {
	entries []entry
	text    []byte
	order   []ordered // by key, each page once, its first entry in the document
	body    string    // the arena as a string, made when declarations are first asked for
}

type span struct{ at, length uint32 }

type entry struct {
	fingerprint    models.Fingerprint
	key            models.Key // zero until index
	instant        int64
	loc, id        span
	raw, extension span
	priority       int32
	changefreq     sitemap.Changefreq
	precision      sitemap.Precision
	hasPriority    bool
	hasLastmod     bool
	zone           bool
	foreign        bool
}

type ordered struct {
	prefix uint64
	entry  int32
}

func (c *collection) reset() {
	c.entries, c.text, c.order, c.body = c.entries[:0], c.text[:0], c.order[:0], ""
}

func (c *collection) keep(b []byte) span {
	at := len(c.text)
	c.text = append(c.text, b...)
	return span{uint32(at), uint32(len(b))}
}

// add copies what the reader hands over.
func (c *collection) add(d *sitemap.Declaration, foreign bool) {
	e := entry{fingerprint: d.Fingerprint, foreign: foreign, changefreq: d.Changefreq,
		priority: d.Priority.Micros, hasPriority: d.Priority.Set}
	e.loc = c.keep(d.Loc)
	e.id = e.loc
	if !bytes.Equal(d.Loc, d.Identity) {
		e.id = c.keep(d.Identity)
	}
	if d.Lastmod.State == sitemap.Valid {
		e.hasLastmod, e.instant, e.precision, e.zone = true, d.Lastmod.Instant, d.Lastmod.Precision, d.Lastmod.Zone
		e.raw = c.keep(d.Lastmod.Raw)
	}
	if d.HasExtensions() {
		at := len(c.text)
		c.text = sitemap.AppendExtensions(c.text, d)
		e.extension = span{uint32(at), uint32(len(c.text) - at)}
	}
	c.entries = append(c.entries, e)
}

// index computes the keys and the order by key. It is put off until a document is known to differ: hashing every URL
// costs more than reading it.
func (c *collection) index() {
	c.order = slices.Grow(c.order[:0], len(c.entries))
	for i := range c.entries {
		e := &c.entries[i]
		e.key = models.Key(weburl.KeyOf(c.text[e.id.at : e.id.at+e.id.length]))
		c.order = append(c.order, ordered{binary.BigEndian.Uint64(e.key[:8]), int32(i)})
	}
	slices.SortFunc(c.order, func(a, b ordered) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		x, y := &c.entries[a.entry], &c.entries[b.entry]
		if n := bytes.Compare(x.key[:], y.key[:]); n != 0 {
			return n
		}
		return cmp.Compare(a.entry, b.entry)
	})
	c.order = slices.CompactFunc(c.order, func(a, b ordered) bool {
		return a.prefix == b.prefix && c.entries[a.entry].key == c.entries[b.entry].key
	})
}

// at gives the n-th entry by key; index must have run.
func (c *collection) at(n int) *entry { return &c.entries[c.order[n].entry] }

// first and last entry in document order, to recognise page shifts; zero keys when there is none.
func (c *collection) ends() (first, last models.Key) {
	if len(c.entries) == 0 {
		return first, last
	}
	return c.entries[0].key, c.entries[len(c.entries)-1].key
}

// string gives a text that stays valid after reset. A copy of the whole arena serves many; few are copied one by one.
func (c *collection) string(s span, few bool) string {
	switch {
	case few && c.body == "":
		return string(c.text[s.at : s.at+s.length])
	case c.body == "" && len(c.text) > 0:
		c.body = string(c.text)
	}
	return c.body[s.at : s.at+s.length]
}

// size is about how many bytes the rows of some entries take.
func (c *collection) size(picks []pick) int {
	size := 0
	for _, p := range picks {
		e := c.at(int(p.entry))
		size += 120 + int(e.loc.length) + int(e.extension.length)
	}
	return size
}

// declarations turns entries into rows of a document from a run on. The rows stay valid after reset.
func (c *collection) declarations(dst []models.Declaration, document int32, run int64, picks []pick) []models.Declaration {
	lastmods := make([]models.Lastmod, 0, len(picks))
	priorities := make([]float64, 0, len(picks))
	few := len(picks)*4 < len(c.entries)
	for _, p := range picks {
		e := c.at(int(p.entry))
		d := models.Declaration{Document: document, Key: e.key, FromRun: run, ToRun: models.Open, FirstRun: p.firstRun,
			Role: p.role, URL: c.string(e.loc, few), Changefreq: e.changefreq.String(), Fingerprint: e.fingerprint}
		if e.hasLastmod {
			lastmods = append(lastmods, models.Lastmod{Raw: c.string(e.raw, few), Instant: time.UnixMicro(e.instant).UTC(),
				Precision: models.Precision(e.precision), Zone: e.zone})
			d.Lastmod = &lastmods[len(lastmods)-1]
		}
		if e.hasPriority {
			priorities = append(priorities, sitemap.Priority{Micros: e.priority, Set: true}.Float())
			d.Priority = &priorities[len(priorities)-1]
		}
		if e.extension.length > 0 {
			d.Extensions = []byte(c.string(e.extension, few))
		}
		dst = append(dst, d)
	}
	return dst
}

// sample sums up the lastmod values for the track record, as seen at the instant when the origin said them.
func (c *collection) sample(observed time.Time) lastmodSample {
	var s lastmodSample
	at := observed.UnixMicro()
	var oldest, newest, candidate, votes int64
	for i := range c.entries {
		e := &c.entries[i]
		if !e.hasLastmod {
			continue
		}
		if s.Dated++; s.Dated == 1 || e.instant < oldest {
			oldest = e.instant
		}
		if s.Dated == 1 || e.instant > newest {
			newest = e.instant
		}
		if age := at - e.instant; age > -time.Minute.Microseconds() && age <= lastmodNow.Microseconds() {
			s.Now++
		} else if age < -24*time.Hour.Microseconds() {
			s.Future++
		}
		// Boyer and Moore's vote: if one instant has the majority, it is the candidate at the end.
		switch {
		case votes == 0:
			candidate, votes = e.instant, 1
		case candidate == e.instant:
			votes++
		default:
			votes--
		}
	}
	for i := range c.entries {
		if c.entries[i].hasLastmod && c.entries[i].instant == candidate {
			s.Largest++
		}
	}
	if s.Dated > 0 {
		s.Oldest, s.Newest = time.UnixMicro(oldest).UTC(), time.UnixMicro(newest).UTC()
	}
	return s
}
