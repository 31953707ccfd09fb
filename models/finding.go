package models

// FindingFilter selects findings of one site; zero fields select everything.
type FindingFilter struct {
	Run      int64 // findings of the document versions visible at this run, 0 for the current one
	Document int32
	Severity string
	Code     string
	Limit    int // 0 for all; in an order that stays the same for the same run
}
