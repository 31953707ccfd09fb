package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/models/store"
)

// completeIn is how long a shell waits for names at most.
const completeIn = 2 * time.Second

// complete lets shells complete what commands take: names of sites where a SITE stands, the fixed words beside it, files
// where a FILE stands, formats and other words of flags.
func (a *app) complete(cmd *cobra.Command) {
	place := strings.Fields(cmd.Use)
	if cmd.ValidArgsFunction == nil && len(place) > 1 {
		switch words := choices(place); {
		case strings.HasPrefix(place[1], "SITE"):
			cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				switch len(args) {
				case 0:
					return a.siteNames(cmd, typed), cobra.ShellCompDirectiveNoFileComp
				case 1:
					return words, cobra.ShellCompDirectiveNoFileComp
				}
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		case strings.HasPrefix(place[1], "FILE"), strings.HasPrefix(place[1], "DIR"): // the shell's own completion
		default:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if words := f.Annotations[wordsOf]; words != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for flag, words := range map[string][]string{"output": {"table", "json", "ndjson", "csv"}, "confirm": {"now", "later"},
		"state": {"live", "stale", "pending", "held", "removed", "foreign", "all"}, "format": {"csv", "ndjson", "xlsx", "parquet", "sitemap"},
		"log-level": {"debug", "info", "warn", "error"}, "scope": {"read", "run", "write", "admin"}} {
		if cmd.Flags().Lookup(flag) != nil || cmd.PersistentFlags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // refused only when made twice
		}
	}
	for _, sub := range cmd.Commands() {
		a.complete(sub)
	}
}

// choices are the fixed words of a place such as "list|approve|reject".
func choices(place []string) []string {
	if len(place) < 3 {
		return nil
	}
	var words []string
	for word := range strings.SplitSeq(strings.Trim(place[2], "[]"), "|") {
		if word == strings.ToLower(word) && word != "" {
			words = append(words, word)
		}
	}
	return words
}

// siteNames asks the database, which it never makes: a shell that completes must leave nothing behind.
func (a *app) siteNames(cmd *cobra.Command, typed string) []string {
	file, _ := cmd.Flags().GetString("config")
	c, err := config.Load(cmd.Flags(), os.LookupEnv, file)
	if err != nil {
		return nil
	}
	if path, ok := strings.CutPrefix(c.Database, "sqlite:"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil
		}
	}
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, completeIn)
	defer cancel()
	s, err := store.Open(ctx, c.Database, store.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), NoMigrate: true})
	if err != nil {
		return nil
	}
	defer s.Close()
	sites, err := s.Sites(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, site := range sites {
		if strings.HasPrefix(site.Name, typed) {
			names = append(names, site.Name+"\t"+plain(site.Root))
		}
	}
	slices.Sort(names)
	return names
}
