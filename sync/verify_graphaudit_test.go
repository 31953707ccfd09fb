package syncer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// States that were damaged behind the queue's back are found by an audit, put right with all that was judged by them,
// reported on their pages, and closed by the next look.
func TestAuditGraph_PutsRightWhatDiffers(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, s *store.Store) {
		l := &pagesLab{lab: newLabOn(t, sitetest.Options{Posts: 9}, s)}
		l.run(false)
		for _, id := range l.origin.PublishedPosts() {
			l.posts = append(l.posts, l.origin.PostURL(id))
		}
		var told []models.GraphAudit
		l.verifier = l.newVerifier(syncer.VerifierOptions{GraphAudited: func(_ models.Site, a models.GraphAudit) { told = append(told, a) }})
		p := l.posts
		for from, to := range map[int]int{0: 1, 1: 2, 2: 0, 3: 0, 4: 5} {
			l.origin.Fail(sitetest.Path(p[from]), sitetest.Canonical(p[to]))
		}
		l.verify()
		sound := l.lines(models.CanonicalFilter{})
		audit := func() models.GraphAudit {
			t.Helper()
			a, err := l.verifier.AuditGraph(t.Context(), l.site.ID)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := audit(); a.Differences != 0 || a.URLs != 5 {
			t.Errorf("nothing was damaged: %+v", a)
		}
		key := func(i int) models.Key { return models.Key(canonical.KeyOf(p[i])) }
		damage := map[models.Key]models.EdgeState{key(0): {Resolution: "chain", Final: key(7), Depth: 3}, key(3): {Resolution: "too_long"},
			key(4): {Resolution: "none"}, key(8): {Resolution: "loop", Loop: key(8), Depth: 2}}
		if err := s.SettleEdges(t.Context(), l.site.ID, nil, damage, nil, nil); err != nil {
			t.Fatal(err)
		}
		l.clock.advance(time.Hour)
		if a := audit(); a.Differences != 4 || len(a.Examples) != 4 || !slices.Contains(a.Examples, p[8]) {
			t.Errorf("four were damaged: %+v", a)
		}
		for i := range p {
			if got, want := l.line(p[i]), brief(&sound[p[i]][0]); got != want {
				t.Errorf("page %d, put right: %s, want %s", i, got, want)
			}
			if damaged := slices.Contains(l.findings(p[i]), "new "+canonical.FindingGraphCorrected); damaged != slices.Contains([]int{0, 3, 4, 8}, i) {
				t.Errorf("page %d: %v", i, l.findings(p[i]))
			}
		}
		if a := audit(); a.Differences != 0 {
			t.Errorf("again: %+v", a)
		}
		if v, err := l.verifier.Verification(t.Context(), l.site.ID); err != nil || v.GraphAudit == nil || v.GraphAudit.Differences != 0 || v.GraphAudit.URLs != 5 {
			t.Errorf("%+v, %v", v.GraphAudit, err)
		}
		l.verify()
		if found := l.findings(p[0]); !slices.Contains(found, "fixed "+canonical.FindingGraphCorrected) {
			t.Errorf("after the next look: %v", found)
		}
		if len(told) != 3 || told[1].Differences != 4 {
			t.Errorf("told: %+v", told)
		}
	})
}

// In the daemon an audit is made once a week.
func TestSlice_AuditsTheGraphOnceAWeek(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 3)
	audits := 0
	l.verifier = l.newVerifier(syncer.VerifierOptions{GraphAudited: func(models.Site, models.GraphAudit) { audits++ }})
	slice := func(after time.Duration, want int) {
		t.Helper()
		l.clock.advance(after)
		if _, _, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil {
			t.Fatal(err)
		}
		if audits != want {
			t.Errorf("%d audits, want %d", audits, want)
		}
	}
	slice(0, 1)
	slice(6*24*time.Hour, 1)
	slice(25*time.Hour, 2)
	// Another process knows of it.
	l.verifier = l.newVerifier(syncer.VerifierOptions{GraphAudited: func(models.Site, models.GraphAudit) { audits++ }})
	slice(time.Hour, 2)
}
