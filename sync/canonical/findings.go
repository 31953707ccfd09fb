package canonical

import "fmt"

// Severity says how bad a finding is.
type Severity string

// The severities, as in the findings on sitemaps.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// FindingKind is one entry of the catalogue: what a finding's code means and what to do about it.
type FindingKind struct {
	Code     string   // stable, kebab-case
	Report   string   // group of the report: S sitemap, C canonical
	Severity Severity // as in the contract
	Weight   string   // critical, high, medium, low, info: order of work within a severity
	Meaning  string
	Do       string
	KnownAs  string // what Search Console and audit tools call it
}

// The codes.
const (
	FindingSitemapNonCanonical   = "sitemap-lists-non-canonical"
	FindingSitemapNoindex        = "sitemap-lists-noindex"
	FindingSitemapRedirect       = "sitemap-lists-redirect"
	FindingSitemapNotFound       = "sitemap-lists-not-found"
	FindingSitemapServerError    = "sitemap-lists-server-error"
	FindingSitemapDenied         = "sitemap-lists-access-denied"
	FindingSitemapBlocked        = "sitemap-lists-robots-blocked"
	FindingSitemapSoft404        = "sitemap-lists-soft-404"
	FindingTargetUnlisted        = "canonical-target-not-in-sitemap"
	FindingListedTwice           = "sitemap-lists-page-twice"
	FindingForeignHost           = "sitemap-lists-foreign-host"
	FindingUnlisted              = "published-but-not-listed"
	FindingListedUndeclared      = "declared-but-gone"
	FindingMissing               = "canonical-missing"
	FindingDuplicate             = "canonical-declared-twice"
	FindingConflict              = "canonical-conflict"
	FindingOutsideHead           = "canonical-outside-head"
	FindingInert                 = "canonical-not-in-effect"
	FindingRelative              = "canonical-relative"
	FindingMissingScheme         = "canonical-missing-scheme"
	FindingMalformed             = "canonical-malformed"
	FindingFragment              = "canonical-fragment"
	FindingAttributes            = "canonical-attribute-disqualifies"
	FindingLookalike             = "canonical-lookalike"
	FindingTargetRedirects       = "canonical-target-redirects"
	FindingTargetError           = "canonical-target-error"
	FindingTargetNotFound        = "canonical-target-not-found"
	FindingTargetUnreachable     = "canonical-target-unreachable"
	FindingTargetNoindex         = "canonical-target-noindex"
	FindingTargetBlocked         = "canonical-target-robots-blocked"
	FindingTargetSoft404         = "canonical-target-soft-404"
	FindingTargetContent         = "canonical-target-content-differs"
	FindingChain                 = "canonical-chain"
	FindingLoop                  = "canonical-loop"
	FindingIntoLoop              = "canonical-leads-into-loop"
	FindingCrossDomain           = "canonical-cross-domain"
	FindingToHome                = "canonical-points-to-home"
	FindingManyToOne             = "canonical-many-to-one"
	FindingPaginated             = "canonical-paginated-to-first"
	FindingHreflangElsewhere     = "canonical-to-other-language"
	FindingDowngrade             = "canonical-https-to-http"
	FindingLeakedHost            = "canonical-leaked-host"
	FindingOpenGraphMismatch     = "og-url-differs"
	FindingSchemaMismatch        = "schema-url-differs"
	FindingVariant               = "canonical-variant-only"
	FindingNoindexWithCanonical  = "noindex-with-canonical"
	FindingHreflangNoReturn      = "hreflang-without-return"
	FindingHreflangNonCanonical  = "hreflang-to-non-canonical"
	FindingFlapping              = "canonical-flapping"
	FindingRedirectContradicts   = "redirect-contradicts-canonical"
	FindingNoscriptSensitive     = "canonical-depends-on-scripting"
	FindingBaseElsewhere         = "base-changes-canonical-host"
	FindingJSONLDInvalid         = "jsonld-invalid"
	FindingCharsetConflict       = "charset-conflict"
	FindingTruncated             = "page-truncated"
	FindingEmpty                 = "page-empty"
	FindingUndecodable           = "page-undecodable"
	FindingChallenge             = "page-behind-challenge"
	FindingLastmodUnchanged      = "lastmod-moved-without-change"
	FindingLastmodBehind         = "content-changed-without-lastmod"
	FindingLastmodPageDateDiffer = "lastmod-differs-from-page-date"
	FindingGraphCorrected        = "canonical-graph-corrected"
)

