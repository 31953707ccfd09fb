package handlers

import "strings"

// column is one column of a list's CSV form.
type column[T any] struct {
	name string
	text func(*T) string
}

func headings[T any](columns []column[T]) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

func cells[T any](columns []column[T], row *T) []string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = safeCell(c.text(row))
	}
	return texts
}

// safeCell keeps a spreadsheet from running what a site published: a cell that a program could take
// for a formula gets an apostrophe in front (CWE-1236). Tabs and returns are looked through, since
// programs skip them; plain negative numbers stay numbers.
func safeCell(text string) string {
	inner := strings.TrimLeft(text, " \t\r\n\v\f\u00a0\ufeff")
	if inner == "" {
		return text
	}
	switch inner[0] {
	case '=', '@', '|', '%':
		return "'" + text
	case '+', '-':
		if isNumber(inner[1:]) {
			return text
		}
		return "'" + text
	}
	// Full-width signs count as formulas in some locales.
	for _, sign := range []string{"＝", "＋", "－", "＠"} {
		if strings.HasPrefix(inner, sign) {
			return "'" + text
		}
	}
	if inner != text && (text[0] == '\t' || text[0] == '\r' || text[0] == '\n') {
		return "'" + text
	}
	return text
}

func isNumber(text string) bool {
	digits, dots := 0, 0
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		default:
			return false
		}
	}
	return digits > 0 && dots <= 1
}
