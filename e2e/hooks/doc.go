// Package hooks proves the way from a publish hook to the inventory on the built program: nothing that was answered with
// 2xx is lost, bursts become few runs, what is published is recorded within seconds, and several daemons on one database
// never walk one host together.
//
// It holds tests alone. Made-up WordPress sites (internal/sitetest) are edited and say so by signed hooks, as the
// companion plugin would; daemons and the database server are killed, stopped and frozen meanwhile. What needs MariaDB starts a server of its own and is skipped where
// mariadbd is not installed.
//
// The environment:
//
//	SITEMAPD_TEST_BIN             the program, else it is built
//	SITEMAPD_TEST_HOOKS           hooks of the storm, 1,000; SITEMAPD_TEST_HOOK_RATE a second, 200
//	SITEMAPD_TEST_HOOK_KILLS      daemons killed in it, 4
//	SITEMAPD_TEST_DATABASE_STOPS  times the database server is killed in it, 1
//	SITEMAPD_TEST_DAEMON_SECONDS  how long several daemons work together, 20
//	SITEMAPD_TEST_DAEMON_PAUSES   how often one of them is frozen for longer than its leases, 1
package hooks
