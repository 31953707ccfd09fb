package sitemap

// Aspects of a site that no single document shows.
const (
	AspectSite Aspect = "site" // documents beside each other
	AspectWalk Aspect = "walk" // the way through them
)

const (
	srcLanguage = "Google localized versions; RFC 5646"
	srcIndex    = "Google: manage sitemap index files"
)

// Codes of findings that come of looking across the documents of a site. Whoever looks uses these.
const (
	HreflangNoReturn      = "hreflang-no-return"
	HreflangUnlisted      = "hreflang-unlisted"
	HreflangNoXDefault    = "hreflang-x-default-missing"
	HreflangXDefaults     = "hreflang-x-default-ambiguous"
	DuplicateDisagreement = "duplicate-disagreement"
	DocumentsIdentical    = "documents-identical"
	FileRenamed           = "file-renamed"
	GeneratorChanged      = "generator-changed"
	BlogNotPublic         = "blog-not-public"
	PublishedNotDeclared  = "published-not-declared"
	DeclaredButGone       = "declared-but-gone"
)

// siteRules are the rules that a site breaks rather than a document, in the order of docs/findings.md.
var siteRules = []Rule{
	{HreflangNoReturn, Warning, AspectSite, "a page names a language version that does not name it back", "the pair, to search engines", "let every version list all versions, itself included", srcLanguage},
	{HreflangUnlisted, Info, AspectSite, "a page names a language version of this site that no document lists", "nothing", "list every version as an entry of its own, with the same links", srcLanguage},
	{HreflangNoXDefault, Info, AspectSite, "a page names language versions but none for everybody else", "nothing", "add hreflang=\"x-default\" when one version suits all other languages", srcLanguage},
	{HreflangXDefaults, Warning, AspectSite, "language versions of one page name different x-defaults", "the x-default, to search engines", "name one x-default in all versions", srcLanguage},
	{DuplicateDisagreement, Warning, AspectSite, "documents that list the same page say different things of it", "nothing; the document of the lowest number counts", "list every page in one document", srcProtocol},
	{DocumentsIdentical, Warning, AspectSite, "two documents list the same entries", "nothing", "refer to one of them; a page cache that ignores the query often causes this", srcIndex},
	{FileRenamed, Info, AspectSite, "a document left the index and another one says the same", "nothing", "nothing; Rank Math renames its files when a limit is crossed", srcWordPres},
	{GeneratorChanged, Info, AspectSite, "another program writes the documents than before", "nothing", "look for an SEO plugin that was switched on or off", srcWordPres},
	{BlogNotPublic, Warning, AspectSite, "the root is not found and robots.txt names no sitemap: WordPress looks like this when search engines are discouraged", "the site's sitemaps", "see Settings, Reading: search engine visibility", srcWordPres},
	{PublishedNotDeclared, Warning, AspectSite, "the companion plugin lists a published post that no document lists", "nothing", "look for a cached sitemap, or an SEO plugin that leaves the post or its type out", srcWordPres},
	{DeclaredButGone, Warning, AspectSite, "a document lists a post that the companion plugin lists no more", "nothing; the document counts", "exclude sitemaps from page caches, or purge them on publish", srcWordPres},

	{"root-invalid", Error, AspectWalk, "a root is no usable URL", "the root", "correct the site's settings", srcURI},
	{"child-foreign-host", Warning, AspectWalk, "an index lists a document on another host", "the document", "name the host in the site's settings, or add it as a site", srcProtocol},
	{"index-too-deep", Error, AspectWalk, "indexes are nested more deeply than is followed", "what is below", "let indexes list documents, not indexes", srcOurs},
	{"too-many-documents", Error, AspectWalk, "the site lists more documents than are read", "the documents beyond", "split the site", srcOurs},
	{"redirects-to-known", Warning, AspectWalk, "a document redirects to another one that the walk reads anyway", "nothing", "list the document that is meant", srcHTTP},
	{"edge-stale", Warning, AspectWalk, "a cache answered with a copy older than what is recorded", "nothing; what is recorded stays", "let the page cache drop sitemaps when something is published", srcHTTP},
	{"lastmod-shifted", Info, AspectSite, "every lastmod of a document moved by one time zone's offset", "nothing; it is no change of pages", "nothing", srcWordPres},
	{"lastmod-untrusted", Warning, AspectSite, "a document's lastmod values have not told of changes so far", "trust in its lastmod", "write when the content last changed, not when the document was made", srcGoogle},
	{"torn-read", Info, AspectWalk, "pages moved between documents while they were read; they were read again", "nothing", "nothing", srcWordPres},
	{"host-adopted", Warning, AspectWalk, "the pages are on another host than the site; it was taken as the site's own", "nothing", "check the site address in the settings", srcProtocol},
	{"site-migrated", Info, AspectWalk, "the pages are listed under another address with the same paths", "nothing", "nothing; the pages count as moved", srcProtocol},
}

// SiteCatalogue returns the rules that a site breaks rather than a document, failed answers among them.
func SiteCatalogue() []Rule { return append(append([]Rule(nil), siteRules...), answerRules...) }

// SiteRuleOf returns the rule of a finding across documents, of a walk or of a failed answer; for http-502 that of http-5xx.
func SiteRuleOf(findingCode string) (Rule, bool) {
	for _, rule := range siteRules {
		if rule.Code == findingCode {
			return rule, true
		}
	}
	return answerRuleOf(findingCode)
}
