package canonical

import "slices"

// ParserVersion names the extraction rules; it is part of every evidence's provenance.
const ParserVersion = "canonical-extract/3"

// Kind says what sort of statement a piece of evidence is. The kinds are never
// merged: each is a signal of its own with its own weight.
type Kind string

// The kinds. Only KindHTMLLink, KindHTTPLink and KindConfig declare a canonical URL.
const (
	KindHTMLLink          Kind = "html_link"          // link rel=canonical
	KindHTTPLink          Kind = "http_link"          // Link header with rel=canonical
	KindConfig            Kind = "config"             // what the site's system or the operator says
	KindRedirectPermanent Kind = "redirect_permanent" // 301, 308
	KindRedirectTemporary Kind = "redirect_temporary" // 302, 303, 307
	KindRefresh           Kind = "refresh"            // meta http-equiv=refresh
	KindRefreshHeader     Kind = "refresh_header"
	KindOpenGraph         Kind = "og_url"
	KindSchema            Kind = "schema_url" // schema.org url or mainEntityOfPage, JSON-LD or microdata
	KindHreflang          Kind = "hreflang"
	KindAMP               Kind = "amphtml"
	KindShortlink         Kind = "shortlink"
	KindREST              Kind = "wp_rest_id"
	KindSitemap           Kind = "sitemap_loc"
	KindRobots            Kind = "robots"    // meta robots and X-Robots-Tag
	KindLookalike         Kind = "lookalike" // what an author took for a canonical declaration
)

// Place is where a statement stands.
type Place string

// The places. Within an HTML document they follow headscan.
const (
	PlaceHead     Place = "head"
	PlaceBody     Place = "body"
	PlaceNoscript Place = "noscript"
	PlaceTemplate Place = "template"
	PlaceSVG      Place = "svg"
	PlaceHeader   Place = "header"   // of the final response
	PlaceHop      Place = "hop"      // a redirect response on the way
	PlaceDocument Place = "document" // a sitemap document
	PlaceSystem   Place = "system"   // told by plugin, REST, webhook or operator
)

// Reason says why a statement does not count, or why a status is what it is.
type Reason string

// Why a statement is kept as evidence but does not count.
const (
	ReasonInBody        Reason = "in_body"
	ReasonInNoscript    Reason = "in_noscript"
	ReasonInTemplate    Reason = "in_template"
	ReasonInSVG         Reason = "in_svg"
	ReasonNoHref        Reason = "no_href"
	ReasonEmptyTarget   Reason = "empty_target"
	ReasonMalformed     Reason = "malformed"
	ReasonBadScheme     Reason = "bad_scheme"
	ReasonAnchor        Reason = "other_context" // Link header with anchor: about another URL
	ReasonErrorStatus   Reason = "error_status"  // the answer is an error document
	ReasonNotCanonical  Reason = "not_a_canonical"
	ReasonNotPageNode   Reason = "not_page_node" // schema.org node that does not describe the page
	ReasonDuplicate     Reason = "duplicate"     // says again what an earlier statement of its kind said
	ReasonSelfReload    Reason = "self_reload"
	ReasonOtherLocation Reason = "no_location" // 3xx without a usable Location
	ReasonOtherAgent    Reason = "other_agent" // robots directive for a crawler that does not matter here
	ReasonDerived       Reason = "derived"     // the system's own address of a page that speaks for itself
	ReasonChallenge     Reason = "challenge_page"
)

// Hint is a remark on a statement or a whole document; it changes no judgement by itself.
type Hint string

