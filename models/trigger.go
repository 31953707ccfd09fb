package models

import "time"

// Trigger is a request to look at a site, kept from its arrival until a run served it.
type Trigger struct {
	ID         int64      `json:"id"`
	SiteID     int64      `json:"-"`
	Kind       string     `json:"kind"`    // hook, ping, manual, cron, recheck
	Dialect    string     `json:"dialect"` // standard_webhooks, github, woocommerce, wp_webhooks, wordpress_com, token, xmlrpc, indexnow, websub, none
	DedupeKey  Key        `json:"-"`
	ReceivedAt time.Time  `json:"received_at"`
	ServedRun  int64      `json:"served_run,omitempty"` // 0 until served
	ServedAt   *time.Time `json:"served_at,omitempty"`
	Hints      []Hint     `json:"hints,omitempty"`
	Body       []byte     `json:"-"` // raw, at most 64 KiB, for the delivery log
	// Trace is the traceparent of the request that brought it, "" while nothing is traced. Only saving knows it.
	Trace string `json:"-"`
}

// EventRetry is the hint of a person's trigger that asks for the documents that could not be read, and for no others.
const EventRetry = "documents.retry"

// Hint is what a trigger says should have happened to one page: a reason to look, never content.
type Hint struct {
	Event       string `json:"event"` // post.published, post.updated, post.unpublished, post.deleted, term.…, site.…
	URL         string `json:"url,omitempty"`
	PreviousURL string `json:"previous_url,omitempty"`
	PostID      int64  `json:"post_id,omitempty"`
	PostType    string `json:"post_type,omitempty"`
	ModifiedGMT string `json:"modified_gmt,omitempty"`
	Seq         int64  `json:"seq,omitempty"`
	Expect      string `json:"expect,omitempty"` // listed, gone, changed, moved
}

// Lease is the right to talk to one host and to write its sites' rows, held by one owner at a time.
// Epoch grows with every taking; each data transaction proves owner and epoch first.
type Lease struct {
	Host  Key
	Owner string
	Epoch int64
	Until time.Time

	// GiveBack makes Finish give the lease back in the transaction that proves it.
	GiveBack bool
}

// Progress is what a running walk tells its watchers.
type Progress struct {
	SiteID    int64  `json:"site_id"`
	Run       int64  `json:"run"`
	Phase     string `json:"phase"` // waiting, walking, confirming, applying, finished
	Documents int64  `json:"documents"`
	Known     int64  `json:"known"` // documents known so far, a lower bound of the total
	Pages     int64  `json:"pages"`
	Bytes     int64  `json:"bytes"`
	Document  string `json:"document,omitempty"` // the one just read
	Verdict   string `json:"verdict,omitempty"`  // when finished
}
