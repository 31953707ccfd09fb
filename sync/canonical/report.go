package canonical

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// Listing is what sitemaps say of a page, as far as reports need it.
type Listing struct {
	Listed    bool
	Documents []string // that list it, or a variant of it
	Lastmod   time.Time
	Previous  time.Time // lastmod before the last change, zero if it never moved
}

// Case is one page to report on. Fields that are not known stay zero, and
// nothing is reported about them: absence of knowledge is no finding.
type Case struct {
	Evidence     Evidence
	Verdict      Verdict
	Listing      Listing
	Published    bool              // a hook, the REST API or an earlier sitemap said that the page is published
	Home         Key               // of the site's home page
	TargetListed *bool             // whether the canonical target is in a sitemap of its site
	Dependents   int               // pages that declare this page's target
	SitePages    int               // live pages of the site
	Soft404      bool              // this page is the host's page for missing URLs
	BareArchive  bool              // archive, home or search on WordPress core, which prints no canonical there
	Failures     Failures          // of this page
	NoReturn     []string          // hreflang targets that do not name this page back (Alternates)
	NonCanonical []string          // hreflang targets that declare another URL
	PageDate     time.Time         // modification date that the page itself gives (Evidence.Modified)
	ContentMoved *bool             // whether the content changed since the look before
	Open         map[string]string // codes that are open for this page, with their text
	Variants     []string          // other listed URLs that differ only in scheme, www or slash
	Flapping     bool              //
	Muted        map[string]bool   // codes that are muted for this page now
}

// Report classifies everything that is wrong with one page, in the catalogue's order.
func Report(c Case) []Finding {
	r := reporter{c: &c}
	r.sitemap()
	r.declaration()
	r.target()
	r.signals()
	r.lastmod()
	var out []Finding
	for _, k := range catalogue {
		if c.Muted[k.Code] {
			continue
		}
		for _, f := range r.found {
			if f.Code == k.Code {
				f.Severity = k.Severity
				out = append(out, f)
			}
		}
	}
	return out
}

type reporter struct {
	c     *Case
	found []Finding
}

// say adds a finding; it may be nil the item that shows it.
func (r *reporter) say(code string, it *Item, format string, args ...any) {
	f := Finding{Code: code, Page: r.c.Evidence.Source, Text: fmt.Sprintf(format, args...)}
	if it != nil {
		f.Target, f.Evidence, f.Place, f.Line, f.Offset = it.URL, it.Source, it.Place, it.Line, it.Offset
	}
	if rel := r.effective(); rel != nil {
		f.Rule = rel.Rule
		if it == nil && r.established() != nil {
			f.Target = rel.Target
		}
	}
	r.found = append(r.found, f)
}

// effective is the declared relationship that counts, nil if there is none.
func (r *reporter) effective() *Relationship {
	if v := &r.c.Verdict; len(v.Relationships) > 0 && v.Relationships[0].Method.Explicit() {
		return &v.Relationships[0]
	}
	return nil
}

// established is the effective relationship where nothing contradicts it: of a page in a conflict no canonical URL is
// established, so no finding may name one of those declared as if it were.
func (r *reporter) established() *Relationship {
	if rel := r.effective(); rel != nil && rel.Status != StatusConflicting && r.c.Verdict.Conflict == nil {
		return rel
	}
	return nil
}

