package sitemap

import (
	"strconv"
	"time"
)

// Declaration is what a document says of one page. A visitor gets the same Declaration again and again: its slices
// alias the reader's buffers and are valid during the call only.
type Declaration struct {
	Loc      []byte // wire form: absolute, white space removed, percent-encoded where the published text is no URI
	Identity []byte // identity key, for weburl.KeyOf
	Foreign  bool   // the host (or port) is another than the document's

	Lastmod    Lastmod
	Changefreq Changefreq
	Priority   Priority

	Images     []Image
	Videos     []Video
	News       *News // nil when not declared
	Alternates []Alternate
	Mobile     *Mobile // nil when not declared
	PageMap    []DataObject

	Line   int   // of the entry's start tag, from 1
	Offset int64 // of the entry's start tag in the inflated document, in bytes of its UTF-8 form

	// Fingerprint stands for the meaning of all of it; docs/semantic-hash.md says how it is computed.
	Fingerprint [16]byte
}

// HasExtensions tells whether AppendExtensions would write anything.
func (d *Declaration) HasExtensions() bool {
	return len(d.Images) > 0 || len(d.Videos) > 0 || d.News != nil || len(d.Alternates) > 0 || d.Mobile != nil ||
		len(d.PageMap) > 0
}

// Child is one reference of an index to another document, valid during the visitor's call only.
type Child struct {
	Loc      []byte
	Identity []byte
	Foreign  bool
	Lastmod  Lastmod
	Line     int
	Offset   int64

	Fingerprint [16]byte
}

// State tells absent, valid and invalid apart.
type State uint8

// The states of a value.
const (
	Absent State = iota
	Valid
	Invalid // declared, but not understood; only the published text is known
)

// String names the state.
func (s State) String() string { return [...]string{"absent", "valid", "invalid"}[s] }

// Precision says how much of an instant was written.
type Precision uint8

// The precisions of a date, from coarse to fine; UnknownPrecision belongs to an absent or invalid one.
const (
	UnknownPrecision Precision = iota
	Year
	Month
	Day
	Minute
	Second
	Fraction
)

var precisionText = [...]string{"", "year", "month", "day", "minute", "second", "fraction"}

// String names the precision as JSON shows it.
func (p Precision) String() string { return precisionText[p] }

// class is what of a precision counts as meaning: minutes, seconds and fractions are all "a time".
func (p Precision) class() byte {
	if p > Minute {
		p = Minute
	}
	return byte(p)
}

// Lastmod is a publisher's claim about when a page or document last changed.
type Lastmod struct {
	Raw       []byte // the published text, decoded and trimmed
	Instant   int64  // microseconds since 1970-01-01T00:00:00Z; when Valid
	Precision Precision
	Zone      bool // a time zone was written; without one the text was read as UTC. False for dates without a time.
	State     State
}

// Changefreq is the declared hint, one of the protocol's seven words.
type Changefreq uint8

// The words of the protocol. ChangefreqNone: absent, or invalid and then a finding says so.
const (
	ChangefreqNone Changefreq = iota
	Always
	Hourly
	Daily
	Weekly
	Monthly
	Yearly
	Never
)

var changefreqText = [...]string{"", "always", "hourly", "daily", "weekly", "monthly", "yearly", "never"}

// String gives the protocol's word, or "" when none was declared.
func (c Changefreq) String() string { return changefreqText[c] }

// Priority is the declared relative hint, 0 to 1.
type Priority struct {
	Micros int32 // millionths, so that equal hints are equal values; digits beyond the sixth are dropped
	Set    bool  // declared and valid
}

// Float gives the hint as a number between 0 and 1.
func (p Priority) Float() float64 { return float64(p.Micros) / 1e6 }

// appendTo writes the shortest decimal form.
func (p Priority) appendTo(dst []byte) []byte {
	return strconv.AppendFloat(dst, p.Float(), 'f', -1, 64)
}

// Time gives the instant as a time in UTC; the zero time unless the lastmod is valid.
func (l *Lastmod) Time() time.Time {
	if l.State != Valid {
		return time.Time{}
	}
	return time.UnixMicro(l.Instant).UTC()
}
