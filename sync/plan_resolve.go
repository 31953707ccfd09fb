package syncer

import (
	"bytes"
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// place is one listing: a page in a document.
type place struct {
	key      models.Key
	document int32
}

func comparePlaces(a, b place) int {
	if n := bytes.Compare(a.key[:], b.key[:]); n != 0 {
		return n
	}
	return int(a.document) - int(b.document)
}

// rerole gives a row staged or stored another role or beginning.
type rerole struct {
	key      models.Key
	role     models.Role
	firstRun int64
}

// edit is what resolving changes in one document.
type edit struct {
	close  []models.Key // listings that ended because the page is declared elsewhere now
	rerole []rerole     // rows to write anew
}

// resolution is what follows from seeing all documents of a site together.
type resolution struct {
	targeted bool // documents were left out on purpose
	edits    map[int32]*edit
	resolved []place      // places that left but whose page is listed elsewhere: no removal
	found    []models.Key // pages with an undecided removal that are listed elsewhere
	known    int64        // appeared listings of pages that were there before: no additions
	restored int64        // pages that had been removed and are listed again
	moved    int64        // declarations that only changed their document
	changed  int64        // declarations that changed document and content
}

func (r *resolution) edit(document int32) *edit {
	if r.edits == nil {
		r.edits = map[int32]*edit{}
	}
	e := r.edits[document]
	if e == nil {
		e = &edit{}
		r.edits[document] = e
	}
	return e
}

// standing is how far a document can stand for what it lists.
type standing int

const (
	readNow  standing = iota // this walk read it to its end
	readOnce                 // a targeted run did not ask for it; readers know it as read
	notRead                  // this walk could not read it to its end: what it declares is stale
)

// resolve decides for pages with several open rows which listing is the declaration: the one that is, while its document
// lists it and can be read; else the one in the document met first. rows ascend by key and hold every open row of each key.
// gone tells that a stored row's document does not list the page now, and whether that is an undecided removal; how tells how
// far documents were read; began gives the first run of pages that had been removed before.
func (r *resolution) resolve(rows []models.Listing, run int64, gone func(place) (gone, undecided bool), how map[int32]standing,
	began map[models.Key]int64,
) {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Key == rows[0].Key {
			n++
		}
		r.page(rows[:n], run, gone, how, began[rows[0].Key])
		rows = rows[n:]
	}
}

func (r *resolution) page(rows []models.Listing, run int64, gone func(place) (bool, bool), how map[int32]standing, began int64) {
	var present, absent []models.Listing
	undecided := false
	for _, row := range rows {
		if row.Role == models.RoleForeign {
			continue
		}
		left, open := gone(place{row.Key, row.Document})
		undecided = undecided || open
		if left {
			absent = append(absent, row)
		} else {
			present = append(present, row)
		}
	}
	// A listing that a targeted run did not read says nothing of a page that its own document lists no more: it may be as old as
	// the document's last reading. The run that reads it decides. What this run wrote it has read, if of half a document.
	seen := func(row models.Listing) bool { return how[row.Document] == readNow || row.FromRun == run }
	if len(present) == 0 || r.targeted && len(absent) > 0 && !slices.ContainsFunc(present, seen) {
		return
	}
	first, old := rows[0].FirstRun, false
	for _, row := range rows {
		first, old = min(first, row.FirstRun), old || row.FirstRun < run
	}
	restored := began > 0 && !old
	if began > 0 {
		first = min(first, began)
	}
	if restored {
		r.restored++
	}
	if len(rows) == 1 && rows[0].FirstRun == first {
		return
	}
	winner := declaration(present, run, how)
	for _, row := range absent {
		e := r.edit(row.Document)
		e.close = append(e.close, row.Key)
		r.resolved = append(r.resolved, place{row.Key, row.Document})
		if row.Role != models.RoleDeclaration || row.Key != winner.Key {
			continue
		}
		if row.Fingerprint == winner.Fingerprint {
			r.moved++
		} else {
			r.changed++
		}
	}
	for _, row := range present { // its document cannot be read any more, the winner's can
		switch {
		case row.Document == winner.Document || row.Role != models.RoleDeclaration || row.FromRun == run:
		case row.Fingerprint == winner.Fingerprint:
			r.moved++
		default:
			r.changed++
		}
	}
	if undecided {
		r.found = append(r.found, rows[0].Key)
	}
	r.roles(present, winner, first, run, restored)
}

// declaration chooses: an old declaration whose document can be read, else the row in the lowest document, old rows before
// new ones, and at last those of documents that were not read, which may not list the page any more.
func declaration(present []models.Listing, run int64, how map[int32]standing) models.Listing {
	return slices.MinFunc(present, func(a, b models.Listing) int {
		if n := rank(a, run, how) - rank(b, run, how); n != 0 {
			return n
		}
		return int(a.Document) - int(b.Document)
	})
}

func rank(row models.Listing, run int64, how map[int32]standing) int {
	declared := row.FirstRun < run && row.Role == models.RoleDeclaration
	switch {
	case declared && row.FromRun == run: // what it declares changed in this run, and is told so
		return 0
	case declared && how[row.Document] != notRead:
		return 0
	case declared:
		return 4
	case how[row.Document] == notRead:
		return 5
	case how[row.Document] == readOnce:
		return 3
	case row.FromRun < run:
		return 1
	}
	return 2
}

// roles writes the winner as the declaration and all others as duplicates, each with the page's true beginning.
func (r *resolution) roles(present []models.Listing, winner models.Listing, first, run int64, restored bool) {
	appeared := 0
	for _, row := range present {
		role := models.RoleDuplicate
		if row.Document == winner.Document {
			role = models.RoleDeclaration
		}
		if row.FromRun == run && row.FirstRun == run {
			appeared++
		}
		if row.Role != role || row.FirstRun != first {
			e := r.edit(row.Document)
			e.rerole = append(e.rerole, rerole{row.Key, role, first})
		}
	}
	if first == run || restored { // a page that is new or back: one of its listings is the addition or return
		appeared--
	}
	r.known += int64(appeared)
}
