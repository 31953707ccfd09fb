package sitemap

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
)

// The confidence of what a document says, by the table of the sitemap ontology. No statement of a sitemap is ever
// presented with more, and none as verified.
const (
	ConfidenceExplicit   = 1.00 // explicit sitemap metadata: type by root element
	ConfidenceParsed     = 0.99 // a document that was read completely
	ConfidenceLoc        = 0.99 // a valid absolute loc
	ConfidenceExtension  = 0.98 // valid extension metadata
	ConfidenceLastmod    = 0.90 // a declared lastmod
	ConfidenceMembership = 0.85 // inferred: the page belongs to the site; at most
	ConfidenceIdentity   = 0.75 // a resource known from a sitemap alone; at most
	ConfidenceStale      = 0.60 // stale or unverified; at most
)

// Report is a whole document as one value, in the shape that `check -o json` prints.
type Report struct {
	URL              string            `json:"url"`
	Type             string            `json:"type"`
	Verdict          string            `json:"verdict"`
	Reason           string            `json:"reason,omitempty"`
	Status           int               `json:"status,omitempty"`
	ContentType      string            `json:"content_type,omitempty"`
	Root             string            `json:"root,omitempty"`
	Version          string            `json:"version,omitempty"`
	Encoding         string            `json:"encoding"`
	DeclaredEncoding string            `json:"declared_encoding,omitempty"`
	Compression      string            `json:"compression"`
	Bytes            int64             `json:"bytes"`
	BytesInflated    int64             `json:"bytes_inflated"`
	ByteHash         string            `json:"byte_hash"`
	SemanticHash     string            `json:"semantic_hash"`
	Generator        string            `json:"generator"`
	GeneratorVersion string            `json:"generator_version,omitempty"`
	Namespaces       []string          `json:"namespaces"`
	Extensions       []string          `json:"extensions"`
	Counts           Counts            `json:"counts"`
	Declarations     []json.RawMessage `json:"declarations"`
	Children         []json.RawMessage `json:"children"`
	Findings         []Finding         `json:"findings"`
	Validation       Validation        `json:"validation"`
	Confidence       Confidence        `json:"confidence"`
	Provenance       Provenance        `json:"provenance"`
}

// Counts are a document's sums.
type Counts struct {
	Declarations int `json:"declarations"`
	Children     int `json:"children"`
	Foreign      int `json:"foreign"`
	Refused      int `json:"refused"`
	Duplicates   int `json:"duplicates"`
	Dated        int `json:"dated"`
}

// Confidence is how far each kind of statement in a document can be trusted.
type Confidence struct {
	Type       float64 `json:"type"`
	Document   float64 `json:"document"`
	Loc        float64 `json:"loc"`
	Extension  float64 `json:"extension"`
	Lastmod    float64 `json:"lastmod"`
	Membership float64 `json:"membership"`
	Identity   float64 `json:"identity"`
}

// Provenance says where a document came from and what was done to it. Retrieval time and discovery method are the
// caller's to fill in.
type Provenance struct {
	SitemapURL       string     `json:"sitemap_url"`
	RetrievalTime    string     `json:"retrieval_time,omitempty"`
	DiscoveryMethod  string     `json:"discovery_method,omitempty"`
	Parser           string     `json:"parser"`
	ParserVersion    string     `json:"parser_version"`
	Generator        string     `json:"generator"`
	Transformations  []string   `json:"transformations"`
	ValidationResult Validation `json:"validation_result"`
}

// ReadReport reads a document as a whole. It keeps every entry, so it is for looking at one document, not for a site.
func (r *Reader) ReadReport(src io.Reader, base string, m Meta) *Report {
	var declarations, children []json.RawMessage
	doc, _ := r.Read(src, base, m, Visitor{
		Declaration: func(d *Declaration) error {
			declarations = append(declarations, d.AppendJSON(nil))
			return nil
		},
		Child: func(c *Child) error {
			children = append(children, c.AppendJSON(nil))
			return nil
		},
	})
	report := doc.Report(base, m)
	report.Declarations, report.Children = append(report.Declarations, declarations...), append(report.Children, children...)
	return report
}

