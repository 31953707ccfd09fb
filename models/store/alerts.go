package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

type alertRuleRow struct {
	ID            int64 `gorm:"primaryKey"`
	Name          string
	NameKey       []byte
	Measure       string
	Threshold     float64
	Severity      string
	Code          string
	Lookback      int64
	SiteID        int64
	Filter        string
	Channels      string
	Paused        bool
	Origin        string
	CreatedAt     time.Time
	SilencedUntil *time.Time
	SilenceReason string
}

func (alertRuleRow) TableName() string { return "alert_rules" }

func newAlertRuleRow(r *models.AlertRule) (alertRuleRow, error) {
	channels, err := json.Marshal(append([]int64{}, r.Channels...))
	if err != nil {
		return alertRuleRow{}, fmt.Errorf("encode channels: %w", err)
	}
	return alertRuleRow{ID: r.ID, Name: r.Name, NameKey: textKey(r.Name), Measure: r.Trigger, Threshold: r.Threshold, Severity: r.Severity, Code: r.Code,
		Lookback: r.Within.Microseconds(), SiteID: r.SiteID, Filter: r.Filter, Channels: string(channels), Paused: r.Paused, Origin: r.Origin,
		CreatedAt: stored(r.CreatedAt), SilencedUntil: micros(r.SilencedUntil), SilenceReason: text(r.SilenceReason, 255)}, nil
}

func (r *alertRuleRow) rule() (models.AlertRule, error) {
	out := models.AlertRule{ID: r.ID, Name: r.Name, Trigger: r.Measure, Threshold: r.Threshold, Severity: r.Severity, Code: r.Code,
		Within: time.Duration(r.Lookback) * time.Microsecond, SiteID: r.SiteID, Filter: r.Filter, Paused: r.Paused, Origin: r.Origin,
		CreatedAt: r.CreatedAt.UTC(), SilencedUntil: micros(r.SilencedUntil), SilenceReason: r.SilenceReason}
	if err := json.Unmarshal([]byte(r.Channels), &out.Channels); err != nil {
		return out, fmt.Errorf("alert rule %d: decode channels: %w", r.ID, err)
	}
	return out, nil
}

// AlertRules gives all rules, by id.
func (s *Store) AlertRules(ctx context.Context) ([]models.AlertRule, error) {
	var rows []alertRuleRow
	if err := s.reads.WithContext(ctx).Order("id").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read alert rules: %w", err)
	}
	out := make([]models.AlertRule, 0, len(rows))
	for i := range rows {
		r, err := rows[i].rule()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// FindAlertRule gives the rule with a name or a number.
func (s *Store) FindAlertRule(ctx context.Context, name string) (models.AlertRule, error) {
	query := s.reads.WithContext(ctx).Where("name_key = ?", textKey(name))
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		query = s.reads.WithContext(ctx).Where("id = ?", id)
	}
	var row alertRuleRow
	err := query.Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.AlertRule{}, notFound("alert rule", name)
	}
	if err != nil {
		return models.AlertRule{}, fmt.Errorf("read alert rule: %w", err)
	}
	return row.rule()
}

// SaveAlertRule stores a new rule (id 0) or what was changed of one.
func (s *Store) SaveAlertRule(ctx context.Context, r models.AlertRule) (models.AlertRule, error) {
	row, err := newAlertRuleRow(&r)
	if err != nil {
		return r, err
	}
	err = s.write(ctx, func(tx *gorm.DB, _ int) error {
		if r.ID == 0 {
			row.ID = 0
			return tx.Create(&row).Error
		}
		var n int64
		if err := tx.Model(&alertRuleRow{}).Where("id = ?", r.ID).Count(&n).Error; err != nil {
			return err
		}
		if n == 0 {
			return notFound("alert rule", r.ID)
		}
		return tx.Save(&row).Error
	})
	if duplicate(err) {
		return r, fmt.Errorf("alert rule %s: %w", r.Name, models.ErrConflict)
	}
	if err != nil {
		return r, fmt.Errorf("save alert rule %s: %w", r.Name, err)
	}
	return row.rule()
}

// RemoveAlertRule deletes a rule. Its alerts stay as history; those that are open are resolved by nothing more.
func (s *Store) RemoveAlertRule(ctx context.Context, id int64, at time.Time) error {
	err := s.write(ctx, func(tx *gorm.DB, try int) error {
		gone := tx.Exec("DELETE FROM alert_rules WHERE id = ?", id)
		if gone.Error == nil && gone.RowsAffected == 0 && try == 0 {
			return notFound("alert rule", id)
		}
		if gone.Error != nil {
			return gone.Error
		}
		if err := tx.Exec("DELETE FROM alert_states WHERE rule_id = ?", id).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE alerts SET resolved_at = ? WHERE rule_id = ? AND resolved_at IS NULL", stored(at), id).Error
	})
	if err != nil {
		return fmt.Errorf("remove alert rule: %w", err)
	}
	return nil
}

