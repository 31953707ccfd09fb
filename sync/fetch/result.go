package fetch

import (
	"io"
	"net/http"
	"time"
)

// Outcome is how a fetch ended. It is data about the remote site.
type Outcome string

const (
	OK               Outcome = "ok"           // 200 or 203: Body streams
	NotModified      Outcome = "not_modified" // 304 to our validators
	HTTPError        Outcome = "http_error"   // any other final status: Body streams what came with it
	Timeout          Outcome = "timeout"      // no answer in time
	DNS              Outcome = "dns"          // the name did not resolve
	Refused          Outcome = "refused"      // nobody listens, or no route
	TLS              Outcome = "tls"          // certificate or handshake
	BlockedAddress   Outcome = "blocked_address"
	TooLarge         Outcome = "too_large"
	RedirectLoop     Outcome = "redirect_loop"
	TooManyRedirects Outcome = "too_many_redirects"
	BadRedirect      Outcome = "bad_redirect" // no or unusable Location, or https to http
	Protocol         Outcome = "protocol"     // no valid HTTP answer, or a connection cut before one
	TooSlow          Outcome = "too_slow"
	Truncated        Outcome = "truncated" // the body ended early: seen while reading it
	Cancelled        Outcome = "cancelled" // the caller's context ended
	BadURL           Outcome = "bad_url"   // the request itself cannot be sent
)

// Hop is one redirect that was answered on the way.
type Hop struct {
	URL      string
	Status   int
	Location string // as sent, unresolved
	Header   http.Header
	// Downgrade: this hop left https for http (followed for pages alone).
	Downgrade  bool
	RetryAfter time.Duration
}

// Result is what a fetch found. It is never nil and Close is always safe.
type Result struct {
	URL      string // as requested
	FinalURL string // the last URL that was asked
	Hops     []Hop  // redirects in order, empty without any
	Outcome  Outcome
	// Reason is one sentence for people. It never names an address that the
	// requested name resolved to; that detail goes to the log.
	Reason string

	Status             int         // of the final answer, 0 without one
	Header             http.Header // of the final answer, never nil
	ETag, LastModified string      // validators of the final answer
	ContentType        string
	ContentEncoding    string
	ContentLength      int64 // -1: not declared
	// Unframed: the body's end is told by the closing connection alone, so a cut
	// body looks complete.
	Unframed bool
	Proto    string // "HTTP/1.1", "HTTP/2.0"

	// Body streams the wire bytes (still gzip where the server sent gzip). A
	// read fails with an error that wraps ErrTooLarge, ErrTooSlow, ErrTimeout,
	// io.ErrUnexpectedEOF or the context's error; BodyOutcome tells which. The
	// host's slot is held until the body ended or was closed: do not wait for
	// another fetch from the same host meanwhile.
	Body io.ReadCloser

	FetchedAt time.Time // when the final request was sent
	// Age is what a cache on the way declared, 0 without; ObservedAt is
	// FetchedAt less Age: the instant at which the origin said this. The Date
	// header is not used: it is the origin's in a conforming cache and the
	// cache's own in others, and clocks are wrong.
	Age        time.Duration
	ObservedAt time.Time

	RetryAfter time.Duration // declared by the final answer, at most 24 h, 0 without
	Attempts   int
	Elapsed    time.Duration // from the call of Do to its return, waiting included
	// ValidatorsDropped: the server answered our validators with an empty 200
	// (seen with LiteSpeed), so the document was asked for again without them.
	ValidatorsDropped bool

	body      *body
	retryable bool
	detail    error // for the log
	dropped   bool  // asks for a repetition without validators
}

// Close releases the body and the host's slot. It may be called many times.
func (r *Result) Close() error {
	if r == nil || r.Body == nil {
		return nil
	}
	return r.Body.Close()
}

// BodyOutcome is OK while reading the body met no fault, else TooLarge,
// TooSlow, Timeout, Truncated or Cancelled.
func (r *Result) BodyOutcome() Outcome {
	if r.body == nil {
		return OK
	}
	return r.body.outcome()
}

// HasBody reports whether there is a body to read.
func (r *Result) HasBody() bool { return r.body != nil }
