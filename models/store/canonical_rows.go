package store

import (
	"math"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Rows of the canonical stores. Scores are hundredths, so that both dialects give back what was written.

type canonicalHeadRow struct {
	SiteID     int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey     []byte `gorm:"primaryKey"`
	URL        string
	Target     string
	TargetKey  []byte
	Edge       string
	EdgeKey    []byte
	EdgeKind   string
	Own        string
	Status     string
	Reason     string
	Listed     bool
	Resolution string
	FinalKey   []byte
	Depth      int
	LoopKey    []byte
}

func (canonicalHeadRow) TableName() string { return "canonical_heads" }

// keyOrNil gives NULL for a key that names nothing.
func keyOrNil(k models.Key) []byte {
	if k == (models.Key{}) {
		return nil
	}
	return k[:]
}

func keyFrom(b []byte) (k models.Key) {
	copy(k[:], b)
	return k
}

func (r *canonicalHeadRow) head() models.CanonicalHead {
	return models.CanonicalHead{Key: keyFrom(r.URLKey), URL: r.URL, Target: r.Target, TargetKey: keyFrom(r.TargetKey), Edge: r.Edge,
		EdgeKey: keyFrom(r.EdgeKey), EdgeKind: r.EdgeKind, Own: r.Own, Status: r.Status, Reason: r.Reason, Listed: r.Listed,
		EdgeState: models.EdgeState{Resolution: r.Resolution, Final: keyFrom(r.FinalKey), Depth: r.Depth, Loop: keyFrom(r.LoopKey)}}
}

type canonicalWatchRow struct {
	SiteID       int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey       []byte `gorm:"primaryKey"`
	URL          string
	Revision     int64
	Listed       bool
	Class        int
	NextLook     *time.Time
	Due          string
	LastLook     *time.Time
	LastRead     *time.Time
	ConfirmedAt  *time.Time
	Looks        int64
	Pace         int64
	Reading      string
	SourceStatus int
	Etag         string
	LastModified string
	ValidatedURL string
	Record       []byte
	Evidence     []byte
	Sketch       []byte
}

func (canonicalWatchRow) TableName() string { return "canonical_watches" }

func newWatchRow(site int64, w *models.CanonicalWatch) canonicalWatchRow {
	r := canonicalWatchRow{SiteID: site, URLKey: w.Key[:], URL: w.URL, Revision: w.Revision, Listed: w.Listed, Class: w.Class, NextLook: micros(w.Next),
		Due: w.Due, LastLook: storable(w.LastLook), LastRead: storable(w.LastRead), ConfirmedAt: storable(w.Confirmed), Looks: w.Looks,
		Pace: w.Interval.Microseconds(), Reading: w.Reading, SourceStatus: w.Status, Etag: w.ETag, LastModified: w.LastModified,
		ValidatedURL: w.ValidatedURL, Record: w.Record, Evidence: w.Evidence, Sketch: w.Sketch}
	if r.Record == nil {
		r.Record = []byte("{}")
	}
	return r
}

func moment0(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func (r *canonicalWatchRow) watch() models.CanonicalWatch {
	return models.CanonicalWatch{Key: keyFrom(r.URLKey), URL: r.URL, Revision: r.Revision, Listed: r.Listed, Class: r.Class, Next: micros(r.NextLook),
		Due: r.Due, LastLook: moment0(r.LastLook), LastRead: moment0(r.LastRead), Confirmed: moment0(r.ConfirmedAt), Looks: r.Looks,
		Interval: time.Duration(r.Pace) * time.Microsecond, Reading: r.Reading, Status: r.SourceStatus, ETag: r.Etag, LastModified: r.LastModified,
		ValidatedURL: r.ValidatedURL, Record: r.Record, Evidence: r.Evidence, Sketch: r.Sketch}
}

type canonicalObservationRow struct {
	SiteID      int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey      []byte `gorm:"primaryKey"`
	Observation []byte `gorm:"primaryKey"`
	Kind        string
	Accepted    bool
	IsOpen      bool
	FirstSeen   time.Time
	LastSeen    time.Time
	Times       int64
	AtLook      int64
	Parser      string
	Item        []byte
}

func (canonicalObservationRow) TableName() string { return "canonical_observations" }

// observation gives the row as it is now: one that is still found was seen by every look since it was written.
func (r *canonicalObservationRow) observation(w *models.CanonicalWatch) models.CanonicalObservation {
	o := models.CanonicalObservation{ID: keyFrom(r.Observation), Kind: r.Kind, Accepted: r.Accepted, Current: r.IsOpen, FirstSeen: r.FirstSeen.UTC(),
		LastSeen: r.LastSeen.UTC(), Times: r.Times, Parser: r.Parser, Item: r.Item}
	if o.Current && w.Looks > r.AtLook {
		o.Times += w.Looks - r.AtLook
		o.LastSeen = latest(o.LastSeen, w.LastRead)
	}
	return o
}

type canonicalRelationshipRow struct {
	SiteID     int64     `gorm:"primaryKey;autoIncrement:false"`
	URLKey     []byte    `gorm:"primaryKey"`
	ValidFrom  time.Time `gorm:"primaryKey"`
	TargetKey  []byte    `gorm:"primaryKey"`
	Method     string    `gorm:"primaryKey"`
	ValidUntil *time.Time
	IsOpen     *bool
	Status     string
	Reason     string
	Score      int
	Rule       string
	Ruleset    string
	ObservedAt time.Time
	RecordedAt time.Time
	EndedAt    *time.Time
	EndReason  string
	Body       []byte
}

func (canonicalRelationshipRow) TableName() string { return "canonical_relationships" }

func hundredths(score float64) int { return int(math.Round(score * 100)) }

func newRelationshipRow(site int64, r *models.CanonicalRelationship) canonicalRelationshipRow {
	row := canonicalRelationshipRow{SiteID: site, URLKey: r.Source[:], ValidFrom: stored(r.ValidFrom), TargetKey: r.Target[:], Method: r.Method,
		ValidUntil: micros(r.ValidUntil), Status: r.Status, Reason: r.Reason, Score: hundredths(r.Score), Rule: r.Rule, Ruleset: r.Ruleset,
		ObservedAt: stored(r.ObservedAt), RecordedAt: now(), EndReason: r.EndReason, Body: r.Body}
	if r.ValidUntil == nil {
		open := true
		row.IsOpen = &open
	}
	return row
}

func (r *canonicalRelationshipRow) relationship(w *models.CanonicalWatch) models.CanonicalRelationship {
	out := models.CanonicalRelationship{Source: keyFrom(r.URLKey), Target: keyFrom(r.TargetKey), Method: r.Method, ValidFrom: r.ValidFrom.UTC(),
		ValidUntil: micros(r.ValidUntil), Status: r.Status, Reason: r.Reason, Score: float64(r.Score) / 100, Rule: r.Rule, Ruleset: r.Ruleset,
		ObservedAt: r.ObservedAt.UTC(), EndReason: r.EndReason, Body: r.Body}
	if r.ValidUntil == nil {
		out.ObservedAt = latest(out.ObservedAt, w.Confirmed)
	}
	return out
}

type canonicalStateRow struct {
	SiteID     int64     `gorm:"primaryKey;autoIncrement:false"`
	URLKey     []byte    `gorm:"primaryKey"`
	ValidFrom  time.Time `gorm:"primaryKey"`
	TargetKey  []byte    `gorm:"primaryKey"`
	Method     string    `gorm:"primaryKey"`
	JudgedAt   time.Time `gorm:"primaryKey"`
	Status     string
	Reason     string
	Score      int
	Rule       string
	Ruleset    string
	Cause      string
	Validation []byte
}

func (canonicalStateRow) TableName() string { return "canonical_states" }

func newStateRow(site int64, r *models.CanonicalRelationship) canonicalStateRow {
	s := canonicalStateRow{SiteID: site, URLKey: r.Source[:], ValidFrom: stored(r.ValidFrom), TargetKey: r.Target[:], Method: r.Method,
		JudgedAt: stored(r.JudgedAt), Status: r.Status, Reason: r.Reason, Score: hundredths(r.Score), Rule: r.Rule, Ruleset: r.Ruleset,
		Cause: r.Cause, Validation: r.Validation}
	if s.Validation == nil {
		s.Validation = []byte("{}")
	}
	return s
}

type canonicalCandidateRow struct {
	SiteID     int64     `gorm:"primaryKey;autoIncrement:false"`
	URLKey     []byte    `gorm:"primaryKey"`
	TargetKey  []byte    `gorm:"primaryKey"`
	ValidFrom  time.Time `gorm:"primaryKey"`
	ValidUntil *time.Time
	Score      int
	Rule       string
	Body       []byte
}

func (canonicalCandidateRow) TableName() string { return "canonical_candidates" }

type canonicalConflictRow struct {
	SiteID   int64     `gorm:"primaryKey;autoIncrement:false"`
	URLKey   []byte    `gorm:"primaryKey"`
	OpenedAt time.Time `gorm:"primaryKey"`
	ClosedAt *time.Time
	Kinds    string
	Body     []byte
}

func (canonicalConflictRow) TableName() string { return "canonical_conflicts" }

type canonicalDirtyRow struct {
	SiteID   int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey   []byte `gorm:"primaryKey"`
	Paging   bool   `gorm:"primaryKey"`
	AfterKey []byte `gorm:"primaryKey"`
	Hop      int
	Seq      int64
}

func (canonicalDirtyRow) TableName() string { return "canonical_dirty" }

type canonicalNewsRow struct {
	SiteID int64  `gorm:"primaryKey;autoIncrement:false"`
	URLKey []byte `gorm:"primaryKey"`
	Seq    int64
}

func (canonicalNewsRow) TableName() string { return "canonical_news" }

type canonicalFindingRow struct {
	SiteID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Finding   string `gorm:"primaryKey"`
	URLKey    []byte
	Code      string
	Report    string
	Severity  string
	State     string
	Page      string
	Template  string
	FirstSeen time.Time
	LastSeen  time.Time
	ChangedAt time.Time
	Confirmed int64
	Body      []byte
}

func (canonicalFindingRow) TableName() string { return "canonical_findings" }

func newFindingRow(site int64, f *models.PageFinding) canonicalFindingRow {
	return canonicalFindingRow{SiteID: site, Finding: f.ID, URLKey: f.Key[:], Code: f.Code, Report: f.Report, Severity: f.Severity, State: f.State,
		Page: f.Page, Template: f.Template, FirstSeen: stored(f.FirstSeen), LastSeen: stored(f.LastSeen), ChangedAt: stored(f.ChangedAt),
		Confirmed: f.Confirmed, Body: f.Body}
}

func (r *canonicalFindingRow) finding() models.PageFinding {
	return models.PageFinding{ID: r.Finding, Key: keyFrom(r.URLKey), Code: r.Code, Report: r.Report, Severity: r.Severity, State: r.State, Page: r.Page,
		Template: r.Template, FirstSeen: r.FirstSeen.UTC(), LastSeen: r.LastSeen.UTC(), ChangedAt: r.ChangedAt.UTC(), Confirmed: r.Confirmed, Body: r.Body}
}

type canonicalMuteRow struct {
	SiteID    int64  `gorm:"primaryKey;autoIncrement:false"`
	Code      string `gorm:"primaryKey"`
	PlaceKey  []byte `gorm:"primaryKey"`
	Place     string
	Until     *time.Time
	Note      string
	CreatedAt time.Time
}

func (canonicalMuteRow) TableName() string { return "canonical_mutes" }

type canonicalIncidentRow struct {
	SiteID    int64     `gorm:"primaryKey;autoIncrement:false"`
	ChangeKey []byte    `gorm:"primaryKey"`
	StartedAt time.Time `gorm:"primaryKey"`
	LastSeen  time.Time
	What      string
	Pages     int64
	Looked    int64
	Examples  []byte
}

func (canonicalIncidentRow) TableName() string { return "canonical_incidents" }

type canonicalHostRow struct {
	Host        []byte `gorm:"primaryKey"`
	Day         string
	Spent       int64
	ProbedAt    *time.Time
	ProbeStatus int
	ProbeSketch []byte
}

func (canonicalHostRow) TableName() string { return "canonical_hosts" }

type canonicalProgressRow struct {
	SiteID    int64 `gorm:"primaryKey;autoIncrement:false"`
	Run       int64
	TriggerID int64
}

func (canonicalProgressRow) TableName() string { return "canonical_progress" }
