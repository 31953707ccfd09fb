package models

// Abouts of rules.
const (
	AboutDocuments = "documents" // sitemap files, the walk through them, and a site as a whole
	AboutPages     = "pages"     // what pages say of themselves
)

// FindingRule is what is known of a finding's code. A code means one thing about documents and one about pages.
type FindingRule struct {
	Code     string `json:"code" doc:"Stable, kebab-case; http-4xx stands for all statuses of the class that have no code of their own."`
	About    string `json:"about" enum:"documents,pages"`
	Severity string `json:"severity" enum:"error,warning,info"`
	Meaning  string `json:"meaning"`
	Cost     string `json:"cost,omitempty" doc:"What is lost by it."`
	Advice   string `json:"advice" doc:"What the publisher should do."`
	Source   string `json:"source" doc:"Where the rule is written."`
	KnownAs  string `json:"known_as,omitempty" doc:"What Search Console and audit tools call it."`
}
