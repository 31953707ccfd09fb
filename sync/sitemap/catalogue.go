package sitemap

// Aspect is the part of a document that a rule judges; each is one boolean of Validation.
type Aspect string

// The aspects.
const (
	AspectTransfer  Aspect = "transfer" // status, headers, compression, end of the stream
	AspectXML       Aspect = "xml"
	AspectNamespace Aspect = "namespace"
	AspectRoot      Aspect = "root"
	AspectEntry     Aspect = "entry"
	AspectURL       Aspect = "url"
	AspectValue     Aspect = "value"
	AspectCapacity  Aspect = "capacity"
	AspectExtension Aspect = "extension"
)

// Rule is one entry of the catalogue of findings.
type Rule struct {
	Code     string
	Severity Severity
	Aspect   Aspect
	Meaning  string // what was found; begins a finding's text
	Cost     string // what is lost by it: "nothing", "the field", "the entry", ...
	Advice   string // what the publisher should do
	Source   string // where the rule is written
}

// Catalogue returns every finding that this package can make, in the order of docs/findings.md.
func Catalogue() []Rule { return append([]Rule(nil), catalogue[1:]...) }

// RuleOf returns the catalogue's entry for a code.
func RuleOf(findingCode string) (Rule, bool) {
	for _, rule := range catalogue[1:] {
		if rule.Code == findingCode {
			return rule, true
		}
	}
	return Rule{}, false
}

type code uint8

// Sources of rules.
const (
	srcProtocol = "sitemaps.org protocol"
	srcXML      = "XML 1.0"
	srcNames    = "Namespaces in XML 1.0"
	srcHTTP     = "RFC 9110"
	srcGzip     = "RFC 1952"
	srcEncoding = "WHATWG Encoding"
	srcURI      = "RFC 3986"
	srcDate     = "W3C Date and Time Formats"
	srcImage    = "Google image sitemaps"
	srcVideo    = "Google video sitemaps"
	srcNews     = "Google news sitemaps"
	srcHreflang = "Google localized versions"
	srcPageMap  = "Google PageMaps"
	srcGoogle   = "Google: build and submit a sitemap"
	srcOurs     = "sitemapd limits"
	srcWordPres = "WordPress behaviour"
)

// The codes, in the order of the catalogue.
const (
	_ code = iota
	codeHTTPStatus
	codeServedAs404
	codeServedAsHTML
	codeContentType
	codePartialContent
	codeEncodingUnsupported
	codeEncodingMismatch
	codeGzipNested
	codeGzipMembers
	codeGzipTrailing
	codeGzipTruncated
	codeGzipDamaged
	codeBodyTruncated
	codeBodyEmpty
	codeBodyHTML
	codeBodyChallenge
	codeBodyJSON
	codeBodyBinary
	codeBodyText
	codeErrorDocument
	codeJetpackBuilding
	codeRobotsTxt

	codeBOM
	codeCharsetConflict
	codeCharsetUnknown
	codeCharsetNotUTF8
	codeInvalidUTF8
	codeControlCharacter
	codeLeadingSpace
	codeCommentBefore
	codeOutputBefore
	codeDeclarationMalformed
	codeDoctype
	codeDoctypeEntities
	codeEntityUnknown
	codeEntityNotExpanded
	codeHTMLEntity
	codeBareAmpersand
	codeXMLTruncated
	codeTagMismatch
	codeTagMalformed
	codeAttributeMalformed
	codeMarkupInValue
	codeTextUnexpected
	codeJunkAfterRoot
	codeSecondRoot

	codeNamespaceMissing
	codeNamespaceLegacy
	codeNamespaceVariant
	codeNamespaceMisspelt
	codeNamespaceUnknown
	codePrefixUndeclared
	codePrefixMissing
	codeExtensionNamespaceVariant
	codeExtensionNamespaceInvalid

	codeRootUnknown
	codeRootMissing
	codeTagCase
	codeNestedRoot
	codeURLInIndex
	codeSitemapInURLSet
	codeEmptyURLSet
	codeEmptyIndex
	codeEmptyFeed
	codeFeedAsSitemap
	codeEntryNotClosed
	codeLocOutsideEntry
	codeBareTextEntry
	codeElementUnknown
	codeElementRepeated
	codeSeveralLocs
	codeTextLine

	codeLocMissing
	codeLocEmpty
	codeLocScheme
	codeLocHost
	codeLocInvalid
	codeLocTooLong
	codeLocRelative
	codeLocSchemeMissing
	codeLocNotEscaped
	codeLocIDN
	codeLocFragment
	codeLocUserinfo
	codeLocLineBreak
	codeLocDoubleEscaped
	codeLocSlashes
	codeLocBadPercent
	codeLocQuoted
	codeLocLong
	codeLocForeign
	codeLocSchemeDiffers
	codeLocOutsideDirectory
	codeDuplicateLoc
	codeDuplicateChild
	codeSelfReference

	codeLastmodInvalid
	codeLastmodZero
	codeLastmodSeveral
	codeLastmodNonstandard
	codeLastmodNoZone
	codeLastmodEpoch
	codeChangefreqInvalid
	codeChangefreqCase
	codePriorityInvalid
	codePriorityRange

	codeEntriesOver
	codeEntryLimit
	codeSizeOver
	codeSizeLimit
	codeRatioLimit
	codeTokenLimit
	codeDepthLimit
	codeAttributeLimit
	codeTagLimit
	codeBlockLimit

	codeExtensionMisplaced
	codeExtensionURL
	codeExtensionURLRelative
	codeImageLocMissing
	codeImageWithdrawn
	codeAlternateHref
	codeAlternateHreflang
	codeAlternateLanguage
	codeAlternateRel
	codeAlternateDuplicate
	codeAlternateNoSelf
	codeVideoMissing
	codeVideoInvalid
	codeVideoNoLocator
	codeVideoTags
	codeVideoLong
	codeVideoWord
	codeNewsMissing
	codeNewsInvalid
	codeNewsSeveral
	codeNewsOver
	codePageMapInvalid

	numCodes
)
