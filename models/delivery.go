package models

import (
	"strconv"
	"time"
)

// Results of a delivery, as the log shows them.
const (
	DeliveryAccepted  = "accepted"  // stored as a trigger
	DeliveryDuplicate = "duplicate" // the same delivery was stored before
	DeliveryIgnored   = "ignored"   // authentic, and nothing to look for
	DeliveryRejected  = "rejected"  // not authentic, or not readable
)

// Delivery is one request at a publish hook and what was done with it. Accepted ones are the
// triggers themselves; the others are kept for people who ask why nothing happened.
type Delivery struct {
	ID      int64     `json:"id" doc:"Counts triggers and the other deliveries each by themselves: see ref."`
	Ref     string    `json:"ref" doc:"Names the delivery among all of the log: trigger-7 or delivery-7."`
	SiteID  int64     `json:"-"`
	At      time.Time `json:"at"`
	Result  string    `json:"result" enum:"accepted,duplicate,ignored,rejected"`
	Cause   string    `json:"cause,omitempty"` // why it was ignored or rejected
	Status  int       `json:"status"`
	Dialect string    `json:"dialect"`
	KeyID   string    `json:"key_id,omitempty"` // the secret that matched
	Remote  string    `json:"remote,omitempty"`
	Bytes   int64     `json:"bytes"`
	Trigger int64     `json:"trigger,omitempty"`    // inbox id of an accepted or duplicate delivery
	Run     int64     `json:"served_run,omitempty"` // run that served it
	Hints   []Hint    `json:"hints,omitempty"`
}

// DeliveryRef names a delivery that became no trigger, TriggerRef one that did: the two are numbered apart.
func DeliveryRef(id int64) string { return "delivery-" + strconv.FormatInt(id, 10) }

// TriggerRef names an accepted delivery, or a trigger of a person or a schedule.
func TriggerRef(id int64) string { return "trigger-" + strconv.FormatInt(id, 10) }
