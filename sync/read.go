package syncer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/fetch"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// reading is what one look at a document gave.
type reading struct {
	version  models.DocumentVersion
	findings []models.Finding
	children []child
	parsed   bool // its children are those read now
	same     bool // equal to what the stored rows came from: nothing to diff
	aged     bool // a cache on the way answered
	requests int64
	bytes    int64
}

// child is one reference of an index.
type child struct {
	url     string
	id      []byte
	foreign bool
	lastmod *models.Lastmod
}

// bench is the reusable workspace of one worker: a reader, a collection and the wire bytes of one document.
type bench struct {
	reader *sitemap.Reader // nil until a document is read: most answers say that nothing changed
	found  collection
	stored []models.Listing // what a diff reads of the database
	wire   []byte
}

// answer is what the web gave for one document, its body whole in the bench.
type answer struct {
	*fetch.Result
	cut    error // why the body ended early
	before *models.DocumentVersion
	known  time.Time // when the site was last seen to say what before says
}

// fetch asks for a document, with the validators of the version that its rows came from.
func (r *run) fetch(ctx context.Context, d *document, b *bench) answer {
	return r.fetchURL(ctx, d, b, d.URL, d.good())
}

// fetchWhole asks for a document without validators, and compares it with the stored version all the same.
func (r *run) fetchWhole(ctx context.Context, d *document, b *bench) answer {
	a := r.fetchURL(ctx, d, b, d.URL, nil)
	a.before = d.good()
	return a
}

// fetchURL asks for a document under a URL, with the validators of a version if there is one to compare with.
func (r *run) fetchURL(ctx context.Context, d *document, b *bench, at string, before *models.DocumentVersion) answer {
	a := answer{before: before}
	req := fetch.Request{URL: at, Origin: r.site.Root, Kind: fetch.Document, NoCache: r.noCache(),
		Username: r.site.Settings.Username, Password: r.site.Settings.Password, MaxWire: r.o.MaxBody}
	if a.before != nil && a.before.Good() && !edgeStale(a.before) { // after a failure the whole is read, findings and all
		req.ETag, req.LastModified, req.ValidatedURL = a.before.ETag, a.before.LastModified, a.before.FinalURL
	}
	b.wire = b.wire[:0]
	ctx, end := r.span(ctx, "fetch", "url.full", at)
	a.Result, _ = r.o.Web.Read(ctx, req, func(res *fetch.Result) error {
		b.wire, a.cut = readAll(b.wire[:0], res.Body)
		return a.cut
	})
	end(string(a.Outcome), nil)
	if !a.HasBody() {
		b.wire = b.wire[:0]
	}
	return a
}

// read turns an answer into a reading, its entries into b.found. What the site does wrong is data; it never fails.
func (r *run) read(d *document, a answer, b *bench) (got reading) {
	got.requests, got.bytes, got.aged = int64(a.Attempts), int64(len(b.wire)), a.Age > 0
	got.version = models.DocumentVersion{Status: a.Status, FinalURL: a.FinalURL, ContentType: a.ContentType,
		ETag: a.ETag, LastModified: settled(a.Result), FetchedAt: micros(a.FetchedAt), ObservedAt: micros(a.ObservedAt),
		Lastmod: d.declared}
	switch {
	case a.Outcome == fetch.NotModified && a.before != nil:
		got.same = true
		got.version = unchanged(a.before, got.version)
	case !a.HasBody() || a.Outcome == fetch.NotModified:
		got.unavailable(d, OutcomeCode(a.Result), reasonOf(a.Result))
	case a.cut == nil && a.before != nil && a.before.Good() && a.before.Status == a.Status && !d.lists() && !edgeStale(a.before) && identical(a.before, b.wire):
		got.same = true
		got.version = unchanged(a.before, got.version)
	default: // also behind a failure whose bytes are the good ones: a refusal may carry any body
		r.parse(d, b, a.Result, a.cut, &got)
	}
	if !got.same && got.parsed && olderCopy(a) {
		got.older(d, a)
	}
	return got
}

