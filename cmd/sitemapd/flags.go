package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// severities of findings, worst first.
var severities = []string{"error", "warning", "info"}

// wordsOf is the annotation of flags that take one of some words.
const wordsOf = "words"

// oneOf limits what a flag may be, or what each of its words may be where it takes several. An empty word is no choice.
func oneOf(flags *pflag.FlagSet, name string, words ...string) {
	if err := flags.SetAnnotation(name, wordsOf, words); err != nil {
		panic(err) // no such flag: a mistake of ours, found when the command is made
	}
}

// checkFlags refuses words that a flag does not know, which would match nothing, and counts and times below zero.
func checkFlags(cmd *cobra.Command, _ []string) error {
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if wrong != nil {
			return
		}
		given := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			given = many.GetSlice()
		}
		for _, word := range given {
			if known := f.Annotations[wordsOf]; known != nil && word != "" && !slices.Contains(known, word) {
				wrong = usage("--%s %q: want %s or %s", f.Name, word, strings.Join(known[:len(known)-1], ", "), known[len(known)-1])
				return
			}
		}
		switch f.Value.Type() {
		case "int", "int64":
			if strings.HasPrefix(given[0], "-") {
				wrong = usage("--%s %s: want 0 or more", f.Name, given[0])
			}
		case "duration":
			if d, err := time.ParseDuration(given[0]); err == nil && d < 0 {
				wrong = usage("--%s %s: want 0s or more", f.Name, given[0])
			}
		}
	})
	return wrong
}
