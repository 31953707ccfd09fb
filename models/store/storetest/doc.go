// Package storetest holds the conformance suite of models/store: what every database must do alike, run on SQLite
// always and on MySQL or MariaDB when SITEMAPD_TEST_MYSQL names a server. Other packages' tests may use its Fixture to
// fill a store without an engine.
//
// It imports testing and is imported by tests alone.
package storetest
