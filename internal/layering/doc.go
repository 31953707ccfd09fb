// Package layering holds no code, only the test that keeps the house in order: which
// package may import which (the table in the test), which
// library lives in which folder, that pure packages have no clock and no I/O, and that a
// bare sync. is always the standard library.
//
// The same rules stand in .golangci.yml for editors; this test needs nothing but the go
// command, so it runs wherever the tests run.
package layering