// Report gives all that is known of the document as a whole, without its entries.
func (d *Document) Report(url string, m Meta) *Report {
	return &Report{
		URL: url, Type: d.Type.String(), Verdict: d.Verdict.String(), Reason: d.Reason, Status: m.Status,
		ContentType: m.ContentType, Root: d.Root, Version: d.Version, Encoding: d.Encoding, DeclaredEncoding: d.Declared,
		Compression: d.Compression, Bytes: d.Bytes, BytesInflated: d.BytesInflated,
		ByteHash: hex.EncodeToString(d.ByteHash[:]), SemanticHash: d.SemanticHex(), Generator: d.Generator,
		GeneratorVersion: d.GeneratorVersion, Namespaces: notNil(d.Namespaces), Extensions: notNil(d.Extensions),
		Counts:       Counts{d.Entries, d.Children, d.Foreign, d.Refused, d.Duplicates, d.Dated},
		Declarations: []json.RawMessage{}, Children: []json.RawMessage{},
		Findings: append([]Finding{}, d.Findings...), Validation: d.Validation, Confidence: d.Confidence(),
		Provenance: Provenance{
			SitemapURL: url, Parser: ParserName, ParserVersion: ParserVersion, Generator: d.Generator,
			Transformations: notNil(d.Transformations), ValidationResult: d.Validation,
		},
	}
}

func notNil(s []string) []string { return append([]string{}, s...) }

// Confidence gives the scores of the ontology's table for a document that was just read. One that was not read
// completely is unverified, and so is what it says.
func (d *Document) Confidence() Confidence {
	c := Confidence{
		Type: ConfidenceExplicit, Document: ConfidenceParsed, Loc: ConfidenceLoc, Extension: ConfidenceExtension,
		Lastmod: ConfidenceLastmod, Membership: ConfidenceMembership, Identity: ConfidenceIdentity,
	}
	switch {
	case !d.Readable():
		return Confidence{}
	case d.Verdict == Partial:
		c.Document, c.Membership, c.Identity = ConfidenceStale, ConfidenceStale, ConfidenceStale
	}
	if d.Type == TextList || d.Type == Feed { // no root element says that it is a sitemap
		c.Type = ConfidenceParsed
	}
	return c
}

// AppendJSON writes a declaration as the contract shows it. What was not declared, or not valid, is absent.
func (d *Declaration) AppendJSON(dst []byte) []byte {
	o := object{append(dst, '{'), true}
	o.text("loc", d.Loc)
	if d.Foreign {
		o.key("foreign")
		o.out = append(o.out, "true"...)
	}
	if d.Lastmod.State != Absent {
		o.key("lastmod")
		o.out = d.Lastmod.AppendJSON(o.out)
	}
	if d.Changefreq != ChangefreqNone {
		o.text("changefreq", Text(d.Changefreq.String()))
	}
	if d.Priority.Set {
		o.key("priority")
		o.out = d.Priority.appendTo(o.out)
	}
	if d.HasExtensions() {
		o.out = append(o.out, ',')
		o.out = appendBlocks(o.out, d)
	}
	o.key("line")
	o.out = strconv.AppendInt(o.out, int64(d.Line), 10)
	o.key("offset")
	o.out = strconv.AppendInt(o.out, d.Offset, 10)
	return append(o.out, '}')
}

// AppendJSON writes a reference as the contract shows it.
func (c *Child) AppendJSON(dst []byte) []byte {
	d := Declaration{Loc: c.Loc, Foreign: c.Foreign, Lastmod: c.Lastmod, Line: c.Line, Offset: c.Offset}
	return d.AppendJSON(dst)
}

// AppendJSON writes a lastmod as the contract shows it: an invalid one has its published text only.
func (l *Lastmod) AppendJSON(dst []byte) []byte {
	o := object{append(dst, '{'), true}
	o.text("raw", l.Raw)
	if l.State == Valid {
		o.key("instant")
		o.out = l.Time().AppendFormat(append(o.out, '"'), "2006-01-02T15:04:05.999999Z")
		o.out = append(o.out, '"')
		o.text("precision", Text(l.Precision.String()))
		o.key("zone")
		o.out = strconv.AppendBool(o.out, l.Zone)
	}
	return append(o.out, '}')
}
