package models

// Staging is what a run writes of one document that readers know: a version, and the rows that differ from what is stored.
type Staging struct {
	Document *Document     // Number is set; the version counts from the run on
	Findings []Finding     // of that version
	Close    []Key         // open rows to end
	Add      []Declaration // rows that begin, ascending by key
	Sums     []byte        // of the rows that are open then, nil when they are not known; see DocumentSums
}

// DocumentSums summarises a document's open rows, so that a later run can tell which part of them it need not read. Only
// the engine knows its form; the store keeps it beside the rows and forgets, or doubts, what it no longer describes.
type DocumentSums struct {
	Document int32
	Sums     []byte
	Doubts   []byte // two leading bytes of each key whose rows changed since
}

// Validators are what a document's next conditional request asks with, as the site gave them; empty when it gave none.
type Validators struct {
	Document     int32
	ETag         string
	LastModified string
}

// KeyRange is a range of pages, both ends included.
type KeyRange struct{ From, To Key }
