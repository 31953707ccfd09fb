package models

import "time"

// HookKey is one stored secret of one site: "whsec_" and base64.
type HookKey struct {
	ID        string
	Secret    string
	NotBefore time.Time
	NotAfter  time.Time // zero: no end
}
