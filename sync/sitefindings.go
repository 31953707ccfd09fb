package syncer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
	"github.com/sitemapd/sitemapd/sync/weburl"
)

const (
	acrossFindings = 20 // kept of a code in the pages of one document
	pageFindings   = 5  // made of one page
)

// acrossStorage is what looking across documents needs of the database.
type acrossStorage interface {
	Listed(ctx context.Context, site, run int64, keys []models.Key) ([]models.Declaration, error)
	Extended(ctx context.Context, site, run int64, document int32, fn func(*models.Declaration) error) error
	SiteFindings(ctx context.Context, site int64) (map[int32][]models.Finding, error)
	SaveSiteFindings(ctx context.Context, lease models.Lease, site, run int64, document int32, findings []models.Finding) error
}

// traces are the pages of which a run wrote or ended rows: where to look across documents again.
type traces struct {
	keys       []models.Key // up to massKeys
	mass       bool         // there were more
	alternates bool         // some of what was written names language versions
	shared     []models.Key // pages with several listings, where resolving looked for all of them
}

// trace notes what is about to be staged of a document.
func (r *run) trace(d *document, found *collection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &r.traces
	if t.mass = t.mass || len(t.keys)+len(d.diff.close)+len(d.diff.add) > massKeys; t.mass {
		t.keys = nil
	} else {
		t.keys = append(t.keys, d.diff.close...)
	}
	for _, p := range d.diff.add {
		if t.mass && t.alternates {
			return
		}
		e := found.at(int(p.entry))
		if !t.mass && p.role != models.RoleForeign {
			t.keys = append(t.keys, e.key)
		}
		ext := found.text[e.extension.at : e.extension.at+e.extension.length]
		t.alternates = t.alternates || bytes.HasPrefix(ext, []byte(`{"alternates"`))
	}
}

// traceEnded notes pages whose rows end or change their roles once all documents are read.
func (r *run) traceEnded(keys []models.Key) {
	t := &r.traces
	if t.mass = t.mass || len(t.keys)+len(keys) > massKeys; t.mass {
		t.keys = nil
		return
	}
	t.keys = append(t.keys, keys...)
}

// lookAcross compares what documents say of pages that this run touched, and of the pages that name them, with each other. A
// run without changes costs nothing here. What it finds describes what is recorded, also after an incomplete walk.
func (r *run) lookAcross(ctx context.Context) error {
	r.notice(ctx)
	if !r.traces.mass && len(r.traces.keys) == 0 {
		return nil
	}
	sets := map[int32][]models.Finding{}
	if !r.record.Baseline {
		var err error
		if sets, err = r.o.Store.SiteFindings(ctx, r.site.ID); err != nil {
			return fmt.Errorf("read findings across documents: %w", err)
		}
	}
	a := &across{run: r, sets: sets, again: map[models.Key]bool{}, found: map[int32][]models.Finding{}}
	if r.traces.mass {
		if err := a.suspects(ctx); err != nil {
			return err
		}
	} else if err := a.affected(ctx, r.traces.keys); err != nil {
		return err
	}
	if err := a.judge(ctx); err != nil {
		return err
	}
	return a.save(ctx)
}

// hasAlternates reports whether any document names language versions, as far as its name spaces tell.
func (r *run) hasAlternates() bool {
	if r.traces.alternates {
		return true
	}
	for _, d := range r.documents {
		if namesVersions(&d.DocumentVersion) || d.previous != nil && namesVersions(d.previous) {
			return true
		}
	}
	return false
}

func namesVersions(v *models.DocumentVersion) bool {
	return slices.ContainsFunc(v.Namespaces, func(uri string) bool { return strings.Contains(strings.ToLower(uri), "xhtml") })
}

// across is one look across documents.
type across struct {
	*run
	sets  map[int32][]models.Finding // as stored, by document
	again map[models.Key]bool        // pages to judge
	found map[int32][]models.Finding
	urls  weburl.Parser
}

// acrossPage is what all documents say of a page.
type acrossPage struct {
	rows     []models.Declaration // by document, that which counts first
	versions []version
}

// version is one language version that a page names.
type version struct {
	lang, href string
	key        models.Key
	own        bool // on a host of the site
}

// alternate is one pair as it is stored.
type alternate struct{ Hreflang, Href, Rel string }

// alternatesOf reads the language versions out of stored extension blocks. What stores them writes them first and, but for
// rare fields, in one form, which is read here without a decoder: a first run may have millions.
func alternatesOf(ext []byte) []alternate {
	rest, ok := bytes.CutPrefix(ext, []byte(`{"alternates":[`))
	if !ok {
		return nil
	}
	var out []alternate
	for {
		var a alternate
		if a.Hreflang, rest, ok = plainField(rest, `{"hreflang":"`); !ok {
			break
		}
		if a.Href, rest, ok = plainField(rest, `,"href":"`); !ok || len(rest) < 2 || rest[0] != '}' {
			break
		}
		out = append(out, a)
		if rest[1] == ']' {
			return out
		}
		rest = rest[2:]
	}
	var blocks struct{ Alternates []alternate }
	if json.Unmarshal(ext, &blocks) != nil {
		return nil
	}
	return blocks.Alternates
}

