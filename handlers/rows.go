package handlers

import (
	"slices"

	"github.com/sitemapd/sitemapd/models"
)

// Rows that handlers and storage share live in models; these names are for this package's own signatures.

type (
	FindingFilter = models.FindingFilter
	Token         = models.Token
	Account       = models.Account
	Session       = models.Session
	Delivery      = models.Delivery
)

// Results of a delivery, as the log shows them.
const (
	DeliveryAccepted  = models.DeliveryAccepted
	DeliveryDuplicate = models.DeliveryDuplicate
	DeliveryIgnored   = models.DeliveryIgnored
	DeliveryRejected  = models.DeliveryRejected
)

func validScopes(scopes []string) bool {
	for _, scope := range scopes {
		if !slices.Contains(scopeOrder, scope) {
			return false
		}
	}
	return len(scopes) > 0
}