// catalogue lists every finding on pages.
var catalogue = []FindingKind{
	{FindingSitemapNonCanonical, "S01", SeverityError, "high", "The sitemap lists a page that declares another URL as canonical.",
		"List the canonical URL instead, or correct the page's canonical.", "Alternate page with proper canonical tag; Canonicalized URL"},
	{FindingSitemapNoindex, "S02", SeverityError, "high", "The sitemap lists a page that asks not to be indexed.",
		"Take the page out of the sitemap, or remove noindex from meta robots or X-Robots-Tag.", "Excluded by 'noindex' tag; Submitted URL marked 'noindex'"},
	{FindingSitemapRedirect, "S03", SeverityWarning, "medium", "The sitemap lists a URL that redirects.", "List the URL that the redirect leads to.",
		"Page with redirect"},
	{FindingSitemapNotFound, "S04", SeverityError, "high", "The sitemap lists a page that answers 404 or 410.",
		"Take it out of the sitemap, restore the page, or redirect it.", "Not found (404)"},
	{FindingSitemapServerError, "S05", SeverityError, "high", "The sitemap lists a page that answers with a server error or not at all.",
		"Look into the server's error log for this URL.", "Server error (5xx)"},
	{FindingSitemapDenied, "S06", SeverityError, "high", "The sitemap lists a page that needs a login or refuses this client.",
		"Take it out of the sitemap, or let crawlers in.", "Blocked due to unauthorized request (401); access forbidden (403)"},
	{FindingSitemapBlocked, "S07", SeverityError, "high", "The sitemap lists a page that robots.txt forbids to fetch.",
		"Allow it in robots.txt, or take it out of the sitemap.", "Blocked by robots.txt"},
	{FindingSitemapSoft404, "S08", SeverityWarning, "medium", "The sitemap lists a page that answers 200 with the site's page for missing URLs.",
		"Answer 404 or 410 for missing pages; take this one out of the sitemap.", "Soft 404"},
	{FindingTargetUnlisted, "S09", SeverityWarning, "medium", "The page's canonical target is in none of the site's sitemaps.",
		"List the target.", "Duplicate, submitted URL not selected as canonical"},
	{FindingListedTwice, "S10", SeverityWarning, "medium", "The page, or a variant of it (scheme, www, slash), is listed more than once.",
		"List each page once, under its canonical URL.", "URLs in multiple sitemaps"},
	{FindingForeignHost, "S11", SeverityError, "critical", "The sitemap lists a URL on a foreign, staging or private host.",
		"Correct the site address of the system that writes the sitemap.", ""},
	{FindingUnlisted, "S12", SeverityError, "high", "A published, indexable page that declares itself canonical is in no sitemap.",
		"Find out why the sitemap leaves it out: post type, cache, exclusion list.", "Indexed, not submitted in sitemap"},
	{FindingListedUndeclared, "S14", SeverityWarning, "medium", "A page that was published has gone, without a redirect and while it is still declared.",
		"Remove the declaration, or redirect the page.", ""},
	{FindingMissing, "C01", SeverityWarning, "medium", "The page declares no canonical URL and nothing in it tries to: where C04 or C06 says why what is there does not count, that is the finding.",
		"Declare the page's own URL, in the head or as a Link header.",
		"Duplicate without user-selected canonical; Missing"},
	{FindingDuplicate, "C02", SeverityInfo, "low", "The page declares the same canonical URL more than once.", "Leave one; usually two plugins each print one.", "Multiple"},
	{FindingConflict, "C03", SeverityError, "critical", "The page declares two or more different canonical URLs.",
		"Leave one. Search engines ignore all of them.", "Multiple conflicting"},
	{FindingOutsideHead, "C04", SeverityError, "high", "The canonical link stands outside the head, where it does not count.",
		"Remove what ended the head before it: an element or text that may not stand there.", "Outside head"},
	{FindingInert, "C04", SeverityError, "high", "The canonical link exists as text only: in noscript, template, svg, a comment, a script or an unclosed element.",
		"Print it as a link element of the head.", "Outside head"},
	{FindingRelative, "C05", SeverityInfo, "low", "The canonical URL is relative.", "Print the absolute URL: a wrong base or host would change it.", "Relative"},
	{FindingMissingScheme, "C05", SeverityError, "high", "The canonical URL lacks its scheme and so names a path below the page, or nothing.",
		"Begin it with https://.", "Malformed"},
	{FindingMalformed, "C06", SeverityError, "medium", "The canonical URL is empty, malformed, a template that was not filled in, or of a scheme that no page has.", "Print the page's absolute URL.", "Malformed or empty"},
	{FindingFragment, "C06", SeverityWarning, "medium", "The canonical URL has a fragment, which names no page of its own.", "Drop the part from # on.", "Contains fragment URL"},
	{FindingAttributes, "C06", SeverityWarning, "medium", "The canonical link has hreflang, lang, media or type; Google ignores it for that.",
		"Remove the attribute.", "Invalid attribute in annotation"},
	{FindingLookalike, "C06", SeverityWarning, "medium", "Something looks like a canonical declaration but is none: meta name=canonical, a link in text, wrong quotes, a misspelt link type.",
		"Use <link rel=\"canonical\" href=\"...\"> in the head.", ""},
	{FindingTargetRedirects, "C07", SeverityError, "high", "The canonical target redirects.", "Declare the URL that the redirect leads to.", "Non-indexable canonical"},
	{FindingTargetError, "C07", SeverityError, "high", "The canonical target has been failing for long.", "Correct the canonical, or mend the target.", "Non-indexable canonical"},
	{FindingTargetNotFound, "C07", SeverityWarning, "medium", "The canonical target answers 404 or 410; a second look a day later confirms it.",
		"Correct the canonical, or restore the target.", "Non-indexable canonical"},
	{FindingTargetUnreachable, "C07", SeverityInfo, "low", "The canonical target gave no answer that tells anything of it this time: none at all, a server error or a refusal.",
		"Nothing yet: it will be looked at again.", ""},
	{FindingTargetNoindex, "C07", SeverityError, "high", "The canonical target asks not to be indexed: neither page will be.", "Remove noindex from the target, or declare another.", "Non-indexable canonical"},
	{FindingTargetBlocked, "C07", SeverityError, "high", "robots.txt forbids to fetch the canonical target.", "Allow it in robots.txt.", "Non-indexable canonical"},
	{FindingTargetSoft404, "C07", SeverityError, "high", "The canonical target is the site's page for missing URLs.", "Correct the canonical.", "Soft 404"},
	{FindingTargetContent, "C07", SeverityWarning, "medium", "The canonical target does not contain this page's text.", "Check that the target is a duplicate, or more.",
		"Duplicate, Google chose different canonical than user"},
	{FindingChain, "C08", SeverityWarning, "medium", "The canonical target leads on to another URL.", "Declare the last URL of the chain.", "Canonical chains"},
	{FindingLoop, "C09", SeverityError, "critical", "The page is part of a loop of canonical links or redirects.", "Let one page of the loop answer without redirect, and declare itself.", "Canonical loop"},
	{FindingIntoLoop, "C09", SeverityError, "high", "The canonical target, or the page's redirect, leads into a loop.", "Mend the loop, or declare another target.", "Canonical loop"},
	{FindingCrossDomain, "C10", SeverityInfo, "info", "The canonical target is on another site.", "Nothing, if the text is syndicated on purpose.", "External canonical"},
	{FindingToHome, "C11", SeverityError, "high", "The page declares the home page as canonical.", "Declare the page itself.", "Canonical points to homepage"},
	{FindingManyToOne, "C11", SeverityError, "high", "Unusually many pages declare this one target.", "Check the template that prints the canonical.", "Multiple canonicals in"},
	{FindingPaginated, "C12", SeverityWarning, "medium", "A page of a series declares the first page as canonical.", "Let each page of the series declare itself.", ""},
	{FindingHreflangElsewhere, "C12", SeverityWarning, "medium", "The canonical target is the page's version in another language.", "Let each language declare itself.", ""},
	{FindingDowngrade, "C12", SeverityWarning, "medium", "An https page declares an http URL.", "Declare the https URL.", ""},
	{FindingLeakedHost, "C12", SeverityError, "critical", "The canonical URL is on a staging, local or private host that is neither the page's nor one of the site's (hosts).", "Correct the site address; flush caches.", ""},
	{FindingOpenGraphMismatch, "C13", SeverityInfo, "low", "og:url differs from the canonical URL.", "Print the same URL in both.", "og:url mismatch"},
	{FindingSchemaMismatch, "C13", SeverityInfo, "low", "The page's schema.org url differs from the canonical URL.", "Print the same URL in both.", ""},
	{FindingVariant, "C14", SeverityInfo, "low", "The canonical URL differs from the page's only in scheme, www, slash, case or query.",
		"Link and list the canonical form; redirect the other to it.", ""},
	{FindingNoindexWithCanonical, "C15", SeverityWarning, "medium", "The page asks not to be indexed and declares another URL as canonical: a contradiction.",
		"Keep one of the two.", ""},
	{FindingHreflangNoReturn, "C16", SeverityWarning, "medium", "A language version that this page names does not name it back.", "Make hreflang links mutual.", "Missing return links"},
	{FindingHreflangNonCanonical, "C16", SeverityWarning, "medium", "An hreflang link names a URL that is not canonical.", "Name the canonical URL of that language.", ""},
	{FindingFlapping, "C17", SeverityError, "high", "The declared canonical URL alternates from look to look.", "Compare cache, CDN nodes and A/B tests; one of them serves another page.", ""},
	{FindingRedirectContradicts, "C03", SeverityError, "critical", "The page redirects permanently to another URL than it declares.", "Make both name the same URL.", "Multiple conflicting"},
	{FindingNoscriptSensitive, "C04", SeverityWarning, "medium", "The canonical link is in the head for clients with scripting only: a noscript before it ends the head for others.",
		"Move the link above the noscript.", ""},
	{FindingBaseElsewhere, "C05", SeverityWarning, "medium", "A base element sends the relative canonical URL to another host.", "Print the absolute URL.", ""},
	{FindingJSONLDInvalid, "C18", SeverityWarning, "low", "A JSON-LD script is no valid JSON.", "Validate the script's output.", "Unparsable structured data"},
	{FindingCharsetConflict, "C18", SeverityInfo, "low", "Header and meta name different character encodings.", "Name one encoding.", ""},
	{FindingTruncated, "C19", SeverityInfo, "info", "The page was cut off before its head ended; nothing is said about its canonical.", "Look at the server's time limits.", ""},
	{FindingEmpty, "C19", SeverityError, "high", "The page answers as if all were well, with nothing in it.",
		"Look into the server's error log: a program died before it printed anything.", ""},
	{FindingUndecodable, "C19", SeverityWarning, "medium", "The page is coded in a way that is not understood; nothing is said about its canonical.",
		"Send gzip or nothing as Content-Encoding unless asked for more, and name the text's encoding in Content-Type.", ""},
	{FindingChallenge, "C19", SeverityWarning, "medium", "A bot wall, login or consent page stands in the page's place.", "Let this client through.", ""},
	{FindingLastmodUnchanged, "S15", SeverityInfo, "low", "The sitemap's lastmod moved though the page did not change.", "Write lastmod when the content changes.", ""},
	{FindingLastmodBehind, "S15", SeverityWarning, "medium", "The page changed but the sitemap's lastmod did not.", "Write lastmod when the content changes.", ""},
	{FindingLastmodPageDateDiffer, "S15", SeverityInfo, "low", "The sitemap's lastmod differs from the date that the page itself gives.", "Take both from the same field.", ""},
	{FindingGraphCorrected, "C20", SeverityInfo, "info", "Where the page's canonical link leads was wrong on record and was put right by an audit of the graph: a fault of sitemapd's, not of the site.",
		"Nothing on the site; report it.", ""},
}

