// Package notify holds tests of the built program as one who is told: a receiver
// that verifies signatures with the scheme's own library, daemons that are killed
// while they deliver, alerts from a rules file, and the guard.
//
// Nothing is imported of the program: it is built and run. The site is a server
// of the test's own. On MariaDB too when SITEMAPD_TEST_MYSQL is set.
package notify