// The hints.
const (
	HintRelative           Hint = "relative"
	HintProtocolRelative   Hint = "protocol_relative"
	HintMissingScheme      Hint = "missing_scheme"
	HintPlaceholder        Hint = "placeholder"  // a template that was not filled in
	HintEmbeddedURL        Hint = "embedded_url" // an address behind what is no part of it
	HintSlashes            Hint = "odd_slashes"
	HintSpaces             Hint = "surrounding_space"
	HintLineBreak          Hint = "line_break"
	HintEncoded            Hint = "needed_encoding"
	HintBadPercent         Hint = "bad_percent"
	HintDoubleEscaped      Hint = "double_escaped"
	HintFragment           Hint = "fragment"
	HintUserinfo           Hint = "userinfo"
	HintTrailingDot        Hint = "host_trailing_dot"
	HintDoubleSlash        Hint = "double_slash"
	HintLong               Hint = "long_url"
	HintLeakedHost         Hint = "leaked_host"
	HintUnverifiableScheme Hint = "unverifiable_scheme"
	HintBaseChangedHost    Hint = "base_changed_host"
	HintBaseIgnored        Hint = "base_ignored"
	HintAttrDisqualified   Hint = "attr_disqualified" // hreflang, lang, media or type: Google ignores it
	HintDuplicate          Hint = "duplicate_declaration"
	HintHeadBroken         Hint = "head_broken"
	HintNoscriptSensitive  Hint = "noscript_sensitive"
	HintSmartQuotes        Hint = "smart_quotes"
	HintSingleQuotes       Hint = "header_single_quotes"
	HintHeaderMalformed    Hint = "header_malformed"
	HintLatin1             Hint = "latin1_header"
	HintSwallowed          Hint = "swallowed"
	HintNoRobots           Hint = "robots_unreadable"
	HintEmptyHref          Hint = "empty_href"
	HintJSONLDInvalid      Hint = "jsonld_invalid"
	HintJSSuspected        Hint = "js_suspected"
	HintDowngrade          Hint = "https_to_http"
	HintNonHTML            Hint = "non_html_source"
	HintNoindex            Hint = "noindex_with_canonical"
	HintHreflangElsewhere  Hint = "hreflang_elsewhere"
	HintCharsetConflict    Hint = "charset_conflict"
	HintTruncatedItems     Hint = "items_dropped"
)

// Scope puts a target's place in relation to the source's. Only ScopeSelf is
// the same URL; the variants are named because people ask for them, and are
// never taken as equal.
type Scope string

// The scopes.
const (
	ScopeSelf          Scope = "self"
	ScopeSchemeVariant Scope = "scheme_variant"
	ScopeHostVariant   Scope = "host_variant" // www against apex, with or without the scheme
	ScopeSlashVariant  Scope = "slash_variant"
	ScopeCaseVariant   Scope = "case_variant"
	ScopeQueryVariant  Scope = "query_variant"
	ScopeSameHost      Scope = "same_host"
	ScopeSameSite      Scope = "same_site" // one registrable domain
	ScopeCrossDomain   Scope = "cross_domain"
)

// Attr is an attribute or header parameter of a statement, decoded.
type Attr struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Node says which schema.org node a schema_url belongs to.
type Node struct {
	Type     string `json:"type,omitempty"` // the types, space separated, without the schema.org prefix
	ID       string `json:"id,omitempty"`
	Property string `json:"property"` // url, mainEntityOfPage
	Syntax   string `json:"syntax"`   // jsonld, microdata
}

// Item is one statement as it was found: the unit of evidence.
type Item struct {
	Kind     Kind   `json:"kind"`
	Place    Place  `json:"place"`
	Raw      string `json:"raw"`              // as published, character references decoded, at most 8 KiB
	Source   string `json:"source,omitempty"` // the tag or header line it stands in, at most 512 bytes
	URL      string `json:"url,omitempty"`    // wire form of the resolved target
	Key      Key    `json:"key,omitzero"`
	Base     string `json:"base,omitempty"` // what it was resolved against, where not the document's URL
	Scope    Scope  `json:"scope,omitempty"`
	Accepted bool   `json:"accepted"` // counts as a statement of its kind
	Reason   Reason `json:"reason,omitempty"`
	Hints    []Hint `json:"hints,omitempty"`
	Ordinal  int    `json:"ordinal"`          // among the statements of its kind, from 1
	Offset   int    `json:"offset,omitempty"` // bytes into the document or header value
	Line     int    `json:"line,omitempty"`   // of the document from 1, or which header value from 1
	Hop      int    `json:"hop,omitempty"`    // which redirect response, from 1
	Status   int    `json:"status,omitempty"` // of a redirect response
	Attrs    []Attr `json:"attrs,omitempty"`
	Lang     string `json:"lang,omitempty"`       // of hreflang
	Delay    int    `json:"delay,omitempty"`      // of a refresh, in seconds
	Node     *Node  `json:"node,omitempty"`       // of schema_url
	ID       string `json:"identifier,omitempty"` // of shortlink and wp_rest_id: "wp:host:ID"
}

