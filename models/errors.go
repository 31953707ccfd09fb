package models

import (
	"errors"
	"fmt"
)

// Kinds of errors that callers tell apart with errors.Is. Everything else is internal.
var (
	// ErrNotFound means that the named site, run, page or document is not stored.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that the row exists already or was changed by somebody else.
	ErrConflict = errors.New("conflict")
	// ErrLeaseLost means that another daemon owns the host now: the run that sees it writes nothing more.
	ErrLeaseLost = errors.New("lease lost")
	// ErrBusy means that another daemon or command holds the host's lease at the moment.
	ErrBusy = errors.New("busy")
)

// NotFoundError is an ErrNotFound that says what was looked for.
type NotFoundError struct {
	What string // site, run, page, document ...
	Name string // its name or number
}

// Error names what is not there.
func (e *NotFoundError) Error() string { return e.What + " " + e.Name + ": " + ErrNotFound.Error() }

// Is makes it an ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// PrunedError means that a moment, or a place in the change feed, lies before what is kept of a site's history: somebody
// pruned it. What is kept begins at KeptFrom and is whole.
type PrunedError struct {
	Field    string // what named the moment: as_of, run, after
	Run      int64  // the run that was asked for
	KeptFrom int64  // the oldest run that can be asked for
}

// Error says which moment is gone and which are not.
func (e *PrunedError) Error() string {
	return fmt.Sprintf("%s: the history of run %d was pruned (everything from run %d on is kept)", e.Field, e.Run, e.KeptFrom)
}

// InvalidError says which input was refused and what to do about it.
type InvalidError struct {
	Field string // what: a flag, a key, a column
	Text  string // why it was refused
	Hint  string // what to do; may be empty
}

// Error gives one sentence with field, reason and hint.
func (e *InvalidError) Error() string {
	text := e.Text
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Invalid makes an InvalidError; text may hold verbs for args.
func Invalid(field, hint, text string, args ...any) error {
	return &InvalidError{Field: field, Hint: hint, Text: fmt.Sprintf(text, args...)}
}

// HintedError wraps a failure of ours that an operator can mend, with what to do.
type HintedError struct {
	Err  error
	Hint string
}

func (e *HintedError) Error() string { return e.Err.Error() + "; " + e.Hint }

// Unwrap gives the failure itself.
func (e *HintedError) Unwrap() error { return e.Err }
