// Package crash kills the built program at random moments and looks at what is left in the database.
//
// It holds tests alone. A made-up WordPress site (internal/sitetest) keeps changing; "sitemapd sync" is started against
// it and killed with SIGKILL, again and again. After each kill readers must see a whole state that the site really had,
// the history of every page must be without gap and overlap, and the next run must converge.
//
// The environment:
//
//	SITEMAPD_TEST_MYSQL         mysql://USER:PASSWORD@HOST:PORT/ of a user who may create databases; without it SQLite alone
//	SITEMAPD_TEST_CRASHES       kills on SQLite, 50
//	SITEMAPD_TEST_CRASHES_MYSQL kills on MariaDB, 20
//	SITEMAPD_TEST_SEED          seed of edits and moments, else taken from the clock and printed
//
// Rounds and seed make the edits repeatable; the moment of a kill is a time, so that what it hits is not.
package crash
