package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing wrong with the configuration.
type Problem struct {
	Key   string // "sync.quiet", "sites[0].url"; "" for the file as a whole
	Where string // FILE:LINE, variable or flag; "" for a value that the program itself set
	Text  string // what is wrong
	Hint  string // what to do; may be empty
}

// Error gives "where: key: text (hint)", without the key where a variable or flag says it already.
func (p *Problem) Error() string {
	text := p.Text
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	named := strings.HasPrefix(p.Where, "--") || strings.HasPrefix(p.Where, envPrefix)
	if p.Key != "" && !named {
		text = p.Key + ": " + text
	}
	if p.Where != "" {
		text = p.Where + ": " + text
	}
	return text
}

// Problems is everything that is wrong with a configuration, in the order of files,
// variables, flags and keys. errors.As finds it, and each Problem through it.
type Problems struct {
	List []*Problem
}

// Error gives one line a problem.
func (p *Problems) Error() string {
	var b strings.Builder
	plural := "s"
	if len(p.List) == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "the configuration has %d problem%s:", len(p.List), plural)
	for _, problem := range p.List {
		b.WriteString("\n  ")
		b.WriteString(problem.Error())
	}
	return b.String()
}

// Unwrap gives the single problems.
func (p *Problems) Unwrap() []error {
	all := make([]error, len(p.List))
	for i, problem := range p.List {
		all[i] = problem
	}
	return all
}

func (p *Problems) add(where, key, hint, text string, args ...any) {
	p.List = append(p.List, &Problem{Key: key, Where: where, Hint: hint, Text: fmt.Sprintf(text, args...)})
}

// has reports whether a key, or a part of it, is a problem already.
func (p *Problems) has(key string) bool {
	for _, problem := range p.List {
		if problem.Key == key || strings.HasPrefix(problem.Key, key+"[") || strings.HasPrefix(problem.Key, key+".") {
			return true
		}
	}
	return false
}

// sort puts files first, line by line, then variables, then flags.
func (p *Problems) sort() {
	place := func(problem *Problem) (layer, line int) {
		switch {
		case strings.HasPrefix(problem.Where, envPrefix):
			return 1, 0
		case strings.HasPrefix(problem.Where, "--"):
			return 2, 0
		}
		line, _ = strconv.Atoi(problem.Where[strings.LastIndex(problem.Where, ":")+1:])
		return 0, line
	}
	slices.SortStableFunc(p.List, func(a, b *Problem) int {
		layerA, lineA := place(a)
		layerB, lineB := place(b)
		return cmp.Or(cmp.Compare(layerA, layerB), cmp.Compare(lineA, lineB))
	})
}

// orNil keeps a nil *Problems from becoming an error that is not nil.
func (p *Problems) orNil() error {
	if len(p.List) == 0 {
		return nil
	}
	return p
}
