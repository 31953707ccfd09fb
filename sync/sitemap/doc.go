// Package sitemap reads one sitemap document, from the bytes as they came over the wire to declarations, children,
// findings and hashes.
//
// It reads like a browser and reports like a validator: whatever a real site sends is understood as far as it can be,
// damage stays where it is (a bad field costs the field, a bad entry the entry), and everything that is not as the
// protocol wants it is a Finding with code, place and text. Nothing that a site sends is a Go error or a panic.
//
// It keeps what was declared apart from what is known: a field that was absent, one that was invalid and one that was
// declared are three things, the published text stays beside the parsed value, and a document says how completely it
// was read (Verdict), because only a complete document may ever support a removal.
//
// Reading is a stream: memory is bounded by Options, not by the document, and an entry costs no allocation. The scanner
// is our own; nothing in it looks at a byte more than a fixed number of times.
//
// The package is pure: no I/O but the reader that it is given, no clock, no log, no context. Of our packages it imports
// sync/weburl alone.
package sitemap