// sitemap reports on listed pages that should not be, and the other way round.
func (r *reporter) sitemap() {
	c, ev := r.c, &r.c.Evidence
	if !c.Listing.Listed {
		r.unlisted()
		return
	}
	switch ev.Reading {
	case ReadingGone:
		how := "once"
		if c.Failures.Confirmed() {
			how = "confirmed by a second look"
		}
		if c.Published {
			r.say(FindingListedUndeclared, nil, "answers %d, %s", ev.Status, how)
		}
		r.say(FindingSitemapNotFound, nil, "answers %d, %s", ev.Status, how)
	case ReadingTempFail, ReadingMaintenance:
		r.say(FindingSitemapServerError, nil, "answers %d", ev.Status)
	case ReadingUnreachable:
		if ev.Status > 0 {
			r.say(FindingSitemapServerError, nil, "answers %d, which is no answer to what was asked", ev.Status)
			break
		}
		r.say(FindingSitemapServerError, nil, "does not answer")
	case ReadingDenied, ReadingError:
		r.say(FindingSitemapDenied, nil, "answers %d", ev.Status)
	case ReadingChallenge:
		r.say(FindingChallenge, nil, "%s stands in the page's place", ev.Challenge)
	case ReadingRobots:
		if ev.HasRemark(HintNoRobots) { // nobody forbade it
			r.say(FindingSitemapServerError, nil, "robots.txt cannot be read, so nothing may be asked for")
			break
		}
		r.say(FindingSitemapBlocked, nil, "robots.txt forbids to fetch it")
	case ReadingTruncated:
		r.say(FindingTruncated, nil, "ends before its head does")
	case ReadingEmpty:
		r.say(FindingEmpty, nil, "answers %d with an empty body", ev.Status)
	case ReadingUndecodable:
		r.say(FindingUndecodable, nil, "neither HTML nor any text that can be read")
	case ReadingRedirect:
		if hops := ev.Of(KindRedirectPermanent, KindRedirectTemporary); len(hops) > 0 {
			last := hops[len(hops)-1]
			switch {
			case hops[0].URL == "" && hops[0].Raw != "":
				r.say(FindingSitemapRedirect, &hops[0], "answers %d but leads to no page: %q", hops[0].Status, hops[0].Raw)
			case hops[0].URL == "":
				r.say(FindingSitemapRedirect, &hops[0], "answers %d but names no address to go to", hops[0].Status)
			case len(hops) > mostHops:
				r.say(FindingSitemapRedirect, &hops[0], "redirects with %d to %s and on; after %d hops no page was reached", hops[0].Status, hops[0].URL, len(hops))
			case hops[0].Key == ev.Key:
				r.say(FindingSitemapRedirect, &hops[0], "redirects with %d to itself", hops[0].Status)
			default:
				r.say(FindingSitemapRedirect, &hops[0], "redirects with %d in %d hop(s) to %s", hops[0].Status, len(hops), last.URL)
			}
		}
	}
	if to := refreshes(ev); ev.Reading == ReadingRead && len(to) > 0 {
		r.say(FindingSitemapRedirect, &to[0], "redirects by an immediate refresh to %s", to[0].URL)
	}
	if ev.Robots.NoIndex && ev.Reading.Clean() {
		r.say(FindingSitemapNoindex, nil, "noindex in %s", strings.Join(ev.Robots.NoIndexFrom, " and "))
	}
	if c.Soft404 {
		r.say(FindingSitemapSoft404, nil, "answers %d with the host's page for missing URLs", ev.Status)
	}
	if rel := r.established(); rel != nil && rel.Status != StatusInvalid && rel.Scope != ScopeSelf && rel.TargetKey != ev.Key && rel.Target != "" && !r.isAMP(rel) {
		it := r.declaring()
		r.say(FindingSitemapNonCanonical, it, "declares %s (%s, %s)", rel.Target, rel.Scope, rel.Status)
	}
	if len(c.Listing.Documents) > 1 || len(c.Variants) > 0 {
		r.say(FindingListedTwice, nil, "listed in %d document(s), %d variant(s): %s", len(c.Listing.Documents), len(c.Variants),
			strings.Join(append(append([]string{}, c.Listing.Documents...), c.Variants...), " "))
	}
	for _, it := range ev.Of(KindSitemap) {
		loc, document := parseBase(it.URL), parseBase(it.Source)
		if loc != nil && document != nil && (weburl.Site(loc.Host) != weburl.Site(document.Host) || isLeaked(*document, *loc, nil)) {
			r.say(FindingForeignHost, &it, "listed as %s in %s", it.URL, it.Source)
		}
	}
}

// Alternates checks a page's hreflang links against what is known of the pages
// that they name: those that do not name this page back, and those that
// declare another canonical URL. Pages that were not read are left out.
func Alternates(ev *Evidence, known map[Key]*Evidence) (noReturn, nonCanonical []string) {
	seen := map[Key]bool{ev.Key: true}
	for _, it := range ev.Of(KindHreflang) {
		other := known[it.Key]
		if !it.Accepted || seen[it.Key] || other == nil || other.Reading != ReadingRead {
			continue
		}
		seen[it.Key] = true
		returns := false
		for _, back := range other.Of(KindHreflang) {
			returns = returns || back.Accepted && back.Key == ev.Key
		}
		if !returns {
			noReturn = append(noReturn, it.URL)
		}
		d := other.Declared()
		if len(d) > 0 && d[0].Scope != ScopeSelf && !slices.ContainsFunc(d, func(x Item) bool { return !sameTarget(&x, &d[0]) }) {
			nonCanonical = append(nonCanonical, it.URL)
		}
	}
	return noReturn, nonCanonical
}

