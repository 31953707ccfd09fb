package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Settings of a site, for AddSite, ChangeSite and ChangeSiteSettings; nil and empty ones stay as they are. Durations are
// texts such as 90s, an empty text is the daemon's own.
type Settings struct {
	Name         *string   `json:"name,omitempty"`
	Home         *string   `json:"home,omitempty"`
	Roots        []string  `json:"roots,omitempty"`
	Hosts        *[]string `json:"hosts,omitempty"`
	Tags         *[]string `json:"tags,omitempty"`
	Schedule     *string   `json:"schedule,omitempty"`
	TimeZone     *string   `json:"time_zone,omitempty"`
	Paused       *bool     `json:"paused,omitempty"`
	ConfirmAfter *string   `json:"confirm_after,omitempty"`
	ReleaseAfter *string   `json:"release_after,omitempty"`
	Quiet        *string   `json:"quiet,omitempty"`
	MaxWait      *string   `json:"max_wait,omitempty"`
	Retention    *string   `json:"retention,omitempty"`
	Username     *string   `json:"username,omitempty"`
	Password     *string   `json:"password,omitempty"`
	PublicBadges *bool     `json:"public_badges,omitempty"`

	PreferredScheme *string `json:"preferred_scheme,omitempty"`
	PreferredHost   *string `json:"preferred_host,omitempty"`
	TrailingSlash   *string `json:"trailing_slash,omitempty"`
}

// SiteSettings is what is set of a site, with the daemon's own where it is empty. ETag names this version of it.
type SiteSettings struct {
	ID           int64    `json:"id"`
	Name         string   `json:"name"`
	Home         string   `json:"home"`
	Roots        []string `json:"roots"`
	Hosts        []string `json:"hosts"`
	Tags         []string `json:"tags"`
	Schedule     string   `json:"schedule"`
	TimeZone     string   `json:"time_zone"`
	Paused       bool     `json:"paused"`
	ConfirmAfter string   `json:"confirm_after"`
	ReleaseAfter string   `json:"release_after"`
	Quiet        string   `json:"quiet"`
	MaxWait      string   `json:"max_wait"`
	Retention    string   `json:"retention"`
	Username     string   `json:"username"`
	HasPassword  bool     `json:"has_password"`
	PublicBadges bool     `json:"public_badges"`

	PreferredScheme string `json:"preferred_scheme"`
	PreferredHost   string `json:"preferred_host"`
	TrailingSlash   string `json:"trailing_slash"`

	Next     []time.Time       `json:"next"`
	Defaults map[string]string `json:"defaults"`
	ETag     string            `json:"-"`
}

// Accepted says that a request to look is stored; a run that starts after it serves it.
type Accepted struct {
	Trigger   int64  `json:"trigger"`
	Duplicate bool   `json:"duplicate"`
	Progress  string `json:"progress"`
}

// HookKey is one secret of a site's hooks; Secret and TokenURL are there only in the answer that made it.
type HookKey struct {
	ID        string     `json:"id"`
	Secret    string     `json:"secret"`
	URL       string     `json:"url"`
	TokenURL  string     `json:"token_url"`
	NotBefore time.Time  `json:"not_before"`
	NotAfter  *time.Time `json:"not_after"`
}

// NewToken is a token with its text, which is shown this once.
type NewToken struct {
	models.Token
	Text string `json:"token"`
}

// SaveSegment keeps a filter of the inventory under a name, for one site or for every one.
func (c *Client) SaveSegment(ctx context.Context, siteName, name string, filter url.Values, everySite bool) (models.Segment, error) {
	body := map[string]any{"name": name, "filter": filter.Encode(), "every_site": everySite}
	return answer[models.Segment](ctx, c, http.MethodPost, site(siteName)+"/segments", nil, nil, body)
}

// RemoveSegment forgets a segment by its number.
func (c *Client) RemoveSegment(ctx context.Context, siteName string, id int64) error {
	return c.do(ctx, http.MethodDelete, site(siteName)+"/segments/"+strconv.FormatInt(id, 10), nil, nil, nil, nil)
}

// GetSite gives one site by id, name or root URL.
func (c *Client) GetSite(ctx context.Context, name string) (models.Site, error) {
	return answer[models.Site](ctx, c, http.MethodGet, site(name), nil, nil, nil)
}

// AddSite follows a site.
func (c *Client) AddSite(ctx context.Context, settings Settings) (models.Site, error) {
	return answer[models.Site](ctx, c, http.MethodPost, "/sites", nil, nil, settings)
}

// ChangeSite changes what settings say.
func (c *Client) ChangeSite(ctx context.Context, name string, settings Settings) (models.Site, error) {
	return answer[models.Site](ctx, c, http.MethodPatch, site(name), nil, nil, settings)
}

// GetSiteSettings gives what is set of a site.
func (c *Client) GetSiteSettings(ctx context.Context, name string) (SiteSettings, error) {
	return c.settings(ctx, http.MethodGet, name, "", nil)
}

