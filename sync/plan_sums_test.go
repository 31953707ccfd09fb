package syncer

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sitemapd/sitemapd/models"
)

// shelfOf is a document's open rows, and what the document declares.
type shelfOf struct {
	rows    map[models.Key]models.Listing
	entries []entry
	gone    []entry // declared once
}

func pageKey(n int) models.Key {
	sum := sha256.Sum256([]byte(fmt.Sprint(n)))
	return models.Key(sum[:16])
}

func (s *shelfOf) stored() []models.Listing {
	out := slices.Collect(maps.Values(s.rows))
	slices.SortFunc(out, func(a, b models.Listing) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return out
}

func (s *shelfOf) collection() *collection {
	c := &collection{entries: slices.Clone(s.entries)}
	for i := range c.entries {
		c.order = append(c.order, ordered{entry: int32(i)})
	}
	slices.SortStableFunc(c.order, func(a, b ordered) int { // a page that is listed twice is its first entry
		return bytes.Compare(c.entries[a.entry].key[:], c.entries[b.entry].key[:])
	})
	c.order = slices.CompactFunc(c.order, func(a, b ordered) bool { return c.entries[a.entry].key == c.entries[b.entry].key })
	return c
}

// declare draws what a document declares next: mostly what it did, with pages changed, foreign, twice, gone and new.
func (s *shelfOf) declare(t *rapid.T) {
	edit := rapid.IntRange(0, 6)
	for range rapid.IntRange(0, 12).Draw(t, "edits") {
		n := rapid.IntRange(0, max(0, len(s.entries)-1)).Draw(t, "which")
		switch kind := edit.Draw(t, "edit"); {
		case kind == 0 || len(s.entries) == 0:
			s.entries = append(s.entries, entry{key: pageKey(rapid.IntRange(0, 5000).Draw(t, "page")), fingerprint: print("new")})
		case kind == 1 && len(s.gone) > 0 && rapid.Bool().Draw(t, "back"):
			s.entries = append(s.entries, s.gone[0])
			s.gone = s.gone[1:]
		case kind == 1:
			s.gone = append(s.gone, s.entries[n])
			s.entries = slices.Delete(s.entries, n, n+1)
		case kind == 2:
			s.entries[n].foreign = !s.entries[n].foreign
		case kind == 3: // listed twice, with another meaning
			again := s.entries[n]
			again.fingerprint = print("again")
			s.entries = slices.Insert(s.entries, rapid.IntRange(0, len(s.entries)).Draw(t, "place"), again)
		default:
			s.entries[n].fingerprint = print(fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "content")))
		}
	}
}

// apply does to the rows what a difference says.
func (s *shelfOf) apply(d *documentDiff, c *collection) {
	for _, key := range d.close {
		delete(s.rows, key)
	}
	for _, p := range d.add {
		e := c.at(int(p.entry))
		s.rows[e.key] = models.Listing{Key: e.key, Fingerprint: e.fingerprint, Role: p.role, FirstRun: p.firstRun}
	}
}

// settle does what happens to rows once all documents are read, and gives the keys that it touched: removals, roles.
func (s *shelfOf) settle(t *rapid.T, missing map[models.Key]bool) []models.Key {
	var touched []models.Key
	for _, row := range s.stored() {
		switch rapid.IntRange(0, 40).Draw(t, "settled") {
		case 0:
			delete(s.rows, row.Key)
			delete(missing, row.Key)
		case 1:
			if row.Role != models.RoleForeign {
				row.Role = models.RoleDuplicate - row.Role
				s.rows[row.Key] = row
			}
		default:
			continue
		}
		touched = append(touched, row.Key)
	}
	return touched
}

