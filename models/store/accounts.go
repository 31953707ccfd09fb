package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type accountRow struct {
	NameKey   []byte `gorm:"primaryKey"`
	Name      string
	Password  string
	Scopes    string
	CreatedAt time.Time
}

func (accountRow) TableName() string { return "accounts" }

func (r *accountRow) account() (models.Account, error) {
	a := models.Account{Name: r.Name, Password: r.Password, CreatedAt: r.CreatedAt.UTC()}
	if err := json.Unmarshal([]byte(r.Scopes), &a.Scopes); err != nil {
		return a, fmt.Errorf("account %s: decode scopes: %w", r.Name, err)
	}
	return a, nil
}

// Accounts gives everybody who may log in, by name.
func (s *Store) Accounts(ctx context.Context) ([]models.Account, error) {
	var rows []accountRow
	if err := s.reads.WithContext(ctx).Order("name").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	out := make([]models.Account, 0, len(rows))
	for i := range rows {
		a, err := rows[i].account()
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Account gives one account by its name.
func (s *Store) Account(ctx context.Context, name string) (models.Account, error) {
	var row accountRow
	err := s.reads.WithContext(ctx).Where("name_key = ?", textKey(name)).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Account{}, notFound("account", name)
	}
	if err != nil {
		return models.Account{}, fmt.Errorf("read account: %w", err)
	}
	return row.account()
}

// SaveAccount stores an account, in place of the one with its name.
func (s *Store) SaveAccount(ctx context.Context, a models.Account) error {
	scopes, err := json.Marshal(a.Scopes)
	if err != nil {
		return fmt.Errorf("encode scopes: %w", err)
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt = now()
	}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		row := accountRow{NameKey: textKey(a.Name), Name: a.Name, Password: a.Password, Scopes: string(scopes), CreatedAt: stored(a.CreatedAt)}
		if err := tx.Exec("DELETE FROM accounts WHERE name_key = ?", row.NameKey).Error; err != nil {
			return err
		}
		return tx.Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("save account %s: %w", a.Name, err)
	}
	return nil
}

type sessionRow struct {
	Hash      []byte `gorm:"primaryKey"`
	Account   string
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
}

func (sessionRow) TableName() string { return "sessions" }

// SaveSession stores a log-in and clears away those that are over.
func (s *Store) SaveSession(ctx context.Context, session models.Session) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		if err := tx.Exec("DELETE FROM sessions WHERE hash = ? OR expires_at < ?", session.Hash[:], now()).Error; err != nil {
			return err
		}
		return tx.Create(&sessionRow{Hash: session.Hash[:], Account: session.Account, CreatedAt: stored(session.CreatedAt),
			SeenAt: stored(session.SeenAt), ExpiresAt: stored(session.ExpiresAt)}).Error
	})
	if err != nil {
		return fmt.Errorf("save session: %w", err)
	}
	return nil
}

// SessionByHash finds a log-in, over or not.
func (s *Store) SessionByHash(ctx context.Context, hash [32]byte) (models.Session, error) {
	var row sessionRow
	err := s.reads.WithContext(ctx).Where("hash = ?", hash[:]).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Session{}, fmt.Errorf("session: %w", models.ErrNotFound)
	}
	if err != nil {
		return models.Session{}, fmt.Errorf("read session: %w", err)
	}
	return models.Session{Hash: hash, Account: row.Account, CreatedAt: row.CreatedAt.UTC(), SeenAt: row.SeenAt.UTC(), ExpiresAt: row.ExpiresAt.UTC()}, nil
}

// TouchSession notes that a log-in was used, and until when it is valid now.
func (s *Store) TouchSession(ctx context.Context, hash [32]byte, seen, expires time.Time) error {
	return s.access(ctx, "touch session", "UPDATE sessions SET seen_at = ?, expires_at = ? WHERE hash = ?", stored(seen), stored(expires), hash[:])
}

// EndSession ends one log-in.
func (s *Store) EndSession(ctx context.Context, hash [32]byte) error {
	return s.access(ctx, "end session", "DELETE FROM sessions WHERE hash = ?", hash[:])
}

// EndSessions ends all log-ins of an account.
func (s *Store) EndSessions(ctx context.Context, account string) error {
	return s.access(ctx, "end sessions", "DELETE FROM sessions WHERE account = ?", account)
}

func (s *Store) access(ctx context.Context, what, text string, args ...any) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error { return tx.Exec(text, args...).Error })
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// SaveLink keeps the hash of one administrator's link, in place of an earlier one.
func (s *Store) SaveLink(ctx context.Context, hash [32]byte, expires time.Time) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		if err := tx.Exec("DELETE FROM admin_link").Error; err != nil {
			return err
		}
		return tx.Exec("INSERT INTO admin_link (id, hash, expires_at) VALUES (1, ?, ?)", hash[:], stored(expires)).Error
	})
	if err != nil {
		return fmt.Errorf("save link: %w", err)
	}
	return nil
}

// TakeLink uses the link up: models.ErrNotFound when it is unknown, used or out of date. Of two at once one gets it.
func (s *Store) TakeLink(ctx context.Context, hash [32]byte, at time.Time) error {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		result := tx.Exec("DELETE FROM admin_link WHERE hash = ? AND expires_at > ?", hash[:], stored(at))
		if result.Error == nil && result.RowsAffected != 1 {
			return fmt.Errorf("link: %w", models.ErrNotFound)
		}
		return result.Error
	})
	if err != nil {
		return fmt.Errorf("take link: %w", err)
	}
	return nil
}
