package sitemap

import "encoding/hex"

// Type is what a document is, told by its root element and never by its name.
type Type uint8

// The types of a document.
const (
	NoType Type = iota
	URLSet
	SitemapIndex
	TextList
	Feed // RSS 2, RSS 1 or Atom
)

// String gives the type as it is stored and shown.
func (t Type) String() string {
	return [...]string{"none", "urlset", "sitemapindex", "text", "feed"}[t]
}

// Verdict says how completely a document was read. Only Complete may ever support a removal.
type Verdict uint8

// The verdicts.
const (
	Unavailable Verdict = iota // the server did not give the document: an error status, no body
	Complete                   // read to its clean end
	Partial                    // cut off, damaged, or over a limit: what was read holds, what is missing proves nothing
	NotASitemap                // something else was given: HTML, JSON, an error document
)

// String gives the verdict as it is stored and shown.
func (v Verdict) String() string {
	return [...]string{"unavailable", "complete", "partial", "not_a_sitemap"}[v]
}

// Meta is what the answer's head says. The body is believed before it.
type Meta struct {
	ContentType     string
	ContentEncoding string
	Status          int // 0 means that there was none, as for a file
}

// Visitor gets what is read, in document order; nil functions are skipped. An error ends the reading and is returned
// by Read.
type Visitor struct {
	Declaration func(*Declaration) error
	Child       func(*Child) error
}

// Document is what is said about a document as a whole.
type Document struct {
	Type    Type
	Verdict Verdict
	Reason  string // one short sentence for every verdict but Complete, "" for that

	Root          string   // the root element's name as published
	Version       string   // of a feed: "rss 2.0", "rss 1.0", "atom"
	Encoding      string   // WHATWG name of the character encoding that was used: "UTF-8", "windows-1252", ...
	Declared      string   // the label in the XML declaration, "" when there is none
	Compression   string   // "none" or "gzip"
	Layers        int      // of gzip that were removed
	Bytes         int64    // as received
	BytesInflated int64    // after every layer of compression, before charset decoding
	Namespaces    []string // as declared, in order, each once
	Extensions    []string // families found: "image", "video", "news", "xhtml", "mobile", "pagemap"

	Entries    int // page entries delivered
	Children   int // references delivered
	Foreign    int // of both, those on another host
	Refused    int // entries and references without a usable loc
	Duplicates int // entries whose page was listed earlier in the document
	Dated      int // entries with a valid lastmod

	ByteHash     [16]byte // XXH3-128 of the bytes as received
	SemanticHash [32]byte // order-free over what was delivered; docs/semantic-hash.md

	Generator        string // "core", "yoast", ..., "unknown"
	GeneratorVersion string

	Findings        []Finding
	Validation      Validation
	Transformations []string // what was done to the bytes, in order: "content-encoding:gzip", "gzip", "charset:..."
}

// SemanticHex gives the semantic hash as it is stored and shown.
func (d *Document) SemanticHex() string { return hex.EncodeToString(d.SemanticHash[:]) }

// Readable tells whether the document was read at all, if only in part.
func (d *Document) Readable() bool { return d.Verdict == Complete || d.Verdict == Partial }

// Validation sums up the findings by aspect.
type Validation struct {
	XMLWellFormed  bool `json:"XML_well_formed"`
	NamespaceValid bool `json:"namespace_valid"`
	RootValid      bool `json:"root_valid"`
	URLValid       bool `json:"URL_valid"`
	CapacityValid  bool `json:"capacity_valid"`
	ExtensionValid bool `json:"extension_valid"`
	Errors         int  `json:"errors"`
	Warnings       int  `json:"warnings"`
}

// Options bound what one document may cost. Zero fields take the default.
type Options struct {
	MaxBytes      int64 // as received; default 64 MiB
	MaxInflated   int64 // default 55 MiB: the protocol's 50 MiB and a tenth
	WarnInflated  int64 // default 50 MiB
	MaxRatio      int64 // inflated to received, after the first MiB; default 200
	MaxToken      int   // bytes of one tag, text, comment or doctype that is looked into; default 256 KiB
	MaxDepth      int   // default 32
	MaxAttributes int   // of one element; default 64
	MaxName       int   // bytes; default 256
	MaxTokens     int   // default 5,000,000
	MaxEntries    int   // default 200,000
	WarnEntries   int   // default 50,000
	WarnLoc       int   // bytes; default 2,048
	MaxImages     int   // of one entry; default 1,000
	MaxAlternates int   // default 500
	MaxVideos     int   // default 1,000
	MaxLayers     int   // of gzip; default 3
	MaxFindings   int   // of one code that are kept with their place; the rest is counted. Default 20
	MaxProlog     int   // bytes before the root element; default 64 KiB

	// SkipHashes leaves out fingerprints, byte and semantic hash, and with them the search for duplicates: for callers
	// that only look, such as a probe.
	SkipHashes bool
}

func (o Options) withDefaults() Options {
	set64 := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	set := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	set64(&o.MaxBytes, 64<<20)
	set64(&o.MaxInflated, 55<<20)
	set64(&o.WarnInflated, 50<<20)
	set64(&o.MaxRatio, 200)
	set(&o.MaxToken, 256<<10)
	set(&o.MaxDepth, 32)
	set(&o.MaxAttributes, 64)
	set(&o.MaxName, 256)
	set(&o.MaxTokens, 5_000_000)
	set(&o.MaxEntries, 200_000)
	set(&o.WarnEntries, 50_000)
	set(&o.WarnLoc, 2048)
	set(&o.MaxImages, 1000)
	set(&o.MaxAlternates, 500)
	set(&o.MaxVideos, 1000)
	set(&o.MaxLayers, 3)
	set(&o.MaxFindings, 20)
	set(&o.MaxProlog, 64<<10)
	return o
}
