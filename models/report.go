package models

import "time"

// RunPoint is what a chart over time needs of one finished run.
type RunPoint struct {
	Run      int64
	At       time.Time // when it began, UTC
	Verdict  Verdict
	Baseline bool // everything was an addition
	Live     int64
	Added    int64
	Removed  int64
	Changed  int64
	Moved    int64
	Restored int64
}

// FindingGroup is all findings of one code at one run.
type FindingGroup struct {
	Code      string
	Severity  string
	Count     int64
	Documents int64  // that have it; a run counts as one
	Text      string // of one of them
}

// ExtensionCounts are how many live pages declare each extension.
type ExtensionCounts struct{ Images, Videos, News, Alternates int64 }

// Section is the live pages below one directory of a site's addresses, the page at it included.
type Section struct {
	Path  string // with the origin, and a slash at its end
	Depth int    // 0 for the origin
	Wide  bool   // has too many sections below it to show them
	LastmodCounts
}

// SectionCounts are the directories of a site.
type SectionCounts struct {
	Sections []Section // in the order of their paths
	Cut      bool      // there are more than were counted
}

// LanguageCount is how many pages declare an alternate for a language; "" stands for all pages with alternates.
type LanguageCount struct {
	Language string
	Pages    int64
}

// LastmodCounts is the live pages of one document by declared lastmod.
type LastmodCounts struct {
	Document int32
	URL      string // the document's

	None int64   // declare no lastmod
	At   []int64 // at or after the first bound; before it and at or after the second; ...; before the last
}
