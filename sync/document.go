package syncer

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

const typeIndex = "sitemapindex"

// document is one sitemap file in the course of a run.
type document struct {
	models.Document                         // what is stored or, once read, what this run says
	known           bool                    // stored before this run
	previous        *models.DocumentVersion // the stored version, nil for a new document
	declared        *models.Lastmod         // what the index says of it in this walk
	visited         bool                    // in this walk
	alias           bool                    // redirected to a document that the walk reads anyway
	listedBy        int32                   // parent as it is stored
	failed          bool                    // in this walk: not read completely
	same            bool                    // in this walk: nothing to diff
	staged          bool                    // this run wrote rows of it
	seen            time.Time               // when this run last saw the site say what is recorded, less the age of copies
	undone          bool                    // this run took rows of it back: stored sums tell nothing of it any more
	children        []child                 // of a document that lists others, as read; nil when it was not read again
	diff            documentDiff
	findings        []models.Finding
}

// lists tells whether a document refers to other documents: an index does, and a urlset does by sitemap elements in it.
func (d *document) lists() bool { return d.Type == typeIndex || d.Children > 0 }

// good gives the version that the stored rows came from, nil when there is none to compare with.
func (d *document) good() *models.DocumentVersion {
	if d.Verdict == models.VerdictGone || len(d.SemanticHash) == 0 {
		return nil
	}
	return &d.DocumentVersion
}

// carry keeps what the last good version knew in a version that could not be read: the rows still come from there.
func carry(v *models.DocumentVersion, before *models.DocumentVersion) {
	if before == nil || len(before.SemanticHash) == 0 || before.Verdict == models.VerdictGone {
		return
	}
	kept := *before
	kept.Verdict, kept.Reason, kept.Status = v.Verdict, v.Reason, v.Status
	kept.FetchedAt, kept.Lastmod, kept.FindingsHash = v.FetchedAt, v.Lastmod, v.FindingsHash // ObservedAt is that of the rows
	kept.StaleSince, kept.Validation, kept.LastmodShift = before.StaleSince, nil, 0
	*v = kept
}

// sameVersion reports whether storing v would say nothing that the stored version does not say. A shift is said of one
// run alone: the feed and the counts leave its rows out.
func sameVersion(a *models.DocumentVersion, v *models.DocumentVersion) bool {
	return a != nil && v.LastmodShift == 0 && a.Verdict == v.Verdict && a.Reason == v.Reason && a.Type == v.Type && a.Status == v.Status &&
		a.FinalURL == v.FinalURL && string(a.SemanticHash) == string(v.SemanticHash) &&
		string(a.FindingsHash) == string(v.FindingsHash) && a.Generator == v.Generator &&
		a.Encoding == v.Encoding && a.Compression == v.Compression && sameLastmod(a.Lastmod, v.Lastmod)
}

func sameLastmod(a, b *models.Lastmod) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Instant.Equal(b.Instant)
}

// FindingsOf turns a reader's findings into the stored shape.
func FindingsOf(doc *sitemap.Document, url string) []models.Finding {
	out := make([]models.Finding, 0, len(doc.Findings))
	for _, f := range doc.Findings {
		out = append(out, models.Finding{Code: f.Code, Severity: string(f.Severity), Document: url, Line: f.Line,
			Offset: f.Offset, Text: f.Text, Rule: f.Rule})
	}
	return out
}

// hashFindings stands for what is wrong with a document: places are left out, since they shift with every edit.
func hashFindings(findings []models.Finding) []byte {
	if len(findings) == 0 {
		return nil
	}
	texts := make([]string, 0, len(findings))
	for _, f := range findings {
		texts = append(texts, f.Code+"\x00"+f.Severity+"\x00"+f.Text)
	}
	slices.Sort(texts)
	sum := sha256.New()
	for _, text := range texts {
		writeText(sum, text)
	}
	return sum.Sum(nil)[:16]
}

func writeText(h hash.Hash, text string) {
	_, _ = fmt.Fprintf(h, "%d:", len(text))
	_, _ = io.WriteString(h, text)
}

func validationJSON(doc *sitemap.Document) []byte {
	out, err := json.Marshal(storedValidation{doc.Validation, doc.Refused})
	if err != nil { // cannot happen: booleans and numbers
		return nil
	}
	return out
}

// storedValidation is the validation object with the number of entries that gave no page.
type storedValidation struct {
	sitemap.Validation
	Refused int `json:"refused_entries,omitempty"`
}

// refusedIn tells how many entries of a version gave no page.
func refusedIn(v *models.DocumentVersion) int {
	var stored storedValidation
	if v == nil || json.Unmarshal(v.Validation, &stored) != nil {
		return 0
	}
	return stored.Refused
}

// standing tells how far the run may take the document's word.
func (d *document) standing() standing {
	switch {
	case d.failed || !d.Verdict.Read():
		return notRead
	case !d.visited:
		return readOnce
	}
	return readNow
}

// doubt tells why a document that was read to its end proves no absence all the same; "" when it does.
func (d *document) doubt() string {
	switch now := refusedIn(&d.DocumentVersion); {
	case d.alias:
		return "its document redirects to another one, which says nothing of what it listed"
	case now > refusedIn(d.previous):
		return fmt.Sprintf("%d entries of its document cannot be read, more than before: it may be one of them", now)
	}
	return ""
}
