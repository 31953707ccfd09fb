package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// digestStore is what digests need of the database.
type digestStore interface {
	RunPoints(ctx context.Context, siteID int64, limit int) ([]models.RunPoint, error)
	Run(ctx context.Context, siteID, id int64) (models.Run, error)
	Alerts(ctx context.Context, siteID, before int64, limit int) ([]models.Alert, error)
}

// Bounds of a digest.
const (
	digestRuns  = 20_000 // of one site that are counted
	digestSites = 40     // told one by one; of the others the sums
	digestCodes = 8
)

// Digest makes one of a site, or of all sites (0), from what the database knows of a span of time.
func (t *Teller) Digest(ctx context.Context, siteID int64, from, to time.Time) (models.Digest, error) {
	d := models.Digest{From: from.UTC(), To: to.UTC(), Sites: []models.SiteDigest{}}
	if t.o.Digests == nil {
		return d, errors.New("notify: no store for digests")
	}
	sites, err := t.o.Store.Sites(ctx)
	if err != nil {
		return d, err
	}
	for i := range sites {
		if siteID != 0 && sites[i].ID != siteID {
			continue
		}
		s, err := t.siteDigest(ctx, &sites[i], d.From, d.To)
		if err != nil {
			return d, fmt.Errorf("digest of site %s: %w", sites[i].Name, err)
		}
		d.Sites = append(d.Sites, s)
		sum(&d.Total, &s)
	}
	d.Total.Site = plural(len(d.Sites), "site")
	// What needs a person first, then what changed most.
	slices.SortStableFunc(d.Sites, func(a, b models.SiteDigest) int {
		return cmp.Or(cmp.Compare(trouble(&b), trouble(&a)), cmp.Compare(busy(&b), busy(&a)), strings.Compare(a.Site, b.Site))
	})
	return d, nil
}

func trouble(s *models.SiteDigest) int64 {
	n := s.Held + s.Stale + int64(len(s.FindingsNew))
	if s.LastComplete == nil || s.Failed > 0 {
		n++
	}
	return n
}

func busy(s *models.SiteDigest) int64 { return s.Added + s.Removed + s.Changed + s.Moved + s.Restored }

func sum(total, s *models.SiteDigest) {
	total.Pages += s.Pages
	total.PagesBefore += s.PagesBefore
	total.Runs += s.Runs
	total.Failed += s.Failed
	total.Added += s.Added
	total.Removed += s.Removed
	total.Changed += s.Changed
	total.Moved += s.Moved
	total.Restored += s.Restored
	total.Held += s.Held
	total.Stale += s.Stale
	total.Alerts += s.Alerts
}

func (t *Teller) siteDigest(ctx context.Context, site *models.Site, from, to time.Time) (models.SiteDigest, error) {
	s := models.SiteDigest{ID: site.ID, Site: site.Name, FindingsNew: []string{}, FindingsFixed: []string{}}
	points, err := t.o.Digests.RunPoints(ctx, site.ID, digestRuns)
	if err != nil {
		return s, err
	}
	last, first := int64(0), int64(0) // runs at the end and before the beginning
	for _, p := range points {
		if p.Verdict.Read() && s.LastComplete == nil && !p.At.After(to) {
			s.LastComplete = &p.At
		}
		if p.At.After(to) {
			continue
		}
		if last == 0 {
			last, s.Pages = p.Run, p.Live
		}
		if p.At.Before(from) {
			first, s.PagesBefore = p.Run, p.Live
			break
		}
		if s.Runs++; !p.Verdict.Read() {
			s.Failed++
		}
		if p.Baseline {
			s.New = true // the site: all its pages are no additions
			continue
		}
		s.Added, s.Removed, s.Changed, s.Moved, s.Restored = s.Added+p.Added, s.Removed+p.Removed, s.Changed+p.Changed, s.Moved+p.Moved, s.Restored+p.Restored
	}
	if last == 0 {
		return s, nil
	}
	run, err := t.o.Digests.Run(ctx, site.ID, last)
	if err != nil {
		return s, err
	}
	s.Held, s.Stale = run.Counts.Held, run.Counts.Stale
	if err := t.digestFindings(ctx, site.ID, first, last, &s); err != nil {
		return s, err
	}
	alerts, err := t.o.Digests.Alerts(ctx, site.ID, 0, 1000)
	for _, a := range alerts {
		if !a.OpenedAt.Before(from) && !a.OpenedAt.After(to) {
			s.Alerts++
		}
	}
	return s, err
}

