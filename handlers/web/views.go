package web

import (
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// InSite is what every page about one site knows of it; their data embed it.
type InSite struct {
	Site     models.Site
	Tab      string
	Running  bool
	Progress models.Progress
	Stream   string      // address of the event stream with the walk's progress
	Last     *models.Run // the one that readers see, nil before the first
	Held     int64
	Errors   int64   // findings of severity error
	Unread   *Unread // nil when the current run could read every document
}

// Unread is documents that could not be read; what they listed is kept as it was.
type Unread struct {
	Documents []models.Document
	More      int64 // that are not among them
}

func (i InSite) in() *InSite { return &i }

// Go leads to screens, sites and segments by words.
type Go struct {
	Search, From string // From: id of the site that the reader comes from, "" for none
	Places       []Destination
	More         bool // there are more than are shown
}

// Destination is a place of the dashboard: a screen, of a site or of all.
type Destination struct{ About, Name, Address string }

// Overview is the first page.
type Overview struct {
	Sites   []SiteRow
	CanAdd  bool
	Search  string
	Tag     string // of the sites that are shown, "" for all
	Tags    []TagCount
	Grouped bool
	Groups  []SiteGroup // the same sites, in one group unless Grouped
	Message string
	SiteSums
}

// SiteSums is what several sites have together.
type SiteSums struct {
	Pages, Held, Stale, Errors int64
}

// Add counts one more site.
func (s *SiteSums) Add(row *SiteRow) {
	s.Pages, s.Held, s.Errors = s.Pages+row.Site.Live, s.Held+row.Held, s.Errors+row.Errors
	if row.Last != nil {
		s.Stale += row.Last.Counts.Stale
	}
}

// TagCount is a tag with the number of sites that carry it.
type TagCount struct {
	Name  string
	Sites int
}

// SiteGroup is the sites with one tag. A site with several is in several groups.
type SiteGroup struct {
	Tag   string // "" for the sites that carry none
	Sites []SiteRow
	SiteSums
}

// SiteRow is one site of the overview.
type SiteRow struct {
	InSite
	Warnings int64
	Trend    []Point
}

// NewSite is the form that adds a site, with what a probe of its home page found.
type NewSite struct {
	Home      string
	Name      string
	Problem   string
	Probed    bool
	Generator string
	Places    []Place
}

// Place is one address where a sitemap was looked for.
type Place struct {
	URL, Discovery, Root, Verdict, Reason string
	Status, Entries, Children             int
	Chosen                                bool
	First                                 []string // first pages that it lists
}

// SitePage is one site at a glance.
type SitePage struct {
	InSite
	Runs    []models.Run
	Groups  []models.FindingGroup
	Changes []models.Change
	Trend   []Point
	Next    string // address of older runs
}

// Runs is the list of a site's runs.
type Runs struct {
	InSite
	Runs []models.Run
	Next string
}

// Choice is one value of a filter, with the address that chooses it.
type Choice struct {
	Name, Address string
	Count         int64
	Counted       bool
	Chosen        bool
}

// Inventory is one page of the inventory with its filter.
type Inventory struct {
	InSite
	Filter     map[string]string // by name of the query parameter
	States     []string          // what the filter offers
	Types      []string          // of content, as documents list them
	Extensions []string
	Chips      []Chip
	Quick      []Choice
	Pages      []models.Page
	Run        int64
	Next       string // address of the next page, "" at the end
	API        string
	CSV        string
	NDJSON     string
	Exports    []Choice
	Problem    string
	Filtered   bool
	Short      bool // the looking ended for its time: the next page goes on with it
	Later      bool // not the first page
	Segments   []Choice
	Segment    *models.Segment // the chosen one
	Saves      string          // the filter that a new segment would hold, "" for none

	Sort    string          // the order: a column, with a minus for descending, "" for that of the documents
	Sorts   []Choice        // all orders, for the form
	Heads   map[string]Head // by column, for those that sort
	Sorting bool            // the list is still being sorted
	Columns []Choice        // all that there are, in the order in which they are shown
	Shows   map[string]bool
	Chosen  string // the columns by commas, "" for the usual ones
	Dense   bool
	Plain   string // address of the whole inventory in this look
	Kept    []Chip // the filter and the place, for the form that changes the look
}

// Head is the head of a column: the address of the list in its order, and how the list is sorted by it now, "" for not at all.
type Head struct{ Address, Sorted string }

// Narrow says whose changes a page shows, as a form and as chips.
type Narrow struct {
	Segments                []string
	Segment, Contains, Kind string
	Chips                   []Chip
}

// Chip is one part of a filter and the address without it.
type Chip struct{ Name, Value, Without string }

// PageView is one page with all its states, newest first.
type PageView struct {
	InSite
	URL      string
	States   []State
	Evidence []models.Canonical
}

// CanonicalScreen is how far a site's pages are verified, and what is wrong with them.
type CanonicalScreen struct {
	InSite
	Known     bool // whether verification is looked after here
	State     *models.Verification
	Counting  bool // the first state is on its way
	Groups    []AuditGroup
	Grouping  bool // the first groups are on their way
	More      bool // groups than shown
	Incidents []models.Incident
	Mutes     []models.Mute
	CSV       string
}

// AuditGroup is one group of findings on pages with what its code means.
type AuditGroup struct {
	models.AuditGroup
	Rule models.FindingRule
}

// State is one state of a page, with what differs from the state before it.
type State struct {
	models.Page
	Changed []models.FieldChange
	First   bool
}

// RunPage is one run with its changes.
type RunPage struct {
	InSite
	Run     models.Run
	Under   bool // way
	Kinds   []Choice
	Changes []models.Change
	Narrow  Narrow
	Next    string
	Short   bool // the looking ended for its time: the next page goes on with it
	CSV     string
}

// Changes is the change feed.
type Changes struct {
	InSite
	Kinds  []Choice
	Days   []RunChanges
	Narrow Narrow
	Next   string
	Short  bool // the looking ended for its time: the next page goes on with it
	CSV    string
	NDJSON string
	Atom   string
}

// Compare is what differs between two moments.
type Compare struct {
	InSite
	From, To string // as typed
	Asked    bool
	Problem  string
	Presets  []Choice
	Kinds    []Choice
	Changes  []models.Change
	Next     string
	Short    bool // the looking ended for its time: the next page goes on with it
	CSV      string
}

// RunChanges is what one run changed.
type RunChanges struct {
	Run     models.Run
	Changes []models.Change
	More    bool
}

// Documents is the tree of sitemap files.
type Documents struct {
	InSite
	Documents []models.Document
	Verdicts  []Choice
	Total     int
	Next      string
}

// DocumentPage is one sitemap file with all its versions, newest first.
type DocumentPage struct {
	InSite
	Document models.Document
	Versions []models.Document
	Findings []models.Finding
}

// Findings is the list of findings, by code or all of one code.
type Findings struct {
	InSite
	Severities []Choice
	Groups     []Group
	Code       string
	Rule       models.FindingRule
	Findings   []models.Finding
	Next       string
	CSV        string
}

// Rules are both catalogues of findings.
type Rules struct{ Documents, Pages []models.FindingRule }

// Group is all findings of one code.
type Group struct {
	models.FindingGroup
	Rule models.FindingRule
}

// Held is the list of removals that wait for a decision.
type Held struct {
	InSite
	Removals []models.Removal
	Total    int64
	Many     bool // there are more than were counted
	Counted  int64
	Next     string
}

// Delivery is one row of the delivery log.
type Delivery struct {
	At                            time.Time
	Result, Cause, Dialect, KeyID string
	Status                        int
	Trigger, Run                  int64
	Bytes                         int64
	Hints                         []models.Hint
}

// Deliveries is the log of what arrived at the hooks.
type Deliveries struct {
	InSite
	Results    []Choice
	Deliveries []Delivery
	Next       string
}

// Expectations is what deliveries announced and what became of it.
type Expectations struct {
	InSite
	Outcomes     []Choice
	Expectations []models.Expectation
	Next         string
}

// Reports is a site over time.
type Reports struct {
	InSite
	Period    int // days
	Periods   []Choice
	Zone      string
	Growth    []Point
	Days      []UpDown
	Heat      [7][24]HeatCell
	HeatTotal int64
	Weeks     []string     // the Monday of each week of the calendar
	Calendar  [][]HeatCell // by day of the week, Monday first, then by week
	Has       []Age        // pages with each extension
	Ages      []Age
	Counting  bool // ages are being counted
	Counted   *time.Time
	Latency   Latency
	Stale     []Age // pages that nobody touched for so long
	Trusts    []models.Document
	Judged    int
}

// Stale is the pages that nobody touched for long, by what they are or by document.
type Stale struct {
	InSite
	By       string   // type, document or path
	Bys      []Choice // all of them
	Steps    []string // how long, as a page is older than each of them
	Rows     []StaleRow
	More     int64 // rows that are not shown
	Counting bool
	Counted  *time.Time
}

// StaleRow is one kind of pages. Its cells are those of each step, those without a lastmod, and all.
type StaleRow struct {
	Name    string
	Address string // of the document, or of the list of the directory's pages
	Depth   int    // of a directory
	Wide    bool   // has more directories below it than are shown
	Cells   []Age
}

// HeatCell is one hour of one day of the week, or one day of a calendar.
type HeatCell struct {
	Day   string // of a calendar
	Count int64
	Level int // 0 to 5
}

// Age is a part of the inventory by declared lastmod.
type Age struct {
	Name    string
	Count   int64
	Whole   int64
	Address string
}

// Latency is how long announced changes took to be seen in a sitemap.
type Latency struct {
	Met, Open, Expired int64
	Median, P95, Worst string
	Steps              []Age
}

// SiteSettings is the form of one site.
type SiteSettings struct {
	InSite
	Roots    string
	Next     []time.Time
	Problem  string
	Hook     string // address of signed deliveries
	Keys     []HookKey
	Fresh    *HookKey // just made: its text is shown this once
	MayKeys  bool
	Schedule string // as typed
	TimeZone string

	More        *MoreSettings
	HasPassword bool
	Defaults    models.SiteSettings // what holds where a setting is empty
	KeepAll     string              // the daemon's own retention as it is shown, "" for ever
	Forgets     bool                // what was typed forgets history, and must be confirmed
}

// MoreSettings is the folded part of a site's form, as typed.
type MoreSettings struct {
	Tags                                                        string // separated by commas
	Hosts, ConfirmAfter, ReleaseAfter, Quiet, MaxWait, Username string
	Retention                                                   string // how long history is kept, in days where it is whole ones
	PublicBadges                                                bool
	PreferredScheme, PreferredHost, TrailingSlash               string
}

// HookKey is one secret of a site's hooks.
type HookKey struct {
	ID, Secret, TokenURL string
	NotBefore            time.Time
	NotAfter             *time.Time
}

// Settings is what concerns all sites.
type Settings struct {
	Sites   []models.Site
	Tokens  []models.Token
	Keeps   bool // tokens can be kept
	Fresh   string
	Problem string
	Version string
	Scopes  []string
}

// Login is the form by which people come in.
type Login struct {
	First   string // one-time token of the first start, "" for an ordinary login
	Name    string
	Next    string
	Problem string
}

// Failure is a page that could not be shown.
type Failure struct {
	Status                         int
	Title, Detail, Hint, RequestID string
}

// Account is one's own account.
type Account struct {
	Done    bool
	Problem string
}

// Hreflang is the report on language versions.
type Hreflang struct {
	InSite
	Faults    []Group
	Languages []Language
	Pages     int64 // with versions
	Counted   *time.Time
	Counting  bool
	Contains  string
	Columns   []string // languages
	Further   bool     // there are more languages than columns
	Rows      []MatrixRow
	Next      string
	Short     bool
}

// Language is how many pages declare a version in one language.
type Language struct {
	Name, Address string
	Pages         int64
}

// MatrixRow is one page with its version in each of the columns.
type MatrixRow struct {
	URL     string
	Cells   []MatrixCell
	Further int // versions in languages without a column
}

// MatrixCell is one declared version: self, answered, unheard or unlisted; "" for none.
type MatrixCell struct{ Verdict, URL string }