// datePast tells of an answer when the site was last seen to say what is recorded. A document that says what it said is not written
// again: that it was seen is known of this run, and of complete runs that no cache answered.
func (r *run) datePast(ctx context.Context, d *document, a *answer) error {
	if a.before == nil {
		return nil
	}
	if a.known = a.before.ObservedAt; d.seen.After(a.known) {
		a.known = d.seen
	}
	if a.Age == 0 || !a.before.Good() || a.before.FromRun >= r.record.ID {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastWalk == nil {
		run, at, err := r.o.Store.LastWalk(ctx, r.site.ID)
		if err != nil {
			return err
		}
		r.lastWalk = &walkTime{run, at}
	}
	if a.before.FromRun <= r.lastWalk.run && r.lastWalk.at.After(a.known) {
		a.known = r.lastWalk.at
	}
	return nil
}

// walkTime is number and start of a run.
type walkTime struct {
	run int64
	at  time.Time
}

// clockGrain is how far Age, which counts whole seconds, and the moments computed from it may be out.
const clockGrain = 2 * time.Second

// olderCopy tells an answer from a cache on the way that is older than what the stored rows came from. Without an Age, or
// when our own clock went back, nothing can be told.
func olderCopy(a answer) bool {
	return a.before != nil && a.Age > 0 && !a.FetchedAt.Before(a.known) && a.known.Sub(a.ObservedAt) > clockGrain
}

// older turns the reading of an old cached copy into one that says nothing new: what is stored is younger, and stays.
func (got *reading) older(d *document, a answer) {
	before := a.before
	text := fmt.Sprintf("a cache answered with a copy from %s; what is recorded is from %s and stays",
		got.version.ObservedAt.Format(time.RFC3339), a.known.Format(time.RFC3339))
	fetched, declared := got.version.FetchedAt, got.version.Lastmod
	got.parsed, got.children = false, nil
	if !before.Good() { // the origin could not be read the last time, and still was not
		status := got.version.Status
		got.unavailable(d, findingEdgeStale, text)
		got.version.Status, got.version.FetchedAt, got.version.ObservedAt = status, fetched, before.ObservedAt
		return
	}
	got.same, got.version = true, *before
	got.version.LastmodShift, got.version.FetchedAt, got.version.Lastmod = 0, fetched, declared
	// The text changes with every look, the finding does not.
	got.findings = []models.Finding{{Code: findingEdgeStale, Severity: models.SeverityWarning, Document: d.URL, Text: text}}
	got.version.FindingsHash = edgeStaleHash
}

var edgeStaleHash = hashFindings([]models.Finding{{Code: findingEdgeStale, Severity: models.SeverityWarning}})

// edgeStale tells that an old copy was in the way the last time: the next answer is read anew, so that the finding ends and
// those of the document itself are back.
func edgeStale(v *models.DocumentVersion) bool {
	return string(v.FindingsHash) == string(edgeStaleHash)
}

// settled gives Last-Modified, which counts seconds, unless that second was not over yet: the document may change again
// within it, and the server would call both the same (RFC 9110 section 8.8.2.2).
func settled(res *fetch.Result) string {
	modified, err := http.ParseTime(res.LastModified)
	if err != nil || res.Header == nil {
		return res.LastModified
	}
	asked := res.FetchedAt
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		asked = date // the sender's own clock
	}
	if asked.Sub(modified) < 2*time.Second && asked.Sub(modified) > -2*time.Second {
		return ""
	}
	return res.LastModified
}

func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// identical reports whether the bytes are those that the stored version was read from.
func identical(before *models.DocumentVersion, wire []byte) bool {
	sum := xxh3.Hash128(wire).Bytes()
	return len(wire) > 0 && before.Bytes == int64(len(wire)) && string(before.ByteHash) == string(sum[:])
}

// unchanged is the stored version with what this answer alone says: its validators and times.
func unchanged(before *models.DocumentVersion, answer models.DocumentVersion) models.DocumentVersion {
	v := *before
	v.LastmodShift = 0
	v.FetchedAt, v.Lastmod = answer.FetchedAt, answer.Lastmod
	if answer.ObservedAt.After(v.ObservedAt) {
		v.ObservedAt = answer.ObservedAt
	}
	if !v.Verdict.Read() { // the last answer was a failure; these bytes are those of the last good one
		v.Verdict, v.Reason, v.StaleSince, v.Status = models.VerdictComplete, "", nil, http.StatusOK
	}
	if answer.Status != http.StatusNotModified {
		v.Status = answer.Status
	}
	if answer.ETag != "" || answer.LastModified != "" || answer.Status != http.StatusNotModified {
		v.ETag, v.LastModified = answer.ETag, answer.LastModified
	}
	return v
}

