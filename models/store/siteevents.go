package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

// eventPages is how many pages an event names: it stays below the 20 kB that receivers are promised.
const eventPages = 50

// eventSite is how events name a site.
type eventSite struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Home string `json:"home"`
}

// ruledEvent tells that a person decided about removals; it is part of the transaction that records the ruling.
func ruledEvent(tx *gorm.DB, site *siteRow, urls []string, pages int64, ruling int, at time.Time) error {
	decision := "rejected"
	if ruling == approved {
		decision = "approved"
	}
	data, err := json.Marshal(map[string]any{"site": eventSite{site.ID, site.Name, site.Home}, "decision": decision, "by": "person", "pages": pages,
		"urls": bounded(urls), "more": pages > int64(len(bounded(urls)))})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	return appendEvents(tx, []models.Event{{SiteID: site.ID, Run: site.CurrentRun, Type: models.EventHeldResolved, At: at, Data: data}})
}

// bounded keeps what fits into an event.
func bounded(urls []string) []string {
	kept, size := []string{}, 0
	for _, url := range urls {
		if size += len(url); len(kept) == eventPages || size > 12<<10 {
			break
		}
		kept = append(kept, url)
	}
	return kept
}

// expiredEvent tells of expectations that nothing came of; it is part of the transaction that records it.
func expiredEvent(tx *gorm.DB, decided []models.Expectation) error {
	expired := slices.DeleteFunc(slices.Clone(decided), func(e models.Expectation) bool { return e.Outcome != models.OutcomeExpired })
	if len(expired) == 0 {
		return nil
	}
	var site siteRow
	if err := tx.Where("id = ?", expired[0].SiteID).Limit(1).Find(&site).Error; err != nil {
		return err
	}
	type shown struct {
		URL     string `json:"url"`
		Kind    string `json:"kind"`
		Trigger int64  `json:"trigger"`
		Finding string `json:"finding,omitempty"`
		Text    string `json:"text,omitempty"`
	}
	list, size := []shown{}, 0
	for _, e := range expired {
		if size += len(e.URL) + len(e.Text); len(list) == eventPages || size > 12<<10 {
			break
		}
		list = append(list, shown{e.URL, e.Kind, e.Trigger, e.Finding, e.Text})
	}
	data, err := json.Marshal(map[string]any{"site": eventSite{site.ID, site.Name, site.Home}, "expectations": list, "pages": len(expired), "more": len(list) < len(expired)})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	at := now()
	if expired[0].DecidedAt != nil {
		at = *expired[0].DecidedAt
	}
	return appendEvents(tx, []models.Event{{SiteID: site.ID, Run: expired[0].DecidedRun, Type: models.EventExpectationExpired, At: at, Data: data}})
}
