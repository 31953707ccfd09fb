// Package canonical turns an HTTP response into evidence of which URL a page
// prefers, and evidence into a judgement: relationships, candidates, conflicts
// and the page's head entry. It is ontology "Canonical URL" of
// docs/ontology-canonical.md; the rules with their scores are in
// docs/canonical-rules.md, the audit findings in docs/canonical-findings.md.
//
// The way of the data:
//
//	Response -> Extract -> Evidence -> Judge -> Verdict -> Advance -> Record
//
// It promises that every signal is kept with its raw value and place whether
// it counts or not, that signals are never merged into one another, that a
// score is a function of the evidence alone (rule id and Ruleset say which),
// and that hostile input costs bounded time and memory and no panic.
//
// It is pure: no I/O, no clock, no log, no context. Of ours it may import
// sync/weburl and its own sub-packages only.
package canonical
