package models

// Pruned counts what a pruning took away.
type Pruned struct {
	Run          int64 `json:"run"` // the oldest run that can still be asked for
	Declarations int64 `json:"declarations"`
	Versions     int64 `json:"versions"` // of documents
	Findings     int64 `json:"findings"`
	Removals     int64 `json:"removals"` // superseded versions of removals
}
