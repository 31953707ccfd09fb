package config

import (
	"net/netip"
	"net/url"
	"time"
)

// Config is the whole configuration. Load gives it checked and complete; it is a value
// and nobody changes it afterwards.
type Config struct {
	Database  string `key:"database" secret:"dsn"` // sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/NAME
	Listen    string `key:"listen"`                // HOST:PORT of API, hooks and dashboard
	PublicURL string `key:"public_url"`            // how the daemon is reached from outside; "" from the request

	Log     Log     `key:"log"`
	Fetch   Fetch   `key:"fetch"`
	Sync    Sync    `key:"sync"`
	Verify  Verify  `key:"verify"`
	HTTP    HTTP    `key:"http"`
	Notify  Notify  `key:"notify"`
	Mail    Mail    `key:"mail"`
	Tracing Tracing `key:"tracing"`
	Sites   []Site  `key:"sites"`

	origins map[string]string // key -> where its value came from; none for a default
}

// Log says what is written to standard error.
type Log struct {
	Level  string `key:"level"`  // debug, info, warn, error
	Format string `key:"format"` // auto (text on a terminal, JSON elsewhere), text, json
}

// Fetch holds the limits and manners of requests to sites.
type Fetch struct {
	UserAgent        string         `key:"user_agent"`
	Contact          string         `key:"contact"`            // URL or mail address, sent with the user agent; "" for none
	AllowPrivate     []netip.Prefix `key:"allow_private"`      // private networks that may be reached
	Ports            []uint16       `key:"ports"`              // on public addresses
	PerHost          int            `key:"per_host"`           // documents read from one host at a time, at most
	Timeout          time.Duration  `key:"timeout"`            // one attempt on a document
	PageTimeout      time.Duration  `key:"page_timeout"`       // one attempt on a page or robots.txt
	HeaderTimeout    time.Duration  `key:"header_timeout"`     // until the first byte of an answer
	PageDelay        time.Duration  `key:"page_delay"`         // pause between two pages of one host; 0 for none
	Retries          int            `key:"retries"`            // after a passing fault; 0 for none
	MaxDocumentBytes Bytes          `key:"max_document_bytes"` // of one document, as received
	MaxPageBytes     Bytes          `key:"max_page_bytes"`     // of one page or robots.txt, as received
}

// Sync says when sites are walked and what a walk may conclude. Schedule to MaxWait hold
// for sites that do not say otherwise.
type Sync struct {
	Schedule     string        `key:"schedule"`      // cron specification or "off"
	TimeZone     string        `key:"time_zone"`     // IANA name for Schedule
	Jitter       time.Duration `key:"jitter"`        // sites with one schedule are spread over this time
	ConfirmAfter time.Duration `key:"confirm_after"` // wait before a second walk may confirm a removal
	ReleaseAfter time.Duration `key:"release_after"` // held removals are released after agreeing walks over this time; 0 never
	Quiet        time.Duration `key:"quiet"`         // silence to wait for after a hook; 0 none
	MaxWait      time.Duration `key:"max_wait"`      // longest wait since the first hook
	Retention    time.Duration `key:"retention"`     // superseded history is forgotten after this time; 0 never
	GuardPages   int           `key:"guard_pages"`   // more than the larger of the two
	GuardPercent int           `key:"guard_percent"` // at once is held for a person
	SitesAtOnce  int           `key:"sites_at_once"` // walked at the same time by this daemon
	Workers      int           `key:"workers"`       // documents of one site parsed at a time
	MaxDepth     int           `key:"max_depth"`     // of indexes in indexes
	MaxDocuments int           `key:"max_documents"` // of one site
	LeaseTTL     time.Duration `key:"lease_ttl"`     // a silent daemon's hosts are free after this time
}

// Verify says how listed pages are looked at for their canonical URL.
type Verify struct {
	Enabled bool          `key:"enabled"` // by the daemon; the command verifies in any case
	PerDay  int           `key:"per_day"` // pages of one host a day, those that hooks name apart
	Delay   time.Duration `key:"delay"`   // shortest pause between two pages of one host
}

// Tracing says where OpenTelemetry traces go. The standard OTEL_ variables say the rest.
type Tracing struct {
	Endpoint string `key:"endpoint"` // base URL of an OTLP/HTTP receiver; "" for OTEL_EXPORTER_OTLP_ENDPOINT, off without either
}

// HTTP says who is trusted.
type HTTP struct {
	OpenLocal       bool           `key:"open_local"`      // clients on this machine need no token
	TrustedProxies  []netip.Prefix `key:"trusted_proxies"` // may say who the client is
	UserHeader      string         `key:"user_header"`     // in which a trusted proxy names its user; "" for none
	RatePerMinute   int            `key:"rate_per_minute"` // API requests of one token, user or address
	ShutdownTimeout time.Duration  `key:"shutdown_timeout"`
}

