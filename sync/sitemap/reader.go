package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/sitemapd/sitemapd/sync/weburl"
)

// ParserName and ParserVersion go into the provenance of what was read. The version changes whenever the same bytes may
// be understood in another way.
const (
	ParserName    = "sitemapd"
	ParserVersion = "1"
)

// Reader reads documents, one after another; its buffers are kept between them. It must not be used by two goroutines
// at a time.
type Reader struct {
	opt    Options
	wire   wire
	outer  *bufio.Reader // over wire
	layers []*layer
	inner  []*bufio.Reader // over each layer
	out    inflated
	text   *bufio.Reader // over out; what the charset is told by
	win    window

	doc      *Document
	found    findings
	visit    Visitor
	err      error // the visitor's
	stopped  bool  // a limit was reached
	base     weburl.URL
	baseDir  []byte // of the path, nil for the root
	origin   []byte // of the base, with a slash behind
	hasBase  bool
	urls     weburl.Parser
	ns       namespaces
	cache    [nameSlots]nameSlot
	plainFor uint32 // version of ns for which plain was computed
	plain    bool   // tags without a prefix are the protocol's
	swift    swift
	longWay  bool // for tests: no shortcuts
	longRead int  // for tests: entries read the long way
	tag      tag
	noQuote  [2]int64 // up to which offset no quotation mark of the kind comes
	stack    []frame
	names    []byte // of the open elements
	tokens   int
	root     bool // a root element was found
	rootEnd  bool // and closed
	declared bool // the DOCTYPE declares entities
	htmlTags int  // tags of HTML before any root
	notBegun bool // something stood before the XML declaration
	asFeed   bool
	news     int
	gen      generator

	entry  entry
	d      Declaration
	child  Child
	memory arena
	value  []byte // scratch of decoded text
	leaf   []byte // scratch of a leaf's name
	canon  []byte // scratch of canonical forms
	prints prints
}

// NewReader makes a Reader; its Options' zero fields take their defaults.
func NewReader(o Options) *Reader {
	r := &Reader{opt: o.withDefaults(), outer: bufio.NewReaderSize(nil, 32<<10)}
	r.text = bufio.NewReaderSize(nil, 4<<10)
	return r
}

// Read reads one document. Src gives the bytes as they came over the wire, base is the final URL of the document ("" or
// a path for a file: then relative addresses are refused). What is wrong with the source or its content is told by the
// Document, which is never nil; the error is the visitor's own.
func (r *Reader) Read(src io.Reader, base string, m Meta, visit Visitor) (*Document, error) {
	r.reset(src, base, visit)
	doc := r.doc
	if !r.believe(m) {
		r.finish(m)
		return doc, nil
	}
	if in, ok := r.unpack(m); ok {
		r.out.src, r.out.wire, r.out.max = in, &r.wire, r.opt.MaxInflated
		if doc.Layers > 0 {
			r.out.ratio = r.opt.MaxRatio
		}
		r.text.Reset(&r.out)
		r.win.reset(r.decode(r.text, m), r.opt.MaxToken)
		r.content(m)
	}
	r.finish(m)
	return doc, r.err
}

func (r *Reader) reset(src io.Reader, base string, visit Visitor) {
	r.doc = &Document{Compression: "none", Encoding: "UTF-8", Generator: "unknown"}
	r.visit, r.err, r.stopped = visit, nil, false
	r.wire.reset(src, r.opt.MaxBytes, r.opt.SkipHashes)
	r.outer.Reset(&r.wire)
	r.out = inflated{}
	r.found.reset(r.opt.MaxFindings)
	r.ns.reset()
	r.stack, r.names = r.stack[:0], r.names[:0]
	r.tokens, r.news, r.htmlTags = 0, 0, 0
	r.root, r.rootEnd, r.declared, r.notBegun, r.asFeed = false, false, false, false, false
	r.noQuote = [2]int64{}
	r.gen = generator{}
	r.swift, r.longRead = swift{}, 0
	r.entry.reset()
	r.memory.reset()
	r.prints.reset()
	r.hasBase, r.base, r.baseDir, r.origin = false, weburl.URL{}, nil, nil
	if u, problem := weburl.ParseString(nil, base); problem == weburl.None && strings.Contains(base, "://") {
		r.base, r.hasBase = u, true
		r.origin = append(u.Origin(), '/')
		if dir := u.Path[:bytes.LastIndexByte(u.Path, '/')+1]; len(dir) > 1 {
			r.baseDir = dir
		}
	}
}

// believe tells whether a body behind this status is read at all. 404 and 410 may carry a true sitemap (WordPress sends
// some so); refusals, overload and faults of the server carry messages, whatever they look like.
func (r *Reader) believe(m Meta) bool {
	switch s := m.Status; {
	case s == 0, s >= 200 && s < 300 && s != 204 && s != 205, s == 404, s == 410:
		return true
	default:
		r.reportDoc(codeHTTPStatus, strconv.Itoa(s))
		r.doc.Reason = "the server answered with status " + strconv.Itoa(s)
		return false
	}
}

