package syncer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	syncer "github.com/sitemapd/sitemapd/sync"
)

func TestRun_NeedNotWaitForAnOwnerKnownToBeDead(t *testing.T) {
	t.Parallel()
	for _, dead := range []bool{true, false} {
		l := newLab(t, sitetest.Options{Posts: 3})
		if _, err := l.store.AcquireLease(t.Context(), syncer.HostKey(l.site.Root), "killed", time.Hour); err != nil {
			t.Fatal(err)
		}
		l.restart(func(o *syncer.Options) {
			o.Dead = func(owner string) bool { return dead && owner == "killed" }
		})
		_, err := l.engine.Run(t.Context(), syncer.Request{SiteID: l.site.ID, Cause: models.CauseManual})
		if dead && err != nil {
			t.Errorf("the owner is dead: %v", err)
		}
		if !dead && !errors.Is(err, models.ErrBusy) {
			t.Errorf("the owner may live: %v, want busy", err)
		}
	}
}
