package models

// DiffFilter selects what is different of a site's pages between two moments.
type DiffFilter struct {
	From, To AsOf // To zero means the current run
	Kinds    []string
	// Shifts includes pages that another document lists now, with the same content.
	Shifts bool
	After  string // Change.Cursor of the last row that the caller has; it names both moments and goes before From and To
	Limit  int    // 0: no limit
}
