// Package hook reads what publish hooks send: it tells the senders' dialects apart,
// checks their signatures over the raw bytes, and takes from the body the hints that
// make a run look at the right place.
//
// It promises that a signature counts only with its full length and against a key that
// is live, that checking costs the same whether the endpoint exists or not, and that a
// body is never more than a hint: nothing from it is ever stored as content.
//
// It is pure: bytes and headers in, verdict and hints out; no I/O, no clock, no log.
// It imports models alone. Which endpoint a request came to, and what is stored, is
// the business of package handlers.
package hook
