package hook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Key is one shared secret of one endpoint, valid from NotBefore up to but without NotAfter;
// a zero bound is no bound.
type Key struct {
	ID        string
	NotBefore time.Time
	NotAfter  time.Time

	raw  []byte // what signs in Standard Webhooks
	text []byte // what signs wherever a person pastes the secret as a text
}

// SecretPrefix starts every secret's text, so that scanners find leaked ones.
const SecretPrefix = "whsec_"

// Secrets are 24 to 64 bytes (Standard Webhooks 1.0); ours have 32.
const (
	minSecret = 24
	maxSecret = 64
	ownSecret = 32
)

// NewKey makes a key with a random secret.
func NewKey(id string, now time.Time) (Key, error) {
	raw := make([]byte, ownSecret)
	if _, err := rand.Read(raw); err != nil {
		return Key{}, fmt.Errorf("make hook secret: %w", err)
	}
	key, err := ParseKey(id, SecretPrefix+base64.StdEncoding.EncodeToString(raw))
	key.NotBefore = now
	return key, err
}

// ParseKey reads a secret's text: "whsec_" and base64 of 24 to 64 bytes.
func ParseKey(id, secret string) (Key, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(secret, SecretPrefix))
	if err != nil || !strings.HasPrefix(secret, SecretPrefix) || len(raw) < minSecret || len(raw) > maxSecret {
		return Key{}, models.Invalid("secret", "make one with: sitemapd hook secret SITE --rotate",
			"want %q and the base64 of %d to %d bytes", SecretPrefix, minSecret, maxSecret)
	}
	return Key{ID: id, raw: raw, text: []byte(secret)}, nil
}

// Secret is the text to paste into a sender's settings.
func (k Key) Secret() string { return string(k.text) }

// Live reports whether the key may be used at this moment.
func (k Key) Live(now time.Time) bool {
	return len(k.raw) > 0 && !now.Before(k.NotBefore) && (k.NotAfter.IsZero() || now.Before(k.NotAfter))
}

// URLToken is the path element that stands for the key where a sender cannot sign. It is
// derived, so that it rotates with the secret, and one-way, so that a logged URL gives no secret away.
func (k Key) URLToken() string {
	return base64.RawURLEncoding.EncodeToString(k.mac(k.raw, []byte("sitemapd hook url v1")))
}

// MatchToken finds the live key that a URL's token belongs to. Every key is compared.
func MatchToken(token string, keys []Key, now time.Time) (id string, ok bool) {
	for _, key := range padded(keys) {
		equal := subtle.ConstantTimeCompare([]byte(key.URLToken()), []byte(token)) == 1
		if equal && key.Live(now) {
			id, ok = key.ID, true
		}
	}
	return id, ok
}

func (k Key) mac(secret []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, secret)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// maxKeys live keys are tried: the current one and those that a rotation overlaps with.
const maxKeys = 3

// padded cuts or fills the keys to maxKeys, so that every check computes the same number of MACs.
// A filler has no secret and is never live.
func padded(keys []Key) []Key {
	all := make([]Key, maxKeys)
	copy(all, keys)
	return all
}
