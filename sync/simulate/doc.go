// Package simulate tests the promises of the engine against a made-up world: a WordPress-shaped site that publishes,
// edits, trashes, re-pages, switches plugins and breaks in every way its faults know, a daemon that is killed between
// any two statements, or stands still while another one takes its host over and goes on in the midst of that one's run, rolling
// windows of news or newest pages that go on, an operator who approves and rejects, a clock that jumps.
//
// A history is a list of plain operations made from a seed. After each run what the engine recorded is compared with an
// oracle that saw the same bytes: nothing lost, no removal without proof, no invented change, the past as it was
// recorded, histories without gap or overlap, counts as the feed and the inventory say. At the end all faults are taken
// away, and the inventory must equal the site's.
//
// What happened is counted where the engine met it, and some hundred histories without one of the events that they stand
// for fail the test. On a server named by SITEMAPD_TEST_MYSQL some dozens are lived on MySQL or MariaDB as well.
//
// It holds tests alone; scripts/simulate.sh runs as many histories as one likes. A history that broke a promise is made
// smaller and kept as a fixture in sync/testdata/simulation.
package simulate
