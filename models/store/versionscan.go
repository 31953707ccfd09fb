package store

import (
	"database/sql"
	"strings"
)

// versionColumns are the columns that a documentVersion is read from, of document_versions v and documents d.
var versionColumns = func() string {
	var names []string
	for _, c := range new(documentVersion).columns() {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}()

// column is a column and where its value goes.
type column struct {
	name string
	into any
}

// columns tells what is read in which order. GORM would make every row anew by reflection and grow a list of them: of a
// site of 500 documents that was a third of what a run without changes allocates.
func (row *documentVersion) columns() []column {
	v := &row.Version
	return []column{
		{"v.site_id", &v.SiteID}, {"v.document", &v.Document}, {"v.from_run", &v.FromRun}, {"v.to_run", &v.ToRun},
		{"v.parent", &v.Parent}, {"v.depth", &v.Depth}, {"v.discovery", &v.Discovery}, {"v.verdict", &v.Verdict},
		{"v.reason", &v.Reason}, {"v.type", &v.Type}, {"v.status", &v.Status}, {"v.final_url", &v.FinalURL},
		{"v.content_type", &v.ContentType}, {"v.encoding", &v.Encoding}, {"v.compression", &v.Compression},
		{"v.bytes", &v.Bytes}, {"v.bytes_inflated", &v.BytesInflated}, {"v.entries", &v.Entries}, {"v.children", &v.Children},
		{"v.foreign_entries", &v.ForeignEntries}, {"v.duplicates", &v.Duplicates}, {"v.generator", &v.Generator},
		{"v.namespaces", &v.Namespaces}, {"v.fetched_at", &v.FetchedAt}, {"v.observed_at", &v.ObservedAt},
		{"v.lastmod_raw", &v.LastmodRaw}, {"v.lastmod", &v.Lastmod}, {"v.lastmod_precision", &v.LastmodPrecision},
		{"v.lastmod_zone", &v.LastmodZone}, {"v.stale_since", &v.StaleSince}, {"v.etag", &v.Etag},
		{"v.last_modified", &v.LastModified}, {"v.byte_hash", &v.ByteHash}, {"v.semantic_hash", &v.SemanticHash},
		{"v.first_key", &v.FirstKey}, {"v.last_key", &v.LastKey}, {"v.findings_hash", &v.FindingsHash},
		{"v.lastmod_record", &v.LastmodRecord}, {"v.lastmod_trust", &v.LastmodTrust}, {"v.lastmod_shift", &v.LastmodShift},
		{"v.validation", &v.Validation}, {"d.url_key", &row.URLKey}, {"d.url", &row.URL}, {"d.first_run", &row.FirstRun},
	}
}

// versionScanner reads versions into one row, which each scan replaces whole.
type versionScanner struct {
	row  documentVersion
	into []any
}

func newVersionScanner() *versionScanner {
	s := &versionScanner{}
	for _, c := range s.row.columns() {
		s.into = append(s.into, c.into)
	}
	return s
}

func (s *versionScanner) scan(rows *sql.Rows) error {
	s.row = documentVersion{} // what its slices and pointers point to belongs to whoever read the row before
	return rows.Scan(s.into...)
}
