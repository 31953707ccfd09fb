package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sitemapd/sitemapd/internal/metrics"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

// verificationEvery is how often the metrics of verification are read: that counts every page of every site.
const verificationEvery = 5 * time.Minute

// watchVerification shows the metrics how far each site is verified, until ctx ends: more often at first, when sites are new.
func (d *daemon) watchVerification(ctx context.Context, m *metrics.Verify) {
	for pause := 20 * time.Second; ; pause = min(2*pause, verificationEvery) {
		d.tellVerification(ctx, m)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

func (d *daemon) tellVerification(ctx context.Context, m *metrics.Verify) {
	sites, err := d.store.Sites(ctx)
	for _, site := range sites {
		var v models.Verification
		if v, err = d.pages.Verification(ctx, site.ID); err != nil {
			break
		}
		m.State(site, v)
	}
	if err != nil && ctx.Err() == nil {
		d.log.Error("count what is verified", "error", err)
	}
}

// auditGraph compares where a site's canonical links lead with a full computation.
func (a *app) auditGraph(ctx context.Context, s *store.Store, site models.Site, urls []string) error {
	if len(urls) > 0 {
		return usage("--graph is for a whole site: name no page")
	}
	v, done, err := a.reader(s)
	if err != nil {
		return err
	}
	defer done()
	audit, err := v.AuditGraph(ctx, site.ID)
	if errors.Is(err, models.ErrBusy) {
		return &models.HintedError{Err: err, Hint: "a daemon or another command is at this host; try again when it is done"}
	}
	if err != nil {
		return err
	}
	return a.object(audit, func(w io.Writer) {
		fmt.Fprintf(w, "%d URLs with a canonical link or permanent redirect, %d differences, %.2f s\n", audit.URLs, audit.Differences, audit.Seconds)
		for _, example := range audit.Examples {
			fmt.Fprintf(w, "  put right: %s\n", plain(example))
		}
	})
}