// plainField reads a text without escapes behind its name.
func plainField(b []byte, name string) (text string, rest []byte, ok bool) {
	if len(b) < len(name) || string(b[:len(name)]) != name {
		return "", nil, false
	}
	b = b[len(name):]
	end := bytes.IndexByte(b, '"')
	if end < 0 || bytes.IndexByte(b[:end], '\\') >= 0 {
		return "", nil, false
	}
	return string(b[:end]), b[end+1:], true
}

func (a *across) versionsOf(d *models.Declaration) []version {
	alternates := alternatesOf(d.Extensions)
	out := make([]version, 0, len(alternates))
	for _, x := range alternates {
		u, problem := a.urls.Parse(nil, []byte(x.Href))
		if x.Hreflang == "" || x.Rel != "" || problem != weburl.None {
			continue
		}
		out = append(out, version{strings.ToLower(x.Hreflang), x.Href, models.Key(u.Key()), a.owns(u.Identity)})
	}
	return out
}

func (p *acrossPage) names(key models.Key) bool {
	return slices.ContainsFunc(p.versions, func(v version) bool { return v.key == key })
}

func (p *acrossPage) xDefault() *version {
	for i := range p.versions {
		if p.versions[i].lang == "x-default" {
			return &p.versions[i]
		}
	}
	return nil
}

// read reads pages as they stand at a run.
func (a *across) read(ctx context.Context, run int64, keys []models.Key) (map[models.Key]*acrossPage, error) {
	out := make(map[models.Key]*acrossPage, len(keys))
	for portion := range slices.Chunk(keys, lookupKeys) {
		rows, err := a.o.Store.Listed(ctx, a.site.ID, run, portion)
		if err != nil {
			return nil, fmt.Errorf("look across documents: %w", err)
		}
		for i := range rows {
			p := out[rows[i].Key]
			if p == nil {
				p = &acrossPage{}
				out[rows[i].Key] = p
			}
			p.rows = append(p.rows, rows[i])
		}
	}
	for _, p := range out {
		slices.SortStableFunc(p.rows, func(x, y models.Declaration) int { return cmp.Compare(x.Role, y.Role) })
		p.versions = a.versionsOf(&p.rows[0])
	}
	return out, nil
}

