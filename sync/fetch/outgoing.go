package fetch

import (
	"context"
	"errors"
	"net/http"
)

// Outgoing gives a client for requests that read nothing from a site: webhooks, messages to chats. Each connection goes
// through the guard of o, on any port; redirects are answers like others and never followed; there are no cookies and
// no proxy. Its errors are sentences that name no address, so they may be shown and logged.
func Outgoing(o Options) *http.Client {
	o = o.withDefaults()
	return &http.Client{
		Transport:     &outgoing{next: newGuards(o).open, agent: o.UserAgent},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type outgoing struct {
	next  *http.Transport
	agent string
}

// OutgoingError says why a request had no answer. Its text names no address.
type OutgoingError struct {
	Outcome Outcome
	Reason  string
}

func (e *OutgoingError) Error() string { return e.Reason }

// RoundTrip sends a request with our user agent.
func (t *outgoing) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	request = request.Clone(ctx)
	request.Header.Set("User-Agent", t.agent)
	response, err := t.next.RoundTrip(request)
	if err == nil {
		return response, nil
	}
	outcome, reason, _ := classify(context.WithoutCancel(ctx), ctx, err)
	if errors.Is(err, ctx.Err()) && outcome == Protocol {
		outcome, reason = Cancelled, "the request was cancelled"
	}
	return nil, &OutgoingError{outcome, reason}
}

// CloseIdleConnections drops what the client keeps open.
func (t *outgoing) CloseIdleConnections() { t.next.CloseIdleConnections() }
