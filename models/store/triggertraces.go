package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sitemapd/sitemapd/models"
)

type triggerTraceRow struct {
	SiteID    int64 `gorm:"primaryKey;autoIncrement:false"`
	TriggerID int64 `gorm:"primaryKey;autoIncrement:false"`
	Trace     string
}

func (triggerTraceRow) TableName() string { return "trigger_traces" }

// maxTrace is more than a traceparent of version 0 takes (55 bytes).
const maxTrace = 128

func saveTrace(tx *gorm.DB, t *models.Trigger, id int64) error {
	if t.Trace == "" {
		return nil
	}
	row := triggerTraceRow{SiteID: t.SiteID, TriggerID: id, Trace: clip(t.Trace, maxTrace)}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}

// tracesRead bounds how many a run is told of: more links than that no collector keeps of one span.
const tracesRead = 128

// TriggerTraces gives the traces with which some triggers of a site came, oldest first; of many the newest.
func (s *Store) TriggerTraces(ctx context.Context, siteID int64, triggers []int64) ([]string, error) {
	triggers = triggers[max(0, len(triggers)-tracesRead):]
	if len(triggers) == 0 {
		return nil, nil
	}
	var traces []string
	err := s.reads.WithContext(ctx).Model(&triggerTraceRow{}).Where("site_id = ? AND trigger_id IN ?", siteID, triggers).Order("trigger_id").
		Pluck("trace", &traces).Error
	if err != nil {
		return nil, fmt.Errorf("read traces of triggers: %w", err)
	}
	return traces, nil
}
