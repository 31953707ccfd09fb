// Package sitetest is a web site shaped like WordPress, for tests, benchmarks
// and "sitemapd demo".
//
// A Site publishes sitemaps in the layout of WordPress core, of Yoast SEO or of
// Rank Math, and the pages they list. Its content comes from a seed and is made
// when asked for, so a million posts cost a few megabytes. Edits behave as in
// WordPress: what moves where, which lastmod changes and what does not. Inventory
// is the oracle: what a complete, honest reading of the sitemaps must yield.
// Faults are laid over paths; a log tells what was asked.
//
// What is imitated was measured on WordPress 6.4 to 7.1, Yoast SEO 28 and Rank
// Math 1.0.273; where a layout is simplified the code says so.
//
// It imports nothing of this module and not the testing package.
package sitetest