// affected gathers the pages that what was touched may have made right or wrong: themselves, those that they name or named,
// and those with a finding about one of them. Where a set is full, its document is looked through as a whole: more may
// stand behind what it keeps.
func (a *across) affected(ctx context.Context, touched []models.Key) error {
	touched = slices.Compact(sortKeys(slices.Clone(touched)))
	if !a.hasAlternates() && len(a.sets) == 0 { // several listings are all that can be wrong
		return a.disagreeing(ctx, touched)
	}
	for _, key := range touched {
		a.again[key] = true
	}
	if a.hasAlternates() {
		for _, run := range []int64{a.site.CurrentRun, a.record.ID} {
			if run == 0 {
				continue
			}
			pages, err := a.read(ctx, run, touched)
			if err != nil {
				return err
			}
			for _, p := range pages {
				for _, v := range p.versions {
					a.again[v.key] = true
				}
			}
		}
	}
	for number, set := range a.sets {
		counts, hit := map[string]int{}, false
		for _, f := range set {
			page, about := keyOfText(f.Page), keyOfText(named(f.Text))
			counts[f.Code]++
			if a.again[about] && strings.HasPrefix(f.Code, "hreflang-") {
				a.again[page] = true
			}
			hit = hit || a.again[page]
		}
		for _, n := range counts {
			if hit && n >= acrossFindings {
				if err := a.whole(ctx, number); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

func (a *across) whole(ctx context.Context, number int32) error {
	return a.o.Store.Listings(ctx, a.site.ID, number, func(l models.Listing) error {
		a.again[l.Key] = true
		return nil
	})
}

// named gives the address in the text of a finding about language versions.
func named(text string) string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

func keyOfText(url string) models.Key {
	u, problem := weburl.Parse(nil, []byte(url))
	if problem != weburl.None {
		return models.Key{}
	}
	return models.Key(u.Key())
}

// judge makes the findings of the pages to judge, a portion at a time: only that much of the inventory is in memory.
func (a *across) judge(ctx context.Context) error {
	keys := make([]models.Key, 0, len(a.again))
	for key := range a.again {
		keys = append(keys, key)
	}
	for portion := range slices.Chunk(sortKeys(keys), lookupKeys) {
		pages, err := a.read(ctx, a.record.ID, portion)
		if err != nil {
			return err
		}
		var others []models.Key
		for _, p := range pages {
			for _, v := range p.versions {
				if v.own && pages[v.key] == nil {
					others = append(others, v.key)
				}
			}
		}
		more, err := a.read(ctx, a.record.ID, slices.Compact(sortKeys(others)))
		if err != nil {
			return err
		}
		at := func(key models.Key) *acrossPage {
			if p := pages[key]; p != nil {
				return p
			}
			return more[key]
		}
		for _, key := range portion {
			if p := pages[key]; p != nil {
				number := p.rows[0].Document
				a.found[number] = append(a.found[number], a.judgePage(key, p, at)...)
			}
		}
	}
	return nil
}

func (a *across) judgePage(key models.Key, p *acrossPage, at func(models.Key) *acrossPage) []models.Finding {
	var out []models.Finding
	say := func(code, format string, args ...any) {
		if len(out) < pageFindings {
			rule, _ := sitemap.SiteRuleOf(code)
			out = append(out, models.Finding{Code: code, Severity: string(rule.Severity), Rule: rule.Source,
				Document: a.urlOf(p.rows[0].Document), Page: p.rows[0].URL, Text: fmt.Sprintf(format, args...)})
		}
	}
	for i := range p.rows[1:] {
		if other := &p.rows[i+1]; other.Fingerprint != p.rows[0].Fingerprint {
			say(sitemap.DuplicateDisagreement, "%s is listed by %s too, with another %s", p.rows[0].URL, a.urlOf(other.Document), differences(&p.rows[0], other))
		}
	}
	if len(p.versions) == 0 {
		return out
	}
	byDefault, others, told := p.xDefault(), 0, map[models.Key]bool{key: true}
	for _, v := range p.versions {
		if v.key != key {
			others++
		}
		if told[v.key] || !v.own {
			continue
		}
		told[v.key] = true
		other := at(v.key)
		switch {
		case other == nil:
			say(sitemap.HreflangUnlisted, "names %s as %s, which no document lists", v.href, v.lang)
		case !other.names(key):
			say(sitemap.HreflangNoReturn, "names %s as %s, which does not name it back", v.href, v.lang)
		case byDefault != nil && other.xDefault() != nil && other.xDefault().key != byDefault.key:
			say(sitemap.HreflangXDefaults, "names %s as x-default, its version %s names %s", byDefault.href, v.href, other.xDefault().href)
		}
	}
	if byDefault == nil && others > 0 {
		say(sitemap.HreflangNoXDefault, "names %d language versions, but none as x-default", len(p.versions))
	}
	return out
}

func (a *across) urlOf(number int32) string {
	if d := a.byNumber(number); d != nil {
		return d.URL
	}
	return ""
}

// differences names the fields in which two declarations of a page differ.
func differences(x, y *models.Declaration) string {
	var out []string
	if !sameLastmod(x.Lastmod, y.Lastmod) {
		out = append(out, "lastmod")
	}
	if x.Changefreq != y.Changefreq {
		out = append(out, "changefreq")
	}
	if (x.Priority == nil) != (y.Priority == nil) || x.Priority != nil && *x.Priority != *y.Priority {
		out = append(out, "priority")
	}
	if !bytes.Equal(x.Extensions, y.Extensions) {
		out = append(out, "extension block")
	}
	if len(out) == 0 {
		return "spelling"
	}
	return strings.Join(out, ", ")
}

// save stages the sets that are not as they were.
func (a *across) save(ctx context.Context) error {
	numbers := map[int32]bool{}
	for number := range a.sets {
		numbers[number] = true
	}
	for number := range a.found {
		numbers[number] = true
	}
	for _, number := range sortedKeys(numbers) {
		var set []models.Finding
		for _, f := range a.sets[number] {
			if !a.traces.mass && !a.again[keyOfText(f.Page)] {
				set = append(set, f)
			}
		}
		set = bounded(append(set, a.found[number]...))
		if sameFindings(set, a.sets[number]) {
			continue
		}
		if err := a.o.Store.SaveSiteFindings(ctx, a.lease, a.site.ID, a.record.ID, number, set); err != nil {
			return fmt.Errorf("save findings across documents: %w", err)
		}
		if a.compared == nil {
			a.compared = map[int32][]models.Finding{}
		}
		a.compared[number] = set
	}
	return nil
}

// bounded orders findings and keeps the first of each code.
func bounded(set []models.Finding) []models.Finding {
	slices.SortFunc(set, func(x, y models.Finding) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.Page, y.Page), cmp.Compare(x.Text, y.Text))
	})
	kept, counts := set[:0], map[string]int{}
	for _, f := range set {
		if counts[f.Code]++; counts[f.Code] <= acrossFindings {
			kept = append(kept, f)
		}
	}
	return kept
}

func sameFindings(x, y []models.Finding) bool {
	return slices.EqualFunc(x, y, func(f, g models.Finding) bool {
		return f.Code == g.Code && f.Page == g.Page && f.Text == g.Text && f.Document == g.Document
	})
}
