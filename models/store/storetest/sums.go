package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// sums gives what is stored of a document's sums: "" for none, "sums" or "sums doubts".
func (f *Fixture) sums(document int32) string {
	f.t.Helper()
	all, err := f.Store.Sums(f.t.Context(), f.Site.ID, document, 1)
	f.must(err)
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %x", all[0].Sums, all[0].Doubts)
}

func summed(t *testing.T, open func() *store.Store) {
	f := shelf(t, open())
	ctx, s := t.Context(), f.Store
	save := func(run models.Run, documents ...int32) {
		t.Helper()
		var all []models.DocumentSums
		for _, n := range documents {
			all = append(all, models.DocumentSums{Document: n, Sums: fmt.Appendf(nil, "sums of %d", n)})
		}
		f.must(s.SaveSums(ctx, f.Lease, f.Site.ID, run.ID, all))
	}
	run := f.Begin()
	save(run, 1, 2, 3)
	f.must(s.SaveSums(ctx, f.Lease, f.Site.ID, run.ID, []models.DocumentSums{{Document: 1}})) // nothing known: left alone
	f.Finish(run)
	for number := range int32(3) {
		same(t, "as saved", fmt.Sprintf("sums of %d ", number+1), f.sums(number+1))
	}
	all, err := s.Sums(ctx, f.Site.ID, 2, 2)
	if err != nil || len(all) != 2 || all[0].Document != 2 || all[1].Document != 3 {
		t.Errorf("two from document 2 on: %+v, %v", all, err)
	}
	a, d := KeyOf("https://example.com/0"), KeyOf(pageD)
	run = f.Begin()
	f.Stage(run, 1, []models.Key{a}, []models.Declaration{Page(pageD, "1")})
	same(t, "doubted", fmt.Sprintf("sums of 1 %x%x", a[:2], d[:2]), f.sums(1))
	var many []models.Declaration
	for i := range 201 {
		many = append(many, Page(fmt.Sprintf("https://example.com/many/%d", i), "1"))
	}
	f.Stage(run, 2, nil, many)
	same(t, "forgotten for many", "", f.sums(2))
	f.must(s.Unstage(ctx, f.Lease, f.Site.ID, run.ID, 1))
	same(t, "forgotten by Unstage", "", f.sums(1))
	save(run, 1, 2)
	f.Begin() // sweeps it
	for number, want := range []string{"", "", "sums of 3 "} {
		same(t, "after the sweep", want, f.sums(int32(number+1)))
	}
	f.must(s.FailRun(ctx, f.Lease, f.Site.ID, f.Last(), "no"))
	run = f.Begin()
	stagings := stagings(f, run, "x")
	stagings[0].Sums, stagings[2].Sums = []byte("new of 1"), nil
	f.must(s.StageDocuments(ctx, f.Lease, f.Site.ID, run.ID, stagings))
	same(t, "with their rows", "new of 1 ", f.sums(1))
	if got := f.sums(3); len(got) <= len("sums of 3 ") {
		t.Errorf("rows changed without new sums, and nothing is doubted: %q", got)
	}
	f.must(s.FailRun(ctx, f.Lease, f.Site.ID, run.ID, "no"))
	same(t, "after a failed run", "", f.sums(1))
	run = f.Begin()
	save(run, 1)
	for range 40 { // a document that is settled again and again
		f.Stage(run, 1, nil, many[:100])
	}
	same(t, "forgotten where doubts gather", "", f.sums(1))
}

func ranged(t *testing.T, open func() *store.Store) {
	f := shelf(t, open())
	run := f.Begin()
	f.Stage(run, 1, []models.Key{KeyOf("https://example.com/0")}, []models.Declaration{Page("https://example.com/0", "2")})
	f.Finish(run)
	rows := f.Listed(1)
	within := func(ranges ...models.KeyRange) []models.Listing {
		t.Helper()
		var out []models.Listing
		f.must(f.Store.ListingsIn(t.Context(), f.Site.ID, 1, ranges, func(l models.Listing) error {
			out = append(out, l)
			return nil
		}))
		return out
	}
	end := models.Key{}
	for i := range end {
		end[i] = 0xff
	}
	same(t, "everything", rows, within(models.KeyRange{To: end}))
	same(t, "both ends are included", rows[2:5], within(models.KeyRange{From: rows[2].Key, To: rows[4].Key}))
	same(t, "nothing between two rows", nil, within(models.KeyRange{From: after(rows[2].Key, 1), To: after(rows[3].Key, -1)}))
	var each []models.KeyRange
	for _, row := range rows {
		each = append(each, models.KeyRange{From: row.Key, To: row.Key})
	}
	same(t, "a range a row", rows, within(each...))
	var many []models.KeyRange
	for i := range 600 { // more than a statement takes
		many = append(many, models.KeyRange{From: models.Key{byte(i / 256), byte(i)}, To: models.Key{byte(i / 256), byte(i), 0xff}})
	}
	var want []models.Listing
	for _, row := range rows {
		if slices.ContainsFunc(many, func(r models.KeyRange) bool {
			return string(r.From[:]) <= string(row.Key[:]) && string(row.Key[:]) <= string(r.To[:])
		}) {
			want = append(want, row)
		}
	}
	same(t, "600 ranges", want, within(many...))
}

// after gives the next key, or the one before.
func after(key models.Key, by int) models.Key {
	key[15] += byte(by)
	return key
}
