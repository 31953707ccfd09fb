package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "The database schema: up, status", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	with := func(fn func(ctx context.Context, s *store.Store) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, _ []string) error {
			if err := a.load(cmd); err != nil {
				return err
			}
			s, err := store.Open(cmd.Context(), a.config.Database, store.Options{Logger: a.log, NoMigrate: true})
			if err != nil {
				return err
			}
			defer s.Close()
			return fn(cmd.Context(), s)
		}
	}
	status := func(ctx context.Context, s *store.Store) error {
		st, err := s.MigrationStatus(ctx)
		if err != nil {
			return err
		}
		return a.object(st, func(w io.Writer) {
			fmt.Fprintf(w, "%s: schema %d of %d\n", s.Dialect(), st.Current, st.Latest)
		})
	}
	cmd.AddCommand(
		&cobra.Command{Use: "up", Short: "Bring the schema to this version; what is there is left alone", Args: cobra.NoArgs,
			RunE: with(func(ctx context.Context, s *store.Store) error {
				if err := s.Migrate(ctx); err != nil {
					return err
				}
				return status(ctx, s)
			})},
		&cobra.Command{Use: "status", Short: "Which migrations were applied", Args: cobra.NoArgs, RunE: with(status)})
	return cmd
}

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "The configuration: check, print", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(
		&cobra.Command{Use: "check", Short: "Report every problem of the configuration at once", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := a.load(cmd); err != nil {
					return err
				}
				return a.object(map[string]any{"ok": true}, func(w io.Writer) { fmt.Fprintln(w, "the configuration is in order") })
			}},
		&cobra.Command{Use: "print", Short: "The configuration in force as YAML, secrets masked", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := a.load(cmd); err != nil {
					return err
				}
				return a.config.Print(a.out)
			}})
	return cmd
}

func (a *app) healthcheckCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the running daemon whether it is ready (for containers): exit 0 when it is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.load(cmd); err != nil {
				return err
			}
			address := orDefault(listen, a.config.Listen)
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return usage("--listen %q: %w", address, err)
			}
			if host == "" || net.ParseIP(host).IsUnspecified() {
				host = "127.0.0.1"
			}
			client := &http.Client{Timeout: 5 * time.Second}
			target := "http://" + net.JoinHostPort(host, port) + "/readyz"
			req, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, target, nil)
			if err != nil {
				return err
			}
			res, err := client.Do(req)
			if err != nil {
				return fmt.Errorf("ask %s: %w", target, err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s answered %s", target, res.Status)
			}
			fmt.Fprintln(a.out, "ready")
			return nil
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address of the daemon, as given to serve")
	return cmd
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "This program's version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return a.object(v, func(w io.Writer) {
				fmt.Fprintf(w, "sitemapd %s (%s, %s)\n", v["version"], v["go"], v["platform"])
			})
		},
	}
}

// released is set when a release is built (-ldflags "-X main.released=1.2.3").
var released = ""

func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}

func (a *app) findingsCommand() *cobra.Command {
	var filter models.FindingFilter
	cmd := &cobra.Command{
		Use:   "findings SITE",
		Short: "What is wrong with a site's documents and their pages now, or was at a run",
		Args:  cobra.ExactArgs(1),
		RunE: a.withSite(func(ctx context.Context, s *store.Store, site models.Site, _ []string) error {
			switch rule, known := ruleOf(models.AboutDocuments, filter.Code); {
			case filter.Code != "" && !known:
				return usage("--code %q is no finding's code: docs/findings.md has all of them, and `sitemapd findings %s` those of this site", filter.Code, site.Name)
			case rule.About == models.AboutPages:
				return usage("--code %s is about what pages say of themselves: `sitemapd report %s --code %s`", filter.Code, site.Name, filter.Code)
			}
			findings, err := s.Findings(ctx, site.ID, filter)
			if err != nil {
				return err
			}
			out := a.printer("severity", "code", "url", "line", "text")
			for i := range findings {
				f := &findings[i]
				line := ""
				if f.Line > 0 {
					line = strconv.Itoa(f.Line)
				}
				if err := out.row(f, f.Severity, f.Code, cmp.Or(f.Page, f.Document), line, f.Text); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
	cmd.Flags().Int64Var(&filter.Run, "run", 0, "as they stood at this run")
	cmd.Flags().StringVar(&filter.Severity, "severity", "", "error, warning or info")
	oneOf(cmd.Flags(), "severity", severities...)
	cmd.Flags().StringVar(&filter.Code, "code", "", "one code (docs/findings.md)")
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "at most this many; 0: all")
	return cmd
}