// unpack removes the layers of compression that the bytes show, whatever the labels say.
func (r *Reader) unpack(m Meta) (io.Reader, bool) {
	doc := r.doc
	labelled := strings.ToLower(strings.TrimSpace(m.ContentEncoding))
	in := r.outer
	for doc.Layers < r.opt.MaxLayers && isGzip(in) {
		n := doc.Layers
		if n == len(r.layers) {
			r.layers = append(r.layers, &layer{})
			r.inner = append(r.inner, bufio.NewReaderSize(nil, 4<<10)) // to peek; larger reads pass by it
		}
		r.layers[n].reset(in)
		r.inner[n].Reset(r.layers[n])
		in = r.inner[n]
		doc.Layers++
		doc.Compression = "gzip"
		if n == 0 && (labelled == "gzip" || labelled == "x-gzip") {
			doc.Transformations = append(doc.Transformations, "content-encoding:gzip")
		} else {
			doc.Transformations = append(doc.Transformations, "gzip")
		}
		if n > 0 && !(n == 1 && labelled != "" && labelled != "identity") {
			r.reportDoc(codeGzipNested, "")
		}
	}
	switch labelled {
	case "", "identity":
	case "gzip", "x-gzip":
		if doc.Layers == 0 {
			r.reportDoc(codeEncodingMismatch, m.ContentEncoding)
		}
	default:
		head, _ := in.Peek(64)
		if doc.Layers == 0 && !readable(head) {
			r.reportDoc(codeEncodingUnsupported, m.ContentEncoding)
			doc.Reason = "the body has an encoding that was not asked for: " + labelled
			return nil, false
		}
		r.reportDoc(codeEncodingMismatch, m.ContentEncoding)
	}
	return in, true
}

