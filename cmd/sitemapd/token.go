package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitemapd/sitemapd/handlers"
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/models/store"
)

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Short: "Bearer tokens of the API: create, list, revoke", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(a.tokenCreate(), a.tokenList(), a.tokenRevoke())
	return cmd
}

func (a *app) withStore(fn func(ctx context.Context, s *store.Store, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.open(cmd)
		if err != nil {
			return err
		}
		defer s.Close()
		return fn(cmd.Context(), s, args)
	}
}

func (a *app) tokenCreate() *cobra.Command {
	var scopes []string
	var days int
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token and show it this once",
		Args:  cobra.ExactArgs(1),
		RunE: a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
			now := time.Now().UTC()
			var expires *time.Time
			if days > 0 {
				at := now.AddDate(0, 0, days)
				expires = &at
			}
			token, text, err := handlers.NewToken(args[0], scopes, now, expires)
			if err != nil {
				return err
			}
			saved, err := s.SaveToken(ctx, token)
			if err != nil {
				return err
			}
			out := map[string]any{"id": saved.ID, "name": saved.Name, "token": text, "scopes": saved.Scopes, "expires_at": saved.ExpiresAt}
			return a.object(out, func(w io.Writer) { fmt.Fprintln(w, text) })
		}),
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", []string{handlers.ScopeRead}, "read, run, write or admin; each includes the ones before it")
	cmd.Flags().IntVar(&days, "days", 0, "valid for this many days; 0 for ever")
	return cmd
}

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "All tokens, without their texts",
		Args:  cobra.NoArgs,
		RunE: a.withStore(func(ctx context.Context, s *store.Store, _ []string) error {
			tokens, err := s.Tokens(ctx)
			if err != nil {
				return err
			}
			at := func(t *time.Time) string {
				if t == nil {
					return ""
				}
				return when(*t)
			}
			out := a.printer("id", "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at")
			for i := range tokens {
				t := &tokens[i]
				if err := out.row(t, strconv.FormatInt(t.ID, 10), t.Name, t.Prefix, strings.Join(t.Scopes, " "), when(t.CreatedAt),
					at(t.ExpiresAt), at(t.LastUsedAt), at(t.RevokedAt)); err != nil {
					return err
				}
			}
			return out.close()
		}),
	}
}

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token at once",
		Args:  cobra.ExactArgs(1),
		RunE: a.withStore(func(ctx context.Context, s *store.Store, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage("token id %q: want a number from `sitemapd token list`", args[0])
			}
			if err := s.RevokeToken(ctx, id, time.Now().UTC()); errors.Is(err, models.ErrNotFound) {
				return fmt.Errorf("%w; `sitemapd token list` shows what there is", err)
			} else if err != nil {
				return err
			}
			return a.object(map[string]any{"id": id, "revoked": true}, func(w io.Writer) { fmt.Fprintf(w, "token %d is revoked\n", id) })
		}),
	}
}