func (r *reporter) unlisted() {
	c, ev := r.c, &r.c.Evidence
	if rel := r.effective(); c.Published && ev.Reading == ReadingRead && !ev.Robots.NoIndex && rel != nil && rel.Scope == ScopeSelf {
		r.say(FindingUnlisted, nil, "published, indexable and canonical, but in no sitemap")
	}
}

// isAMP says whether the page is the AMP twin of the page that it declares.
func (r *reporter) isAMP(rel *Relationship) bool {
	return strings.Contains(strings.ToLower(rel.Source), "/amp") && strings.HasPrefix(rel.Source, strings.TrimSuffix(rel.Target, "/"))
}

// declaring is the accepted declaration that counts first.
func (r *reporter) declaring() *Item {
	if d := r.c.Evidence.Declared(); len(d) > 0 {
		return &d[0]
	}
	return nil
}

// silent says whether the page itself declares nothing, though its system may.
func (r *reporter) silent() bool {
	v := &r.c.Verdict
	if v.Status == StatusUnknown {
		return v.Reason == ReasonNoDeclaration
	}
	return len(v.Relationships) > 0 && !r.c.Evidence.Robots.NoIndex &&
		!slices.ContainsFunc(v.Relationships, func(rel Relationship) bool { return rel.Method != MethodConfig })
}

// form reports on the form of an accepted declaration.
func (r *reporter) form(it *Item) {
	for _, h := range it.Hints {
		switch h {
		case HintMissingScheme:
			r.say(FindingMissingScheme, it, "%q resolves to %s", it.Raw, it.URL)
		case HintRelative, HintProtocolRelative:
			if !it.HasHint(HintMissingScheme) && !it.HasHint(HintPlaceholder) && !it.HasHint(HintEmbeddedURL) {
				r.say(FindingRelative, it, "%q resolves to %s", it.Raw, it.URL)
			}
		case HintPlaceholder:
			r.say(FindingMalformed, it, "%q is a template that was not filled in, and resolves to %s", it.Raw, it.URL)
		case HintEmbeddedURL:
			r.say(FindingMalformed, it, "%q holds an address that it does not begin with, and resolves to %s", it.Raw, it.URL)
		case HintUserinfo:
			r.say(FindingMalformed, it, "carries a user name, which no page's address has")
		case HintFragment:
			r.say(FindingFragment, it, "%q", it.Raw)
		case HintAttrDisqualified:
			r.say(FindingAttributes, it, "%s", it.Source)
		case HintLeakedHost:
			r.say(FindingLeakedHost, it, "declares %s", it.URL)
		case HintDowngrade:
			r.say(FindingDowngrade, it, "declares %s", it.URL)
		case HintNoscriptSensitive:
			r.say(FindingNoscriptSensitive, it, "a noscript before it holds what may not stand in a head")
		case HintBaseChangedHost:
			r.say(FindingBaseElsewhere, it, "base %s", it.Base)
		}
	}
	switch it.Scope {
	case ScopeSchemeVariant, ScopeHostVariant, ScopeSlashVariant, ScopeCaseVariant, ScopeQueryVariant:
		r.say(FindingVariant, it, "%s: %s", strings.ReplaceAll(string(it.Scope), "_", " "), it.URL)
	case ScopeCrossDomain:
		r.say(FindingCrossDomain, it, "declares %s", it.URL)
	}
	if it.Scope != ScopeSelf && !r.c.Home.IsZero() && it.Key == r.c.Home {
		r.say(FindingToHome, it, "declares the home page")
	}
	if it.Scope != ScopeSelf && firstOfSeries(r.c.Evidence.Source, it.URL) {
		r.say(FindingPaginated, it, "declares %s", it.URL)
	}
}

