package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

const (
	eventBatch = 50  // events read at a time: at most 1 MB
	turn       = 200 // events of one channel before others have their turn
)

// deliver brings a channel what waits for it, in order, until something fails, nothing waits or its turn is over. It
// tells whether to look again at once.
func (w *Worker) deliver(ctx context.Context, id int64) (more bool) {
	c, err := w.o.Store.ClaimChannel(ctx, id, w.o.Owner, w.o.Claim)
	if errors.Is(err, models.ErrBusy) {
		return false
	}
	if err != nil {
		w.complain(ctx, "claim a channel", err)
		return false
	}
	defer func() {
		// Also when the daemon stops: the next one need not wait for the claim's end.
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		w.complain(free, "release a channel", w.o.Store.ReleaseChannel(free, c))
	}()
	if err := w.repeat(ctx, &c); err != nil {
		w.settled(ctx, err)
		return false
	}
	for sent := 0; sent < turn; {
		if c.DisabledAt != nil || ctx.Err() != nil || c.NextAt != nil && w.o.Now().Before(*c.NextAt) {
			return false
		}
		events, err := w.o.Store.Events(ctx, c.Position, eventBatch)
		if err != nil || len(events) == 0 {
			w.complain(ctx, "read events", err)
			return false
		}
		n, err := w.batch(ctx, &c, events)
		if sent += n; err != nil {
			w.settled(ctx, err)
			return false
		}
	}
	return true
}

// errWaits ends a turn: the event at the head has to wait.
var errWaits = errors.New("the event waits for its next try")

func (w *Worker) settled(ctx context.Context, err error) {
	if !errors.Is(err, errWaits) && !errors.Is(err, models.ErrLeaseLost) {
		w.complain(ctx, "deliver", err)
	}
}

// batch delivers what the channel wants of some events.
func (w *Worker) batch(ctx context.Context, c *models.Channel, events []models.Event) (sent int, err error) {
	for i := range events {
		e := &events[i]
		if !c.Wants(e) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return sent, err
		}
		try := 1
		if c.Head == e.ID {
			try = c.Tries + 1
		}
		o, err := w.attempt(ctx, c, e, try)
		if err != nil {
			return sent, err
		}
		var notice []models.Event
		if o.Disable != "" {
			notice = []models.Event{disabledEvent(c, o)}
		}
		// What was sent must be recorded even while the daemon stops, or it is sent again.
		if err := w.o.Store.Settle(context.WithoutCancel(ctx), c, o, w.o.Claim, notice); err != nil {
			return sent, err
		}
		sent++
		w.observe(c, o)
		if o.Attempt.Outcome == models.AttemptFailed || c.DisabledAt != nil {
			return sent, errWaits
		}
	}
	if last := events[len(events)-1].ID; c.Position < last {
		return sent, w.o.Store.SkipEvents(ctx, c, last, w.o.Claim)
	}
	return sent, nil
}

// repeat sends what somebody asked to be sent again.
func (w *Worker) repeat(ctx context.Context, c *models.Channel) error {
	events, tries, err := w.o.Store.Resends(ctx, c.ID, w.o.Now(), eventBatch)
	if err != nil {
		return err
	}
	for i := range events {
		if err := ctx.Err(); err != nil {
			return err
		}
		o, err := w.attempt(ctx, c, &events[i], tries[i]+1)
		if err != nil {
			return err
		}
		o.Attempt.Resend, o.Disable = true, "" // what a person asks for disables nothing
		if err := w.o.Store.SettleResend(context.WithoutCancel(ctx), c, o, w.o.Claim); err != nil {
			return err
		}
		w.observe(c, o)
		if o.Attempt.Outcome == models.AttemptFailed {
			return errWaits
		}
	}
	return nil
}

func (w *Worker) observe(c *models.Channel, o models.Settlement) {
	a := o.Attempt
	if a.Outcome != models.AttemptDelivered {
		w.o.Logger.Warn("an event could not be delivered", "channel", c.Name, "event", a.EventUID, "type", a.Type, "try", a.Try, "outcome", a.Outcome,
			"status", a.Status, "error", a.Error, "next_try", o.NextAt)
	}
	if o.Disable != "" {
		w.o.Logger.Error("a channel is disabled", "channel", c.Name, "reason", o.Disable)
	}
	if w.o.Observe != nil {
		w.o.Observe(*c, a)
	}
}

// attempt sends once and decides what follows. A request that the end of the daemon cut short is none.
func (w *Worker) attempt(ctx context.Context, c *models.Channel, e *models.Event, try int) (models.Settlement, error) {
	sending, cancel := graceful(ctx, w.o.Grace)
	defer cancel()
	at := w.o.Now()
	r, err := w.o.Sender.Send(sending, c, e)
	if sending.Err() != nil {
		return models.Settlement{}, sending.Err()
	}
	if err != nil { // ours: an event that cannot be read would stop its channel for ever
		r = Result{Error: "the event cannot be sent: " + oneLine(err.Error())}
	}
	a := NewAttempt(c, e, r, at, try)
	o := models.Settlement{Attempt: a}
	if a.Outcome == models.AttemptDelivered {
		return o, nil
	}
	if try > len(w.o.Waits) {
		o.Attempt.Outcome = models.AttemptGivenUp
	} else {
		next := at.Add(max(jittered(w.o.Waits[try-1]), r.RetryAfter))
		o.NextAt = &next
	}
	switch {
	case r.Gone:
		o.Disable = r.Error
	case c.FailingSince != nil && at.Sub(*c.FailingSince) >= w.o.DisableAfter:
		o.Disable = fmt.Sprintf("nothing could be delivered since %s: %s", c.FailingSince.UTC().Format(time.RFC3339), r.Error)
	}
	if o.Disable != "" {
		o.Attempt.Outcome, o.NextAt = models.AttemptFailed, nil // it is the first to be sent when the channel is enabled
	}
	return o, nil
}

// NewAttempt is the log's line for a result.
func NewAttempt(c *models.Channel, e *models.Event, r Result, at time.Time, try int) models.Attempt {
	a := models.Attempt{Channel: c.ID, EventID: e.ID, EventUID: e.UID, Type: e.Type, SiteID: e.SiteID, Run: e.Run, At: at.UTC(), Try: try,
		Outcome: models.AttemptDelivered, Status: r.Status, Took: r.Took, TookMS: float64(r.Took.Microseconds()) / 1000, Error: r.Error, Excerpt: r.Excerpt}
	if r.Error != "" {
		a.Outcome = models.AttemptFailed
	}
	return a
}

// graceful gives a context that outlives ctx by a while.
func graceful(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() { stop(); cancel() }
}

// jittered spreads a wait by a tenth to either side, so that receivers which failed together are not asked together.
func jittered(wait time.Duration) time.Duration {
	if wait < 10 {
		return wait
	}
	return wait - wait/10 + rand.N(wait/5)
}

func disabledEvent(c *models.Channel, o models.Settlement) models.Event {
	lines := []string{"Reason: " + oneLine(o.Disable), "What happens meanwhile waits: enable the channel when its receiver works again."}
	data, _ := json.Marshal(map[string]any{ // texts and numbers alone: it cannot fail
		"summary": "sitemapd: channel " + c.Name + " is disabled", "lines": lines, "reason": o.Disable,
		"channel": map[string]any{"id": c.ID, "name": c.Name, "kind": c.Kind},
	})
	return models.Event{Type: models.EventChannelDisabled, At: o.Attempt.At, Data: data}
}
