package models

import "time"

// Outcomes of reading a site's plugin inventory.
const (
	PublishedComplete    = "complete"    // read from its beginning to its end
	PublishedPartial     = "partial"     // a part was read, then an answer failed
	PublishedAbsent      = "absent"      // the site has no such list: no plugin, or it is switched off there
	PublishedRefused     = "refused"     // the site did not take our signature
	PublishedUnavailable = "unavailable" // no answer
	PublishedInvalid     = "invalid"     // an answer that is no such list, or one of another site
)

// PluginInventory is one reading of what a site's companion plugin says is published. It is a source of its own: it
// corroborates what sitemaps say, it never declares a page. Where it was not read to its end (Complete) or posts changed
// meanwhile (not Steady), what it does not list proves nothing.
type PluginInventory struct {
	SiteID   int64     `json:"-"`
	Run      int64     `json:"run"` // run that read it
	ReadAt   time.Time `json:"read_at"`
	Outcome  string    `json:"outcome" enum:"complete,partial,absent,refused,unavailable,invalid"`
	Reason   string    `json:"reason,omitempty"`
	Endpoint string    `json:"endpoint"` // without its parameters
	Steady   bool      `json:"steady"`   // no event of the site fell between its first and last answer
	Seq      int64     `json:"seq"`      // the plugin's number of the last event

	// What the site's system says of its URLs; empty where the plugin does not say so.
	Home               string `json:"home,omitempty"`
	SiteURL            string `json:"site_url,omitempty"`
	PermalinkStructure string `json:"permalink_structure,omitempty"`
	System             string `json:"system,omitempty"` // "wordpress 6.8", and the SEO plugin that declares canonicals: "wordpress 6.8, yoast"

	Posts        int64 `json:"posts"`         // listed by it
	NotDeclared  int64 `json:"not_declared"`  // of these, in no document although nothing keeps them out
	DeclaredGone int64 `json:"declared_gone"` // no longer published, and still in a document
	Requests     int64 `json:"requests"`
}

// Complete reports whether the list was read from its beginning to its end.
func (p *PluginInventory) Complete() bool { return p.Outcome == PublishedComplete }

// States of a post as the plugin's inventory shows them.
const (
	PostPublished = "publish"
	PostGone      = "gone" // it was listed once, and a complete reading lists it no more
)

// PublishedPost is one version of what the plugin's inventory says of one post: valid from FromRun up to ToRun.
type PublishedPost struct {
	PostID   int64      `json:"post_id"`
	FromRun  int64      `json:"from_run"`
	ToRun    int64      `json:"-"` // Open while it is current
	Key      Key        `json:"-"`
	URL      string     `json:"url"` // of a post that is gone: the last one it had
	Type     string     `json:"type"`
	Status   string     `json:"status" enum:"publish,gone"`
	Modified *time.Time `json:"modified,omitempty"`
	Password bool       `json:"password,omitempty"`
	Noindex  bool       `json:"noindex,omitempty"`
	// Canonical is the URL that the site's SEO plugin was told to declare for the post; "" where its own address is.
	Canonical string `json:"canonical,omitempty"`
}

// SystemConfiguration is what the system behind a site states about its URLs outside of any page: evidence of the method
// structured_system_configuration. It comes from the last reading of the plugin's inventory that was answered.
type SystemConfiguration struct {
	SiteID             int64
	Run                int64 // that read it
	ReadAt             time.Time
	System             string // "wordpress 6.8, yoast"
	Home               string // absolute, as the system has it
	SiteURL            string
	PermalinkStructure string // "/%postname%/"; "" for plain addresses or where it is not known
}

// ConfiguredCanonical is the canonical URL that a site's system states for one of its posts.
type ConfiguredCanonical struct {
	Key       Key    // of the post's own address
	URL       string // the post's own address
	Canonical string // as it was entered for the post, else the post's own address
	Explicit  bool   // somebody entered it; otherwise it follows from the permalink
	System    string // who says so
	PostID    int64
	ReadAt    time.Time
}
