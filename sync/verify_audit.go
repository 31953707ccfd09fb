package syncer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// auditStorage is what reports need of the database.
type auditStorage interface {
	PageFindings(ctx context.Context, site int64, f models.AuditFilter, fn func(*models.PageFinding) error) error
	GroupFindings(ctx context.Context, site int64, f models.AuditFilter) ([]models.AuditGroup, error)
}

// audit says what is wrong with the page now and follows it over time. Only pages that the site lists, or listed, are
// reported on.
func (j *judging) audit(ctx context.Context) error {
	removed := !j.memory.Removed.IsZero()
	if !j.l.listed && !removed && j.memory.Published.IsZero() {
		return nil
	}
	c, err := j.reported(ctx)
	if err != nil {
		return err
	}
	before := make([]canonical.Tracked, 0, len(j.s.findings))
	rows := map[string]*models.PageFinding{}
	for i := range j.s.findings {
		f := &j.s.findings[i]
		t := canonical.Tracked{FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Confirmed: int(f.Confirmed), State: f.State}
		if err := json.Unmarshal(f.Body, &t.Finding); err != nil {
			return fmt.Errorf("read a finding: %w", err)
		}
		rows[f.ID] = f
		before = append(before, t)
		if t.State != "fixed" {
			c.Open[t.Finding.Code] = t.Finding.Text
		}
	}
	found := canonical.Report(c)
	looked := j.informed || j.ev.Reading == canonical.ReadingGone && j.step.Next.Failures.Confirmed()
	for _, t := range canonical.Follow(before, found, looked, j.at) {
		old := rows[t.Finding.ID()]
		if !j.l.listed && canonical.OfListing(t.Finding.Code) && t.State != "new" {
			t.State = "fixed"
		}
		row, err := findingRow(&t, j.s.watch.Key, j.at)
		if err != nil {
			return err
		}
		if old != nil && j.again && old.State != "fixed" && t.State != "fixed" {
			// A new judgement of the same look confirms nothing, but what it is about may lead elsewhere now.
			if j.ev == j.s.evidence && !bytes.Equal(old.Body, row.Body) {
				told := *old
				told.Body = row.Body
				j.findings = append(j.findings, told)
			}
			continue
		}
		if old != nil && old.State == t.State && old.LastSeen.Equal(t.LastSeen) {
			continue
		}
		// Seen again is no change: only what became new, fixed or reopened is one.
		if old != nil && (old.State == row.State || row.State == "open") {
			row.ChangedAt = old.ChangedAt
		}
		j.findings = append(j.findings, row)
	}
	return nil
}

func findingRow(t *canonical.Tracked, key models.Key, at time.Time) (models.PageFinding, error) {
	body, err := json.Marshal(t.Finding)
	if err != nil {
		return models.PageFinding{}, fmt.Errorf("write a finding: %w", err)
	}
	kind, _ := canonical.FindingKindOf(t.Finding.Code)
	return models.PageFinding{ID: t.Finding.ID(), Key: key, Code: t.Finding.Code, Report: kind.Report, Severity: string(t.Finding.Severity), State: t.State,
		Page: t.Finding.Page, Template: canonical.PathTemplate(t.Finding.Page), FirstSeen: t.FirstSeen, LastSeen: t.LastSeen, ChangedAt: at,
		Confirmed: int64(t.Confirmed), Body: body}, nil
}

// reported gathers what a report on the page rests on.
func (j *judging) reported(ctx context.Context) (canonical.Case, error) {
	c := canonical.Case{Evidence: *j.shown, Home: j.home, SitePages: int(j.site.Live), Soft404: j.memory.Soft404, Failures: j.step.Next.Failures,
		PageDate: j.shown.Modified(), ContentMoved: j.touched, Flapping: j.step.Next.Flapping(j.at),
		Published:   !j.memory.Published.IsZero() || !j.l.listed && !j.memory.Removed.IsZero(),
		Open:        map[string]string{},
		BareArchive: j.l.generator == "core" && isArchive(j.s.watch.URL, j.site.Home)}
	c.Listing = canonical.Listing{Listed: j.l.listed, Documents: j.l.documents, Lastmod: j.l.lastmod, Previous: j.s.memory.Lastmod}
	if j.again { // no look held this lastmod against the page
		c.Listing.Previous = c.Listing.Lastmod
	}
	c.Verdict = canonical.Verdict{Relationships: j.step.Next.Current, Candidates: j.verdict.Candidates, Conflict: j.step.Next.Conflict, Head: headOf(&j.head),
		Status: canonical.Status(j.head.Status), Reason: canonical.Reason(j.head.Reason)}
	if g := j.verdict.Head; j.moved && models.Key(g.EdgeKey) == j.head.EdgeKey {
		c.Verdict.Head.Resolution, c.Verdict.Head.Final, c.Verdict.Head.Depth, c.Verdict.Head.LoopID = g.Resolution, g.Final, g.Depth, g.LoopID
	}
	keys, variants := j.variants()
	target := models.Key{}
	for i := range j.step.Next.Current {
		if r := &j.step.Next.Current[i]; r.Method.Explicit() && r.Scope != canonical.ScopeSelf && !r.TargetKey.IsZero() {
			target = models.Key(r.TargetKey)
			keys = append(keys, target)
			break
		}
	}
	watches, err := j.o.Store.Watches(ctx, j.site.ID, keys)
	if err != nil {
		return c, err
	}
	for k, u := range variants {
		if w, ok := watches[k]; ok && w.Listed && k != j.s.watch.Key {
			c.Variants = append(c.Variants, u)
		}
	}
	if target != (models.Key{}) {
		listed := watches[target].Listed
		c.TargetListed = &listed
		others, err := j.others(ctx, target)
		if err != nil {
			return c, err
		}
		c.Dependents = others + 1
	}
	return c, j.alternates(ctx, &c)
}

