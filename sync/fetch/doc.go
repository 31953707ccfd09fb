// Package fetch is the only door to the web.
//
// A Client answers every Request with a Result: what a remote site does wrong
// is an Outcome with a Reason, never a Go error. It connects to no address that
// the operator did not allow (checked on the resolved address of every
// connection, redirects included), follows redirects itself so that each hop is
// recorded, sends credentials to their own origin alone, streams bodies as wire
// bytes under limits of size, time and speed, retries what is worth retrying
// within seconds, and paces itself per host.
//
// It decides nothing about content: a 404 with a body is handed over with its
// body, gzip is handed over as gzip. ParseRobots is pure.
//
// It imports nothing of this module: the engine meets it through Request and
// Result.
package fetch
