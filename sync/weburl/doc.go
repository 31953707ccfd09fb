// Package weburl says what a published URL text means: the wire form that is fetched and shown, the identity key
// under which one page is known however often and in whatever spelling it is listed, and how two URLs relate.
//
// The identity key follows the WHATWG URL standard for parsing and RFC 3986 section 6.2.2 for normalisation: scheme
// and host in lower case, international hosts in punycode, the default port dropped, dot segments removed, hex digits
// of percent triplets in upper case, unreserved characters decoded, all else percent-encoded as UTF-8, the fragment
// dropped. It never folds what only tends to be equal: the case of the path, a trailing slash, the order of the query,
// "www.", or "index.html".
//
// The package is pure: no I/O, no clock, no log, no context. It imports nothing of ours. Ordinary absolute ASCII URLs
// are judged without an allocation and without a copy.
package weburl
