package models

import (
	"slices"
	"strings"
)

// Columns by which an inventory can be sorted. What pages do not have (no lastmod, no priority) comes last either way;
// equal ones are sorted by URL.
const (
	SortURL       = "url"        // bytes of the address as it was published
	SortLastmod   = "lastmod"    // the declared instant
	SortFirstSeen = "first_seen" // the run that found the page
	SortChanged   = "changed"    // the run since which it is declared as it is; of a removed page the one that removed it
	SortPriority  = "priority"   // as declared
)

// PageSorts names the columns, in the order in which they are offered.
func PageSorts() []string {
	return []string{SortURL, SortLastmod, SortFirstSeen, SortChanged, SortPriority}
}

// PageSort is the order of an inventory; the zero value is that of the documents, in which it is stored and which costs nothing.
type PageSort struct {
	By         string
	Descending bool
}

// String is the parameter: the column, with a minus for descending, "" for the order of the documents.
func (s PageSort) String() string {
	if s.Descending && s.By != "" {
		return "-" + s.By
	}
	return s.By
}

// ParsePageSort reads the parameter sort.
func ParsePageSort(text string) (PageSort, error) {
	by, descending := strings.CutPrefix(text, "-")
	if text != "" && !slices.Contains(PageSorts(), by) {
		return PageSort{}, Invalid("sort", strings.Join(PageSorts(), ", ")+"; with a minus before it for descending", "cannot sort by %q", text)
	}
	return PageSort{By: by, Descending: descending}, nil
}
