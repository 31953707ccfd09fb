package web

import (
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Overview is the first page.
type Overview struct {
	Sites   []SiteRow
	Next    []time.Time
	CanAdd  bool
	Message string
}

// SiteRow is one site of the overview.
type SiteRow struct {
	models.Site
	Running  bool
	Progress models.Progress
}

// SitePage is one site with its latest runs.
type SitePage struct {
	Site     models.Site
	Running  bool
	Progress models.Progress
	Stream   string // address of the event stream with this walk's progress
	Runs     []models.Run
	Held     int
	Next     string // address of older runs
	Message  string
}

// Inventory is one page of the inventory with its filter.
type Inventory struct {
	Site       models.Site
	Filter     map[string]string // by name of the query parameter
	States     []string          // what the filter offers
	Extensions []string
	Pages      []models.Page
	Run        int64
	Next       string // address of the next page, "" at the end
	CSV        string
	NDJSON     string
	API        string
	Problem    string
	Filtered   bool
}

// PageView is one page with all its states, newest first.
type PageView struct {
	Site   models.Site
	URL    string
	States []models.Page
}

// RunPage is one run with its changes.
type RunPage struct {
	Site     models.Site
	Run      models.Run
	Running  bool
	Progress models.Progress
	Stream   string
	Changes  []models.Change
	Next     string
}

// Changes is one reading of the change feed.
type Changes struct {
	Site    models.Site
	Changes []models.Change
	Next    string
}

// Documents is the list of sitemap files.
type Documents struct {
	Site      models.Site
	Documents []models.Document
	Next      string
}

// Findings is the list of findings.
type Findings struct {
	Site     models.Site
	Findings []models.Finding
	Next     string
	Severity string
}

// Held is the list of removals that wait for a decision.
type Held struct {
	Site     models.Site
	Removals []models.Removal
	Shown    int
	Total    int
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
	Site       models.Site
	Deliveries []Delivery
	Next       string
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
