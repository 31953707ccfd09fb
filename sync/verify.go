package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/canonical/sketch"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// verifyStorage is what verification needs of the database; *store.Store has it.
type verifyStorage interface {
	edgeStorage
	auditStorage
	healthStorage
	graphAuditStorage
	systemStorage
	CountDependents(ctx context.Context, site int64, target models.Key, most int) (int, error)
	CountDeclarers(ctx context.Context, site int64, target models.Key, most int) (int, error)
	News(ctx context.Context, site int64, n int) (map[models.Key]int64, error)
	AnswerNews(ctx context.Context, site int64, done map[models.Key]int64) error
	Dossiers(ctx context.Context, site int64, keys []models.Key) (map[models.Key]*models.Dossier, error)
	SaveLook(ctx context.Context, lease models.Lease, site int64, look *models.Look) error
	Judged(ctx context.Context, site int64, f models.CanonicalFilter, source, target *models.Key, fn func(*models.Dossier) error) error

	AddWatches(ctx context.Context, lease models.Lease, site int64, watches []models.CanonicalWatch) error
	PlanWatches(ctx context.Context, lease models.Lease, site int64, watches []models.CanonicalWatch) (missed []models.Key, err error)
	Watches(ctx context.Context, site int64, keys []models.Key) (map[models.Key]models.CanonicalWatch, error)
	DueWatches(ctx context.Context, site int64, at time.Time, class, n int) ([]models.CanonicalWatch, error)
	OldestWatches(ctx context.Context, site int64, n int) ([]models.Key, error)
	WatchedUpTo(ctx context.Context, site int64) (run, trigger int64, err error)
	SaveWatchedUpTo(ctx context.Context, lease models.Lease, site, run, trigger int64) error
	TriggersAfter(ctx context.Context, site, id int64, limit int) ([]models.Trigger, error)
	Spend(ctx context.Context, host models.Key, day string, allowance int64) (bool, error)
	HostProbe(ctx context.Context, host models.Key) (models.HostProbe, error)
	SaveHostProbe(ctx context.Context, host models.Key, p models.HostProbe) error
	SaveIncident(ctx context.Context, site int64, i models.Incident) error

	Site(ctx context.Context, id int64) (models.Site, error)
	Sites(ctx context.Context) ([]models.Site, error)
	PendingTriggers(ctx context.Context, site int64) ([]models.Trigger, error)
	Pages(ctx context.Context, site int64, f models.PageFilter, fn func(*models.Page) error) error
	Changes(ctx context.Context, site int64, f models.ChangeFilter, fn func(*models.Change) error) error
	DocumentsAt(ctx context.Context, site int64, at models.AsOf) ([]models.Document, error)
	AcquireLease(ctx context.Context, host models.Key, owner string, ttl time.Duration) (models.Lease, error)
	ReleaseLease(ctx context.Context, lease models.Lease) error
}

// VerifierOptions wire a Verifier; Engine, Store and Web are required, zero values of the rest take the defaults named.
type VerifierOptions struct {
	Engine *Engine // lends leases, and the clock
	Store  verifyStorage
	Web    web
	Logger *slog.Logger
	Now    func() time.Time

	PerDay int64         // looks at one host a day, those that hooks ask for apart: 2,000
	Delay  time.Duration // shortest pause between two pages of one host: 1 s; negative: what the client keeps
	Slice  time.Duration // longest time that a host is worked at without giving its lease back: 6 s
	Rest   time.Duration // pause after that: 1 s
	Sites  int           // sites worked at a time: 2

	// What is told to whoever counts; each may be nil.
	Observe      func(site models.Site, reading string, took time.Duration) // after each look
	GraphAudited func(site models.Site, a models.GraphAudit)
	MassChanged  func(site models.Site, i models.Incident)
}

