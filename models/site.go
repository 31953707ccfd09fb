package models

import "time"

// Site is one web site whose sitemaps are followed.
type Site struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"` // unique; the host unless the user chose one
	Home     string `json:"home"` // absolute URL of the home page
	Root     string `json:"root"` // first of Roots
	Roots    []Root `json:"roots,omitempty"`
	Schedule string `json:"schedule"`            // cron specification, "" for none
	TimeZone string `json:"time_zone,omitempty"` // IANA name for Schedule, "" for UTC
	Paused   bool   `json:"paused,omitempty"`

	Settings SiteSettings `json:"settings"`

	CurrentRun int64      `json:"current_run"` // what readers see; 0 before the first run ends
	LastRun    int64      `json:"-"`           // highest run number given out
	Live       int64      `json:"live"`        // pages live at CurrentRun (all states but removed)
	NextDue    *time.Time `json:"next_due,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`

	Agenda Agenda `json:"-"`
}

// Agenda tells what waits for a site's next run, as it stood when the site was read. Only a run of the site can add removals
// and expectations, so of those it holds until the next run begins. The zero value tells nothing.
type Agenda struct {
	Known        bool
	Triggers     bool // that no run served yet
	Expectations bool // open ones
	Removals     bool // undecided ones
	Keys         bool // hook secrets: its companion plugin may have a list of posts to read
}

// Root is one sitemap that a walk starts from.
type Root struct {
	URL       string `json:"url"`
	Discovery string `json:"discovery_method"` // direct_URL, robots_txt, sitemap_index, linked_reference, probe
}

// SiteSettings are the operator's choices for one site; zero values mean the daemon's defaults.
type SiteSettings struct {
	Hosts        []string      `json:"hosts,omitempty"`         // further hosts whose URLs belong to the site
	ConfirmAfter time.Duration `json:"confirm_after,omitempty"` // wait before a second walk may confirm a removal
	ReleaseAfter time.Duration `json:"release_after,omitempty"` // held removals are released after agreeing walks over this time; 0 never
	Quiet        time.Duration `json:"quiet,omitempty"`         // coalescing: silence to wait for after a hook
	MaxWait      time.Duration `json:"max_wait,omitempty"`      // coalescing: longest wait since the first hook
	Retention    time.Duration `json:"retention,omitempty"`     // superseded history is forgotten after this time
	Username     string        `json:"username,omitempty"`      // basic auth for a staging site
	Password     string        `json:"-"`
	PublicBadges bool          `json:"public_badges,omitempty"` // badges are shown to everybody
	Tags         []string      `json:"tags,omitempty"`          // groups that the site belongs to: a client, a country, an environment

	// What the owner states of the site's URLs, evidence of the method structured_system_configuration. Empty: nothing.
	PreferredScheme string `json:"preferred_scheme,omitempty"` // http or https
	PreferredHost   string `json:"preferred_host,omitempty"`   // with a port only where it is unusual
	TrailingSlash   string `json:"trailing_slash,omitempty"`   // SlashAdd or SlashRemove
}

// What an owner may state of final slashes.
const (
	SlashAdd    = "add"
	SlashRemove = "remove"
)
