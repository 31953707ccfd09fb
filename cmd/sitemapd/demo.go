package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/internal/sitetest"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) demoCommand() *cobra.Command {
	var posts int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The daemon on a built-in WordPress-shaped site that keeps publishing",
		Long: `Starts a site in the shape of WordPress on this machine, follows it and serves the dashboard. The site publishes,
edits, renames and deletes posts every few seconds, so that changes arrive while you look. Without --database
everything is kept in a temporary folder and gone at the end.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd, posts) },
	}
	config.ServeFlags(cmd.Flags())
	cmd.Flags().IntVar(&posts, "posts", 5000, "posts that the site starts with")
	return cmd
}

func (a *app) demo(cmd *cobra.Command, posts int) error {
	if err := a.load(cmd); err != nil {
		return err
	}
	if !cmd.Flags().Changed("database") && os.Getenv("SITEMAPD_DATABASE") == "" {
		dir, err := os.MkdirTemp("", "sitemapd-demo-")
		if err != nil {
			return fmt.Errorf("make a folder for the demo: %w", err)
		}
		defer os.RemoveAll(dir)
		a.config.Database = "sqlite:" + filepath.Join(dir, "demo.db")
	}
	origin := sitetest.New(sitetest.Options{Posts: posts, Pages: 20, Categories: 12, Tags: 40, Users: 5, Seed: 1})
	if err := origin.Listen("127.0.0.1:0"); err != nil {
		return fmt.Errorf("start the demo site: %w", err)
	}
	defer origin.Close()
	a.config.Fetch.AllowPrivate = append(a.config.Fetch.AllowPrivate, netip.MustParsePrefix("127.0.0.0/8"))
	// Everything is quicker than in real life, so that a newcomer sees it happen.
	a.config.Sync.Quiet, a.config.Sync.ConfirmAfter, a.config.Sync.Jitter = 2*time.Second, 5*time.Second, 0
	s, err := store.Open(cmd.Context(), a.config.Database, store.Options{Logger: a.log})
	if err != nil {
		return err
	}
	defer s.Close()
	a.config.Sites = []config.Site{{URL: origin.URL(), Name: "demo", Schedule: "@every 10s"}}
	publisher := &sitetest.Publisher{Site: origin, OnEvent: func(e sitetest.Event) {
		a.log.Info("the demo site changed", "what", e.Type, "url", e.URL)
		site, err := s.FindSite(cmd.Context(), "demo")
		if err != nil {
			return // not added yet
		}
		trigger := models.Trigger{SiteID: site.ID, Kind: models.CauseHook, Dialect: "none", ReceivedAt: time.Now().UTC(), Hints: []models.Hint{hintOf(e)}}
		if _, _, err := s.SaveTrigger(cmd.Context(), trigger); err != nil && cmd.Context().Err() == nil {
			a.log.Error("store the demo's trigger", "error", err)
		}
	}}
	go publisher.Run(cmd.Context())
	return a.serve(cmd.Context(), s, func(address string) {
		fmt.Fprintf(a.errOut, "\n  Dashboard   %s\n  Demo site   %s (publishes every few seconds)\n  Stop        Ctrl-C\n\n", address, origin.URL())
	})
}

// hintOf says what the companion plugin would say of an edit.
func hintOf(e sitetest.Event) models.Hint {
	h := models.Hint{Event: e.Type, URL: e.URL, PreviousURL: e.PreviousURL, PostID: int64(e.ID), PostType: e.PostType, Expect: models.ExpectChanged}
	switch {
	case e.Type == "post.published":
		h.Expect = models.ExpectListed
	case e.Type == "post.unpublished" || e.Type == "post.deleted":
		h.Expect = models.ExpectGone
	case e.PreviousURL != "":
		h.Expect = models.ExpectMoved
	}
	return h
}
