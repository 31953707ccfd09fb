package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) webhookCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "webhook", Aliases: []string{"webhooks", "channel", "channels"}, Short: "Channels that are told what happens: webhooks, mail, chats",
		Long: `Channels are told what happens: signed webhooks (Standard Webhooks), mail, and chats. Each gets the events that it is
subscribed to, at least once and in order; alerts and digests go to the channels that they name. The daemon delivers.`,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.webhookAdd(), a.webhookList(), a.webhookTest(), a.webhookLog(), a.webhookResend(), a.webhookRecover(),
		a.webhookSwitch(true), a.webhookSwitch(false), a.webhookSecret(), a.webhookRemove())
	return cmd
}

func (a *app) desk(s *store.Store) *notify.Desk { return notify.NewDesk(s, a.sender(s), a.teller(s)) }

// withChannel opens the database and finds the channel that the first argument names.
func (a *app) withChannel(fn func(ctx context.Context, s *store.Store, c models.Channel, args []string) error) func(*cobra.Command, []string) error {
	return a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
		c, err := s.FindChannel(ctx, args[0])
		if err != nil {
			return fmt.Errorf("%w; `sitemapd webhook list` shows what there is", err)
		}
		return fn(ctx, s, c, args[1:])
	})
}

func (a *app) webhookAdd() *cobra.Command {
	var name, site, digest, zone, secretFile string
	var types []string
	cmd := &cobra.Command{
		Use:   "add ADDRESS",
		Short: "Add a channel; of a webhook the signing secret is shown this once",
		Long: `ADDRESS says what kind of channel it is:

  https://example.com/in                    a webhook, signed as Standard Webhooks say
  mailto:ops@example.com,web@example.com    mail, by the server of mail.server
  slack:https://hooks.slack.com/services/…  an incoming webhook; likewise mattermost:, discord:, teams:, googlechat:
  ntfy:https://ntfy.sh/topic                a topic; ntfy:https://:TOKEN@host/topic with a token
  telegram:TOKEN@CHAT                       a bot's token and a chat's number or name

Types of events: ` + strings.Join(models.EventTypes, ", ") + `.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.RunE = a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
		spec := models.ChannelSpec{Address: &args[0], Name: &name, Digest: &digest, TimeZone: &zone}
		if cmd.Flags().Changed("type") {
			spec.Types = &types
		}
		if site != "" {
			found, err := a.site(ctx, s, site)
			if err != nil {
				return err
			}
			spec.SiteID = &found.ID
		}
		if secretFile != "" {
			secret, err := readSecretFile(secretFile)
			if err != nil {
				return err
			}
			spec.Secret = &secret
		}
		c, key, err := a.desk(s).AddChannel(ctx, spec)
		if err != nil {
			return err
		}
		out := map[string]any{"id": c.ID, "name": c.Name, "kind": c.Kind, "address": notify.Shown(&c), "types": c.Types}
		if key != nil {
			out["secret"] = key.Secret
		}
		return a.object(out, func(w io.Writer) {
			fmt.Fprintf(w, "channel %d: %s\n", c.ID, c.Name)
			if key != nil {
				fmt.Fprintf(w, "secret  %s\n", key.Secret)
			}
		})
	})
	cmd.Flags().StringVar(&name, "name", "", "what to call it; its host or first recipient when left out")
	cmd.Flags().StringSliceVar(&types, "type", nil, `types of events, "*" for all, "held.*" for all that begin so; a webhook gets all unless told otherwise`)
	cmd.Flags().StringVar(&site, "site", "", "events of this site alone")
	cmd.Flags().StringVar(&digest, "digest", "", `cron specification by which it gets digests, such as "0 8 * * 1"`)
	cmd.Flags().StringVar(&zone, "time-zone", "", "IANA name for --digest; UTC when left out")
	cmd.Flags().StringVar(&secretFile, "secret-file", "", "file with a secret of your own (whsec_…) instead of a new one")
	return cmd
}

func (a *app) webhookList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "All channels with what waits for them",
		Args:  cobra.NoArgs,
		RunE: a.withStore(func(ctx context.Context, s *store.Store, _ []string) error {
			channels, err := s.Channels(ctx)
			if err != nil {
				return err
			}
			queues, err := s.Queues(ctx)
			if err != nil {
				return err
			}
			waiting := map[int64]int64{}
			for _, q := range queues {
				waiting[q.Channel] = q.Waiting
			}
			out := a.printer("id", "name", "kind", "address", "types", "site", "digest", "waiting", "state")
			for i := range channels {
				c := &channels[i]
				shown := struct {
					*models.Channel
					Address string `json:"address"`
					Waiting int64  `json:"waiting"`
				}{c, notify.Shown(c), waiting[c.ID]}
				if err := out.row(shown, strconv.FormatInt(c.ID, 10), c.Name, c.Kind, shown.Address, strings.Join(c.Types, " "), numberOrNone(c.SiteID), c.Digest,
					strconv.FormatInt(shown.Waiting, 10), channelState(c)); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
}

func channelState(c *models.Channel) string {
	switch {
	case c.DisabledAt != nil:
		return "disabled: " + c.DisabledReason
	case c.FailingSince != nil:
		return "failing since " + when(*c.FailingSince)
	}
	return "ok"
}

func (a *app) webhookTest() *cobra.Command {
	return &cobra.Command{
		Use:   "test CHANNEL",
		Short: "Send a test message at once and show the answer",
		Args:  cobra.ExactArgs(1),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, _ []string) error {
			attempt, err := a.desk(s).Test(ctx, c.ID)
			if err != nil {
				return err
			}
			if err := a.object(attempt, func(w io.Writer) {
				fmt.Fprintf(w, "%s in %s  %s %s\n", attempt.Outcome, attempt.Took.Round(time.Millisecond), attempt.Error, attempt.Excerpt)
			}); err != nil {
				return err
			}
			if attempt.Outcome != models.AttemptDelivered {
				return &exitError{code: exitFailure}
			}
			return nil
		}),
	}
}

func (a *app) webhookLog() *cobra.Command {
	var f models.AttemptFilter
	cmd := &cobra.Command{
		Use:   "log CHANNEL",
		Short: "Every attempt to deliver, newest first: answer, time, what it began with",
		Args:  cobra.ExactArgs(1),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, _ []string) error {
			attempts, err := s.Attempts(ctx, c.ID, f)
			if err != nil {
				return err
			}
			out := a.printer("at", "event", "type", "run", "try", "outcome", "status", "ms", "error", "answer")
			for i := range attempts {
				t := &attempts[i]
				if err := out.row(t, when(t.At), t.EventUID, t.Type, numberOrNone(t.Run), strconv.Itoa(t.Try), t.Outcome, numberOrNone(int64(t.Status)),
					strconv.FormatFloat(t.TookMS, 'f', 1, 64), t.Error, t.Excerpt); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
	cmd.Flags().IntVar(&f.Limit, "limit", 100, "at most this many, 0 for all")
	cmd.Flags().StringVar(&f.Outcome, "outcome", "", "delivered, failed or given_up")
	cmd.Flags().StringVar(&f.Event, "event", "", "attempts of this event alone")
	return cmd
}

func (a *app) webhookResend() *cobra.Command {
	return &cobra.Command{
		Use:   "resend CHANNEL EVENT",
		Short: "Have the daemon send one event once more, with the same id",
		Args:  cobra.ExactArgs(2),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, args []string) error {
			if err := s.Resend(ctx, c.ID, args[0], time.Now()); err != nil {
				return err
			}
			return a.object(map[string]any{"channel": c.ID, "event": args[0]}, func(w io.Writer) { fmt.Fprintln(w, "asked for; the daemon sends it within seconds") })
		}),
	}
}

func (a *app) webhookRecover() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "recover CHANNEL --since TIME",
		Short: "Have everything since a time sent again that the channel never took",
		Args:  cobra.ExactArgs(1),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, _ []string) error {
			at, err := sinceTime(since, time.Now())
			if err != nil {
				return err
			}
			n, err := s.Recover(ctx, c.ID, at, time.Now())
			if err != nil {
				return err
			}
			return a.object(map[string]any{"channel": c.ID, "events": n}, func(w io.Writer) { fmt.Fprintf(w, "%d events are sent again\n", n) })
		}),
	}
	cmd.Flags().StringVar(&since, "since", "24h", "a time (RFC 3339), or how long ago (12h, 7d)")
	return cmd
}

func (a *app) webhookSwitch(on bool) *cobra.Command {
	use, short := "disable", "Stop a channel; what happens meanwhile waits for it"
	if on {
		use, short = "enable", "Let a channel go on where it stopped, at once"
	}
	return &cobra.Command{Use: use + " CHANNEL", Short: short, Args: cobra.ExactArgs(1),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, _ []string) error {
			err := s.DisableChannel(ctx, c.ID, time.Now(), "by a person")
			if on {
				err = s.EnableChannel(ctx, c.ID)
			}
			if err != nil {
				return err
			}
			return a.object(map[string]any{"channel": c.ID, "enabled": on}, func(w io.Writer) { fmt.Fprintf(w, "channel %s is %sd\n", c.Name, use) })
		})}
}

func (a *app) webhookSecret() *cobra.Command {
	var overlap time.Duration
	cmd := &cobra.Command{
		Use:   "secret CHANNEL",
		Short: "Make a new signing secret and show it this once; the old one signs too for a while",
		Args:  cobra.ExactArgs(1),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, _ []string) error {
			if c.Kind != models.ChannelWebhook {
				return usage("channel %s is of kind %s: webhooks alone are signed", c.Name, c.Kind)
			}
			key, err := s.RotateChannelKey(ctx, c.ID, "", overlap)
			if err != nil {
				return err
			}
			return a.object(map[string]any{"channel": c.ID, "key": key.ID, "secret": key.Secret}, func(w io.Writer) { fmt.Fprintln(w, key.Secret) })
		}),
	}
	cmd.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old secret signs beside the new one")
	return cmd
}

func (a *app) webhookRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm CHANNEL",
		Short: "Delete a channel with its secrets, its queue and its log",
		Args:  cobra.ExactArgs(1),
		RunE: a.withChannel(func(ctx context.Context, s *store.Store, c models.Channel, _ []string) error {
			if err := s.RemoveChannel(ctx, c.ID); err != nil {
				return err
			}
			return a.object(map[string]any{"channel": c.ID, "removed": true}, func(w io.Writer) { fmt.Fprintf(w, "channel %s is removed\n", c.Name) })
		}),
	}
}