// Notify says how what happened is brought to channels.
type Notify struct {
	Timeout      time.Duration  `key:"timeout"`       // one attempt to deliver
	DisableAfter time.Duration  `key:"disable_after"` // a channel that took nothing for so long is disabled
	Keep         time.Duration  `key:"keep"`          // events and attempts are kept for so long
	AllowPrivate []netip.Prefix `key:"allow_private"` // private networks that webhooks may reach beside fetch.allow_private
	Rules        string         `key:"rules"`         // file with channels and alert rules; "" for none
}

// Mail says how mail leaves; without a server none does.
type Mail struct {
	Server   string `key:"server"` // HOST:PORT
	Username string `key:"username"`
	Password string `key:"password" secret:"all"`
	From     string `key:"from"` // an address, or Name <address>
	TLS      string `key:"tls"`  // starttls, tls or none
}

// Site is one site to follow. Zero durations mean the ones of Sync. Load fills in Name,
// Schedule and TimeZone where they were left out.
type Site struct {
	URL          string        `key:"url"`   // of the home page
	Name         string        `key:"name"`  // unique; the host unless chosen
	Roots        []string      `key:"roots"` // sitemaps to start from; none: found by probing
	Hosts        []string      `key:"hosts"` // further hosts whose URLs belong to the site
	Tags         []string      `key:"tags"`  // groups that the site belongs to
	Schedule     string        `key:"schedule"`
	TimeZone     string        `key:"time_zone"`
	ConfirmAfter time.Duration `key:"confirm_after"`
	ReleaseAfter time.Duration `key:"release_after"`
	Quiet        time.Duration `key:"quiet"`
	MaxWait      time.Duration `key:"max_wait"`
	Retention    time.Duration `key:"retention"`
	Username     string        `key:"username"` // basic auth of a staging site
	Password     string        `key:"password" secret:"all"`
	Paused       bool          `key:"paused"`

	// What the owner states of the site's URLs; empty: nothing.
	PreferredScheme string `key:"preferred_scheme"` // http or https
	PreferredHost   string `key:"preferred_host"`   // www.example.com, with a port only where it is unusual
	TrailingSlash   string `key:"trailing_slash"`   // add or remove
}

// Default is the configuration of somebody who said nothing.
func Default() Config {
	return Config{
		Database: "sqlite:sitemapd.db",
		Listen:   "127.0.0.1:8080",
		Log:      Log{Level: "info", Format: "auto"},
		Fetch: Fetch{
			UserAgent:        "sitemapd",
			Ports:            []uint16{80, 443},
			PerHost:          4,
			Timeout:          2 * time.Minute,
			PageTimeout:      20 * time.Second,
			HeaderTimeout:    30 * time.Second,
			PageDelay:        time.Second,
			Retries:          2,
			MaxDocumentBytes: 64 * MiB,
			MaxPageBytes:     8 * MiB,
		},
		Sync: Sync{
			Schedule:     "@hourly",
			TimeZone:     "UTC",
			Jitter:       5 * time.Minute,
			ConfirmAfter: 2 * time.Minute,
			Quiet:        10 * time.Second,
			MaxWait:      time.Minute,
			GuardPages:   10,
			GuardPercent: 10,
			SitesAtOnce:  4,
			Workers:      2,
			MaxDepth:     3,
			MaxDocuments: 50_000, // what one index may list
			LeaseTTL:     time.Minute,
		},
		Verify: Verify{
			Enabled: true,
			PerDay:  2000,
			Delay:   time.Second,
		},
		HTTP: HTTP{
			OpenLocal:       true,
			RatePerMinute:   600,
			ShutdownTimeout: 10 * time.Second,
		},
		Notify: Notify{
			Timeout:      15 * time.Second,
			DisableAfter: 5 * 24 * time.Hour,
			Keep:         90 * 24 * time.Hour,
		},
		Mail: Mail{TLS: "starttls"},
	}
}

// Origin says where the value of a key ("sync.quiet", "sites[0].url") came from:
// "default", "FILE:LINE", a variable or a flag.
func (c Config) Origin(key string) string {
	if origin, found := c.origins[key]; found {
		return origin
	}
	return "default"
}

// complete fills in what a site left to the daemon.
func (c *Config) complete() {
	for i := range c.Sites {
		site := &c.Sites[i]
		if site.Name == "" {
			if home, err := url.Parse(site.URL); err == nil {
				site.Name = home.Hostname()
			}
		}
		if site.Schedule == "" {
			site.Schedule = c.Sync.Schedule
			if site.TimeZone == "" {
				site.TimeZone = c.Sync.TimeZone
			}
		}
		if site.TimeZone == "" {
			site.TimeZone = c.Sync.TimeZone
		}
	}
}
