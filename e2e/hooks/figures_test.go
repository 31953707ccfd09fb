package hooks_test

import "os"

// figures makes tests hold what they measure against the targets. Off unless asked for: on a busy machine a slow run is
// no fault of the program, so the figures are printed and nothing more.
var figures = os.Getenv("SITEMAPD_TEST_FIGURES") != ""
