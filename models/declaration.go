package models

import (
	"encoding/json"
	"time"
)

// Precision of a declared lastmod, as far as the text went.
type Precision uint8

// Precisions, coarse to fine.
const (
	PrecisionNone Precision = iota
	PrecisionYear
	PrecisionMonth
	PrecisionDay
	PrecisionMinute
	PrecisionSecond
	PrecisionFraction
)

var precisionNames = [...]string{"", "year", "month", "day", "minute", "second", "fraction"}

// String gives the contract's word.
func (p Precision) String() string {
	if int(p) < len(precisionNames) {
		return precisionNames[p]
	}
	return ""
}

// MarshalJSON writes the contract's word.
func (p Precision) MarshalJSON() ([]byte, error) { return json.Marshal(p.String()) }

// UnmarshalJSON reads the contract's word.
func (p *Precision) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	for i, name := range precisionNames {
		if name == s {
			*p = Precision(i)
		}
	}
	return nil
}

// Lastmod is a publisher's claim, never a verified event: the text beside the instant it means.
type Lastmod struct {
	Raw       string    `json:"raw"`
	Instant   time.Time `json:"instant"` // UTC, microseconds
	Precision Precision `json:"precision"`
	Zone      bool      `json:"zone"` // the text named its zone
}

// Role of one listing of a page in one document.
type Role uint8

// Roles. A page has at most one declaration open at a time; further listings are duplicates.
// Foreign listings name another host: they are kept apart from the inventory.
const (
	RoleDeclaration Role = 0
	RoleDuplicate   Role = 1
	RoleForeign     Role = 2
)

// Declaration is one version of what one document says of one page, valid from FromRun up to but without ToRun.
type Declaration struct {
	Document    int32
	Key         Key
	FromRun     int64
	ToRun       int64 // Open while current
	FirstRun    int64 // run that first recorded the page on this site, carried through moves and changes
	Role        Role
	URL         string // wire form: as published, absolute
	Lastmod     *Lastmod
	Changefreq  string   // "" when not declared
	Priority    *float64 // 0..1, nil when not declared
	Extensions  []byte   // canonical JSON object of alternates, images, videos, news, ...; nil when none
	Fingerprint Fingerprint
}

// Listing is what the diff needs of a stored open row.
type Listing struct {
	Key         Key
	Document    int32
	FromRun     int64
	FirstRun    int64
	Role        Role
	Fingerprint Fingerprint
}
