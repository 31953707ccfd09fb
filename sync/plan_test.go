package syncer

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/models"
)

// The planner is pure and unexported: its tables stand inside the package.

func key(name string) models.Key {
	var k models.Key
	copy(k[:], name)
	return k
}

func print(name string) models.Fingerprint {
	var f models.Fingerprint
	copy(f[:], name)
	return f
}

// observed makes a collection of "page" or "page=content" texts.
func observed(pages ...string) *collection {
	c := &collection{}
	for _, text := range pages {
		page, content, _ := bytes.Cut([]byte(text), []byte("="))
		c.entries = append(c.entries, entry{key: key(string(page)), fingerprint: print(string(content))})
		c.order = append(c.order, ordered{entry: int32(len(c.entries) - 1)})
	}
	slices.SortFunc(c.order, func(a, b ordered) int {
		return bytes.Compare(c.entries[a.entry].key[:], c.entries[b.entry].key[:])
	})
	return c
}

// listed makes stored open rows of document 1, begun in run 1, ascending by key.
func listed(role models.Role, pages ...string) []models.Listing {
	var out []models.Listing
	for _, text := range pages {
		page, content, _ := bytes.Cut([]byte(text), []byte("="))
		out = append(out, models.Listing{Key: key(string(page)), Document: 1, FromRun: 1, FirstRun: 1, Role: role, Fingerprint: print(string(content))})
	}
	slices.SortFunc(out, func(a, b models.Listing) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	return out
}

func TestDiffDocument(t *testing.T) {
	t.Parallel()
	type want struct {
		Left, Appeared, Returned, Close []string
		Kept, Changed                   int64
		Added                           int
	}
	tests := []struct {
		name    string
		stored  []models.Listing
		now     *collection
		missing []string
		partial bool
		want    want
	}{
		{name: "a first reading adds everything", now: observed("a", "b"), want: want{Appeared: []string{"a", "b"}, Added: 2}},
		{name: "the same again changes nothing", stored: listed(0, "a", "b"), now: observed("b", "a"), want: want{Kept: 2}},
		{name: "other content is a new version", stored: listed(0, "a=1", "b=1"), now: observed("a=1", "b=2"),
			want: want{Kept: 1, Changed: 1, Close: []string{"b"}, Added: 1}},
		{name: "what is not listed has left, and stays open", stored: listed(0, "a", "b"), now: observed("a"), want: want{Kept: 1, Left: []string{"b"}}},
		{name: "a partial reading lets nothing leave", stored: listed(0, "a", "b"), now: observed("c"), partial: true,
			want: want{Appeared: []string{"c"}, Added: 1}},
		{name: "a duplicate listing ends without proof", stored: listed(models.RoleDuplicate, "a"), now: observed(), want: want{Close: []string{"a"}}},
		{name: "a page already missed does not leave again", stored: listed(0, "a"), now: observed(), missing: []string{"a"}},
		{name: "a missed page that is listed again returns", stored: listed(0, "a"), now: observed("a"), missing: []string{"a"},
			want: want{Kept: 1, Returned: []string{"a"}}},
		{name: "an empty document lets all leave", stored: listed(0, "a", "b"), now: observed(), want: want{Left: []string{"a", "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			missing := map[models.Key]bool{}
			for _, m := range tt.missing {
				missing[key(m)] = true
			}
			d := diffDocument(tt.stored, tt.now, nil, missing, 2, tt.partial)
			got := want{Kept: d.kept, Changed: d.changed, Added: len(d.add), Appeared: names(d.appeared), Returned: names(d.returned), Close: names(d.close)}
			for _, l := range d.left {
				got.Left = append(got.Left, name(l.Key))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func name(k models.Key) string { return string(bytes.TrimRight(k[:], "\x00")) }

func names(keys []models.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, name(k))
	}
	return out
}

func TestDiffDocument_ForeignPagesStayApart(t *testing.T) {
	t.Parallel()
	now := observed("a")
	now.entries[0].foreign = true
	d := diffDocument(listed(0, "b"), now, nil, nil, 2, false)
	if len(d.appeared) != 0 || len(d.add) != 1 || d.add[0].role != models.RoleForeign {
		t.Errorf("appeared %v, add %v: want one foreign row and no page", d.appeared, d.add)
	}
}

func row(page string, document int32, from, first int64, role models.Role, content string) models.Listing {
	return models.Listing{Key: key(page), Document: document, FromRun: from, FirstRun: first, Role: role, Fingerprint: print(content)}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const run = 5
	type want struct {
		Closed, Reroled map[int32][]string
		Resolved, Found []string
		Known, Restored int64
		Moved, Changed  int64
	}
	declaration, duplicate := models.RoleDeclaration, models.RoleDuplicate
	tests := []struct {
		name      string
		rows      []models.Listing
		left      []place
		undecided []place
		how       map[int32]standing
		targeted  bool
		began     map[models.Key]int64
		want      want
	}{
		{name: "a page alone in one document is nobody's business", rows: []models.Listing{row("a", 1, 5, 5, declaration, "")}},
		{name: "a page shift moves", rows: []models.Listing{row("a", 1, 1, 1, declaration, ""), row("a", 2, 5, 5, declaration, "")},
			left: []place{{key("a"), 1}}, want: want{Closed: map[int32][]string{1: {"a"}}, Reroled: map[int32][]string{2: {"a:0:1"}},
				Resolved: []string{"a"}, Known: 1, Moved: 1}},
		{name: "a move with other content is a change", rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 2, 5, 5, declaration, "y")},
			left: []place{{key("a"), 1}}, want: want{Closed: map[int32][]string{1: {"a"}}, Reroled: map[int32][]string{2: {"a:0:1"}},
				Resolved: []string{"a"}, Known: 1, Changed: 1}},
		{name: "a second listing of a known page is a duplicate, whatever its document's number",
			rows: []models.Listing{row("a", 1, 5, 5, declaration, ""), row("a", 2, 1, 1, declaration, "")},
			want: want{Reroled: map[int32][]string{1: {"a:1:1"}}, Known: 1}},
		{name: "a new page in two documents is one addition, declared by the first",
			rows: []models.Listing{row("a", 1, 5, 5, declaration, ""), row("a", 2, 5, 5, declaration, "")},
			want: want{Reroled: map[int32][]string{2: {"a:1:5"}}, Known: 1}},
		{name: "a duplicate takes over when the declaration's document drops the page",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, ""), row("a", 2, 1, 1, duplicate, "")}, left: []place{{key("a"), 1}},
			want: want{Closed: map[int32][]string{1: {"a"}}, Reroled: map[int32][]string{2: {"a:0:1"}}, Resolved: []string{"a"}, Moved: 1}},
		{name: "a duplicate in a document that was not read stands behind what was read",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 2, 3, 1, duplicate, "x"), row("a", 3, 5, 5, declaration, "y")},
			left: []place{{key("a"), 1}}, how: map[int32]standing{2: notRead},
			want: want{Closed: map[int32][]string{1: {"a"}}, Reroled: map[int32][]string{3: {"a:0:1"}}, Resolved: []string{"a"}, Known: 1, Changed: 1}},
		{name: "a page that appears elsewhere while its document cannot be read is as fresh as the other one",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 3, 5, 5, declaration, "y")},
			how:  map[int32]standing{1: notRead}, want: want{Reroled: map[int32][]string{1: {"a:1:1"}, 3: {"a:0:1"}}, Known: 1, Changed: 1}},
		{name: "a duplicate takes over when the declaration's document cannot be read",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 2, 3, 1, duplicate, "x")},
			how:  map[int32]standing{1: notRead}, want: want{Reroled: map[int32][]string{1: {"a:1:1"}, 2: {"a:0:1"}}, Moved: 1}},
		{name: "it does in a targeted run that did not ask for its document",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 2, 3, 1, duplicate, "x")},
			how:  map[int32]standing{1: notRead, 2: readOnce}, want: want{Reroled: map[int32][]string{1: {"a:1:1"}, 2: {"a:0:1"}}, Moved: 1}},
		{name: "a declaration in a document that a targeted run did not ask for stays one",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 3, 5, 5, declaration, "y")},
			how:  map[int32]standing{1: readOnce}, want: want{Reroled: map[int32][]string{3: {"a:1:1"}}, Known: 1}},
		{name: "a declaration stays where no document can be read",
			rows: []models.Listing{row("a", 1, 1, 1, duplicate, "x"), row("a", 2, 1, 1, declaration, "y")},
			how:  map[int32]standing{1: notRead, 2: notRead}, want: want{}},
		{name: "it stays with the document that took over when its old one can be read again",
			rows: []models.Listing{row("a", 1, 1, 1, duplicate, "x"), row("a", 2, 1, 1, declaration, "y")}, want: want{}},
		{name: "what a partly read document changed stays declared by it",
			rows: []models.Listing{row("a", 1, 5, 1, declaration, "x"), row("a", 2, 3, 1, duplicate, "y")},
			how:  map[int32]standing{1: notRead}, want: want{}},
		{name: "a duplicate in a document that was not read is no word of a page that its own document drops",
			rows: []models.Listing{row("a", 1, 3, 1, declaration, "y"), row("a", 2, 1, 1, duplicate, "x")}, left: []place{{key("a"), 1}},
			how: map[int32]standing{2: readOnce}, targeted: true},
		{name: "a duplicate in a document that was not read brings no missed page back",
			rows: []models.Listing{row("a", 1, 3, 1, declaration, ""), row("a", 2, 1, 1, duplicate, "")}, undecided: []place{{key("a"), 1}},
			how: map[int32]standing{2: readOnce}, targeted: true},
		{name: "a targeted run finds in half a document what left another one",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, "x"), row("a", 2, 5, 5, declaration, "x")}, left: []place{{key("a"), 1}},
			how: map[int32]standing{2: notRead}, targeted: true,
			want: want{Closed: map[int32][]string{1: {"a"}}, Reroled: map[int32][]string{2: {"a:0:1"}}, Resolved: []string{"a"}, Known: 1, Moved: 1}},
		{name: "a missed page that appears elsewhere is found",
			rows: []models.Listing{row("a", 1, 1, 1, declaration, ""), row("a", 2, 5, 5, declaration, "")}, undecided: []place{{key("a"), 1}},
			want: want{Closed: map[int32][]string{1: {"a"}}, Reroled: map[int32][]string{2: {"a:0:1"}}, Resolved: []string{"a"}, Found: []string{"a"}, Known: 1, Moved: 1}},
		{name: "a removed page that comes back continues its history", rows: []models.Listing{row("a", 1, 5, 5, declaration, "")},
			began: map[models.Key]int64{key("a"): 2}, want: want{Reroled: map[int32][]string{1: {"a:0:2"}}, Restored: 1}},
		{name: "a removed page that comes back in two documents is one return",
			rows:  []models.Listing{row("a", 1, 5, 5, declaration, ""), row("a", 2, 5, 5, declaration, "")},
			began: map[models.Key]int64{key("a"): 2}, want: want{Reroled: map[int32][]string{1: {"a:0:2"}, 2: {"a:1:2"}}, Known: 1, Restored: 1}},
		{name: "a page missing everywhere is left to the removal policy", rows: []models.Listing{row("a", 1, 1, 1, declaration, "")}, left: []place{{key("a"), 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := resolution{targeted: tt.targeted}
			r.resolve(tt.rows, run, func(p place) (bool, bool) {
				if slices.Contains(tt.undecided, p) {
					return true, true
				}
				return slices.Contains(tt.left, p), false
			}, tt.how, tt.began)
			got := want{Found: names(r.found), Known: r.known, Restored: r.restored, Moved: r.moved, Changed: r.changed}
			for _, p := range r.resolved {
				got.Resolved = append(got.Resolved, name(p.key))
			}
			for number, e := range r.edits {
				if len(e.close) > 0 {
					if got.Closed == nil {
						got.Closed = map[int32][]string{}
					}
					got.Closed[number] = names(e.close)
				}
				for _, x := range e.rerole {
					if got.Reroled == nil {
						got.Reroled = map[int32][]string{}
					}
					got.Reroled[number] = append(got.Reroled[number], name(x.key)+":"+string('0'+rune(x.role))+":"+string('0'+rune(x.firstRun)))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	policy := Policy{GuardPages: 10, GuardPercent: 10}
	tests := []struct {
		name string
		a    absence
		held bool
	}{
		{"one of four goes on", absence{pages: 1, remaining: 3, known: 4}, false},
		{"ten of twenty go on", absence{pages: 10, remaining: 10, known: 20}, false},
		{"eleven of twenty are held", absence{pages: 11, remaining: 9, known: 20}, true},
		{"a tenth of a large site goes on", absence{pages: 100, remaining: 900, known: 1000}, false},
		{"more than a tenth of a large site is held", absence{pages: 101, remaining: 899, known: 1000}, true},
		{"nothing left is held, however small", absence{pages: 2, remaining: 0, known: 2}, true},
		{"a document may lose ten", absence{pages: 10, remaining: 990, known: 1000, byDocument: map[int32]int64{1: 10}, listed: map[int32]int64{1: 20}}, false},
		{"a document that loses more than a tenth is held", absence{pages: 11, remaining: 989, known: 1000,
			byDocument: map[int32]int64{1: 11}, listed: map[int32]int64{1: 50}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if reason := policy.judge(tt.a).why(1); (reason != "") != tt.held {
				t.Errorf("held for %q, want held %v", reason, tt.held)
			}
		})
	}
}

func TestCarryOn(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const confirmAfter = 2 * time.Minute
	tests := []struct {
		name    string
		stage   string
		age     time.Duration
		proof   walkProof
		held    string
		release time.Duration
		want    string
		changed bool
	}{
		{name: "an incomplete walk proves nothing", stage: models.StagePending, age: time.Hour, want: models.StagePending},
		{name: "a second complete walk removes", stage: models.StagePending, age: confirmAfter, proof: walkProof{complete: true}, want: models.StageRemoved, changed: true},
		{name: "a second walk too soon waits", stage: models.StagePending, age: time.Second, proof: walkProof{complete: true}, want: models.StagePending},
		{name: "two walks in one run remove at once", stage: models.StagePending, proof: walkProof{complete: true, confirmed: true}, want: models.StageRemoved, changed: true},
		{name: "the guard stops a pending removal", stage: models.StagePending, age: time.Hour, proof: walkProof{complete: true}, held: "too many", want: models.StageHeld, changed: true},
		{name: "held stays held", stage: models.StageHeld, age: 1000 * time.Hour, proof: walkProof{complete: true, confirmed: true}, want: models.StageHeld},
		{name: "rejected stays listed", stage: models.StageRejected, age: 1000 * time.Hour, release: 48 * time.Hour, proof: walkProof{complete: true, confirmed: true}, want: models.StageRejected},
		{name: "held is released after the configured time", stage: models.StageHeld, age: 49 * time.Hour, release: 48 * time.Hour, proof: walkProof{complete: true}, want: models.StageRemoved, changed: true},
		{name: "an approved removal waits for a complete walk", stage: models.StageApproved, age: time.Hour, want: models.StageApproved},
		{name: "an approved removal goes with the next complete walk", stage: models.StageApproved, proof: walkProof{complete: true}, held: "too many", want: models.StageRemoved, changed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := models.Removal{Stage: tt.stage, Since: begin, DecidedRun: models.Open}
			tt.proof.now, tt.proof.run = begin.Add(tt.age), 9
			changed := Policy{}.carryOn(&c, confirmAfter, tt.release, tt.proof, tt.held)
			if c.Stage != tt.want || changed != tt.changed {
				t.Errorf("stage %s, changed %v; want %s, %v", c.Stage, changed, tt.want, tt.changed)
			}
			if (c.Stage == models.StageRemoved) != (c.DecidedRun == 9) {
				t.Errorf("decided in run %d at stage %s", c.DecidedRun, c.Stage)
			}
		})
	}
}

func TestWindowLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	day := func(n int) *models.Lastmod { return &models.Lastmod{Instant: now.AddDate(0, 0, -n)} }
	news := func(date string) []byte {
		return []byte(`{"news":{"publication":{"name":"x","language":"en"},"publication_date":"` + date + `","title":"t"}}`)
	}
	version := func(entries int64, generator string) *models.DocumentVersion {
		return &models.DocumentVersion{Entries: entries, Generator: generator, ObservedAt: now}
	}
	one := []models.Listing{{}}
	tests := []struct {
		name        string
		row         models.Declaration
		before, now *models.DocumentVersion
		diff        documentDiff
		want        bool
	}{
		{name: "an old article left the news map", row: models.Declaration{Extensions: news("2026-11-28T08:00:00Z")}, now: version(30, ""), want: true},
		{name: "a fresh article left the news map", row: models.Declaration{Extensions: news("2026-11-30T08:00:00Z")}, now: version(30, "")},
		{name: "the oldest page left a map of the newest 250", row: models.Declaration{Lastmod: day(300)}, before: version(250, ""), now: version(250, ""),
			diff: documentDiff{left: one, appearedCount: 1, oldest: now.AddDate(0, 0, -299)}, want: true},
		{name: "a young page left it: deleted", row: models.Declaration{Lastmod: day(3)}, before: version(250, ""), now: version(250, ""),
			diff: documentDiff{left: one, appearedCount: 1, oldest: now.AddDate(0, 0, -299)}},
		{name: "the map has shrunk: deleted", row: models.Declaration{Lastmod: day(300)}, before: version(250, ""), now: version(249, ""),
			diff: documentDiff{left: one, oldest: now.AddDate(0, 0, -299)}},
		{name: "a full list that swaps a page for another", row: models.Declaration{Lastmod: day(300)}, before: version(37, ""), now: version(37, ""),
			diff: documentDiff{left: one, appearedCount: 1, oldest: now.AddDate(0, 0, -299)}},
		{name: "The SEO Framework lists its newest pages, however many", row: models.Declaration{Lastmod: day(300)}, before: version(37, "seo_framework"),
			now: version(37, "seo_framework 5"), diff: documentDiff{left: one, appearedCount: 1, oldest: now.AddDate(0, 0, -299)}, want: true},
		{name: "a list of 50 that has nothing in common with the last one", row: models.Declaration{Lastmod: day(300)}, before: version(50, ""),
			now: version(50, ""), diff: documentDiff{left: make([]models.Listing, 50), appearedCount: 50, oldest: now.AddDate(0, 0, -299)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := windowLeft(tt.row, tt.before, tt.now, tt.diff); got != tt.want {
				t.Errorf("left the window: %v, want %v", got, tt.want)
			}
		})
	}
}