// readable tells whether bytes look like text of any charset rather than like compressed data.
func readable(head []byte) bool {
	if len(head) == 0 {
		return true
	}
	if enc, _, mark := byMark(head); enc != nil || mark > 0 {
		return true
	}
	if enc, _ := byPattern(head); enc != nil {
		return true
	}
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// finish draws the sums: what the layers and the wire have to say, the verdict, the hashes.
func (r *Reader) finish(m Meta) {
	doc := r.doc
	r.drain()
	cut := r.transferFindings()
	doc.Bytes, doc.BytesInflated = r.wire.n, r.out.n
	if !r.opt.SkipHashes {
		doc.ByteHash = r.wire.hash.Sum128().Bytes()
	}
	doc.Generator, doc.GeneratorVersion = r.gen.result()
	if r.root {
		r.statusFindings(m)
		r.contentFindings()
	}
	r.prints.sort()
	if doc.Duplicates = r.prints.duplicates(); doc.Duplicates > 0 {
		r.duplicateFindings()
	}
	r.verdict(m, cut)
	if !r.opt.SkipHashes {
		doc.SemanticHash = r.prints.semanticHash(doc.Type)
	}
	doc.Findings = r.found.finish()
	doc.Validation = r.found.validation(doc)
}

// drain reads what the scanner left, so that a fault at the end of the transfer is seen and the hash is of all bytes.
func (r *Reader) drain() {
	if r.err != nil {
		return
	}
	if r.out.src != nil && !r.stopped {
		_, _ = io.Copy(io.Discard, &r.out)
	}
	_, _ = io.Copy(io.Discard, r.outer)
}

// transferFindings reports on compression and transfer and tells whether the end of the document is missing.
func (r *Reader) transferFindings() (cut bool) {
	for i := range r.doc.Layers {
		l := r.layers[i]
		switch {
		case l.err == io.ErrUnexpectedEOF:
			cut = true
			if r.wire.err == nil && !r.wire.over {
				r.reportDoc(codeGzipTruncated, "")
			}
		case l.err != nil:
			cut = true
			r.reportDoc(codeGzipDamaged, l.err.Error())
		}
		if l.members > 1 {
			r.reportDoc(codeGzipMembers, strconv.Itoa(l.members))
		}
		if l.trailing > 0 {
			r.reportDoc(codeGzipTrailing, strconv.FormatInt(l.trailing, 10)+" bytes")
		}
	}
	if r.wire.err != nil {
		cut = true
		r.reportDoc(codeBodyTruncated, r.wire.err.Error())
	}
	switch {
	case r.wire.over, r.out.over:
		cut = true
		r.reportDoc(codeSizeLimit, "")
	case r.out.bomb:
		cut = true
		r.reportDoc(codeRatioLimit, "")
	case r.out.n > r.opt.WarnInflated:
		r.reportDoc(codeSizeOver, strconv.FormatInt(r.out.n, 10)+" bytes")
	}
	return cut
}

// statusFindings compares the answer's head with the sitemap that came with it.
func (r *Reader) statusFindings(m Meta) {
	switch {
	case m.Status == 404, m.Status == 410:
		r.reportDoc(codeServedAs404, strconv.Itoa(m.Status))
	case m.Status == 206:
		r.reportDoc(codePartialContent, "")
	}
	kind, _, _ := strings.Cut(strings.ToLower(m.ContentType), ";")
	kind = strings.TrimSpace(kind)
	packed := strings.Contains(kind, "gzip") || kind == "application/octet-stream"
	switch {
	case kind == "", packed:
	case strings.HasPrefix(kind, "text/html"), kind == "application/xhtml+xml":
		r.reportDoc(codeServedAsHTML, kind)
	case r.doc.Type == TextList && kind != "text/plain", r.doc.Type != TextList && !strings.Contains(kind, "xml"):
		r.reportDoc(codeContentType, kind)
	}
}

// duplicateFindings reports entries whose page was listed before.
func (r *Reader) duplicateFindings() {
	c := codeDuplicateLoc
	if r.doc.Type == SitemapIndex && r.doc.Children > 0 {
		c = codeDuplicateChild
	}
	r.prints.confirmed(func(at place, loc []byte) { r.reportAt(c, at, loc) })
	r.found.count[c] = max(r.found.count[c], int32(r.doc.Duplicates))
}

func (r *Reader) contentFindings() {
	doc := r.doc
	if doc.Entries+doc.Children > r.opt.WarnEntries {
		r.reportDoc(codeEntriesOver, strconv.Itoa(doc.Entries+doc.Children))
	}
	if r.news > 1000 {
		r.reportDoc(codeNewsOver, strconv.Itoa(r.news))
	}
	if doc.Type == Feed {
		r.reportDoc(codeFeedAsSitemap, "")
	}
	if doc.Entries+doc.Children+doc.Refused > 0 || r.stopped || r.found.has(codeXMLTruncated) {
		return
	}
	switch doc.Type {
	case URLSet:
		r.reportDoc(codeEmptyURLSet, "")
	case SitemapIndex:
		r.reportDoc(codeEmptyIndex, "")
	default:
		r.reportDoc(codeEmptyFeed, "")
	}
}

// verdict decides how completely the document was read.
func (r *Reader) verdict(m Meta, cut bool) {
	doc := r.doc
	if m.Status == 206 && r.root {
		cut = true
	}
	switch {
	case !r.believeable(m):
		doc.Verdict = Unavailable
	case !r.root && (cut || doc.Reason == "" || r.found.has(codeXMLTruncated)):
		doc.Verdict = Unavailable
		doc.Reason = "the document ended before a sitemap began"
	case !r.root && (m.Status == 404 || m.Status == 410):
		doc.Verdict = Unavailable
		r.reportDoc(codeHTTPStatus, strconv.Itoa(m.Status))
		doc.Reason = "the server answered with status " + strconv.Itoa(m.Status)
	case !r.root:
		doc.Verdict = NotASitemap
		if r.found.has(codeEncodingUnsupported) {
			doc.Verdict = Unavailable
		}
	case cut || r.stopped || r.err != nil || r.found.has(codeXMLTruncated):
		doc.Verdict = Partial
		doc.Reason = r.partialReason()
	default:
		doc.Verdict = Complete
		doc.Reason = ""
	}
}

func (r *Reader) believeable(m Meta) bool {
	return !(r.found.has(codeHTTPStatus) && m.Status != 404 && m.Status != 410)
}

// partialReason gives the meaning of the first finding that cut the document.
func (r *Reader) partialReason() string {
	for _, c := range []code{
		codeGzipTruncated, codeGzipDamaged, codeBodyTruncated, codeSizeLimit, codeRatioLimit, codeEntryLimit,
		codeDepthLimit, codeTagLimit, codePartialContent, codeXMLTruncated,
	} {
		if r.found.has(c) {
			return catalogue[c].Meaning
		}
	}
	return "reading was stopped"
}

// validation sums the findings up by aspect.
func (f *findings) validation(doc *Document) Validation {
	v := Validation{true, true, doc.Type != NoType, true, true, true, 0, 0}
	for c := code(1); c < numCodes; c++ {
		n := int(f.count[c])
		if n == 0 {
			continue
		}
		switch catalogue[c].Severity {
		case Error:
			v.Errors += n
		case Warning:
			v.Warnings += n
		default:
			continue
		}
		switch catalogue[c].Aspect {
		case AspectXML:
			v.XMLWellFormed = v.XMLWellFormed && !malformed(c)
		case AspectNamespace:
			v.NamespaceValid = false
		case AspectRoot:
			v.RootValid = false
		case AspectURL:
			v.URLValid = v.URLValid && catalogue[c].Severity != Error && c != codeLocRelative && c != codeLocSchemeMissing
		case AspectCapacity:
			v.CapacityValid = false
		case AspectExtension:
			v.ExtensionValid = false
		}
	}
	if !doc.Readable() {
		v = Validation{Errors: v.Errors, Warnings: v.Warnings}
	}
	return v
}

// malformed tells whether an XML finding means that the document is not well-formed, rather than unwise.
func malformed(c code) bool {
	switch c {
	case codeBOM, codeCharsetConflict, codeCharsetNotUTF8, codeDoctype, codeDoctypeEntities, codeMarkupInValue,
		codeTextUnexpected, codeEntityNotExpanded, codeTagCase:
		return false
	}
	return true
}
