// Package linkheader reads HTTP Link header fields (RFC 8288 section 3, with
// the parsing algorithm of its appendix B).
//
// It promises that no input fails or panics: what cannot be read is reported
// as a Link with a Problem and reading goes on at the next comma that is
// outside of quotes and angle brackets. Commas and semicolons inside either
// belong to the value. Targets are handed over as the bytes that were sent.
//
// It is pure and imports the standard library's string package only.
package linkheader
