package handlers

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sitemapd/sitemapd/models"
)

// tokenStore holds bearer tokens by the hash of their text.
type tokenStore interface {
	TokenByHash(ctx context.Context, hash [32]byte) (models.Token, error)
	Tokens(ctx context.Context) ([]models.Token, error)
	SaveToken(ctx context.Context, token models.Token) (models.Token, error) // gives the id
	RevokeToken(ctx context.Context, id int64, at time.Time) error
	TouchToken(ctx context.Context, id int64, at time.Time) error
}

// TokenPrefix starts every token's text, so that scanners find leaked ones.
const TokenPrefix = "smd_"

// NewToken makes a token and its text, which is shown once and never stored.
func NewToken(name string, scopes []string, now time.Time, expires *time.Time) (models.Token, string, error) {
	if name == "" || !validScopes(scopes) {
		return models.Token{}, "", models.Invalid("scopes", "any of read, run, write, admin", "a token needs a name and known scopes")
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return models.Token{}, "", err
	}
	text := TokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	return models.Token{Name: name, Prefix: text[:len(TokenPrefix)+6], Hash: hashOf(text), Scopes: scopes, CreatedAt: now.UTC(), ExpiresAt: expires}, text, nil
}

type newTokenBody struct {
	_       struct{} `additionalProperties:"false"`
	Name    string   `json:"name" minLength:"1" maxLength:"100" doc:"What it is for."`
	Scopes  []string `json:"scopes" minItems:"1" maxItems:"4" enum:"read,run,write,admin" doc:"Each includes the ones before it."`
	Expires int64    `json:"expires_in_days,omitempty" minimum:"1" maximum:"3650" doc:"Never when left out."`
}

type madeToken struct {
	models.Token
	Text string `json:"token" doc:"The token itself, shown this once."`
}

func (s *Server) tokenRoutes() {
	tags := []string{"access"}
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "list-tokens", Method: "GET", Path: "/tokens", Tags: tags, Summary: "Tokens, without their texts",
	}, func(ctx context.Context, _ *struct{}) (*jsonOut[list[models.Token]], error) {
		if s.deps.Tokens == nil {
			return nil, unavailable("token storage")
		}
		tokens, err := s.deps.Tokens.Tokens(ctx)
		if tokens == nil {
			tokens = []models.Token{}
		}
		return &jsonOut[list[models.Token]]{list[models.Token]{Items: tokens}}, err
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "create-token", Method: "POST", Path: "/tokens", Tags: tags, Summary: "Make a token", DefaultStatus: 201, Errors: []int{422},
	}, func(ctx context.Context, in *struct{ Body newTokenBody }) (*jsonOut[madeToken], error) {
		if s.deps.Tokens == nil {
			return nil, unavailable("token storage")
		}
		now := s.deps.Now()
		var expires *time.Time
		if in.Body.Expires > 0 {
			at := now.UTC().AddDate(0, 0, int(in.Body.Expires))
			expires = &at
		}
		token, text, err := NewToken(in.Body.Name, in.Body.Scopes, now, expires)
		if err != nil {
			return nil, err
		}
		if token, err = s.deps.Tokens.SaveToken(ctx, token); err != nil {
			return nil, err
		}
		s.log.InfoContext(ctx, "token made", "token", token.ID, "scopes", token.Scopes, "by", principalName(ctx))
		return &jsonOut[madeToken]{madeToken{token, text}}, nil
	})
	register(s, ScopeAdmin, huma.Operation{
		OperationID: "revoke-token", Method: "DELETE", Path: "/tokens/{token}", Tags: tags, Summary: "Revoke a token", DefaultStatus: 204, Errors: []int{404},
	}, func(ctx context.Context, in *struct {
		Token int64 `path:"token" minimum:"1"`
	}) (*struct{}, error) {
		if s.deps.Tokens == nil {
			return nil, unavailable("token storage")
		}
		err := s.deps.Tokens.RevokeToken(ctx, in.Token, s.deps.Now())
		if isNotFound(err) {
			err = notFound("token")
		}
		return nil, err
	})
}
