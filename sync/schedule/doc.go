// Package schedule says when a site is due: cron specifications in a time zone,
// read by robfig/cron and kept away from its traps.
//
// It promises that Parse never panics and refuses what could never fire; that a
// local time which daylight saving skips fires once, at the next valid instant; that
// one which occurs twice fires once, at its first occurrence; that a site's jitter is
// the same on every daemon and after every restart; and that ticks missed while
// nobody looked make a site due once, not once a tick.
//
// It is pure: no clock, no I/O, no goroutine. It imports robfig/cron and nothing of
// ours. Time zones come from the machine or, where it has none (a container from
// scratch), from the copy that time/tzdata embeds.
package schedule
