package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Channel is a channel with its address as it may be shown; Secret is there only in the answer that made a webhook.
type Channel struct {
	models.Channel
	Address string `json:"address"`
	Waiting int64  `json:"waiting"`
	Secret  string `json:"secret"`
}

// ChannelSettings are for AddChannel and ChangeChannel; nil ones stay as they are.
type ChannelSettings struct {
	Name     *string   `json:"name,omitempty"`
	Address  *string   `json:"address,omitempty"`
	SiteID   *int64    `json:"site_id,omitempty"`
	Types    *[]string `json:"types,omitempty"`
	Digest   *string   `json:"digest,omitempty"`
	TimeZone *string   `json:"time_zone,omitempty"`
	Secret   *string   `json:"secret,omitempty"`
}

// AlertRule is a rule with the number of sites for which it holds now.
type AlertRule struct {
	models.AlertRule
	WithinSeconds int64 `json:"within_seconds"`
	Open          int   `json:"open"`
}

// RuleSettings are for AddAlertRule, ChangeAlertRule and PreviewAlertRule; nil ones stay as they are, or are what is usual.
type RuleSettings struct {
	Name          *string  `json:"name,omitempty"`
	Trigger       *string  `json:"trigger,omitempty"`
	Threshold     *float64 `json:"threshold,omitempty"`
	Severity      *string  `json:"severity,omitempty"`
	Code          *string  `json:"code,omitempty"`
	WithinSeconds *int64   `json:"within_seconds,omitempty"`
	SiteID        *int64   `json:"site_id,omitempty"`
	Filter        *string  `json:"filter,omitempty"`
	Channels      *[]int64 `json:"channels,omitempty"`
	Paused        *bool    `json:"paused,omitempty"`
}

func channel(name string) string { return "/channels/" + url.PathEscape(name) }

func rule(name string) string { return "/alert-rules/" + url.PathEscape(name) }

// ListChannels gives all channels.
func (c *Client) ListChannels(ctx context.Context) iter.Seq2[Channel, error] {
	return all[Channel](ctx, c, "/channels", nil)
}

// AddChannel adds a webhook, mail addresses or a chat.
func (c *Client) AddChannel(ctx context.Context, settings ChannelSettings) (Channel, error) {
	return answer[Channel](ctx, c, http.MethodPost, "/channels", nil, nil, settings)
}

// GetChannel gives one channel by number or name.
func (c *Client) GetChannel(ctx context.Context, name string) (Channel, error) {
	return answer[Channel](ctx, c, http.MethodGet, channel(name), nil, nil, nil)
}

// ChangeChannel changes what settings say.
func (c *Client) ChangeChannel(ctx context.Context, name string, settings ChannelSettings) (Channel, error) {
	return answer[Channel](ctx, c, http.MethodPatch, channel(name), nil, nil, settings)
}

// RemoveChannel deletes a channel with its queue and its log.
func (c *Client) RemoveChannel(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, channel(name), nil, nil, nil, nil)
}

// TestChannel sends a test message at once.
func (c *Client) TestChannel(ctx context.Context, name string) (models.Attempt, error) {
	return answer[models.Attempt](ctx, c, http.MethodPost, channel(name)+"/test", nil, nil, nil)
}

// EnableChannel lets a channel go on where it stopped.
func (c *Client) EnableChannel(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodPost, channel(name)+"/enable", nil, nil, nil, nil)
}

// DisableChannel stops a channel; what happens meanwhile waits.
func (c *Client) DisableChannel(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodPost, channel(name)+"/disable", nil, nil, nil, nil)
}

// RotateChannelSecret makes a new secret of a webhook; the older ones sign too for the overlap.
func (c *Client) RotateChannelSecret(ctx context.Context, name string, overlap time.Duration) (id, secret string, err error) {
	query := url.Values{"overlap_seconds": {strconv.FormatInt(int64(overlap/time.Second), 10)}}
	made, err := answer[struct{ ID, Secret string }](ctx, c, http.MethodPost, channel(name)+"/secret", query, nil, nil)
	return made.ID, made.Secret, err
}