// HasHint says whether the statement carries the hint.
func (it *Item) HasHint(h Hint) bool {
	for _, x := range it.Hints {
		if x == h {
			return true
		}
	}
	return false
}

// Declares says whether the statement, if accepted, declares a canonical URL.
func (it *Item) Declares() bool {
	return it.Kind == KindHTMLLink || it.Kind == KindHTTPLink || it.Kind == KindConfig
}

// Remark is a hint about the document as a whole.
type Remark struct {
	Hint   Hint   `json:"hint"`
	Detail string `json:"detail,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// DocumentHead says how the head of an HTML document ended.
type DocumentHead struct {
	Ended             bool   `json:"ended"`
	EndedBy           string `json:"ended_by,omitempty"` // tag name, "/body", "text" or a character as "U+FEFF"
	Broken            bool   `json:"broken,omitempty"`   // by something that may not stand there, while it was open
	Offset            int    `json:"offset,omitempty"`
	Line              int    `json:"line,omitempty"`
	NoscriptSensitive bool   `json:"noscript_sensitive,omitempty"`
}

// Evidence is everything one answer says about one URL. Along holds the same
// for the other URLs that the fetch passed, in order: each later hop, and last
// the page that was reached.
type Evidence struct {
	Source      string       `json:"source"`
	Key         Key          `json:"key"`
	Reading     Reading      `json:"reading"`
	Status      int          `json:"status,omitempty"`
	ContentType string       `json:"content_type,omitempty"`
	Charset     string       `json:"charset,omitempty"`
	CharsetFrom string       `json:"charset_from,omitempty"` // bom, header, meta, content, default
	Base        string       `json:"base,omitempty"`
	Head        DocumentHead `json:"head,omitzero"`
	Robots      Robots       `json:"robots,omitzero"`
	Items       []Item       `json:"items,omitempty"`
	Dates       []PageDate   `json:"dates,omitempty"`
	Remarks     []Remark     `json:"remarks,omitempty"`
	Challenge   string       `json:"challenge,omitempty"` // which sign of a bot wall, login or consent page
	Dropped     int          `json:"dropped,omitempty"`   // statements beyond the bounds
	Parser      string       `json:"parser"`
	Along       []Evidence   `json:"along,omitempty"`
}

// Landing is the evidence of the page that the fetch reached: the last of
// Along, or the evidence itself where nothing redirected.
func (e *Evidence) Landing() *Evidence {
	if n := len(e.Along); n > 0 {
		return &e.Along[n-1]
	}
	return e
}

// Of lists the statements of a kind, accepted or not.
func (e *Evidence) Of(kinds ...Kind) []Item {
	var out []Item
	for _, it := range e.Items {
		for _, k := range kinds {
			if it.Kind == k {
				out = append(out, it)
			}
		}
	}
	return out
}

// HasRemark says whether the document carries the hint.
func (e *Evidence) HasRemark(h Hint) bool {
	for _, r := range e.Remarks {
		if r.Hint == h {
			return true
		}
	}
	return false
}

// Renews says of a 304 that its header tells something new: another canonical URL, another refresh, or noindex. Then the
// answer that it stands for is not the one that the server would give now.
func (e *Evidence) Renews(before *Evidence) bool {
	if e.Reading != ReadingNotModified || before == nil {
		return false
	}
	if e.Robots.NoIndex && !before.Robots.NoIndex {
		return true
	}
	for _, kind := range []Kind{KindHTTPLink, KindRefreshHeader} {
		told := func(it Item) bool { return it.Accepted }
		now, then := e.Of(kind), before.Of(kind)
		in := func(list []Item, k Key) bool {
			return slices.ContainsFunc(list, func(it Item) bool { return told(it) && it.Key == k })
		}
		if !slices.ContainsFunc(now, told) { // a field that a 304 does not repeat stays as it was
			continue
		}
		if slices.ContainsFunc(now, func(it Item) bool { return told(it) && !in(then, it.Key) }) ||
			slices.ContainsFunc(then, func(it Item) bool { return told(it) && !in(now, it.Key) }) {
			return true
		}
	}
	return false
}

// Declared lists the accepted canonical declarations.
func (e *Evidence) Declared() []Item {
	var out []Item
	for _, it := range e.Items {
		if it.Accepted && it.Declares() {
			out = append(out, it)
		}
	}
	return out
}
