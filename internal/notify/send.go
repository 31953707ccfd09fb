package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// doer sends one HTTP request. The guard against private addresses is in it; it follows no redirect.
type doer interface {
	Do(*http.Request) (*http.Response, error)
}

// keyring gives the secrets that sign for a channel.
type keyring interface {
	ChannelKeys(ctx context.Context, channel int64) ([]models.ChannelKey, error)
}

// SenderOptions wire a Sender.
type SenderOptions struct {
	Web       doer
	Keys      keyring
	Mail      *Mail // nil: no mail server is configured
	PublicURL string
	Timeout   time.Duration // of one attempt: 15 s
	Now       func() time.Time
	Telegram  string // address of its API; tests alone change it
}

// Sender brings one event to one channel, once. It is safe for concurrent use.
type Sender struct{ o SenderOptions }

// NewSender completes the options.
func NewSender(o SenderOptions) *Sender {
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Telegram == "" {
		o.Telegram = "https://api.telegram.org"
	}
	return &Sender{o}
}

// Result is how an attempt ended.
type Result struct {
	Status     int // of the answer, 0 for none
	Took       time.Duration
	Error      string // a sentence without addresses or secrets; "" for success
	Excerpt    string // how the answer began
	RetryAfter time.Duration
	Gone       bool // the receiver says that it wants no more, ever
}

// excerpt is how much of an answer is read.
const excerpt = 512

// Send tries once. Its error is ours (the database, an event that cannot be read): what a receiver does is in the Result.
func (s *Sender) Send(ctx context.Context, c *models.Channel, e *models.Event) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	began := s.o.Now()
	if c.Kind == models.ChannelMail {
		m, err := read(e, s.o.PublicURL)
		if err != nil {
			return Result{}, err
		}
		r := s.o.Mail.send(ctx, c, e, m)
		r.Took = s.o.Now().Sub(began)
		return r, nil
	}
	request, err := s.request(ctx, c, e)
	if err != nil {
		return Result{}, err
	}
	r := s.exchange(request)
	r.Took = s.o.Now().Sub(began)
	return r, nil
}

func (s *Sender) request(ctx context.Context, c *models.Channel, e *models.Event) (*http.Request, error) {
	if c.Kind != models.ChannelWebhook {
		m, err := read(e, s.o.PublicURL)
		if err != nil {
			return nil, err
		}
		return s.chat(ctx, c, m)
	}
	content, err := body(e, s.o.PublicURL)
	if err != nil {
		return nil, err
	}
	keys, err := s.o.Keys.ChannelKeys(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	request, err := post(ctx, c.Address, content)
	if err != nil {
		return nil, err
	}
	at := s.o.Now()
	// Standard Webhooks write their names in lower case; HTTP does not care.
	request.Header.Set("webhook-id", e.UID)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	request.Header.Set("webhook-signature", Signature(keys, e.UID, at, content))
	return request, nil
}

func post(ctx context.Context, address string, content []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil {
		return nil, errors.New("the channel's address cannot be read") // the error repeats it, and it may hold a secret
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "*/*")
	return request, nil
}

func (s *Sender) exchange(request *http.Request) Result {
	response, err := s.o.Web.Do(request)
	if err != nil {
		return Result{Error: reason(err)}
	}
	defer response.Body.Close()
	r := Result{Status: response.StatusCode, Gone: response.StatusCode == http.StatusGone}
	start, err := io.ReadAll(io.LimitReader(response.Body, excerpt))
	r.Excerpt = oneLine(string(start))
	switch {
	case r.Status >= 300 && r.Status < 400:
		r.Error = "it answered with a redirect, which is not followed: change the address"
	case r.Gone:
		r.Error = "it answered 410 Gone"
	case r.Status < 200 || r.Status >= 300:
		r.Error = fmt.Sprintf("it answered %d %s", r.Status, http.StatusText(r.Status))
	case err != nil:
		r.Error = "its answer broke off"
	}
	if r.Error != "" {
		r.RetryAfter = retryAfter(response.Header, s.o.Now())
	}
	return r
}

// reason is an error of a request without the URL that net/http puts before it.
func reason(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "the server did not answer in time"
	}
	return oneLine(err.Error())
}

// maxRetryAfter is the longest time that a receiver may put us off.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads RFC 9110 section 10.2.3: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the sender's own clock
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

// TestEvent is what a person sends to see whether a channel works.
func TestEvent(c *models.Channel, now time.Time) models.Event {
	data, _ := json.Marshal(map[string]any{ // texts and numbers alone: it cannot fail
		"summary": "sitemapd: a test message to " + c.Name,
		"lines":   []string{"Somebody asked for it to see whether this channel works."},
		"channel": map[string]any{"id": c.ID, "name": c.Name},
	})
	// Channel -id: it is sent by hand, and no queue has it.
	return models.Event{Type: models.EventTest, At: now.UTC().Truncate(time.Microsecond), Channel: -c.ID, Data: data}
}
