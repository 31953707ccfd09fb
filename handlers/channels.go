package handlers

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// channelStore keeps channels, what they were sent and what waits for them.
type channelStore interface {
	Channels(ctx context.Context) ([]models.Channel, error)
	FindChannel(ctx context.Context, name string) (models.Channel, error)
	RemoveChannel(ctx context.Context, id int64) error
	EnableChannel(ctx context.Context, id int64) error
	DisableChannel(ctx context.Context, id int64, at time.Time, reason string) error
	RotateChannelKey(ctx context.Context, channel int64, secret string, overlap time.Duration) (models.ChannelKey, error)
	Queues(ctx context.Context) ([]models.Queue, error)
	Attempts(ctx context.Context, channel int64, f models.AttemptFilter) ([]models.Attempt, error)
	Resend(ctx context.Context, channel int64, event string, at time.Time) error
	Recover(ctx context.Context, channel int64, since, at time.Time) (int, error)
}

// desk is where people say what they want to be told (package notify).
type desk interface {
	AddChannel(ctx context.Context, spec models.ChannelSpec) (models.Channel, *models.ChannelKey, error)
	ChangeChannel(ctx context.Context, id int64, spec models.ChannelSpec) (models.Channel, error)
	Test(ctx context.Context, channel int64) (models.Attempt, error)
	Shown(c *models.Channel) string // its address without secrets
	Rule(ctx context.Context, rule models.AlertRule, spec models.AlertRuleSpec) (models.AlertRule, error)
	Preview(ctx context.Context, rule models.AlertRule, since time.Time) ([]models.AlertPreview, error)
	Digest(ctx context.Context, siteID int64, from, to time.Time) (models.Digest, []string, error)
}

// channel is a channel as it is answered.
type channel struct {
	models.Channel
	Address string `json:"address" doc:"Without user, password and query; of a chat without its path, which is its secret."`
	Waiting int64  `json:"waiting" doc:"Events that it has not settled, those that it does not want among them."`
	Secret  string `json:"secret,omitempty" doc:"Of a new webhook, in this answer alone."`
}

type channelBody struct {
	Name     *string   `json:"name,omitempty" maxLength:"100" doc:"Its host or first recipient when left out."`
	Address  *string   `json:"address,omitempty" maxLength:"2048" doc:"https://… for a webhook, mailto:NAME@HOST, or slack:, mattermost:, discord:, teams:, googlechat:, ntfy: before a URL, or telegram:TOKEN@CHAT."`
	SiteID   *int64    `json:"site_id,omitempty" minimum:"0" doc:"Events of this site alone; 0 for every site."`
	Types    *[]string `json:"types,omitempty" maxItems:"50" doc:"Types of events; \"*\" for all, \"held.*\" for all that begin so."`
	Digest   *string   `json:"digest,omitempty" maxLength:"200" doc:"Cron specification by which it gets digests; empty for none."`
	TimeZone *string   `json:"time_zone,omitempty" maxLength:"100" doc:"IANA name, for the digest."`
	Secret   *string   `json:"secret,omitempty" maxLength:"200" doc:"Of a new webhook: whsec_ and base64; one is made when left out."`
}

func (b *channelBody) spec() models.ChannelSpec {
	return models.ChannelSpec{Name: b.Name, Address: b.Address, SiteID: b.SiteID, Types: b.Types, Digest: b.Digest, TimeZone: b.TimeZone, Secret: b.Secret}
}

// ChannelInput names a channel.
type ChannelInput struct {
	Channel string `path:"channel" maxLength:"100" doc:"Number or name of the channel."`
}

func (s *Server) channel(ctx context.Context, in ChannelInput) (models.Channel, error) {
	if s.deps.Channels == nil || s.deps.Desk == nil {
		return models.Channel{}, unavailable("telling others")
	}
	c, err := s.deps.Channels.FindChannel(ctx, in.Channel)
	if isNotFound(err) {
		err = notFound("channel")
	}
	return c, err
}

// changeable refuses what the configuration file says: the next start would take it back.
func changeable(origin string) error {
	if origin == models.OriginConfig {
		return models.Invalid("origin", "change it there (notify.rules) and start the daemon anew", "the configuration file says what this is")
	}
	return nil
}

func (s *Server) shownChannel(c models.Channel, waiting int64) channel {
	return channel{Channel: c, Address: s.deps.Desk.Shown(&c), Waiting: waiting}
}

