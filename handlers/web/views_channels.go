package web

import "github.com/sitemapd/sitemapd/models"

// ChannelRow is one channel with its address as it may be shown.
type ChannelRow struct {
	models.Channel
	Shown   string
	Waiting int64
}

// Fixed tells that the configuration file says what the channel is.
func (c ChannelRow) Fixed() bool { return c.Origin == models.OriginConfig }

// Channels is the list of channels with the form that adds one.
type Channels struct {
	List    []ChannelRow
	Types   []string
	Sites   []models.Site
	Address string // as it was typed, when it was refused
	Problem string
}

// ChannelPage is one channel with what it was sent.
type ChannelPage struct {
	ChannelRow
	Attempts []models.Attempt
	Outcomes []Choice
	Next     string
	Secret   string // of a new webhook or after a rotation, in this answer alone
	Tested   *models.Attempt
	Problem  string
	Form     *ChannelForm
	Kinds    []Choice // types of events
	Sites    []models.Site
}

// ChannelForm is what people change of a channel, as typed.
type ChannelForm struct {
	Name, Address, Digest, TimeZone string
	SiteID                          int64
	Types                           []string
}

// RuleRow is one alert rule with the sites for which it holds now.
type RuleRow struct {
	models.AlertRule
	Open int
	Told []string // names of its channels
}

// Fixed tells that the configuration file says what the rule is.
func (r RuleRow) Fixed() bool { return r.Origin == models.OriginConfig }

// Alerts is the list of rules and of what came of them, with the form that adds or tries a rule.
type Alerts struct {
	Rules     []RuleRow
	Alerts    []models.Alert
	Names     map[int64]string // of sites
	Next      string
	Triggers  []string
	Sites     []models.Site
	Channels  []models.Channel
	Edit      int64             // the rule that the form changes, 0 for a new one
	Form      map[string]string // what was typed
	Chosen    map[int64]bool    // channels
	Previewed bool
	Preview   []models.AlertPreview
	Problem   string
}

// Digest is what happened in a span of time.
type Digest struct {
	models.Digest
	Lines []string
	Site  string
	Days  []Choice
}
