package syncer

import "github.com/sitemapd/sitemapd/models"

// damaged turns the reading of a compressed document whose checksum or structure is wrong into one of a document that
// could not be read. What a cut document shows before its end was published; what a damaged one shows may never have been:
// a wrong bit changes an address as easily as it breaks a tag. Its findings stay.
func (got *reading) damaged(b *bench) bool {
	reason := ""
	for _, f := range got.findings {
		if f.Code == "gzip-damaged" {
			reason = f.Text
		}
	}
	if reason == "" {
		return false
	}
	got.parsed, got.children = false, nil
	b.found.reset()
	v := &got.version
	v.Verdict, v.Reason, v.Type = models.VerdictUnavailable, reason, "none"
	v.Entries, v.Children, v.Foreign, v.Duplicates = 0, 0, 0, 0
	v.ByteHash, v.SemanticHash = nil, nil
	return true
}