// variants lists the URLs that differ from the page's only in scheme, www or final slash.
func (j *judging) variants() (keys []models.Key, urls map[models.Key]string) {
	u, err := url.Parse(j.s.watch.URL)
	if err != nil {
		return nil, nil
	}
	urls = map[models.Key]string{}
	for n := 1; n < 8; n++ {
		x := *u
		if n&1 != 0 {
			x.Scheme = map[string]string{"http": "https", "https": "http"}[u.Scheme]
		}
		if n&2 != 0 {
			if host, ok := strings.CutPrefix(u.Host, "www."); ok {
				x.Host = host
			} else {
				x.Host = "www." + u.Host
			}
		}
		if n&4 != 0 {
			x.RawPath = ""
			if path, ok := strings.CutSuffix(u.Path, "/"); ok {
				x.Path = path
			} else {
				x.Path = u.Path + "/"
			}
		}
		if parsed, problem := weburl.Parse(nil, []byte(x.String())); problem == weburl.None {
			k := models.Key(parsed.Key())
			if k != j.s.watch.Key && urls[k] == "" {
				keys = append(keys, k)
				urls[k] = x.String()
			}
		}
	}
	return keys, urls
}

// isArchive says whether WordPress core prints no canonical link on a page of this address: home, archives, searches.
func isArchive(page, home string) bool {
	u, err := url.Parse(page)
	if err != nil {
		return false
	}
	if strings.TrimSuffix(page, "/") == strings.TrimSuffix(home, "/") {
		return true
	}
	for _, name := range []string{"cat", "tag", "author", "s", "paged", "m", "year"} {
		if u.Query().Has(name) {
			return true
		}
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	for i, p := range parts {
		if i < len(parts)-1 && (p == "category" || p == "tag" || p == "author" || p == "page") {
			return true
		}
	}
	return false
}

// headOf is a stored head in the words of package canonical.
func headOf(h *models.CanonicalHead) canonical.Head {
	out := canonical.Head{URL: h.URL, Key: canonical.Key(h.Key), Target: h.Target, TargetKey: canonical.Key(h.TargetKey), Edge: h.Edge,
		EdgeKey: canonical.Key(h.EdgeKey), EdgeKind: canonical.Kind(h.EdgeKind), Status: canonical.Status(h.Status), Reason: canonical.Reason(h.Reason),
		Resolution: canonical.Resolution(h.Own)}
	if h.Own != "conflict" && h.EdgeKey != (models.Key{}) && h.Resolution != "none" {
		out.Resolution, out.Final, out.Depth = canonical.Resolution(h.Resolution), h.FinalURL, h.Depth
		if h.Loop != (models.Key{}) {
			out.LoopID = h.Loop.String()
		}
	}
	if out.Resolution == "" {
		out.Resolution = canonical.ResolutionNone
	}
	return out
}

// Audit streams findings on pages as reports show them, by code and page.
func (v *Verifier) Audit(ctx context.Context, site int64, f models.AuditFilter, fn func(*models.Audited) error) error {
	for _, code := range f.Codes {
		if _, ok := canonical.FindingKindOf(code); !ok {
			return models.Invalid("query.code", "docs/canonical-findings.md lists them", "%q is no finding", code)
		}
	}
	return v.o.Store.PageFindings(ctx, site, f, func(p *models.PageFinding) error {
		var found canonical.Finding
		if err := json.Unmarshal(p.Body, &found); err != nil {
			return fmt.Errorf("read a finding: %w", err)
		}
		kind, _ := canonical.FindingKindOf(p.Code)
		return fn(&models.Audited{ID: p.ID, Code: p.Code, Report: kind.Report, Severity: p.Severity, Weight: kind.Weight, Page: p.Page, Template: p.Template,
			Target: found.Target, Text: found.Text, Evidence: found.Evidence, Place: string(found.Place), Line: found.Line, Offset: found.Offset,
			Rule: found.Rule, FirstSeen: p.FirstSeen, LastSeen: p.LastSeen, Confirmed: p.Confirmed, State: p.State, Do: kind.Do, ChangedAt: p.ChangedAt,
			Cursor: p.Code + " " + p.ID})
	})
}

// AuditGroups counts findings by code and path template.
func (v *Verifier) AuditGroups(ctx context.Context, site int64, f models.AuditFilter) ([]models.AuditGroup, error) {
	return v.o.Store.GroupFindings(ctx, site, f)
}