// FindingKinds is a copy of the catalogue, in the order of the reports.
func FindingKinds() []FindingKind { return append([]FindingKind(nil), catalogue...) }

// FindingKindOf looks a code up.
func FindingKindOf(code string) (FindingKind, bool) {
	for _, k := range catalogue {
		if k.Code == code {
			return k, true
		}
	}
	return FindingKind{}, false
}

// Finding is one fault of one page.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Page     string   `json:"page"`
	Target   string   `json:"target,omitempty"`
	Text     string   `json:"text"`
	Evidence string   `json:"evidence,omitempty"` // the tag or header line
	Place    Place    `json:"place,omitempty"`
	Line     int      `json:"line,omitempty"`
	Offset   int      `json:"offset,omitempty"`
	Rule     string   `json:"rule,omitempty"` // of the confidence table, where one decided
}

// GraphCorrected says that an audit of the graph found another end of a page's edges than was on record.
func GraphCorrected(page, was string, wasDepth int, is string, depth int) Finding {
	return Finding{Code: FindingGraphCorrected, Severity: SeverityInfo, Page: page,
		Text: fmt.Sprintf("on record as %s over %d edge(s), found to be %s over %d", was, wasDepth, is, depth)}
}

// ID is stable over runs: the same fault of the same page has the same id, so
// that reports can say new, fixed and reopened.
func (f *Finding) ID() string {
	return f.Code + ":" + KeyOf(f.Page).String()[:16] + ":" + KeyOf(f.Target).String()[:8]
}
