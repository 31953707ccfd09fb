package models

// Staging is what a run writes of one document that readers know: a version, and the rows that differ from what is stored.
type Staging struct {
	Document *Document     // Number is set; the version counts from the run on
	Findings []Finding     // of that version
	Close    []Key         // open rows to end
	Add      []Declaration // rows that begin, ascending by key
}