// firstOfSeries says whether target is page 1 of the series that source is a later page of.
func firstOfSeries(source, target string) bool {
	s, err1 := url.Parse(source)
	t, err2 := url.Parse(target)
	if err1 != nil || err2 != nil || s.Host != t.Host {
		return false
	}
	for _, p := range []string{"page", "paged", "cpage"} {
		if n, _ := strconv.Atoi(s.Query().Get(p)); n > 1 && s.Path == t.Path && t.Query().Get(p) == "" {
			return true
		}
	}
	sp, tp := strings.TrimSuffix(s.Path, "/"), strings.TrimSuffix(t.Path, "/")
	rest, ok := strings.CutPrefix(sp, tp+"/")
	if !ok {
		return false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "page/"))
	return err == nil && n > 1 && n < 100_000
}

func (r *reporter) conflict(k *Conflict) {
	var targets []string
	for _, m := range k.Members {
		targets = append(targets, fmt.Sprintf("%s (%s)", m.Target, m.Signal))
	}
	for _, kind := range k.Kinds {
		code := FindingConflict
		switch kind {
		case ReasonExplicitRedirect:
			code = FindingRedirectContradicts
		case ReasonFlapping:
			code = FindingFlapping
		}
		it := r.declaring()
		if it != nil { // its place shows the fault, but its URL is no more the target than the other
			shown := *it
			shown.URL = ""
			it = &shown
		}
		r.say(code, it, "%s: %s", strings.ReplaceAll(string(kind), "_", " "), strings.Join(targets, ", "))
	}
}

// MostDeclarers is how many pages of a site may declare one target before canonical-many-to-one is told of them: 5, or
// 1 % of the listed pages. The finding names this limit, not the count: a count holds for the page alone that was looked at
// last, and would have to be told to all others with each page more.
func MostDeclarers(sitePages int) int { return max(5, sitePages/100) }

// target reports on the state of what is declared.
func (r *reporter) target() {
	c, rel := r.c, r.established()
	r.circle(rel)
	if rel == nil {
		return
	}
	it := r.declaring()
	switch rel.Reason {
	case ReasonTargetRedirects:
		r.say(FindingTargetRedirects, it, "redirects to %s", rel.Validation.RedirectTarget)
	case ReasonTargetError:
		r.say(FindingTargetError, it, "%s", answered(rel.Validation.Status))
	case ReasonTargetNotFound:
		r.say(FindingTargetNotFound, it, "answers %d", rel.Validation.Status)
	case ReasonTargetTempFail:
		r.say(FindingTargetUnreachable, it, "%s", answered(rel.Validation.Status))
	case ReasonTargetNoindex:
		r.say(FindingTargetNoindex, it, "%s is noindex", rel.Target)
	case ReasonTargetBlocked:
		r.say(FindingTargetBlocked, it, "robots.txt forbids %s", rel.Target)
	case ReasonTargetSoft404:
		r.say(FindingTargetSoft404, it, "%s is the page for missing URLs", rel.Target)
	case ReasonContentMismatch:
		r.say(FindingTargetContent, it, "%s has another text", rel.Target)
	case ReasonIntoLoop:
		r.say(FindingIntoLoop, it, "loop %s", c.Verdict.Head.LoopID)
	case ReasonLoop:
		r.say(FindingLoop, it, "%d URLs, loop %s", c.Verdict.Head.Depth, c.Verdict.Head.LoopID)
	}
	h := &c.Verdict.Head
	if h.Resolution == ResolutionChain && h.Depth > 1 {
		r.say(FindingChain, it, "%d edges to %s", h.Depth, h.Final)
	} else if h.Resolution == ResolutionTooLong {
		r.say(FindingChain, it, "more edges than are followed")
	}
	if c.TargetListed != nil && !*c.TargetListed && c.Listing.Listed && rel.Scope != ScopeSelf && rel.Scope != ScopeCrossDomain {
		r.say(FindingTargetUnlisted, it, "%s is in no sitemap", rel.Target)
	}
	if rel.Scope != ScopeSelf && c.Dependents > MostDeclarers(c.SitePages) {
		r.say(FindingManyToOne, it, "more than %d pages declare %s", MostDeclarers(c.SitePages), rel.Target)
	}
	if c.Evidence.HasRemark(HintNoindex) {
		r.say(FindingNoindexWithCanonical, it, "noindex in %s, canonical %s", strings.Join(c.Evidence.Robots.NoIndexFrom, " and "), rel.Target)
	}
	if c.Evidence.HasRemark(HintHreflangElsewhere) {
		r.say(FindingHreflangElsewhere, it, "declares %s", rel.Target)
	}
}

