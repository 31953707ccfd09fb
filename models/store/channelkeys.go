package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type channelKeyRow struct {
	ChannelID int64  `gorm:"primaryKey;autoIncrement:false"`
	KeyID     string `gorm:"primaryKey"`
	Secret    string
	NotBefore time.Time
	NotAfter  *time.Time
}

func (channelKeyRow) TableName() string { return "channel_keys" }

// ChannelKeys gives the secrets of a channel that are not over, newest first.
func (s *Store) ChannelKeys(ctx context.Context, channel int64) ([]models.ChannelKey, error) {
	var rows []channelKeyRow
	err := s.reads.WithContext(ctx).Where("channel_id = ? AND (not_after IS NULL OR not_after > ?)", channel, now()).
		Order("not_before DESC, key_id").Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read keys of channel %d: %w", channel, err)
	}
	out := make([]models.ChannelKey, 0, len(rows))
	for _, r := range rows {
		key := models.ChannelKey{ID: r.KeyID, Secret: r.Secret, NotBefore: r.NotBefore.UTC()}
		if r.NotAfter != nil {
			key.NotAfter = r.NotAfter.UTC()
		}
		out = append(out, key)
	}
	return out, nil
}

// RotateChannelKey makes a new secret for a channel, or takes the one given; the older ones sign too for the overlap.
func (s *Store) RotateChannelKey(ctx context.Context, channel int64, secret string, overlap time.Duration) (models.ChannelKey, error) {
	random := make([]byte, 32+4)
	if _, err := rand.Read(random); err != nil {
		return models.ChannelKey{}, fmt.Errorf("make channel key: %w", err)
	}
	key := models.ChannelKey{ID: hex.EncodeToString(random[32:]), Secret: secret, NotBefore: now()}
	if secret == "" {
		key.Secret = "whsec_" + base64.StdEncoding.EncodeToString(random[:32])
	}
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		end := key.NotBefore.Add(overlap)
		err := tx.Exec("UPDATE channel_keys SET not_after = ? WHERE channel_id = ? AND key_id <> ? AND (not_after IS NULL OR not_after > ?)",
			end, channel, key.ID, end).Error
		if err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM channel_keys WHERE channel_id = ? AND not_after < ?", channel, key.NotBefore).Error; err != nil {
			return err
		}
		return tx.Save(&channelKeyRow{ChannelID: channel, KeyID: key.ID, Secret: key.Secret, NotBefore: key.NotBefore}).Error
	})
	if err != nil {
		return models.ChannelKey{}, fmt.Errorf("rotate channel key: %w", err)
	}
	return key, nil
}
