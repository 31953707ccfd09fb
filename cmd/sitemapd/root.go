package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sitemapd/sitemapd/config"
	"github.com/sitemapd/sitemapd/internal/tracing"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
	syncer "github.com/sitemapd/sitemapd/sync"
	"github.com/sitemapd/sitemapd/sync/fetch"
)

// Exit codes of the contract.
const (
	exitDone        = 0
	exitFailure     = 1 // our own or the database's
	exitUsage       = 2 // wrong use or configuration
	exitPartial     = 3
	exitUnavailable = 4
	exitHeld        = 5 // complete, with changes held
	exitNotSitemap  = 6
)

// exitError carries an exit code; err may be nil when everything was said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// execute runs one command line and gives its exit code.
func execute(ctx context.Context, args []string, out, errOut io.Writer) int {
	a := &app{out: out, errOut: errOut}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code := codeOf(err)
	var quiet *exitError
	if !errors.As(err, &quiet) || quiet.err != nil {
		fmt.Fprintln(errOut, "sitemapd:", err)
	}
	return code
}

func codeOf(err error) int {
	var exit *exitError
	var invalid *models.InvalidError
	var pruned *models.PrunedError
	var problems *config.Problems
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &invalid), errors.As(err, &pruned), errors.As(err, &problems), errors.Is(err, models.ErrNotFound), errors.Is(err, models.ErrConflict):
		return exitUsage
	case errors.Is(err, syncer.ErrUnreachable):
		return exitUnavailable
	case errors.Is(err, syncer.ErrNoSitemap):
		return exitNotSitemap
	}
	return exitFailure
}

// app is what commands share: where to write and, once loaded, the configuration.
type app struct {
	out, errOut io.Writer
	format      string
	config      config.Config
	log         *slog.Logger
	tracer      *tracing.Tracer // nil: nothing is traced
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sitemapd",
		Short: "Keeps a database true to what WordPress sites publish in their sitemaps",
		Long: `sitemapd walks the sitemaps of WordPress sites (and others), keeps what they declare in SQLite or
MySQL/MariaDB, finds additions, removals and changed lastmod values, and remembers every earlier state.

A site is named by its id, its name, its home page or its sitemap. Data goes to standard output, logs and
progress to standard error.

Exit codes: 0 done · 1 failure of ours or the database · 2 wrong use or configuration · 3 partly read ·
4 unavailable · 5 complete, with removals held for a person · 6 not a sitemap`,
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	config.Flags(root.PersistentFlags())
	root.PersistentFlags().StringVarP(&a.format, "output", "o", "table", "table, json, ndjson or csv")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%s; see `%s --help`", flagProblem(err), cmd.CommandPath())
	})
	root.AddCommand(a.syncCommand(), a.checkCommand(), a.probeCommand(), a.sitesCommand(), a.urlsCommand(), a.exportCommand(), a.changesCommand(), a.diffCommand(), a.pruneCommand(),
		a.historyCommand(), a.runsCommand(), a.verifyCommand(), a.canonicalCommand(), a.reportCommand(), a.documentsCommand(), a.findingsCommand(), a.heldCommand(), a.serveCommand(), a.demoCommand(),
		a.migrateCommand(), a.configCommand(), a.hookCommand(), a.webhookCommand(), a.alertCommand(), a.digestCommand(), a.tokenCommand(), a.healthcheckCommand(), a.versionCommand(), a.manCommand())
	a.complete(root)
	wrapUsage(root)
	return root
}

// flagProblem says what is wrong with a flag's value without the words of the function that refused it.
func flagProblem(err error) string {
	text, number, found := strings.Cut(err.Error(), ": strconv.Parse")
	switch {
	case !found:
		return text
	case strings.HasPrefix(number, "Bool"):
		return text + ": want true or false"
	case strings.HasSuffix(number, "out of range"):
		return text + ": the number is too large or too small"
	}
	return text + ": want a number"
}

// wrapUsage gives wrong arguments the exit code of wrong use.
func wrapUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usage("%w: `%s`; see `%s --help`", err, c.UseLine(), c.CommandPath())
			}
			return nil
		}
	}
	if cmd.PreRunE == nil {
		cmd.PreRunE = checkFlags
	}
	for _, sub := range cmd.Commands() {
		wrapUsage(sub)
	}
}

// load reads the configuration for a command.
func (a *app) load(cmd *cobra.Command) error {
	file, _ := cmd.Flags().GetString("config")
	c, err := config.Load(cmd.Flags(), os.LookupEnv, file)
	if err != nil {
		return err
	}
	a.config = c
	switch a.format {
	case "table", "json", "ndjson", "csv":
	default:
		return usage("--output %q: want table, json, ndjson or csv", a.format)
	}
	a.log = logger(a.errOut, c.Log)
	return nil
}

func logger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" || c.Format == "auto" && !terminal(w) {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// open loads the configuration and opens the database; the caller closes it.
func (a *app) open(cmd *cobra.Command) (*store.Store, error) {
	if err := a.load(cmd); err != nil {
		return nil, err
	}
	return store.Open(cmd.Context(), a.config.Database, store.Options{Logger: a.log})
}

// client makes the one door to the web.
func (a *app) client() *fetch.Client {
	f := a.config.Fetch
	return fetch.New(fetch.Options{UserAgent: f.UserAgent + "/" + version(), Contact: f.Contact, AllowPrivate: f.AllowPrivate,
		Ports: f.Ports, MaxWire: int64(f.MaxDocumentBytes), MaxPageWire: int64(f.MaxPageBytes), FetchTimeout: f.Timeout,
		PageTimeout: f.PageTimeout, HeaderTimeout: f.HeaderTimeout, PerHost: f.PerHost,
		PageDelay: noneIfZero(f.PageDelay), Retries: noneIfZero(f.Retries), Logger: a.log})
}

// noneIfZero turns a configured "0: none" into the library's "negative: none".
func noneIfZero[T ~int | ~int64](v T) T {
	if v == 0 {
		return -1
	}
	return v
}

// site finds the site that a user names.
func (a *app) site(ctx context.Context, s *store.Store, name string) (models.Site, error) {
	site, err := s.FindSite(ctx, name)
	if errors.Is(err, models.ErrNotFound) {
		for _, variant := range []string{"https://" + name, "http://" + name, name + "/", "https://" + name + "/", "http://" + name + "/"} {
			if found, err := s.FindSite(ctx, variant); err == nil {
				return found, nil
			}
		}
		return site, fmt.Errorf("site %q: %w; `sitemapd sites list` shows what there is, `sitemapd sites add %s` adds it", name, models.ErrNotFound, name)
	}
	return site, err
}

func looksLikeURL(name string) bool {
	return strings.Contains(name, ".") || strings.Contains(name, "://")
}
