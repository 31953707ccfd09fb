// Package headscan reads the start of an HTML document as a browser with
// scripting would, as far as it matters for what a page says of itself: which
// elements stand in the head, which only look as if they did, and what ended
// the head.
//
// It is a single pass over the bytes: no tree, no copy, no limit on nesting.
// Source of the rules: WHATWG HTML, sections 13.2.5 (tokenization) and 13.2.6.4
// (initial, before head, in head, after head). It is compared with
// golang.org/x/net/html on random documents in its tests.
//
// Every position is a byte offset into the document that was given. The
// document must be in an encoding that keeps ASCII markup (everything but
// UTF-16 and ISO-2022-JP, which the caller decodes first); attribute values
// are handed over undecoded.
//
// It is pure: it imports the standard library's byte and string packages and
// x/net/html for character references, never I/O, clocks or logs.
package headscan