// A difference that reads the rows of differing buckets alone equals one that reads every row, run after run, and so do
// the sums that it leaves behind.
func TestSums_SelectWhatDiffers(t *testing.T) {
	t.Parallel()
	selected, whole := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := &shelfOf{rows: map[models.Key]models.Listing{}}
		for i := range rapid.IntRange(0, 300).Draw(t, "pages") {
			s.entries = append(s.entries, entry{key: pageKey(i), fingerprint: print("first")})
		}
		missing := map[models.Key]bool{}
		var kept models.DocumentSums
		for run := int64(1); run <= 6; run++ {
			c, stored := s.collection(), s.stored()
			partial := rapid.IntRange(0, 9).Draw(t, "partial") == 0
			x := selectRows(readSums(kept, len(c.order), 16), c, missing)
			all := diffDocument(stored, c, nil, missing, run, partial)
			few, part := all, stored
			if x != nil {
				selected++
				part = rowsIn(stored, x.ranges())
				few = diffDocument(part, c, x, missing, run, partial)
			} else {
				whole++
			}
			if diff := cmp.Diff(all, few, cmp.AllowUnexported(documentDiff{}, pick{})); diff != "" {
				t.Fatalf("run %d (-all rows +those that differ):\n%s", run, diff)
			}
			after := few.after(part, c, x, uint64(run), 16)
			for _, l := range few.left {
				if !partial && rapid.Bool().Draw(t, "undecided") {
					missing[l.Key] = true
				}
			}
			for _, key := range few.returned {
				delete(missing, key)
			}
			s.apply(&few, c)
			kept = models.DocumentSums{}
			if after != nil {
				if diff := cmp.Diff(fromRows(after, s.stored()), after, cmp.AllowUnexported(sums{}, bucketSum{})); diff != "" {
					t.Fatalf("run %d: sums (-of the rows +left behind):\n%s", run, diff)
				}
				kept.Sums = after.encode()
			}
			for _, key := range s.settle(t, missing) {
				kept.Doubts = append(kept.Doubts, key[:2]...)
			}
			s.declare(t)
		}
	})
	if selected == 0 || whole == 0 {
		t.Errorf("%d diffs of some rows, %d of all: the test must see both", selected, whole)
	}
}

func rowsIn(rows []models.Listing, ranges []models.KeyRange) []models.Listing {
	var out []models.Listing
	for _, row := range rows {
		for _, r := range ranges {
			if bytes.Compare(r.From[:], row.Key[:]) <= 0 && bytes.Compare(row.Key[:], r.To[:]) <= 0 {
				out = append(out, row)
			}
		}
	}
	return out
}

// fromRows sums up rows from nothing, with the seed and the buckets of other sums.
func fromRows(like *sums, rows []models.Listing) *sums {
	s := newSums(like.seed, like.bits)
	for i := range rows {
		s.add(&rows[i].Key, &rows[i].Fingerprint, rows[i].Role)
	}
	return s
}

func TestReadSums_RefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := newSums(7, sumsBits(300, 16))
	good := s.encode()
	other := slices.Clone(good)
	other[0] = sumsForm + 1
	for name, test := range map[string]struct {
		sums    []byte
		entries int
		want    bool
	}{
		"none":              {nil, 300, false},
		"as written":        {good, 300, true},
		"another form":      {other, 300, false},
		"cut":               {good[:len(good)-1], 300, false},
		"longer":            {append(slices.Clone(good), 0), 300, false},
		"header alone":      {good[:10], 300, false},
		"grown a little":    {good, 500, true},
		"grown much":        {good, 5000, false},
		"shrunk to a sixth": {good, 50, false},
		"too small":         {good, 15, false},
	} {
		if got := readSums(models.DocumentSums{Sums: test.sums}, test.entries, 16); (got != nil) != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	doubted := readSums(models.DocumentSums{Sums: good, Doubts: []byte{0xff, 0xff, 0, 0}}, 300, 16)
	if !doubted.doubtful[0] || !doubted.doubtful[len(doubted.doubtful)-1] || doubted.doubtful[1] {
		t.Errorf("doubts: %v", doubted.doubtful)
	}
}

// Nothing is believed that two documents of another meaning cannot both be.
func TestSelectRows_ReadsAllWhereNothingSeemsToDiffer(t *testing.T) {
	t.Parallel()
	s := &shelfOf{rows: map[models.Key]models.Listing{}}
	for i := range 100 {
		s.entries = append(s.entries, entry{key: pageKey(i)})
	}
	c := s.collection()
	all := diffDocument(nil, c, nil, nil, 1, false)
	after := all.after(nil, c, nil, 5, 16)
	if x := selectRows(after, c, nil); x != nil {
		t.Errorf("selected %v of equal documents", x.ranges())
	}
	if x := selectRows(after, c, map[models.Key]bool{pageKey(3): true}); !x.covers(ptr(pageKey(3))) {
		t.Error("a page whose removal is undecided is not read")
	}
}

func ptr[T any](v T) *T { return &v }
