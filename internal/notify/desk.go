package notify

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sitemapd/sitemapd/models"
)

// deskStore is what people's wishes change.
type deskStore interface {
	Site(ctx context.Context, id int64) (models.Site, error)
	Channel(ctx context.Context, id int64) (models.Channel, error)
	AddChannel(ctx context.Context, c models.Channel) (models.Channel, error)
	SaveChannel(ctx context.Context, c models.Channel) error
	ChannelKeys(ctx context.Context, channel int64) ([]models.ChannelKey, error)
	RotateChannelKey(ctx context.Context, channel int64, secret string, overlap time.Duration) (models.ChannelKey, error)
	AppendEvents(ctx context.Context, events []models.Event) error
	SaveAttempt(ctx context.Context, a models.Attempt) (models.Attempt, error)
}

// Desk is where people say what they want to be told: the same for commands, API and dashboard.
type Desk struct {
	store  deskStore
	sender sender
	teller *Teller
}

// NewDesk opens one.
func NewDesk(store deskStore, sender sender, teller *Teller) *Desk {
	return &Desk{store: store, sender: sender, teller: teller}
}

// AddChannel makes a channel. A webhook gets its secret, which is shown this once.
func (d *Desk) AddChannel(ctx context.Context, spec models.ChannelSpec) (models.Channel, *models.ChannelKey, error) {
	now := d.teller.o.Now().UTC()
	c := models.Channel{Types: []string{}, CreatedAt: now, Origin: spec.Origin}
	if spec.Address == nil {
		return c, nil, models.Invalid("address", addressHint, "is missing")
	}
	if err := d.fill(ctx, &c, spec, now); err != nil {
		return c, nil, err
	}
	if spec.Types == nil {
		c.Types = []string{models.EventChannelDisabled} // people hear of alerts, and of channels that stopped
		if c.Kind == models.ChannelWebhook {
			c.Types = []string{"*"}
		}
	}
	secret := ""
	if spec.Secret != nil && *spec.Secret != "" {
		secret = *spec.Secret
		if err := CheckSecret(secret); err != nil {
			return c, nil, err
		}
	}
	chosen, usual := spec.Name != nil && *spec.Name != "", c.Name
	added, err := d.store.AddChannel(ctx, c)
	for n := 2; errors.Is(err, models.ErrConflict) && !chosen && n < 100; n++ {
		c.Name = fmt.Sprintf("%s (%d)", usual, n)
		added, err = d.store.AddChannel(ctx, c)
	}
	if c = added; err != nil || c.Kind != models.ChannelWebhook {
		return c, nil, err
	}
	key, err := d.store.RotateChannelKey(ctx, c.ID, secret, 0)
	return c, &key, err
}

// ChangeChannel changes what a person says of a channel.
func (d *Desk) ChangeChannel(ctx context.Context, id int64, spec models.ChannelSpec) (models.Channel, error) {
	c, err := d.store.Channel(ctx, id)
	if err != nil {
		return c, err
	}
	kind := c.Kind
	if err := d.fill(ctx, &c, spec, d.teller.o.Now().UTC()); err != nil {
		return c, err
	}
	if (kind == models.ChannelWebhook) != (c.Kind == models.ChannelWebhook) {
		return c, models.Invalid("address", "add another channel", "a channel of kind %s cannot become one of kind %s", kind, c.Kind)
	}
	return c, d.store.SaveChannel(ctx, c)
}

// maxName bounds names of channels and rules.
const maxName = 100

func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	digits := strings.TrimLeft(name, "0123456789") == ""
	if name == "" || digits || utf8.RuneCountInString(name) > maxName || oneLine(name) != name {
		return name, models.Invalid("name", "letters, digits, blanks and signs, not digits alone", "%q is no name", name)
	}
	return name, nil
}