// ChangeSiteSettings changes what settings say. ifMatch, the ETag of a reading, refuses a change when somebody else made
// one since (a Problem with status 412); empty for no such check.
func (c *Client) ChangeSiteSettings(ctx context.Context, name, ifMatch string, settings Settings) (SiteSettings, error) {
	return c.settings(ctx, http.MethodPatch, name, ifMatch, settings)
}

func (c *Client) settings(ctx context.Context, method, name, ifMatch string, body any) (SiteSettings, error) {
	header := http.Header{}
	if ifMatch != "" {
		header.Set("If-Match", ifMatch)
	}
	var out SiteSettings
	response, err := c.open(ctx, method, site(name)+"/settings", nil, header, body)
	if err != nil {
		return out, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&out); err != nil {
		return out, fmt.Errorf("read the settings of %s: %w", name, err)
	}
	out.ETag = response.Header.Get("ETag")
	return out, nil
}

// RemoveSite stops following a site; its history is kept.
func (c *Client) RemoveSite(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, site(name), nil, nil, nil, nil)
}

// Probe looks for the sitemaps of a home page and gives each try.
func (c *Client) Probe(ctx context.Context, home string) (json.RawMessage, error) {
	return answer[json.RawMessage](ctx, c, http.MethodPost, "/probe", nil, nil, map[string]string{"url": home})
}

// GetRun gives one run.
func (c *Client) GetRun(ctx context.Context, name string, run int64) (models.Run, error) {
	return answer[models.Run](ctx, c, http.MethodGet, site(name)+"/runs/"+strconv.FormatInt(run, 10), nil, nil, nil)
}

// StartRun asks for a full run. With the same key it can be sent again without starting another.
func (c *Client) StartRun(ctx context.Context, name, key string) (Accepted, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return answer[Accepted](ctx, c, http.MethodPost, site(name)+"/runs", nil, header, nil)
}

// RetryFailed asks for a run that looks at the documents that could not be read, and at no others.
func (c *Client) RetryFailed(ctx context.Context, name string) (Accepted, error) {
	return answer[Accepted](ctx, c, http.MethodPost, site(name)+"/runs?only=failed", nil, nil, nil)
}

// StopRun ends a running walk.
func (c *Client) StopRun(ctx context.Context, name string, run int64) error {
	return c.do(ctx, http.MethodPost, site(name)+"/runs/"+strconv.FormatInt(run, 10)+"/stop", nil, nil, nil, nil)
}

// GetTrigger gives a stored request to look; its ServedRun is 0 until a run has served it.
func (c *Client) GetTrigger(ctx context.Context, name string, trigger int64) (models.Trigger, error) {
	return answer[models.Trigger](ctx, c, http.MethodGet, site(name)+"/triggers/"+strconv.FormatInt(trigger, 10), nil, nil, nil)
}

// GetPluginInventory gives the last reading of what the site's companion plugin says is published.
func (c *Client) GetPluginInventory(ctx context.Context, name string) (models.PluginInventory, error) {
	return answer[models.PluginInventory](ctx, c, http.MethodGet, site(name)+"/plugin-inventory", nil, nil, nil)
}

// ApproveHeld approves the removal of these pages, of all held ones when none are named.
func (c *Client) ApproveHeld(ctx context.Context, name string, urls ...string) (int64, error) {
	return c.decide(ctx, name, "approve", urls)
}

// RejectHeld keeps these pages, all held ones when none are named.
func (c *Client) RejectHeld(ctx context.Context, name string, urls ...string) (int64, error) {
	return c.decide(ctx, name, "reject", urls)
}

func (c *Client) decide(ctx context.Context, name, choice string, urls []string) (int64, error) {
	body := map[string]any{"urls": urls}
	if len(urls) == 0 {
		body = map[string]any{"all": true}
	}
	out, err := answer[struct{ Decided int64 }](ctx, c, http.MethodPost, site(name)+"/held/"+choice, nil, nil, body)
	return out.Decided, err
}

// ReplayDelivery looks again for what an accepted delivery announced.
func (c *Client) ReplayDelivery(ctx context.Context, name string, trigger int64) (Accepted, error) {
	return answer[Accepted](ctx, c, http.MethodPost, site(name)+"/deliveries/"+strconv.FormatInt(trigger, 10)+"/replay", nil, nil, nil)
}

// RotateHookKey makes a new secret; older ones stay valid for the overlap.
func (c *Client) RotateHookKey(ctx context.Context, name string, overlap time.Duration) (HookKey, error) {
	query := url.Values{"overlap_seconds": {strconv.Itoa(int(overlap / time.Second))}}
	return answer[HookKey](ctx, c, http.MethodPost, site(name)+"/hook-keys", query, nil, nil)
}

// CreateToken makes a token; days 0 is for ever.
func (c *Client) CreateToken(ctx context.Context, name string, scopes []string, days int) (NewToken, error) {
	body := map[string]any{"name": name, "scopes": scopes}
	if days > 0 {
		body["expires_in_days"] = days
	}
	return answer[NewToken](ctx, c, http.MethodPost, "/tokens", nil, nil, body)
}

// RevokeToken ends a token.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	return c.do(ctx, http.MethodDelete, "/tokens/"+strconv.FormatInt(id, 10), nil, nil, nil, nil)
}