// parse reads the wire bytes. A body that was cut on the way ends with that error instead of a clean end.
func (r *run) parse(d *document, b *bench, result *fetch.Result, cut error, got *reading) {
	b.found.reset()
	var src io.Reader = &wireReader{bytes: b.wire, end: cut}
	meta := sitemap.Meta{ContentType: result.ContentType, ContentEncoding: result.ContentEncoding, Status: result.Status}
	if b.reader == nil {
		b.reader = sitemap.NewReader(sitemap.Options{})
	}
	doc, err := b.reader.Read(src, result.FinalURL, meta, sitemap.Visitor{
		Declaration: func(x *sitemap.Declaration) error {
			foreign := x.Foreign && !r.owns(x.Identity)
			if foreign && r.record.Baseline {
				r.elsewhere(x.Identity)
			}
			b.found.add(x, foreign)
			return nil
		},
		Child: func(x *sitemap.Child) error {
			got.children = append(got.children, child{url: string(x.Loc), id: append([]byte(nil), x.Identity...),
				foreign: x.Foreign && !r.owns(x.Identity), lastmod: LastmodOf(&x.Lastmod)})
			return nil
		},
	})
	if err != nil { // cannot happen: the visitors return no error
		got.unavailable(d, "fetch-protocol", err.Error())
		return
	}
	got.parsed = true
	fill(&got.version, doc)
	got.findings = FindingsOf(doc, d.URL)
	got.version.FindingsHash = hashFindings(got.findings)
	if got.damaged(b) {
		return
	}
	before := d.good()
	got.same = before != nil && got.version.Verdict == models.VerdictComplete &&
		before.Type == got.version.Type && string(before.SemanticHash) == string(got.version.SemanticHash)
}

// wireReader gives bytes already received, then the error that ended them.
type wireReader struct {
	bytes []byte
	end   error
}

func (w *wireReader) Read(p []byte) (int, error) {
	if len(w.bytes) == 0 {
		if w.end != nil {
			return 0, w.end
		}
		return 0, io.EOF
	}
	n := copy(p, w.bytes)
	w.bytes = w.bytes[n:]
	return n, nil
}

func readAll(dst []byte, src io.Reader) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := src.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

func fill(v *models.DocumentVersion, doc *sitemap.Document) {
	v.Verdict, v.Reason, v.Type = models.Verdict(doc.Verdict.String()), doc.Reason, doc.Type.String()
	v.Encoding, v.Compression = doc.Encoding, doc.Compression
	v.Bytes, v.BytesInflated = doc.Bytes, doc.BytesInflated
	v.Entries, v.Children = int64(doc.Entries), int64(doc.Children)
	v.Foreign, v.Duplicates = int64(doc.Foreign), int64(doc.Duplicates)
	v.Namespaces = doc.Namespaces
	v.Generator = doc.Generator
	if doc.GeneratorVersion != "" {
		v.Generator += " " + doc.GeneratorVersion
	}
	v.Validation = validationJSON(doc)
	if doc.Verdict == sitemap.Complete {
		v.ByteHash = append([]byte(nil), doc.ByteHash[:]...)
		v.SemanticHash = append([]byte(nil), doc.SemanticHash[:]...)
	}
}

// LastmodOf turns a reader's lastmod into the stored shape, nil when none was declared validly.
func LastmodOf(l *sitemap.Lastmod) *models.Lastmod {
	if l.State != sitemap.Valid {
		return nil
	}
	return &models.Lastmod{Raw: string(l.Raw), Instant: time.UnixMicro(l.Instant).UTC(),
		Precision: models.Precision(l.Precision), Zone: l.Zone}
}

// unavailable makes a reading of a document that gave no body to read.
func (got *reading) unavailable(d *document, code, reason string) {
	got.version.Verdict, got.version.Reason, got.version.Type = models.VerdictUnavailable, reason, "none"
	severity := models.SeverityError
	got.findings = []models.Finding{{Code: code, Severity: severity, Document: d.URL, Text: reason}}
	got.version.FindingsHash = hashFindings(got.findings)
}

// OutcomeCode is the finding for an answer that could not be read: fetch-timeout, fetch-dns, http-503, ...
func OutcomeCode(r *fetch.Result) string {
	if r.Outcome == fetch.HTTPError || r.Outcome == fetch.OK || r.Outcome == fetch.NotModified {
		return fmt.Sprintf("http-%d", r.Status)
	}
	return "fetch-" + strings.ReplaceAll(string(r.Outcome), "_", "-")
}

func reasonOf(r *fetch.Result) string {
	switch {
	case r.Outcome == fetch.BlockedAddress:
		return r.Reason + " (allow it with --allow-private CIDR)"
	case r.Reason != "":
		return r.Reason
	}
	return fmt.Sprintf("the server answered %d %s without a body", r.Status, http.StatusText(r.Status))
}
