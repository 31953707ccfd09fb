package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type hookKeyRow struct {
	SiteID    int64  `gorm:"primaryKey;autoIncrement:false"`
	KeyID     string `gorm:"primaryKey"`
	Secret    string
	NotBefore time.Time
	NotAfter  *time.Time
}

func (hookKeyRow) TableName() string { return "hook_keys" }

// HookKeys gives the secrets of a site that are not over, newest first.
func (s *Store) HookKeys(ctx context.Context, siteID int64) ([]models.HookKey, error) {
	var rows []hookKeyRow
	err := s.reads.WithContext(ctx).Where("site_id = ? AND (not_after IS NULL OR not_after > ?)", siteID, now()).
		Order("not_before DESC, key_id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read hook keys: %w", err)
	}
	out := make([]models.HookKey, 0, len(rows))
	for _, r := range rows {
		key := models.HookKey{ID: r.KeyID, Secret: r.Secret, NotBefore: r.NotBefore.UTC()}
		if r.NotAfter != nil {
			key.NotAfter = r.NotAfter.UTC()
		}
		out = append(out, key)
	}
	return out, nil
}

// RotateHookKey makes a new secret for a site; the older ones stay valid for the overlap.
func (s *Store) RotateHookKey(ctx context.Context, siteID int64, overlap time.Duration) (models.HookKey, error) {
	random := make([]byte, 32+4)
	if _, err := rand.Read(random); err != nil {
		return models.HookKey{}, fmt.Errorf("make hook key: %w", err)
	}
	key := models.HookKey{ID: hex.EncodeToString(random[32:]), Secret: "whsec_" + base64.StdEncoding.EncodeToString(random[:32]), NotBefore: now()}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		end := key.NotBefore.Add(overlap)
		err := tx.Exec("UPDATE hook_keys SET not_after = ? WHERE site_id = ? AND key_id <> ? AND (not_after IS NULL OR not_after > ?)",
			end, siteID, key.ID, end).Error
		if err != nil {
			return err
		}
		row := hookKeyRow{SiteID: siteID, KeyID: key.ID, Secret: key.Secret, NotBefore: key.NotBefore}
		return tx.Save(&row).Error
	})
	if err != nil {
		return models.HookKey{}, fmt.Errorf("rotate hook key: %w", err)
	}
	return key, nil
}

type tokenRow struct {
	ID         int64 `gorm:"primaryKey"`
	Name       string
	Prefix     string
	Hash       []byte
	Scopes     string
	CreatedAt  time.Time
	ExpiresAt  *time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

func (tokenRow) TableName() string { return "tokens" }

func (r *tokenRow) token() (models.Token, error) {
	t := models.Token{ID: r.ID, Name: r.Name, Prefix: r.Prefix, CreatedAt: r.CreatedAt.UTC(), ExpiresAt: micros(r.ExpiresAt),
		LastUsedAt: micros(r.LastUsedAt), RevokedAt: micros(r.RevokedAt)}
	copy(t.Hash[:], r.Hash)
	if err := json.Unmarshal([]byte(r.Scopes), &t.Scopes); err != nil {
		return t, fmt.Errorf("token %d: decode scopes: %w", r.ID, err)
	}
	return t, nil
}

// SaveToken stores a new token and gives it its id.
func (s *Store) SaveToken(ctx context.Context, t models.Token) (models.Token, error) {
	scopes, err := json.Marshal(t.Scopes)
	if err != nil {
		return t, fmt.Errorf("encode scopes: %w", err)
	}
	row := tokenRow{Name: t.Name, Prefix: t.Prefix, Hash: t.Hash[:], Scopes: string(scopes), CreatedAt: stored(t.CreatedAt), ExpiresAt: micros(t.ExpiresAt)}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		row.ID = 0
		return tx.Create(&row).Error
	})
	if duplicate(err) {
		return t, fmt.Errorf("save token %s: %w", t.Name, models.ErrConflict)
	}
	if err != nil {
		return t, fmt.Errorf("save token %s: %w", t.Name, err)
	}
	return row.token()
}

// TokenByHash finds a token, revoked or not.
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (models.Token, error) {
	var row tokenRow
	err := s.reads.WithContext(ctx).Where("hash = ?", hash[:]).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Token{}, fmt.Errorf("token: %w", models.ErrNotFound)
	}
	if err != nil {
		return models.Token{}, fmt.Errorf("read token: %w", err)
	}
	return row.token()
}

// Tokens gives all tokens by id, revoked ones too.
func (s *Store) Tokens(ctx context.Context) ([]models.Token, error) {
	var rows []tokenRow
	if err := s.reads.WithContext(ctx).Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	out := make([]models.Token, 0, len(rows))
	for i := range rows {
		t, err := rows[i].token()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// RevokeToken ends a token; one that is over stays as it is.
func (s *Store) RevokeToken(ctx context.Context, id int64, at time.Time) error {
	return s.write(ctx, func(tx *gorm.DB, _ int) error {
		var row tokenRow
		if err := tx.Where("id = ?", id).Limit(1).Find(&row).Error; err != nil {
			return fmt.Errorf("revoke token %d: %w", id, err)
		}
		if row.ID == 0 {
			return notFound("token", id)
		}
		return tx.Exec("UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", stored(at), id).Error
	})
}

// TouchToken notes that a token was used.
func (s *Store) TouchToken(ctx context.Context, id int64, at time.Time) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		return tx.Exec("UPDATE tokens SET last_used_at = ? WHERE id = ?", stored(at), id).Error
	})
	if err != nil {
		return fmt.Errorf("touch token %d: %w", id, err)
	}
	return nil
}
