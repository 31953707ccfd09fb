// Package e2e tests the built program and the WordPress companion plugin end to end against a real WordPress on a real
// database server.
//
// It holds tests alone. They run where scripts/test.sh has started the servers and named them in the environment:
//
//	SITEMAPD_TEST_WP_URL, SITEMAPD_TEST_WP_PHP              a site with thousands of posts, and its driver
//	SITEMAPD_TEST_WP_EMPTY_URL, SITEMAPD_TEST_WP_EMPTY_PHP  a site without a single post
//	SITEMAPD_TEST_MYSQL                                     mysql://USER:PASSWORD@HOST:PORT/ of a user who may create databases
//	SITEMAPD_TEST_BIN                                       the program; built when it is not named
//
// Everywhere else they skip themselves. The oracle is WordPress: its database and its own functions say what should be
// listed (scripts/wordpress/actions.php, sd_do_list), never its sitemap read by our reader.
//
// The package imports nothing of the module: it uses the program as a user does.
package e2e
