// Package graph finds where canonical and redirect edges lead: chains, loops,
// what runs into a loop, and what is too long to follow.
//
// Every URL has at most one out-edge (its own permanent redirect, else its
// single accepted canonical target, else none), so the edges are a functional
// graph. A change of one edge can only make or break a loop through its source,
// and can only matter to that source and the URLs that lead to it.
//
// The package promises that working off the dirty queue after any changes gives
// the same states as Full, the recomputation of everything that its tests use
// as oracle; in batches of bounded size, whatever the number of URLs that lead
// to a hub; and that a queue worked off twice, or by two workers at once, does
// no harm.
//
// It is pure: storage stands behind the interface Store, whose errors are the
// only ones that it returns.
package graph
