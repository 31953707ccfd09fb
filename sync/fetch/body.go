package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Errors that a read of Result.Body wraps, beside io.ErrUnexpectedEOF for a body
// that was cut and context.Canceled.
var (
	ErrTooLarge = errors.New("body is larger than the limit")
	ErrTooSlow  = errors.New("body arrives too slowly")
	ErrTimeout  = errors.New("time limit reached")
)

// body puts the limits on a response body. Only time spent waiting for the
// network counts, so a slow consumer never makes the remote site look slow.
type body struct {
	rc     io.ReadCloser
	ctx    context.Context // of the request; its cause names the limit that ended it
	cancel context.CancelCauseFunc
	parent context.Context // the caller's

	left   int64         // bytes still allowed
	budget time.Duration // waiting still allowed
	window time.Duration
	floor  int64         // bytes that each window must bring
	waited time.Duration // in this window
	got    int64         // in this window

	slow  *time.Timer
	limit atomic.Bool // the running timer stands for the budget, not the window

	unread    byte // the byte that peek took
	hasUnread bool

	err     error
	seen    atomic.Value // Outcome of a fault
	release func()
	once    sync.Once
}

func (c *Client) newBody(ctx, parent context.Context, cancel context.CancelCauseFunc, rc io.ReadCloser,
	maxWire int64, budget time.Duration, release func(),
) *body {
	b := &body{
		rc: rc, ctx: ctx, cancel: cancel, parent: parent, left: maxWire, budget: budget,
		window: c.opt.SpeedWindow, release: release,
	}
	if c.opt.MinSpeed > 0 {
		b.floor = int64(float64(c.opt.MinSpeed) * c.opt.SpeedWindow.Seconds())
	}
	b.slow = time.AfterFunc(time.Hour, b.expire)
	b.slow.Stop()
	return b
}

func (b *body) expire() {
	if b.limit.Load() {
		b.cancel(ErrTimeout)
	} else {
		b.cancel(ErrTooSlow)
	}
}

func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, b.err
	}
	if b.hasUnread {
		p[0], b.hasUnread = b.unread, false
		return 1, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	if b.left == 0 {
		return 0, b.probeEnd()
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.timedRead(p)
	b.left -= int64(n)
	if err != nil {
		b.fail(err)
		return n, b.err
	}
	return n, nil
}

// probeEnd tells a body of exactly the limit from a longer one.
func (b *body) probeEnd() error {
	var one [1]byte
	n, err := b.timedRead(one[:])
	switch {
	case n > 0:
		b.fail(ErrTooLarge)
	case err != nil:
		b.fail(err)
	default:
		return nil
	}
	return b.err
}

func (b *body) timedRead(p []byte) (int, error) {
	allowed := b.budget
	b.limit.Store(true)
	if b.floor > 0 && b.window-b.waited < allowed {
		allowed = b.window - b.waited
		b.limit.Store(false)
	}
	b.slow.Reset(max(allowed, time.Millisecond))
	start := time.Now()
	n, err := b.rc.Read(p)
	b.slow.Stop()
	elapsed := time.Since(start)
	b.budget -= elapsed
	b.waited += elapsed
	if b.got += int64(n); b.got >= b.floor {
		b.got, b.waited = 0, 0
	}
	return n, err
}

// fail ends the body with an error that tells the limit or the fault, and that
// names no address: what the network stack says of a cut connection does.
func (b *body) fail(err error) {
	cause := context.Cause(b.ctx)
	switch {
	case errors.Is(err, io.EOF):
		b.err = io.EOF
	case errors.Is(err, ErrTooLarge):
		b.seen.Store(TooLarge)
		b.err = fmt.Errorf("read body: %w", ErrTooLarge)
	case b.parent.Err() != nil:
		b.seen.Store(Cancelled)
		b.err = fmt.Errorf("read body: %w", b.parent.Err())
	case errors.Is(cause, ErrTooSlow):
		b.seen.Store(TooSlow)
		b.err = fmt.Errorf("read body: %w", ErrTooSlow)
	case errors.Is(cause, ErrTimeout):
		b.seen.Store(Timeout)
		b.err = fmt.Errorf("read body: %w", ErrTimeout)
	case cause != nil: // closed by us while reading
		b.err = io.ErrClosedPipe
	default:
		b.seen.Store(Truncated)
		b.err = fmt.Errorf("read body: connection ended early: %w", io.ErrUnexpectedEOF)
	}
	b.finish()
}

func (b *body) outcome() Outcome {
	if o, ok := b.seen.Load().(Outcome); ok {
		return o
	}
	return OK
}

func (b *body) Close() error {
	b.finish()
	return nil
}

func (b *body) finish() {
	b.once.Do(func() {
		defer b.release()
		b.slow.Stop()
		// Cancelled after a clean end too: that only frees the context.
		_ = b.rc.Close()
		b.cancel(context.Canceled)
	})
}
