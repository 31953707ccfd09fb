package syncer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/canonical"
)

// The state of verification is that of the pages: what is verified, waits, contradicts itself, and what the day has cost.
func TestVerification_CountsWhatIsKnownAndWaits(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 8)
	l.origin.Fail(sitetest.Path(l.posts[0]), sitetest.Canonical(l.posts[0], l.posts[1]))
	l.origin.Fail(sitetest.Path(l.posts[2]), sitetest.Canonical(l.posts[3]))
	l.origin.Fail(sitetest.Path(l.posts[3]), sitetest.Canonical(l.posts[2]))
	l.origin.Fail(sitetest.Path(l.posts[4]), sitetest.NoIndex())
	state := func() models.Verification {
		v, err := l.verifier.Verification(t.Context(), l.site.ID)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := state(); v.Pages != 0 || v.Verified != 0 || v.Due != 0 || v.QueueAge() != 0 {
		t.Errorf("before the first look: %+v", v)
	}
	l.verifier = l.newVerifier(syncer.VerifierOptions{PerDay: 3})
	if _, _, err := l.verifier.Slice(t.Context(), l.site.ID); err != nil {
		t.Fatal(err)
	}
	l.clock.advance(time.Hour)
	v := state()
	if pages := int64(len(l.origin.Inventory())); v.Pages != pages || v.Verified != 3 || v.Waiting["first"] == 0 || v.Spent != 3 || v.Budget != 3 || v.QueueAge() < time.Hour {
		t.Errorf("after a day's allowance: %+v", v)
	}
	l.verify()
	v = state()
	if v.Verified != v.Pages || v.Waiting["first"] != 0 || v.Statuses["conflicting"] != 1 || v.Statuses["invalid"] != 2 || v.Statuses["validated"] != v.Pages-3 {
		t.Errorf("statuses after all looks: %+v", v)
	}
	if v.Resolutions["loop"] != 2 || v.Resolutions["conflict"] != 1 || v.Conflicts["html_vs_html"] != 1 || v.Unsettled != 0 || v.Findings == 0 {
		t.Errorf("resolutions after all looks: %+v", v)
	}
}

func TestMute_ChecksWhatItIsGiven(t *testing.T) {
	t.Parallel()
	l := newPagesLab(t, 2)
	soon, over := l.clock.now().Add(time.Hour), l.clock.now().Add(-time.Hour)
	for _, bad := range []models.Mute{{Code: "nonsense"}, {Code: canonical.FindingRelative, Until: &over}, {Code: canonical.FindingRelative, Place: "mailto:a@b"}, {Code: canonical.FindingRelative, Place: "https://"}} {
		var invalid *models.InvalidError
		if _, err := l.verifier.Mute(t.Context(), l.site.ID, bad); !errors.As(err, &invalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	page := models.Mute{Code: canonical.FindingRelative, Place: l.posts[0], Until: &soon, Note: "known"}
	kept, err := l.verifier.Mute(t.Context(), l.site.ID, page)
	if err != nil || kept.Key != models.Key(canonical.KeyOf(l.posts[0])) {
		t.Errorf("%+v, %v", kept, err)
	}
	if _, err := l.verifier.Mute(t.Context(), l.site.ID, models.Mute{Code: canonical.FindingRelative}); err != nil {
		t.Error(err)
	}
	in := func() int {
		all, err := l.verifier.Mutes(t.Context(), l.site.ID)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := in(); n != 2 {
		t.Errorf("%d mutes", n)
	}
	l.clock.advance(2 * time.Hour)
	if n := in(); n != 1 {
		t.Errorf("%d mutes when one is over", n)
	}
	if err := l.verifier.Unmute(t.Context(), l.site.ID, models.Mute{Code: canonical.FindingRelative}); err != nil {
		t.Error(err)
	}
	if err := l.verifier.Unmute(t.Context(), l.site.ID, models.Mute{Code: canonical.FindingRelative}); !errors.Is(err, models.ErrNotFound) {
		t.Errorf("what is not muted: %v", err)
	}
}
