package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) hookCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "hook", Short: "Publish hooks: secret, log, replay, plugin inventory", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var rotate bool
	var overlap time.Duration
	secret := &cobra.Command{
		Use:   "secret SITE",
		Short: "Show the site's hook address and signing secret; make one when there is none",
		Args:  cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			keys, err := s.HookKeys(ctx, site.ID)
			if err != nil {
				return err
			}
			if rotate || len(keys) == 0 {
				if _, err := s.RotateHookKey(ctx, site.ID, overlap); err != nil {
					return err
				}
				if keys, err = s.HookKeys(ctx, site.ID); err != nil {
					return err
				}
			}
			return a.hookSecret(site, keys)
		}),
	}
	secret.Flags().BoolVar(&rotate, "rotate", false, "make a new secret; the old one stays valid for --overlap")
	secret.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old secret stays valid after --rotate")
	cmd.AddCommand(secret, a.hookLogCommand(), a.hookReplayCommand(), a.hookInventoryCommand())
	return cmd
}

// hookSecret prints where publish hooks go and what signs them.
func (a *app) hookSecret(site models.Site, keys []models.HookKey) error {
	base := orDefault(a.config.PublicURL, "http://"+a.config.Listen)
	type shown struct {
		ID       string `json:"id"`
		Secret   string `json:"secret"`
		NotAfter string `json:"not_after,omitempty"`
		TokenURL string `json:"token_url"`
	}
	out := struct {
		Site    string  `json:"site"`
		URL     string  `json:"url"`
		Secrets []shown `json:"secrets"`
	}{Site: site.Name, URL: fmt.Sprintf("%s/hooks/%d", base, site.ID)}
	for _, k := range keys {
		token, err := handlers.HookToken(k.Secret)
		if err != nil {
			return err
		}
		out.Secrets = append(out.Secrets, shown{ID: k.ID, Secret: k.Secret, NotAfter: when(k.NotAfter), TokenURL: out.URL + "/" + token})
	}
	return a.object(out, func(w io.Writer) {
		fmt.Fprintf(w, "hook address   %s\n", out.URL)
		for _, k := range out.Secrets {
			fmt.Fprintf(w, "secret         %s\n", k.Secret)
			if k.NotAfter != "" {
				fmt.Fprintf(w, "  valid until  %s\n", k.NotAfter)
			}
			fmt.Fprintf(w, "  for senders that cannot sign (Update Services, form posts): %s\n", k.TokenURL)
		}
	})
}

func (a *app) hookLogCommand() *cobra.Command {
	var limit int
	var result string
	cmd := &cobra.Command{
		Use:   "log SITE",
		Short: "What arrived at the site's hooks and what was done with it, newest first",
		Long: `Shows each delivery: accepted ones with the run that served them, and why the others started nothing (duplicate,
ignored, rejected). Triggers of people and of replays are shown as accepted ones without a sender. Bad signatures
are kept as long as they are not many: at most 60 rows a minute.`,
		Args: cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			deliveries, err := deliveryLog(ctx, s, site, result, limit)
			if err != nil {
				return err
			}
			out := a.printer("at", "result", "cause", "dialect", "trigger", "run", "bytes", "remote", "pages")
			for i := range deliveries {
				d := &deliveries[i]
				if err := out.row(d, when(d.At), d.Result, d.Cause, d.Dialect, numberOrNone(d.Trigger), numberOrNone(d.Run),
					strconv.FormatInt(d.Bytes, 10), d.Remote, pagesOf(d.Hints)); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "at most this many, 0 for all")
	cmd.Flags().StringVar(&result, "result", "", "accepted, duplicate, ignored or rejected")
	return cmd
}

func (a *app) hookReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay SITE TRIGGER",
		Short: "Look again for what an accepted delivery announced; the daemon does so within a second and the quiet time",
		Args:  cobra.ExactArgs(2),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return usage("%q is no trigger: `sitemapd hook log %s` shows their numbers", args[0], site.Name)
			}
			old, err := s.Trigger(ctx, site.ID, id)
			if err != nil {
				return err
			}
			fresh, _, err := s.SaveTrigger(ctx, models.Trigger{SiteID: site.ID, Kind: old.Kind, Dialect: old.Dialect,
				ReceivedAt: time.Now().UTC(), Hints: old.Hints, Body: old.Body})
			if err != nil {
				return err
			}
			return a.object(map[string]int64{"trigger": fresh}, func(w io.Writer) { fmt.Fprintf(w, "stored as trigger %d\n", fresh) })
		}),
	}
}

// deliveryLog merges the inbox with what became no trigger, newest first.
func deliveryLog(ctx context.Context, s *store.Store, site models.Site, result string, limit int) ([]models.Delivery, error) {
	var out []models.Delivery
	switch result {
	case "", models.DeliveryAccepted, models.DeliveryDuplicate, models.DeliveryIgnored, models.DeliveryRejected:
	default:
		return nil, usage("--result %q: want accepted, duplicate, ignored or rejected", result)
	}
	if result == "" || result == models.DeliveryAccepted {
		triggers, err := s.Triggers(ctx, site.ID, 0, limit)
		if err != nil {
			return nil, err
		}
		for i := range triggers {
			out = append(out, handlers.Delivered(&triggers[i]))
		}
	}
	if result != models.DeliveryAccepted {
		read := limit
		if result != "" {
			read = 0 // those of the other results are passed over
		}
		others, err := s.Deliveries(ctx, site.ID, 0, read)
		if err != nil {
			return nil, err
		}
		for _, d := range others {
			if result == "" || d.Result == result {
				out = append(out, d)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y models.Delivery) int { return y.At.Compare(x.At) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

func numberOrNone(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// pagesOf names what the hints name, the first of many.
func pagesOf(hints []models.Hint) string {
	var urls []string
	for _, h := range hints {
		if url := orDefault(h.URL, h.PreviousURL); url != "" {
			urls = append(urls, url)
		}
	}
	if len(urls) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(urls[:3], " "), len(urls)-3)
	}
	return strings.Join(urls, " ")
}