// Verifier looks at listed pages and keeps what they say of their canonical URL. It talks to a host only while it holds
// the host's lease, and gives that back for every run that is due.
type Verifier struct {
	o VerifierOptions

	mu     sync.Mutex
	robots map[string]robotsEntry    // by origin
	sweeps map[int64]*sweep          // by site
	rest   map[int64]time.Time       // sites to be left alone until then
	probes map[models.Key]*softProbe // by host
	failed map[models.Key]time.Time  // pages that failed once for what may pass, and are to be tried again

	awaited map[awaited][]models.Key // language versions that pages name and that were not read yet, with these pages
	audits  map[int64]*graphAudit    // under way, by site
	audited map[int64]time.Time      // when each site's graph was audited last
}

type sweep struct {
	canonical.Sweep
	since time.Time
	known map[string]int // incidents by what they are, with the pages noted last
}

// NewVerifier checks and completes the options.
func NewVerifier(o VerifierOptions) (*Verifier, error) {
	if o.Engine == nil || o.Store == nil || o.Web == nil {
		return nil, errors.New("syncer: Engine, Store and Web are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("component", "verify")
	if o.Now == nil {
		o.Now = o.Engine.o.Now
	}
	o.PerDay = orElse(o.PerDay, 2000)
	o.Delay = orElse(o.Delay, time.Second)
	o.Slice = orElse(o.Slice, 6*time.Second)
	o.Rest = orElse(o.Rest, time.Second)
	o.Sites = orElse(o.Sites, 2)
	return &Verifier{o: o, robots: map[string]robotsEntry{}, sweeps: map[int64]*sweep{}, rest: map[int64]time.Time{},
		probes: map[models.Key]*softProbe{}, failed: map[models.Key]time.Time{}, awaited: map[awaited][]models.Key{}, audits: map[int64]*graphAudit{}, audited: map[int64]time.Time{}}, nil
}

func (v *Verifier) now() time.Time { return micros(v.o.Now().UTC()) }

// memory is what a watch remembers beside what other columns hold.
type memory struct {
	Record        canonical.Record `json:"record"` // without the relationships, which have rows of their own
	Published     time.Time        `json:"published,omitzero"`
	Listed        time.Time        `json:"listed,omitzero"` // new in a sitemap, or its lastmod moved
	Removed       time.Time        `json:"removed,omitzero"`
	TargetChanged time.Time        `json:"target_changed,omitzero"`
	TroubleSince  time.Time        `json:"trouble_since,omitzero"`
	RetryAfter    time.Time        `json:"retry_after,omitzero"`
	CrossDomain   bool             `json:"cross_domain,omitempty"` // a target on another site
	Lastmod       time.Time        `json:"lastmod,omitzero"`       // as of the last look
	Bearing       string           `json:"bearing,omitempty"`      // what those rest on that name this URL
	Cut           bool             `json:"cut,omitempty"`          // the sketch is of the text's beginning
	Soft404       bool             `json:"soft_404,omitempty"`
	NoRobots      bool             `json:"no_robots,omitempty"` // robots.txt could not be read at the last look
	Negative      *negative        `json:"negative,omitempty"`  // while there is no relationship
}

// kept is evidence as it is stored: its statements are observations, named in order.
type kept struct {
	canonical.Evidence
	Statements []models.Key `json:"statements,omitempty"`
}

// subject is one URL with everything that is known of it.
type subject struct {
	watch    models.CanonicalWatch
	head     *models.CanonicalHead
	memory   memory
	record   canonical.Record
	evidence *canonical.Evidence // of the last look that told something; nil before
	observed []canonical.Observation
	sketch   sketch.Sketch
	findings []models.PageFinding
	dossier  *models.Dossier
}

// subject unpacks a dossier; a nil one is that of a URL that nothing is known of.
func newSubject(d *models.Dossier, key models.Key, url string) (*subject, error) {
	if d == nil {
		d = &models.Dossier{Watch: models.CanonicalWatch{Key: key, URL: url}}
	}
	s := &subject{watch: d.Watch, head: d.Head, findings: d.Findings, dossier: d}
	if s.watch.URL == "" {
		s.watch.URL = url
	}
	if len(d.Watch.Record) > 0 {
		if err := json.Unmarshal(d.Watch.Record, &s.memory); err != nil {
			return nil, fmt.Errorf("read the record of %s: %w", s.watch.URL, err)
		}
	}
	s.record = s.memory.Record
	for i := range d.Relationships {
		r, err := relationshipOf(&d.Relationships[i])
		if err != nil {
			return nil, err
		}
		s.record.Current = append(s.record.Current, r)
	}
	if d.Conflict != nil {
		s.record.Conflict = &canonical.Conflict{}
		if err := json.Unmarshal(d.Conflict.Body, s.record.Conflict); err != nil {
			return nil, fmt.Errorf("read the conflict of %s: %w", s.watch.URL, err)
		}
	}
	if len(d.Watch.Sketch) > 0 {
		if err := s.sketch.UnmarshalBinary(d.Watch.Sketch); err != nil {
			return nil, err
		}
	}
	return s, s.unpackEvidence(d)
}

func (s *subject) unpackEvidence(d *models.Dossier) error {
	items := map[models.Key]canonical.Item{}
	for i := range d.Observations {
		o := &d.Observations[i]
		seen := canonical.Observation{ID: o.ID, SourceKey: canonical.Key(s.watch.Key), Parser: o.Parser, FirstSeen: o.FirstSeen, LastSeen: o.LastSeen,
			Times: int(o.Times), Current: o.Current}
		if err := json.Unmarshal(o.Item, &seen.Item); err != nil {
			return fmt.Errorf("read an observation of %s: %w", s.watch.URL, err)
		}
		items[o.ID] = seen.Item
		s.observed = append(s.observed, seen)
	}
	if len(d.Watch.Evidence) == 0 {
		return nil
	}
	var k kept
	if err := json.Unmarshal(d.Watch.Evidence, &k); err != nil {
		return fmt.Errorf("read the evidence of %s: %w", s.watch.URL, err)
	}
	s.evidence = &k.Evidence
	for _, id := range k.Statements {
		if it, ok := items[id]; ok {
			s.evidence.Items = append(s.evidence.Items, it)
		}
	}
	return nil
}

// relationshipOf unpacks a stored relationship; what its row holds wins over the body, which is older.
func relationshipOf(m *models.CanonicalRelationship) (canonical.Relationship, error) {
	var r canonical.Relationship
	if err := json.Unmarshal(m.Body, &r); err != nil {
		return r, fmt.Errorf("read a relationship: %w", err)
	}
	r.ValidFrom, r.ObservedAt = m.ValidFrom, m.ObservedAt
	r.Status, r.Reason, r.Score, r.Rule, r.Ruleset = canonical.Status(m.Status), canonical.Reason(m.Reason), m.Score, m.Rule, m.Ruleset
	if len(m.Validation) > 0 {
		r.Validation = canonical.Validation{}
		if err := json.Unmarshal(m.Validation, &r.Validation); err != nil {
			return r, fmt.Errorf("read a validation: %w", err)
		}
	}
	if r.Validation.Method == "self" {
		r.Validation.At = r.ObservedAt
	}
	return r, nil
}

// packed makes the row of a relationship.
func packed(r *canonical.Relationship, cause string, at time.Time) (models.CanonicalRelationship, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return models.CanonicalRelationship{}, fmt.Errorf("write a relationship: %w", err)
	}
	validation, err := json.Marshal(r.Validation)
	if err != nil {
		return models.CanonicalRelationship{}, fmt.Errorf("write a validation: %w", err)
	}
	m := models.CanonicalRelationship{Source: models.Key(r.SourceKey), Target: models.Key(r.TargetKey), Method: string(r.Method), ValidFrom: r.ValidFrom,
		Status: string(r.Status), Reason: string(r.Reason), Score: r.Score, Rule: r.Rule, Ruleset: r.Ruleset, ObservedAt: r.ObservedAt,
		EndReason: string(r.EndReason), Cause: cause, JudgedAt: at, Validation: validation, Body: body}
	if !r.ValidUntil.IsZero() {
		until := r.ValidUntil
		m.ValidUntil = &until
	}
	return m, nil
}

// pageRequest is what every request of a site's page has in common.
func pageRequest(site *models.Site, url string) fetch.Request {
	return fetch.Request{URL: url, Origin: site.Root, Kind: fetch.Page, OneHop: true, Username: site.Settings.Username, Password: site.Settings.Password}
}
