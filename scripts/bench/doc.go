// Command bench measures what whole runs of sitemapd cost, each beside its floor measured in the same round, and says
// which targets are met. scripts/bench.sh builds the program, starts a database server and calls it:
//
//	bench sync    first run, runs without changes, run with 1 % changed, on SQLite and MariaDB
//	bench sites   many small sites that change nothing: statements a run
//	bench origin  the made-up site as a process of its own, so that its cost is not the program's
//	bench floor   fetch, gunzip and scan of all documents, and nothing else
//	bench profile one run within this process, with pprof's profiles, to see where time or memory goes
//
// The program is measured as a child process, by wall clock and by what the kernel says of its CPU time and its largest
// resident size. Only "bench profile" and "bench sites" import the engine and the database.
package main
