#!/usr/bin/env bash
# Runs the tests of this repository.
#
#   scripts/test.sh           everything: installs what is missing (apt), starts MariaDB and WordPress for the tests alone
#   scripts/test.sh quick     what needs no server
#   scripts/test.sh SUITE...  some of: format vet build unit mariadb mysql phplint wordpress plugin browser
#   scripts/test.sh servers   starts MariaDB and one WordPress, prints what to export, waits for Ctrl-C
#
# A failing suite does not stop the ones after it. The last line counts the suites; what could not be run on this
# machine is named above it. Exit code 0 when no suite failed.
#
# Environment: SITEMAPD_TEST_KEEP=1 keeps the servers' files and logs; SITEMAPD_TEST_POSTS (5000) posts a WordPress
# site; SITEMAPD_TEST_CACHE where downloaded WordPress versions are kept (~/.cache/sitemapd-test).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
for library in common install mariadb mysql wordpress fpm suites; do
  # shellcheck disable=SC1090
  . "scripts/lib/$library.sh"
done
trap cleanup EXIT
trap 'exit 130' INT TERM

case "${1:-}" in -h | --help | help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit ;; esac
have go || { say "Go is needed: https://go.dev/doc/install"; exit 1; }

case "${1:-all}" in
quick) suites=(format vet build phplint unit) ;;
all) suites=(format vet build phplint mariadb mysql wordpress plugin browser) ;;
servers) servers; exit ;;
*) suites=("$@") ;;
esac
for suite in "${suites[@]}"; do
  declare -F "suite_$suite" >/dev/null || { say "no suite '$suite'; see the head of $0"; exit 2; }
done
# Where no database server can be had, "all" runs the same Go tests on SQLite alone.
if [ "${1:-all}" = all ]; then
  mariadb_up
  [ $? != 1 ] || suites=(format vet build phplint unit mysql wordpress plugin browser)
fi

for suite in "${suites[@]}"; do run_suite "$suite"; done
summary