// circle reports redirects that come back to where they began, or to each other, where no declaration's reason says so.
func (r *reporter) circle(rel *Relationship) {
	if rel != nil && (rel.Reason == ReasonLoop || rel.Reason == ReasonIntoLoop) {
		return
	}
	ev, h := &r.c.Evidence, &r.c.Verdict.Head
	var first *Item
	if hops := ev.Of(KindRedirectPermanent, KindRedirectTemporary); len(hops) > 0 {
		first = &hops[0]
	}
	again, circles := ev.Circle()
	switch {
	case circles && first.Key == ev.Key:
		r.say(FindingLoop, first, "redirects with %d to itself", first.Status)
	case circles && again.Key == ev.Key:
		r.say(FindingLoop, first, "redirects with %d to %s and from there back to itself", first.Status, first.URL)
	case circles:
		r.say(FindingIntoLoop, first, "redirects lead to %s again and again", again.URL)
	case rel == nil && h.Resolution == ResolutionLoop:
		r.say(FindingLoop, first, "%d URLs, loop %s", h.Depth, h.LoopID)
	case rel == nil && h.Resolution == ResolutionIntoLoop:
		r.say(FindingIntoLoop, first, "loop %s", h.LoopID)
	}
}

// answered puts an HTTP status into words; 0 is that of a host that said nothing.
func answered(status int) string {
	if status == 0 {
		return "gives no answer"
	}
	return fmt.Sprintf("answers %d", status)
}

// signals reports on weak signals that disagree with what is declared.
func (r *reporter) signals() {
	rel := r.established()
	if rel != nil && rel.Target != "" {
		for _, p := range []struct {
			kind Kind
			code string
		}{{KindOpenGraph, FindingOpenGraphMismatch}, {KindSchema, FindingSchemaMismatch}} {
			var differs *Item
			agrees := false
			for _, it := range r.c.Evidence.Of(p.kind) {
				if !it.Accepted {
					continue
				}
				agrees = agrees || it.Key == rel.TargetKey
				if it.Key != rel.TargetKey && differs == nil {
					differs = &it
				}
			}
			if differs != nil && !agrees {
				r.say(p.code, differs, "%s, canonical %s", differs.URL, rel.Target)
			}
		}
	}
	if len(r.c.NoReturn) > 0 {
		r.say(FindingHreflangNoReturn, nil, "%d: %s", len(r.c.NoReturn), strings.Join(r.c.NoReturn, " "))
	}
	if len(r.c.NonCanonical) > 0 {
		r.say(FindingHreflangNonCanonical, nil, "%d: %s", len(r.c.NonCanonical), strings.Join(r.c.NonCanonical, " "))
	}
	if r.c.Flapping && r.c.Verdict.Conflict == nil {
		r.say(FindingFlapping, nil, "the declared value alternates")
	}
}

// lastmod holds the sitemap's date against what was seen of the page. What one look found wrong of a lastmod stays wrong
// while that lastmod stands: looks that find nothing new do not mend it.
func (r *reporter) lastmod() {
	l := r.c.Listing
	if l.Lastmod.IsZero() {
		return
	}
	moved := !l.Lastmod.Equal(l.Previous)
	c := r.c.ContentMoved
	unchanged, behind := r.c.Open[FindingLastmodUnchanged], r.c.Open[FindingLastmodBehind]
	switch {
	case l.Previous.IsZero(): // first seen with a lastmod: what it was before is not known
	case moved && behind != "": // it follows the change that was seen before it
	case moved && c != nil && !*c:
		r.say(FindingLastmodUnchanged, nil, "from %s to %s", l.Previous.UTC().Format(time.RFC3339), l.Lastmod.UTC().Format(time.RFC3339))
	case moved:
	case c != nil && *c:
		r.say(FindingLastmodBehind, nil, "lastmod stays at %s", l.Lastmod.UTC().Format(time.RFC3339))
	case behind != "":
		r.say(FindingLastmodBehind, nil, "%s", behind)
	case unchanged != "":
		r.say(FindingLastmodUnchanged, nil, "%s", unchanged)
	}
	if d := r.c.PageDate; !d.IsZero() && d.Sub(l.Lastmod).Abs() > 24*time.Hour {
		r.say(FindingLastmodPageDateDiffer, nil, "lastmod %s, page %s", l.Lastmod.UTC().Format(time.RFC3339), d.UTC().Format(time.RFC3339))
	}
}
