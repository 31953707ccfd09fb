package models

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Kinds of channels: how what happened is brought to whoever wants to know.
const (
	ChannelWebhook    = "webhook"    // Standard Webhooks: signed JSON by POST
	ChannelMail       = "mail"       // by the configured mail server
	ChannelSlack      = "slack"      // an incoming webhook of Slack, or of what takes its form
	ChannelMattermost = "mattermost" // an incoming webhook of Mattermost or Rocket.Chat
	ChannelDiscord    = "discord"    // a webhook of Discord
	ChannelTeams      = "teams"      // a workflow of Microsoft Teams
	ChannelGoogleChat = "googlechat" // a webhook of Google Chat
	ChannelNtfy       = "ntfy"       // a topic of ntfy
	ChannelTelegram   = "telegram"   // a bot of Telegram and a chat
)

// Channel is an address that events go to, in the order in which they happened, each at least once.
type Channel struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Kind    string `json:"kind" enum:"webhook,mail,slack,mattermost,discord,teams,googlechat,ntfy,telegram"`
	Address string `json:"-"` // may hold a secret: Shown is what people see
	// SiteID is the one site whose events the channel gets; 0: every site's.
	SiteID int64 `json:"site_id,omitempty"`
	// Types are the types of events that the channel is subscribed to; "*" is any, "page.*" all that begin so. What is
	// addressed to the channel itself (alerts, digests, tests) needs no subscription.
	Types    []string `json:"types"`
	Digest   string   `json:"digest,omitempty"` // cron specification by which it gets digests, "" for none
	TimeZone string   `json:"time_zone,omitempty"`
	Origin   string   `json:"origin,omitempty"` // "config" when the configuration file says what it is

	CreatedAt      time.Time  `json:"created_at"`
	DigestDue      *time.Time `json:"digest_due,omitempty"`
	FailingSince   *time.Time `json:"failing_since,omitempty"` // the first failure since the last success
	DisabledAt     *time.Time `json:"disabled_at,omitempty"`
	DisabledReason string     `json:"disabled_reason,omitempty"`

	Position int64      `json:"-"`                 // the last event that is settled here
	Head     int64      `json:"-"`                 // the event that was tried last, 0 for none
	Tries    int        `json:"tries,omitempty"`   // of the event at the head of the queue
	NextAt   *time.Time `json:"next_at,omitempty"` // not tried again before
	Owner    string     `json:"-"`                 // the daemon that delivers here at the moment
	Epoch    int64      `json:"-"`                 // of its claim
}

// OriginConfig marks what the configuration file says: it is changed there.
const OriginConfig = "config"

// Types of events. docs/webhooks-out.md has their data.
const (
	EventRunFinished        = "run.finished"
	EventPagesChanged       = "pages.changed"
	EventFindingOpened      = "finding.opened"
	EventFindingClosed      = "finding.closed"
	EventHeldCreated        = "held.created"
	EventHeldResolved       = "held.resolved"
	EventSiteUnavailable    = "site.unavailable"
	EventSiteRecovered      = "site.recovered"
	EventExpectationExpired = "expectation.expired"
	EventChannelDisabled    = "channel.disabled"
	EventAlertOpened        = "alert.opened"
	EventAlertResolved      = "alert.resolved"
	EventDigest             = "digest"
	EventTest               = "test"
)

// EventTypes are all types that a channel can subscribe to.
var EventTypes = []string{EventRunFinished, EventPagesChanged, EventFindingOpened, EventFindingClosed, EventHeldCreated, EventHeldResolved,
	EventSiteUnavailable, EventSiteRecovered, EventExpectationExpired, EventChannelDisabled, EventAlertOpened, EventAlertResolved}

// Event is something that happened, kept so that every channel can be told. ID grows in the order of commits.
type Event struct {
	ID     int64     `json:"-"`
	UID    string    `json:"id"` // the webhook-id: the same in every attempt
	SiteID int64     `json:"site_id,omitempty"`
	Run    int64     `json:"run,omitempty"`
	Type   string    `json:"type"`
	At     time.Time `json:"timestamp"`
	// Channel is the only one that the event is for; 0: whoever subscribed.
	Channel int64           `json:"-"`
	Data    json.RawMessage `json:"data"`
}

// Wants tells whether an event goes to the channel.
func (c *Channel) Wants(e *Event) bool {
	if e.Channel != 0 {
		return e.Channel == c.ID
	}
	return (c.SiteID == 0 || e.SiteID == 0 || c.SiteID == e.SiteID) && c.Subscribed(e.Type)
}

// Subscribed tells whether the channel's types name a type.
func (c *Channel) Subscribed(kind string) bool {
	return slices.ContainsFunc(c.Types, func(t string) bool {
		prefix, open := strings.CutSuffix(t, "*")
		return t == kind || open && strings.HasPrefix(kind, prefix)
	})
}

// CheckTypes refuses types that no event has.
func CheckTypes(types []string) error {
	for _, t := range types {
		one := Channel{Types: []string{t}}
		if !slices.ContainsFunc(EventTypes, one.Subscribed) {
			return Invalid("types", "any of "+strings.Join(EventTypes, ", ")+`, or "*"`, "no event has the type %q", t)
		}
	}
	return nil
}

// ChannelKey is one secret of a webhook channel; requests are signed with every one that is valid.
type ChannelKey = HookKey

// Outcomes of attempts.
const (
	AttemptDelivered = "delivered"
	AttemptFailed    = "failed"   // to be tried again
	AttemptGivenUp   = "given_up" // the last try failed: the event is passed over
)

// Attempt is one try to bring one event to one channel.
type Attempt struct {
	ID       int64         `json:"id"`
	Channel  int64         `json:"-"`
	EventID  int64         `json:"-"`
	EventUID string        `json:"event_id"`
	Type     string        `json:"type"`
	SiteID   int64         `json:"site_id,omitempty"`
	Run      int64         `json:"run,omitempty"`
	At       time.Time     `json:"at"`
	Try      int           `json:"try"` // counts from 1
	Resend   bool          `json:"resend,omitempty"`
	Outcome  string        `json:"outcome" enum:"delivered,failed,given_up"`
	Status   int           `json:"status,omitempty"` // of the answer; 0 for none
	Took     time.Duration `json:"-"`
	TookMS   float64       `json:"took_ms"`
	Error    string        `json:"error,omitempty"`
	Excerpt  string        `json:"excerpt,omitempty"` // how the answer began
}

// Settlement is what an attempt means for its channel and what comes next.
type Settlement struct {
	Attempt Attempt
	NextAt  *time.Time // of a failed one: not before
	Disable string     // why the channel is disabled now; "" for not
}

// AttemptFilter selects attempts of one channel, newest first.
type AttemptFilter struct {
	Outcome string
	Event   string // uid
	Before  int64  // id; 0: from the newest
	Limit   int    // 0: all
}

// Queue is what waits for one channel.
type Queue struct {
	Channel int64
	Waiting int64      // events after its position, wanted or not
	Oldest  *time.Time // of them
}

// Unread is a site with runs of which no events were made yet.
type Unread struct {
	SiteID int64
	Run    int64 // the last that events were made of
}

// ChannelSpec is what a person says of a channel; nil leaves as it is, or to what is usual.
type ChannelSpec struct {
	Name     *string
	Address  *string // https://…, mailto:…, slack:https://…: the kind follows from it
	SiteID   *int64
	Types    *[]string
	Digest   *string
	TimeZone *string
	Secret   *string // of a new webhook; nil: one is made
	Origin   string
}