func (s *Server) channelList(ctx context.Context) ([]channel, error) {
	out := []channel{}
	if s.deps.Channels == nil || s.deps.Desk == nil {
		return out, unavailable("telling others")
	}
	channels, err := s.deps.Channels.Channels(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := s.deps.Channels.Queues(ctx)
	if err != nil {
		return nil, err
	}
	waiting := map[int64]int64{}
	for _, q := range queues {
		waiting[q.Channel] = q.Waiting
	}
	for _, c := range channels {
		out = append(out, s.shownChannel(c, waiting[c.ID]))
	}
	return out, nil
}

func (s *Server) channelRoutes() {
	tags := []string{"channels"}
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "list-channels", Method: "GET", Path: "/channels", Tags: tags, Summary: "All channels, with what waits for them",
	}, func(ctx context.Context, _ *struct{}) (*jsonOut[list[channel]], error) {
		items, err := s.channelList(ctx)
		return &jsonOut[list[channel]]{list[channel]{Items: items}}, err
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "add-channel", Method: "POST", Path: "/channels", Tags: tags, DefaultStatus: 201, Errors: []int{404, 409, 422},
		Summary: "Add a webhook, mail addresses or a chat", Description: "It is told what happens from now on. The secret of a webhook is in this answer alone.",
	}, func(ctx context.Context, in *struct{ Body channelBody }) (*jsonOut[channel], error) {
		if s.deps.Desk == nil {
			return nil, unavailable("telling others")
		}
		c, key, err := s.deps.Desk.AddChannel(ctx, in.Body.spec())
		if err != nil {
			return nil, err
		}
		s.log.InfoContext(ctx, "channel added", "channel", c.Name, "kind", c.Kind, "by", principalName(ctx))
		out := s.shownChannel(c, 0)
		if key != nil {
			out.Secret = key.Secret
		}
		return &jsonOut[channel]{out}, nil
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "get-channel", Method: "GET", Path: "/channels/{channel}", Tags: tags, Errors: []int{404}, Summary: "One channel",
	}, func(ctx context.Context, in *ChannelInput) (*jsonOut[channel], error) {
		c, err := s.channel(ctx, *in)
		if err != nil {
			return nil, err
		}
		all, err := s.channelList(ctx)
		for i := range all {
			if all[i].ID == c.ID {
				return &jsonOut[channel]{all[i]}, err
			}
		}
		return &jsonOut[channel]{s.shownChannel(c, 0)}, err
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "change-channel", Method: "PATCH", Path: "/channels/{channel}", Tags: tags, Errors: []int{404, 409, 422},
		Summary: "Change a channel; what is left out stays",
	}, func(ctx context.Context, in *struct {
		ChannelInput
		Body channelBody
	}) (*jsonOut[channel], error) {
		c, err := s.channel(ctx, in.ChannelInput)
		if err == nil {
			err = changeable(c.Origin)
		}
		if err != nil {
			return nil, err
		}
		if c, err = s.deps.Desk.ChangeChannel(ctx, c.ID, in.Body.spec()); err != nil {
			return nil, err
		}
		return &jsonOut[channel]{s.shownChannel(c, 0)}, nil
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "remove-channel", Method: "DELETE", Path: "/channels/{channel}", Tags: tags, DefaultStatus: 204, Errors: []int{404},
		Summary: "Delete a channel with its secrets, its queue and its log",
	}, func(ctx context.Context, in *ChannelInput) (*struct{}, error) {
		c, err := s.channel(ctx, *in)
		if err != nil {
			return nil, err
		}
		return nil, s.deps.Channels.RemoveChannel(ctx, c.ID)
	})
	s.channelActions(tags)
	s.attemptRoutes(tags)
}

func (s *Server) channelActions(tags []string) {
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "test-channel", Method: "POST", Path: "/channels/{channel}/test", Tags: tags, Errors: []int{404},
		Summary: "Send a test message at once and answer how it went",
	}, func(ctx context.Context, in *ChannelInput) (*jsonOut[models.Attempt], error) {
		c, err := s.channel(ctx, *in)
		if err != nil {
			return nil, err
		}
		attempt, err := s.deps.Desk.Test(ctx, c.ID)
		return &jsonOut[models.Attempt]{attempt}, err
	})
	for _, on := range []bool{true, false} {
		name, summary := "disable", "Stop a channel; what happens meanwhile waits for it"
		if on {
			name, summary = "enable", "Let a channel go on where it stopped, at once"
		}
		register(s, ScopeAdmin, huma.Operation{
			OperationID: name + "-channel", Method: "POST", Path: "/channels/{channel}/" + name, Tags: tags, DefaultStatus: 204, Errors: []int{404}, Summary: summary,
		}, func(ctx context.Context, in *ChannelInput) (*struct{}, error) {
			c, err := s.channel(ctx, *in)
			if err != nil {
				return nil, err
			}
			return nil, s.switchChannel(ctx, c.ID, on)
		})
	}
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "rotate-channel-secret", Method: "POST", Path: "/channels/{channel}/secret", Tags: tags, DefaultStatus: 201, Errors: []int{404, 422},
		Summary: "Make a new signing secret; the older ones sign too for a while",
	}, func(ctx context.Context, in *struct {
		ChannelInput
		Overlap int64 `query:"overlap_seconds" minimum:"0" maximum:"2592000" default:"86400" doc:"How long older secrets sign beside the new one."`
	}) (*jsonOut[channelSecret], error) {
		c, err := s.channel(ctx, in.ChannelInput)
		if err == nil && c.Kind != models.ChannelWebhook {
			err = models.Invalid("channel", "", "webhooks alone are signed; this is of kind %s", c.Kind)
		}
		if err != nil {
			return nil, err
		}
		key, err := s.deps.Channels.RotateChannelKey(ctx, c.ID, "", time.Duration(in.Overlap)*time.Second)
		if err != nil {
			return nil, err
		}
		s.log.InfoContext(ctx, "channel secret rotated", "channel", c.Name, "by", principalName(ctx))
		return &jsonOut[channelSecret]{channelSecret{key.ID, key.Secret}}, nil
	})
}