// ListAttempts gives a channel's log, newest first; the filter has the API's names.
func (c *Client) ListAttempts(ctx context.Context, name string, filter url.Values) iter.Seq2[models.Attempt, error] {
	return all[models.Attempt](ctx, c, channel(name)+"/attempts", filter)
}

// ResendEvent has one event sent once more.
func (c *Client) ResendEvent(ctx context.Context, name, event string) error {
	return c.do(ctx, http.MethodPost, channel(name)+"/resend", nil, nil, map[string]string{"event": event}, nil)
}

// RecoverChannel has everything since a time sent again that the channel never took, and gives how many events that is.
func (c *Client) RecoverChannel(ctx context.Context, name string, since time.Time) (int, error) {
	out, err := answer[struct{ Events int }](ctx, c, http.MethodPost, channel(name)+"/recover", nil, nil, map[string]string{"since": since.UTC().Format(time.RFC3339Nano)})
	return out.Events, err
}

// ListAlertRules gives all alert rules.
func (c *Client) ListAlertRules(ctx context.Context) iter.Seq2[AlertRule, error] {
	return all[AlertRule](ctx, c, "/alert-rules", nil)
}

// AddAlertRule adds a rule.
func (c *Client) AddAlertRule(ctx context.Context, settings RuleSettings) (AlertRule, error) {
	return answer[AlertRule](ctx, c, http.MethodPost, "/alert-rules", nil, nil, settings)
}

// GetAlertRule gives one rule by number or name.
func (c *Client) GetAlertRule(ctx context.Context, name string) (AlertRule, error) {
	return answer[AlertRule](ctx, c, http.MethodGet, rule(name), nil, nil, nil)
}

// ChangeAlertRule changes what settings say.
func (c *Client) ChangeAlertRule(ctx context.Context, name string, settings RuleSettings) (AlertRule, error) {
	return answer[AlertRule](ctx, c, http.MethodPatch, rule(name), nil, nil, settings)
}

// RemoveAlertRule deletes a rule; its alerts stay.
func (c *Client) RemoveAlertRule(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, rule(name), nil, nil, nil, nil)
}

// SilenceAlertRule tells nobody of a rule for a while; 0 ends the silence.
func (c *Client) SilenceAlertRule(ctx context.Context, name string, length time.Duration, reason string) (AlertRule, error) {
	return answer[AlertRule](ctx, c, http.MethodPost, rule(name)+"/silence", nil, nil, map[string]any{"for_seconds": int64(length / time.Second), "reason": reason})
}

// PreviewAlertRule gives what a rule would have sent since a time.
func (c *Client) PreviewAlertRule(ctx context.Context, settings RuleSettings, since time.Time) ([]models.AlertPreview, error) {
	body := struct {
		RuleSettings
		Since string `json:"since"`
	}{settings, since.UTC().Format(time.RFC3339Nano)}
	out, err := answer[struct{ Items []models.AlertPreview }](ctx, c, http.MethodPost, "/alert-rules/preview", nil, nil, body)
	return out.Items, err
}

// ListAlerts gives the alerts of a site, "" for every site, newest first.
func (c *Client) ListAlerts(ctx context.Context, siteName string) iter.Seq2[models.Alert, error] {
	query := url.Values{}
	if siteName != "" {
		query.Set("site", siteName)
	}
	return all[models.Alert](ctx, c, "/alerts", query)
}

// Digest gives what happened since a time, of one site or, with "", of all.
func (c *Client) Digest(ctx context.Context, siteName string, since time.Time) (models.Digest, error) {
	query := url.Values{"since": {since.UTC().Format(time.RFC3339)}}
	if siteName != "" {
		query.Set("site", siteName)
	}
	return answer[models.Digest](ctx, c, http.MethodGet, "/digest", query, nil, nil)
}