func (d *Desk) fill(ctx context.Context, c *models.Channel, spec models.ChannelSpec, now time.Time) error {
	var err error
	if spec.Address != nil {
		if c.Kind, c.Address, err = ParseAddress(*spec.Address); err != nil {
			return err
		}
	}
	if spec.Name != nil && *spec.Name != "" {
		if c.Name, err = checkName(*spec.Name); err != nil {
			return err
		}
	} else if c.Name == "" {
		c.Name = nameOf(c)
	}
	if spec.SiteID != nil {
		if c.SiteID = *spec.SiteID; c.SiteID != 0 {
			if _, err := d.store.Site(ctx, c.SiteID); err != nil {
				return err
			}
		}
	}
	if spec.Types != nil {
		if err := models.CheckTypes(*spec.Types); err != nil {
			return err
		}
		c.Types = *spec.Types
	}
	return d.digest(c, spec, now)
}

// digest plans when a channel gets digests.
func (d *Desk) digest(c *models.Channel, spec models.ChannelSpec, now time.Time) error {
	if spec.Digest == nil && spec.TimeZone == nil {
		return nil
	}
	if spec.Digest != nil {
		c.Digest = strings.TrimSpace(*spec.Digest)
	}
	if spec.TimeZone != nil {
		c.TimeZone = strings.TrimSpace(*spec.TimeZone)
	}
	if c.DigestDue = nil; c.Digest == "" {
		return nil
	}
	if c.DigestDue = d.teller.o.Zone(c.Digest, c.TimeZone, now); c.DigestDue == nil {
		return models.Invalid("digest", `a cron specification such as "0 8 * * 1", and an IANA time zone`, "%q in %q never fires", c.Digest, c.TimeZone)
	}
	return nil
}

// nameOf is what a channel is called that nobody named: its host or first recipient.
func nameOf(c *models.Channel) string {
	switch c.Kind {
	case models.ChannelMail:
		first, _, _ := strings.Cut(c.Address, ",")
		return first
	case models.ChannelTelegram:
		_, chat, _ := strings.Cut(c.Address, "@")
		return "telegram " + chat
	case models.ChannelWebhook:
		if u, err := url.Parse(c.Address); err == nil {
			return u.Host
		}
	}
	return c.Kind
}

// Test sends a message by hand, at once, and records how that went. A channel that takes it goes on with what waits.
func (d *Desk) Test(ctx context.Context, id int64) (models.Attempt, error) {
	c, err := d.store.Channel(ctx, id)
	if err != nil {
		return models.Attempt{}, err
	}
	now := d.teller.o.Now()
	events := []models.Event{TestEvent(&c, now)}
	if err := d.store.AppendEvents(ctx, events); err != nil {
		return models.Attempt{}, err
	}
	r, err := d.sender.Send(ctx, &c, &events[0])
	if err != nil {
		return models.Attempt{}, fmt.Errorf("send a test to channel %s: %w", c.Name, err)
	}
	return d.store.SaveAttempt(ctx, NewAttempt(&c, &events[0], r, now, 1))
}

// KeepChannel brings a stored channel to what the configuration says of it, and its secret too. When nothing differs
// nothing is written, so that its next digest stays planned.
func (d *Desk) KeepChannel(ctx context.Context, c models.Channel, spec models.ChannelSpec) error {
	kind, address, err := ParseAddress(*spec.Address)
	if err != nil {
		return err
	}
	if c.Digest == *spec.Digest && c.TimeZone == *spec.TimeZone && (c.DigestDue != nil || c.Digest == "") {
		spec.Digest, spec.TimeZone = nil, nil
	}
	if spec.Secret != nil {
		keys, err := d.store.ChannelKeys(ctx, c.ID)
		if err != nil {
			return err
		}
		if err := CheckSecret(*spec.Secret); err != nil {
			return err
		}
		if len(keys) == 0 || keys[0].Secret != *spec.Secret {
			if _, err := d.store.RotateChannelKey(ctx, c.ID, *spec.Secret, 24*time.Hour); err != nil {
				return err
			}
		}
	}
	sameTypes := spec.Types == nil || slices.Equal(*spec.Types, c.Types)
	if c.Origin == models.OriginConfig && kind == c.Kind && address == c.Address && *spec.SiteID == c.SiteID && sameTypes && spec.Digest == nil {
		return nil
	}
	c.Origin = models.OriginConfig
	if err := d.store.SaveChannel(ctx, c); err != nil {
		return err
	}
	_, err = d.ChangeChannel(ctx, c.ID, spec)
	return err
}