func (s *Server) switchChannel(ctx context.Context, id int64, on bool) error {
	if on {
		return s.deps.Channels.EnableChannel(ctx, id)
	}
	return s.deps.Channels.DisableChannel(ctx, id, s.deps.Now(), "by a person")
}

type channelSecret struct {
	ID     string `json:"id"`
	Secret string `json:"secret" doc:"In this answer alone."`
}

type resendBody struct {
	Event string `json:"event" maxLength:"64" doc:"Id of the event, as receivers know it (webhook-id)."`
}

type recoverBody struct {
	Since string `json:"since" maxLength:"40" doc:"A time; events from then on that were passed over and never taken are sent again." example:"2026-11-30T12:00:00Z"`
}

type recovered struct {
	Events int `json:"events"`
}

func (s *Server) attemptRoutes(tags []string) {
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "list-attempts", Method: "GET", Path: "/channels/{channel}/attempts", Tags: tags, Errors: []int{404, 422},
		Summary: "Every attempt to deliver to a channel, newest first", Description: "With the answer's status, the time it took and how the answer began.",
	}, func(ctx context.Context, in *struct {
		ChannelInput
		PageInput
		Outcome string `query:"outcome" enum:"delivered,failed,given_up"`
		Event   string `query:"event" maxLength:"64" doc:"Attempts of this event alone."`
		Resolved
	}) (*jsonOut[list[models.Attempt]], error) {
		c, err := s.channel(ctx, in.ChannelInput)
		if err != nil {
			return nil, err
		}
		hash := filterHash(in.url.Query(), number(c.ID)+in.url.Path)
		page, err := s.attempts(ctx, c.ID, models.AttemptFilter{Outcome: in.Outcome, Event: in.Event}, in.PageToken, in.size(), hash)
		return &jsonOut[list[models.Attempt]]{page}, err
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "resend-event", Method: "POST", Path: "/channels/{channel}/resend", Tags: tags, DefaultStatus: 202, Errors: []int{404, 422},
		Summary: "Have one event sent once more, with the same id, whatever became of it",
	}, func(ctx context.Context, in *struct {
		ChannelInput
		Body resendBody
	}) (*jsonOut[resendBody], error) {
		c, err := s.channel(ctx, in.ChannelInput)
		if err != nil {
			return nil, err
		}
		if err = s.deps.Channels.Resend(ctx, c.ID, in.Body.Event, s.deps.Now()); isNotFound(err) {
			err = notFound("event")
		}
		return &jsonOut[resendBody]{in.Body}, err
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "recover-channel", Method: "POST", Path: "/channels/{channel}/recover", Tags: tags, DefaultStatus: 202, Errors: []int{404, 422},
		Summary: "Have everything since a time sent again that the channel never took",
	}, func(ctx context.Context, in *struct {
		ChannelInput
		Body recoverBody
	}) (*jsonOut[recovered], error) {
		c, err := s.channel(ctx, in.ChannelInput)
		if err != nil {
			return nil, err
		}
		since, err := parseTime(in.Body.Since)
		if err != nil {
			return nil, models.Invalid("body.since", "for example 2026-11-30 or 2026-11-30T12:00:00Z", "not a time")
		}
		n, err := s.deps.Channels.Recover(ctx, c.ID, since, s.deps.Now())
		return &jsonOut[recovered]{recovered{n}}, err
	})
}

// attempts gives one page of a channel's log.
func (s *Server) attempts(ctx context.Context, channel int64, f models.AttemptFilter, token string, size int, hash []byte) (list[models.Attempt], error) {
	out := list[models.Attempt]{Items: []models.Attempt{}}
	at, err := readPosition(token, hash)
	if err != nil {
		return out, err
	}
	f.Before, f.Limit = at.Number, size+1
	all, err := s.deps.Channels.Attempts(ctx, channel, f)
	if err != nil {
		return out, err
	}
	if len(all) > size {
		all = all[:size]
		out.NextPageToken = encodePosition(position{Filter: hash, Number: all[size-1].ID})
	}
	out.Items = append(out.Items, all...)
	return out, nil
}