func (t *Teller) digestFindings(ctx context.Context, site, first, last int64, s *models.SiteDigest) error {
	now, err := t.o.Store.FindingGroups(ctx, site, last)
	if err != nil {
		return err
	}
	var was []models.FindingGroup
	if first != 0 {
		if was, err = t.o.Store.FindingGroups(ctx, site, first); err != nil {
			return err
		}
	}
	for _, g := range lacking(now, was) {
		s.FindingsNew = append(s.FindingsNew, fmt.Sprintf("%s (%d)", g.Code, g.Count))
	}
	for _, g := range lacking(was, now) {
		s.FindingsFixed = append(s.FindingsFixed, g.Code)
	}
	return nil
}

// Lines says a digest in lines of text.
func Lines(d *models.Digest) []string {
	lines := []string{}
	if len(d.Sites) != 1 {
		lines = append(lines, sentence(&d.Total))
	}
	for i := range d.Sites[:min(len(d.Sites), digestSites)] {
		lines = append(lines, sentence(&d.Sites[i]))
	}
	if more := len(d.Sites) - digestSites; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s", plural(more, "more site")))
	}
	return lines
}

func sentence(s *models.SiteDigest) string {
	parts := []string{fmt.Sprintf("%s: %s", s.Site, pages(s.Pages))}
	if grown := s.Pages - s.PagesBefore; grown != 0 && !s.New {
		parts[0] += fmt.Sprintf(" (%+d)", grown)
	}
	if s.New {
		parts = append(parts, "new here")
	}
	if c := counted(models.Counts{Added: s.Added, Changed: s.Changed, Moved: s.Moved, Removed: s.Removed, Restored: s.Restored}); c != "" {
		parts = append(parts, c)
	} else {
		parts = append(parts, "nothing changed")
	}
	if s.Held > 0 {
		parts = append(parts, fmt.Sprintf("the removal of %s waits for a person", pages(s.Held)))
	}
	if s.Stale > 0 {
		parts = append(parts, pages(s.Stale)+" stale")
	}
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s not complete", s.Failed, plural(int(s.Runs), "run")))
	}
	if n := len(s.FindingsNew); n > 0 {
		parts = append(parts, "new findings: "+strings.Join(s.FindingsNew[:min(n, digestCodes)], ", "))
	}
	if n := len(s.FindingsFixed); n > 0 {
		parts = append(parts, "fixed: "+strings.Join(s.FindingsFixed[:min(n, digestCodes)], ", "))
	}
	if s.Alerts > 0 {
		parts = append(parts, plural(int(s.Alerts), "alert"))
	}
	return oneLine(strings.Join(parts, "; "))
}

// digests stores the digests that are due, each once, whichever daemon is first.
func (w *Worker) digests(ctx context.Context, now time.Time) error {
	if w.o.Teller.o.Digests == nil || w.o.Teller.o.Zone == nil {
		return nil
	}
	channels, err := w.o.Store.Channels(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for i := range channels {
		c := &channels[i]
		if c.DigestDue == nil || c.DigestDue.After(now) || c.DisabledAt != nil {
			continue
		}
		if err := w.digest(ctx, c, now); err != nil {
			problems = append(problems, fmt.Errorf("channel %s: %w", c.Name, err))
		}
	}
	return errors.Join(problems...)
}

func (w *Worker) digest(ctx context.Context, c *models.Channel, now time.Time) error {
	t := w.o.Teller
	from := c.DigestDue.Add(-7 * 24 * time.Hour)
	if after := t.o.Zone(c.Digest, c.TimeZone, *c.DigestDue); after != nil { // as far back as it is to the next one
		from = c.DigestDue.Add(-after.Sub(*c.DigestDue))
	}
	d, err := t.Digest(ctx, c.SiteID, from, *c.DigestDue)
	if err != nil {
		return err
	}
	lines := Lines(&d)
	if len(d.Sites) > digestSites {
		d.Sites = d.Sites[:digestSites]
	}
	said := "sitemapd: " + d.Total.Site
	if len(d.Sites) == 1 {
		said = d.Sites[0].Site
	}
	said += fmt.Sprintf(", %s to %s", d.From.Format(time.DateOnly), d.To.Format(time.DateOnly))
	data, err := json.Marshal(map[string]any{"summary": said, "lines": lines, "digest": d})
	if err != nil {
		return fmt.Errorf("encode digest: %w", err)
	}
	next := t.o.Zone(c.Digest, c.TimeZone, now) // what was missed while no daemon ran is made once
	_, err = w.o.Store.DigestSent(ctx, *c, next, []models.Event{{SiteID: c.SiteID, Type: models.EventDigest, At: *c.DigestDue, Channel: c.ID, Data: data}})
	return err
}
