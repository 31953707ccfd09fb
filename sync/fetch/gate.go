package fetch

import "context"

type gateKey struct{}

// Gated gives a context whose fetches ask permission before each single request, retries and redirects included, as late
// as can be: a request that waited for its turn is asked about after the wait. When ask says no the request is not sent
// and the Outcome is Cancelled.
func Gated(ctx context.Context, ask func(context.Context) error) context.Context {
	return context.WithValue(ctx, gateKey{}, ask)
}

// permitted asks a context's gate, if it has one.
func permitted(ctx context.Context) error {
	if ask, ok := ctx.Value(gateKey{}).(func(context.Context) error); ok {
		return ask(ctx)
	}
	return nil
}
