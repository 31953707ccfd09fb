package notify

import (
	"context"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// alertStore is what alerts need of the database.
type alertStore interface {
	AlertRules(ctx context.Context) ([]models.AlertRule, error)
	AlertStates(ctx context.Context, siteID int64) ([]models.AlertState, error)
	SaveAlerts(ctx context.Context, changes []models.AlertChange, events []models.Event) (bool, error)
}

func (t *Teller) judgeRun(context.Context, *view, []models.AlertRule, []models.Channel) ([]models.AlertChange, []models.Event, error) {
	return nil, nil, nil
}

// Clock looks at alerts that time opens.
func (t *Teller) Clock(context.Context) error { return nil }

func (w *Worker) digests(context.Context, time.Time) error { return nil }
