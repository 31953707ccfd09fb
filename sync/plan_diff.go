package syncer

import (
	"bytes"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// pick chooses one entry of a collection (by its place in key order) to be written as a row.
type pick struct {
	entry    int32
	firstRun int64
	role     models.Role
}

// documentDiff is what one document says now against what is stored of it.
type documentDiff struct {
	close         []models.Key     // open rows to supersede: changed, or gone without consequence
	add           []pick           // rows to write: changed or appeared
	left          []models.Listing // declarations that the document no longer lists
	appeared      []models.Key     // pages that it lists anew; nil once they are noted, see appearedCount
	returned      []models.Key     // pages with an undecided removal in this document that it lists again
	appearedCount int64
	kept          int64     // rows that say the same
	shifted       int64     // of the changed, those that a time zone's offset explains
	changed       int64     // rows that say something else of the same page
	listed        int64     // declarations of the document before
	oldest        time.Time // smallest lastmod that the document declares now, zero when it declares none
}

// diffDocument merges stored open rows and collected entries, both ascending by key. Rows that this very run staged
// must not be among the stored ones. read selects the rows that the stored ones are all of, nil for every row; the others
// say what the entries say. missing names the pages whose removal from this document is undecided; a partial
// reading says nothing about what it does not show.
func diffDocument(stored []models.Listing, c *collection, read *selection, missing map[models.Key]bool, run int64, partial bool) documentDiff {
	var d documentDiff
	if read != nil {
		d.listed = read.unread()
	}
	i, j := 0, 0
	for i < len(stored) || j < len(c.order) {
		if j < len(c.order) && !read.covers(&c.at(j).key) {
			d.kept++
			j++
			continue
		}
		order := 0
		switch {
		case i == len(stored):
			order = 1
		case j == len(c.order):
			order = -1
		default:
			order = bytes.Compare(stored[i].Key[:], c.at(j).key[:])
		}
		switch {
		case order < 0:
			d.leave(stored[i], missing, partial)
			i++
		case order > 0:
			d.appear(c.at(j), int32(j), run)
			j++
		default:
			d.meet(stored[i], c.at(j), int32(j), missing)
			i, j = i+1, j+1
		}
	}
	return d
}

func (d *documentDiff) leave(row models.Listing, missing map[models.Key]bool, partial bool) {
	if row.Role == models.RoleDeclaration {
		d.listed++
	}
	switch {
	case partial || missing[row.Key]:
	case row.Role == models.RoleDeclaration:
		d.left = append(d.left, row)
	default:
		// A duplicate or foreign listing that ends needs no proof: the page's declaration stands elsewhere.
		d.close = append(d.close, row.Key)
	}
}

func (d *documentDiff) appear(e *entry, at int32, run int64) {
	p := pick{entry: at, firstRun: run, role: models.RoleDeclaration}
	if e.foreign {
		p.role = models.RoleForeign
	} else {
		d.appeared = append(d.appeared, e.key)
	}
	d.add = append(d.add, p)
}

func (d *documentDiff) meet(row models.Listing, e *entry, at int32, missing map[models.Key]bool) {
	if row.Role == models.RoleDeclaration {
		d.listed++
	}
	if missing[row.Key] {
		d.returned = append(d.returned, row.Key)
	}
	role := roleNow(row.Role, e.foreign)
	if row.Role == models.RoleForeign && !e.foreign { // the operator has since named the host as the site's own
		d.appeared = append(d.appeared, row.Key)
	}
	if row.Fingerprint == e.fingerprint && role == row.Role {
		d.kept++
		return
	}
	if role == row.Role && role == models.RoleDeclaration { // duplicates change without a word
		d.changed++
	}
	d.close = append(d.close, row.Key)
	d.add = append(d.add, pick{entry: at, firstRun: row.FirstRun, role: role})
}

// roleNow is the role of a listed page's row, of which the role so far is given.
func roleNow(before models.Role, foreign bool) models.Role {
	switch {
	case foreign:
		return models.RoleForeign
	case before == models.RoleForeign:
		return models.RoleDeclaration
	}
	return before
}

// closes tells whether a page's row ends; both lists ascend by key.
func (d *documentDiff) closes(key models.Key) bool {
	_, found := slices.BinarySearchFunc(d.close, key, func(a, b models.Key) int { return bytes.Compare(a[:], b[:]) })
	return found
}