type alertRow struct {
	ID          int64 `gorm:"primaryKey"`
	RuleID      int64
	Rule        string
	Measure     string
	SiteID      int64
	OpenedAt    time.Time
	OpenedRun   int64
	ResolvedAt  *time.Time
	ResolvedRun int64
	Value       float64
	Text        string
	Told        bool
}

func (alertRow) TableName() string { return "alerts" }

func (r *alertRow) alert() models.Alert {
	return models.Alert{ID: r.ID, RuleID: r.RuleID, Rule: r.Rule, Trigger: r.Measure, SiteID: r.SiteID, OpenedAt: r.OpenedAt.UTC(), OpenedRun: r.OpenedRun,
		ResolvedAt: micros(r.ResolvedAt), ResolvedRun: r.ResolvedRun, Value: r.Value, Text: r.Text, Told: r.Told}
}

// AlertStates gives whether each rule holds for a site (0: for every site).
func (s *Store) AlertStates(ctx context.Context, siteID int64) ([]models.AlertState, error) {
	var rows []struct {
		RuleID  int64
		SiteID  int64
		Version int64
		AlertID int64
	}
	query := s.reads.WithContext(ctx).Table("alert_states").Order("rule_id, site_id")
	if siteID != 0 {
		query = query.Where("site_id = ?", siteID)
	}
	if err := query.Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read alert states: %w", err)
	}
	out := make([]models.AlertState, 0, len(rows))
	for _, r := range rows {
		state := models.AlertState{RuleID: r.RuleID, SiteID: r.SiteID, Version: r.Version}
		if r.AlertID != 0 {
			var row alertRow
			err := s.reads.WithContext(ctx).Where("id = ?", r.AlertID).Limit(1).Find(&row).Error
			if err != nil {
				return nil, fmt.Errorf("read alert %d: %w", r.AlertID, err)
			}
			if alert := row.alert(); row.ID != 0 {
				state.Alert = &alert
			}
		}
		out = append(out, state)
	}
	return out, nil
}

// Alerts gives a site's alerts (0: all sites'), newest first, with ids below before (0: from the newest).
func (s *Store) Alerts(ctx context.Context, siteID, before int64, limit int) ([]models.Alert, error) {
	query := s.reads.WithContext(ctx).Order("id DESC")
	if siteID != 0 {
		query = query.Where("site_id = ?", siteID)
	}
	if before > 0 {
		query = query.Where("id < ?", before)
	}
	if limit > 0 {
		query = query.Limit(limit)
	}
	var rows []alertRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	out := make([]models.Alert, 0, len(rows))
	for i := range rows {
		out = append(out, rows[i].alert())
	}
	return out, nil
}

// SaveAlerts opens, resolves and tells alerts between runs, together with the events that tell of them. False: a state
// had changed since, nothing was stored.
func (s *Store) SaveAlerts(ctx context.Context, changes []models.AlertChange, events []models.Event) (bool, error) {
	err := s.write(ctx, func(tx *gorm.DB, _ int) error {
		if err := applyAlerts(tx, changes); err != nil {
			return err
		}
		return appendEvents(tx, events)
	})
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("save alerts: %w", err)
	}
	return true, nil
}

func applyAlerts(tx *gorm.DB, changes []models.AlertChange) error {
	for i := range changes {
		if err := applyAlert(tx, &changes[i]); err != nil {
			return err
		}
	}
	return nil
}

func applyAlert(tx *gorm.DB, c *models.AlertChange) error {
	a := &c.Alert
	row := alertRow{ID: a.ID, RuleID: c.Rule.ID, Rule: c.Rule.Name, Measure: c.Rule.Trigger, SiteID: c.SiteID, OpenedAt: stored(a.OpenedAt), OpenedRun: a.OpenedRun,
		ResolvedAt: micros(a.ResolvedAt), ResolvedRun: a.ResolvedRun, Value: a.Value, Text: a.Text, Told: a.Told || c.Tell && c.Open}
	if err := tx.Save(&row).Error; err != nil {
		return fmt.Errorf("save alert: %w", err)
	}
	open := row.ID
	if !c.Open {
		open = 0
	}
	if c.Version == 0 {
		err := tx.Exec("INSERT INTO alert_states (rule_id, site_id, version, alert_id) VALUES (?, ?, 1, ?)", c.Rule.ID, c.SiteID, open).Error
		if duplicate(err) {
			return errOvertaken
		}
		return err
	}
	moved := tx.Exec("UPDATE alert_states SET version = version + 1, alert_id = ? WHERE rule_id = ? AND site_id = ? AND version = ?", open, c.Rule.ID, c.SiteID, c.Version)
	if moved.Error == nil && moved.RowsAffected != 1 {
		return errOvertaken
	}
	return moved.Error
}
