package syncer

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

// mostAsked is how many missing pages a run asks for where they went: a rename concerns a page or two, and a run must
// not turn into a crawl.
const mostAsked = 5

// moves finds out which missing pages live on under another URL. It reads and asks; it stages nothing.
func (r *run) moves(ctx context.Context, s *settlement) error {
	if len(s.missing) == 0 {
		return nil
	}
	known, appeared := r.known(), r.total.Load() > 0
	if appeared && int64(len(s.missing))*2 >= known {
		if err := r.migration(ctx, s, known); err != nil {
			return err
		}
	}
	unproven := slices.ContainsFunc(s.missing, func(p place) bool { return !r.proven(s, p) })
	if len(s.migrated) == 0 && len(s.missing) <= mostAsked && (appeared || unproven) {
		return r.renamed(ctx, s)
	}
	return nil
}

// proven tells whether the removal of a missing page needs no word of the page itself.
func (r *run) proven(s *settlement, p place) bool {
	_, told := s.renamed[p]
	return told || r.vouched[p.key] != "" || s.twice && s.agreed[p]
}

// migration looks for the missing pages under another scheme or host.
func (r *run) migration(ctx context.Context, s *settlement, known int64) error {
	rows, err := r.rowsOf(ctx, s.missing)
	if err != nil {
		return err
	}
	var best []move
	var name string
	for _, shift := range shifts(r.hosts) {
		found, err := r.shifted(ctx, rows, shift)
		if err != nil {
			return err
		}
		if len(found) > len(best) {
			best, name = found, shift.name
		}
		if len(best) == len(rows) {
			break
		}
	}
	if !migrated(int64(len(best)), int64(len(s.missing)), known) {
		return nil
	}
	s.migrated = map[place]move{}
	for _, m := range best {
		s.migrated[m.from] = m
	}
	s.moved += int64(len(best))
	r.note("site-migrated", models.SeverityInfo, r.site.Root, fmt.Sprintf("the site moved %s: %d of %d pages are listed there with the same path", name, len(best), known))
	return nil
}

// shifted gives the rows whose shifted URL appeared in this run.
func (r *run) shifted(ctx context.Context, rows []models.Declaration, by shift) ([]move, error) {
	var found []move
	for portion := range slices.Chunk(rows, lookupKeys) {
		wanted := map[models.Key]move{}
		keys := make([]models.Key, 0, len(portion))
		for _, row := range portion {
			u, err := url.Parse(row.URL)
			if err != nil || !by.apply(u) {
				continue
			}
			if target, problem := weburl.Parse(nil, []byte(u.String())); problem == weburl.None {
				key := models.Key(target.Key())
				wanted[key] = move{from: place{row.Key, row.Document}, url: row.URL, to: key, toURL: string(target.Wire)}
				keys = append(keys, key)
			}
		}
		listed, err := r.o.Store.Elsewhere(ctx, r.site.ID, sortKeys(keys))
		if err != nil {
			return nil, fmt.Errorf("look for migrated pages: %w", err)
		}
		for _, l := range listed {
			if m, ok := wanted[l.Key]; ok && l.FromRun == r.record.ID && l.FirstRun == r.record.ID && l.Role == models.RoleDeclaration {
				found = append(found, m)
				delete(wanted, l.Key)
			}
		}
	}
	return found, nil
}

func (r *run) rowsOf(ctx context.Context, places []place) ([]models.Declaration, error) {
	byDocument := map[int32][]models.Key{}
	for _, p := range places {
		byDocument[p.document] = append(byDocument[p.document], p.key)
	}
	var out []models.Declaration
	for _, number := range sortedKeys(byDocument) {
		for portion := range slices.Chunk(byDocument[number], lookupKeys) {
			rows, err := r.o.Store.Rows(ctx, r.site.ID, number, portion)
			if err != nil {
				return nil, fmt.Errorf("read rows of document %d: %w", number, err)
			}
			out = append(out, rows...)
		}
	}
	return out, nil
}

// renamed asks a few missing pages where they went: a redirect to a page that the site lists is a changed slug, and a page
// that answers 410, or 404 where others of the site are found, is gone.
func (r *run) renamed(ctx context.Context, s *settlement) error {
	rows, err := r.rowsOf(ctx, s.missing)
	if err != nil {
		return err
	}
	asker := r.pageAsker(ctx)
	s.answers, s.gone = map[place]int{}, map[place]bool{}
	var notFound []models.Declaration
	for _, row := range rows {
		from := place{row.Key, row.Document}
		if _, told := s.renamed[from]; told || !asker.rules.Allowed(row.URL) {
			continue
		}
		result := asker.ask(ctx, row.URL)
		s.answers[from], s.gone[from] = result.Status, r.goneAnswer(result)
		if s.gone[from] && result.Status == http.StatusNotFound && !r.proven(s, from) {
			notFound = append(notFound, row)
		}
		if len(result.Hops) == 0 || result.Outcome != fetch.OK {
			continue
		}
		target, problem := weburl.Parse(nil, []byte(result.FinalURL))
		if problem != weburl.None || models.Key(target.Key()) == row.Key {
			continue
		}
		listed, err := r.o.Store.Elsewhere(ctx, r.site.ID, []models.Key{models.Key(target.Key())})
		if err != nil {
			return fmt.Errorf("look for a renamed page: %w", err)
		}
		// WordPress guesses a target for an address that it does not know ("/post-1/" becomes "/post-10/"): only a page
		// that appeared together with the absence is where the old one went.
		if slices.ContainsFunc(listed, func(l models.Listing) bool { return l.FirstRun == r.record.ID }) {
			s.renamed[from] = move{from: from, url: row.URL, to: models.Key(target.Key()), toURL: string(target.Wire), by: "redirects to a page that is listed"}
		}
	}
	return asker.controls(ctx, s, notFound)
}

// announced notes what hooks said of pages that got another URL, where the new one is listed: missing pages, and those
// whose removal is undecided.
func (r *run) announced(ctx context.Context, s *settlement) error {
	s.renamed, s.told = map[place]move{}, map[models.Key]move{}
	for previous, e := range r.told {
		listed, err := r.o.Store.Elsewhere(ctx, r.site.ID, []models.Key{e.Key})
		if err != nil {
			return fmt.Errorf("look for a page that moved: %w", err)
		}
		// WordPress guesses a target for an address that it does not know ("/post-1/" becomes "/post-10/"): only a page
		// that appeared together with the absence is where the old one went.
		if slices.ContainsFunc(listed, func(l models.Listing) bool { return l.FirstRun == r.record.ID }) {
			s.told[previous] = move{to: e.Key, toURL: e.URL, by: "a hook said that it moved to a page that is listed"}
		}
	}
	for _, p := range s.missing {
		if m, ok := s.told[p.key]; ok {
			s.renamed[p] = m
		}
	}
	return nil
}
