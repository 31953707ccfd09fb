package models

import "time"

// Token is a bearer token: its text is shown once, its SHA-256 is kept.
type Token struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"` // first characters, to recognise it
	Hash       [32]byte   `json:"-"`
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
}

// Live reports whether the token may be used at this moment.
func (t *Token) Live(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt)) && len(t.Scopes) > 0
}

// Account is a person who may log in.
type Account struct {
	Name      string
	Password  string // argon2id in PHC form
	Scopes    []string
	CreatedAt time.Time
}

// Session is one login of one account, found by the SHA-256 of its cookie.
type Session struct {
	Hash      [32]byte
	Account   string
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
}
