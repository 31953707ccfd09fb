package main

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sitemapd/sitemapd/internal/metrics"
	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/schedule"
)

// sender makes what brings events to channels: through the guard of package fetch, and by the configured mail server.
func (a *app) sender(s *store.Store) *notify.Sender {
	f, n, m := a.config.Fetch, a.config.Notify, a.config.Mail
	web := fetch.Outgoing(fetch.Options{UserAgent: f.UserAgent + "/" + version(), Contact: f.Contact,
		AllowPrivate: slices.Concat(f.AllowPrivate, n.AllowPrivate), HeaderTimeout: n.Timeout})
	o := notify.SenderOptions{Web: web, Keys: s, PublicURL: a.config.PublicURL, Timeout: n.Timeout}
	if m.Server != "" {
		o.Mail = &notify.Mail{Server: m.Server, Username: m.Username, Password: m.Password, From: m.From, TLS: m.TLS}
	}
	return notify.NewSender(o)
}

func (a *app) teller(s *store.Store) *notify.Teller {
	return notify.NewTeller(notify.TellerOptions{Store: s, Alerts: s, Digests: s, Logger: a.log, Zone: nextTick})
}

// nextTick is when a schedule fires next, nil for never.
func nextTick(spec, zone string, after time.Time) *time.Time {
	plan, err := schedule.Parse(spec, zone)
	if err != nil {
		return nil
	}
	next := plan.Next(after)
	if next.IsZero() {
		return nil
	}
	next = next.UTC()
	return &next
}

// notifier makes the part of the daemon that tells what happened.
func (d *daemon) notifier(registry *prometheus.Registry) (*notify.Worker, error) {
	told, err := metrics.NewOutgoing(registry)
	if err != nil {
		return nil, err
	}
	n := d.config.Notify
	return notify.NewWorker(notify.Options{Store: d.store, Sender: d.sender(d.store), Teller: d.teller(d.store), Logger: d.log, Owner: owner(), Dead: dead,
		Claim: max(time.Minute, 2*n.Timeout), Grace: min(n.Timeout, d.config.HTTP.ShutdownTimeout/2), DisableAfter: n.DisableAfter, Keep: n.Keep,
		Observe: told.Observe, Queued: told.Queued})
}

// observed counts a run that ended and has it told.
func (d *daemon) observed(runs *metrics.Sync) func(models.Site, models.Run) {
	return func(site models.Site, run models.Run) {
		runs.Observe(site, run)
		d.notify.Wake()
	}
}

// notifying runs the notifier until ctx ends.
func (d *daemon) notifying(ctx context.Context) {
	if err := d.notify.Run(ctx); err != nil {
		d.log.Error("tell what happened", "error", err)
	}
}

// counter is the desk as the HTTP side sees it.
type counter struct {
	*notify.Desk
	a     *app
	store *store.Store
}

func (counter) Shown(c *models.Channel) string { return notify.Shown(c) }

func (c counter) Digest(ctx context.Context, site int64, from, to time.Time) (models.Digest, []string, error) {
	d, err := c.a.teller(c.store).Digest(ctx, site, from, to)
	return d, notify.Lines(&d), err
}
