// Package browser holds the dashboard's tests in a real Chromium: journeys with and without scripts, and every screen in
// both themes held against the content policy, axe-core and the weights that we promise.
//
// It starts the program itself on a site of internal/sitetest and drives the browser by its debugging protocol. Its tests
// skip themselves without SITEMAPD_TEST_CHROMIUM, which scripts/test.sh browser sets. Pictures of every screen go to the folder
// SITEMAPD_TEST_SCREENSHOTS, where that is set. axe-core comes from npm at a pinned version, into the user's cache;
// without it the accessibility checks are skipped and say so.
package browser
