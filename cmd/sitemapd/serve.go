package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/internal/metrics"
	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/internal/systemd"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/schedule"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "The daemon: schedules, publish hooks, API, dashboard and metrics",
		Long: `Follows the configured and stored sites until it is stopped. The first signal ends it gracefully: triggers stay
stored, running walks end, leases are given back; a second signal ends it at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer s.Close()
			return a.serve(cmd.Context(), s, nil)
		},
	}
	config.ServeFlags(cmd.Flags())
	return cmd
}

// daemon is what serve runs.
type daemon struct {
	*app
	store  *store.Store
	client *fetch.Client
	engine *syncer.Engine
	loop   *syncer.Loop
	pages  *syncer.Verifier
	notify *notify.Worker

	verified *metrics.Verify
}

// serve runs the daemon until ctx ends. started, when given, is called with the address that is listened on.
func (a *app) serve(ctx context.Context, s *store.Store, started func(address string)) error {
	d := &daemon{app: a, store: s, client: a.client()}
	defer d.client.Close()
	listener, err := net.Listen("tcp", a.config.Listen)
	if err != nil {
		return &models.HintedError{Err: fmt.Errorf("listen: %w", err), Hint: "choose another address with --listen HOST:PORT"}
	}
	untrace, err := a.trace()
	if err != nil {
		return err
	}
	defer untrace()
	registry := prometheus.NewRegistry()
	runs, err := metrics.New(registry)
	if err != nil {
		return err
	}
	if d.verified, err = metrics.NewVerify(registry); err != nil {
		return err
	}
	if d.engine, err = a.engine(s, d.client, syncer.Options{Observe: d.observed(runs), Expected: runs.Decided}); err != nil {
		return err
	}
	if d.pages, err = a.verifier(s, d.client, d.engine, d.verified); err != nil {
		return err
	}
	if d.notify, err = d.notifier(registry); err != nil {
		return err
	}
	c := a.config.Sync
	d.loop = syncer.NewLoop(d.engine, syncer.LoopOptions{Store: s, Logger: a.log, Quiet: noneIfZero(c.Quiet), MaxWait: c.MaxWait, Sites: c.SitesAtOnce})
	server, err := handlers.New(d.dashboard(d.deps(registry)))
	if err != nil {
		return err
	}
	for _, name := range config.UnknownVariables(os.Environ()) {
		a.log.Warn("this variable is no setting", "name", name)
	}
	if _, err := readRules(a.config.Notify.Rules); err != nil {
		return err
	}
	// Before anything is told, as far as the sites are known already; run applies what names new ones.
	if err := a.applyRules(ctx, s); err != nil {
		a.log.Debug("apply the rules file", "error", err)
	}
	if err := d.known(ctx, runs); err != nil {
		return err
	}
	address := "http://" + listener.Addr().String()
	a.log.Info("listening", "address", address, "database", s.Dialect())
	// Whoever starts the daemon first gets the one link that lets the administrator in.
	link, err := server.FirstLink(ctx, orDefault(a.config.PublicURL, openable(listener.Addr())))
	if err != nil {
		return fmt.Errorf("make the administrator's link: %w", err)
	}
	if link != "" && started == nil {
		fmt.Fprintf(a.errOut, "\n  First start: open %s within a day to set the administrator's password.\n\n", link)
	}
	if started != nil {
		started(address)
	}
	return d.run(ctx, server, listener)
}

// run starts the parts and stops them in order: no new runs, no new requests, running walks, database.
func (d *daemon) run(ctx context.Context, server *handlers.Server, listener net.Listener) error {
	parts, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2)
	verified := make(chan struct{})
	told := make(chan struct{})
	forgotten := make(chan struct{})
	go func() {
		defer close(forgotten)
		d.forgetting(parts)
	}()
	go func() {
		defer close(told)
		d.notifying(parts)
	}()
	go func() {
		defer close(verified)
		if d.config.Verify.Enabled {
			var counting sync.WaitGroup
			counting.Go(func() { d.watchVerification(parts, d.verified) })
			_ = d.pages.Run(parts) // it ends with parts alone
			counting.Wait()
		}
	}()
	go func() {
		err := d.loop.Run(parts)
		<-verified // it gives its hosts back: the database must be open until then
		<-told
		<-forgotten
		failed <- err
	}()
	go func() { failed <- server.Serve(parts, listener) }()
	_ = systemd.Notify("READY=1")
	go systemd.KeepAlive(parts, func(context.Context) bool { return true })
	if err := d.follow(parts); err != nil && parts.Err() == nil {
		d.log.Error("follow the configured sites", "error", err)
	}
	// After the sites: rules name them. What is wrong with one entry must not stop the daemon.
	if err := d.applyRules(parts, d.store); err != nil && parts.Err() == nil {
		d.log.Error("apply the rules file", "error", err)
	}
	first := <-failed
	_ = systemd.Notify("STOPPING=1")
	stop()
	deadline := time.NewTimer(d.config.HTTP.ShutdownTimeout)
	defer deadline.Stop()
	select {
	case second := <-failed:
		return errors.Join(first, second)
	case <-deadline.C:
		return errors.Join(first, errors.New("stopped before everything had ended: a running walk will be swept by the next one"))
	}
}

// known tells the metrics about every site's last run, so that alerts on silence hold from the start.
func (d *daemon) known(ctx context.Context, m *metrics.Sync) error {
	sites, err := d.store.Sites(ctx)
	if err != nil {
		return err
	}
	for _, site := range sites {
		run, err := d.store.Run(ctx, site.ID, site.CurrentRun)
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			return err
		}
		m.Known(site, run)
	}
	return nil
}

// follow adds the configured sites that are not stored yet and makes sure that every site has a next run.
func (d *daemon) follow(ctx context.Context) error {
	for _, f := range d.config.Sites {
		if _, err := d.followSite(ctx, f); err != nil {
			// A site that does not answer now must not keep the others from being followed.
			d.log.Error("add site", "url", f.URL, "error", err)
		}
	}
	sites, err := d.store.Sites(ctx)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	for _, site := range sites {
		if site.NextDue != nil || site.Paused {
			continue
		}
		next := now
		if site.CurrentRun > 0 {
			due := nextDue(d.config.Sync)(site, now)
			if due == nil {
				continue
			}
			next = *due
		}
		site.NextDue = &next
		if err := d.store.SaveSite(ctx, site); err != nil {
			return fmt.Errorf("plan site %s: %w", site.Name, err)
		}
	}
	d.loop.Wake()
	return nil
}

func (d *daemon) followSite(ctx context.Context, f config.Site) (models.Site, error) {
	name := f.URL
	if len(f.Roots) > 0 {
		name = f.Roots[0]
	}
	if existing, err := d.store.FindSite(ctx, orDefault(f.Name, name)); err == nil {
		return d.configured(ctx, existing, f)
	}
	site, err := d.newSite(ctx, siteFile{URL: f.URL, Name: f.Name, Roots: f.Roots, Hosts: f.Hosts, Schedule: f.Schedule,
		TimeZone: f.TimeZone, Paused: f.Paused})
	if err != nil {
		return site, err
	}
	settings(&site, f)
	added, err := d.store.AddSite(ctx, site)
	if errors.Is(err, models.ErrConflict) {
		return d.store.FindSite(ctx, site.Root)
	}
	return added, err
}

// settings puts what the configuration says of a site into it.
func settings(site *models.Site, f config.Site) {
	site.Schedule, site.TimeZone, site.Paused = f.Schedule, f.TimeZone, f.Paused
	s := &site.Settings
	s.Hosts = f.Hosts
	s.Tags, _ = models.CleanTags(f.Tags) // checked with the configuration
	s.PreferredScheme, s.PreferredHost, s.TrailingSlash = f.PreferredScheme, f.PreferredHost, f.TrailingSlash
	s.ConfirmAfter, s.ReleaseAfter, s.Quiet, s.MaxWait, s.Username, s.Password = f.ConfirmAfter, f.ReleaseAfter, f.Quiet, f.MaxWait, f.Username, f.Password
	s.Retention = f.Retention
}

// configured brings a stored site to what the configuration says of it; a changed schedule starts from now.
func (d *daemon) configured(ctx context.Context, site models.Site, f config.Site) (models.Site, error) {
	before := site
	settings(&site, f)
	if reflect.DeepEqual(before, site) {
		return site, nil
	}
	if before.Schedule != site.Schedule || before.TimeZone != site.TimeZone {
		site.NextDue = nil
	}
	return site, d.store.SaveSite(ctx, site)
}

func (d *daemon) deps(registry *prometheus.Registry) handlers.Deps {
	s, c := d.store, d.config
	deps := handlers.Deps{
		Sites: s, Pages: s, Changes: s, Runs: s, Documents: s, Findings: s, Removals: s, Triggers: s, HookKeys: s,
		Tokens: s, Accounts: s, Deliveries: s, Expectations: s, Published: s, Canonical: d.pages, Audits: d.pages,
		Channels: s, AlertRules: s, Desk: counter{a: d.app, store: s, Desk: d.desk(s)},
		Engine: daemonEngine{d}, Registry: registry, Log: d.log, Version: version(),
		KeyFor: func(raw string) (models.Key, error) {
			u, problem := weburl.Parse(nil, []byte(raw))
			if problem != weburl.None {
				return models.Key{}, models.Invalid("url", "", "%q is no usable URL: %s", raw, problem)
			}
			return models.Key(u.Key()), nil
		},
		CheckSchedule: func(spec, zone string) ([]time.Time, error) {
			plan, err := schedule.Parse(spec, zone)
			if err != nil {
				return nil, err
			}
			return plan.NextN(time.Now(), 5), nil
		},
		Discover: func(ctx context.Context, url string, all bool) (models.Site, handlers.Probe, error) {
			site, probe, err := syncer.Discover(ctx, d.client, url, all)
			return site, probeOf(probe), err
		},
		Defaults: models.Site{Schedule: c.Sync.Schedule, TimeZone: c.Sync.TimeZone, Settings: models.SiteSettings{ConfirmAfter: c.Sync.ConfirmAfter,
			ReleaseAfter: c.Sync.ReleaseAfter, Quiet: c.Sync.Quiet, MaxWait: c.Sync.MaxWait, Retention: c.Sync.Retention}},
		Ready:     s.Ping,
		OpenLocal: c.HTTP.OpenLocal, PublicURL: c.PublicURL, TrustedProxies: c.HTTP.TrustedProxies,
		UserHeader: c.HTTP.UserHeader, RatePerMinute: c.HTTP.RatePerMinute,
	}
	if d.tracer != nil {
		deps.Trace, deps.TraceParent = d.tracer.Request, d.tracer.Parent
	}
	return deps
}

// probeOf shows the HTTP side what probing gave.
func probeOf(p syncer.Probe) handlers.Probe {
	out := handlers.Probe{Home: p.Home, Generator: p.Generator, Candidates: []handlers.Candidate{}}
	for _, c := range p.Candidates {
		out.Candidates = append(out.Candidates, handlers.Candidate{URL: c.URL, FinalURL: c.FinalURL, Discovery: c.Discovery, Status: c.Status,
			Root: c.Root, Verdict: c.Verdict, Reason: c.Reason, Entries: c.Entries, Children: c.Children, Chosen: c.Chosen})
	}
	return out
}

// daemonEngine is the engine as the HTTP side sees it: triggers are stored there already, here the loop wakes.
type daemonEngine struct{ d *daemon }

func (e daemonEngine) Trigger(int64, string) { e.d.loop.Wake() }

func (e daemonEngine) Progress(site int64) (models.Progress, bool) {
	p, ok := e.d.engine.Progress(site)
	return p, ok && e.d.engine.Running(site)
}

func (e daemonEngine) Watch(ctx context.Context, site int64) <-chan models.Progress {
	return e.d.engine.Watch(ctx, site)
}

func (e daemonEngine) Stop(site int64) bool { return e.d.engine.Stop(site) }
