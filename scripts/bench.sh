#!/usr/bin/env bash
# Measures the program against its floors and says which targets are met (docs/benchmarks.md).
#
#   scripts/bench.sh          everything
#   scripts/bench.sh sync     whole runs on SQLite and MariaDB: first, without changes, 1 % changed
#   scripts/bench.sh reader   the sitemap reader against other parsers
#
# Environment: BENCH_URLS (1000000; 100000 takes about a minute), BENCH_PER_FILE (2000), BENCH_ROUNDS (3; figures are
# medians). Without a MariaDB server SQLite alone is measured. Exit code 0 when it ran, whatever the figures say.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
for library in common install mariadb; do
  # shellcheck disable=SC1090
  . "scripts/lib/$library.sh"
done
trap cleanup EXIT
trap 'exit 130' INT TERM

machine() {
  printf '%s, %s cores, %s MB, %s, %s\n' "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
    "$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo)" "$(go version | cut -d' ' -f3)" "load $(cut -d' ' -f1-3 /proc/loadavg)"
}

bench_sync() {
  local options=() program=$SD_TMP/sitemapd bench=$SD_TMP/bench
  CGO_ENABLED=0 go build -o "$program" ./cmd/sitemapd && go build -o "$bench" ./scripts/bench || return 1
  unset SITEMAPD_TEST_MYSQL # a server of our own: floors read its counters as its administrator
  if mariadb_up; then
    options=(-socket "$SD_MARIADB_SOCKET" -mysql "$SITEMAPD_TEST_MYSQL" -server-folder "$SD_TMP/mariadb/data")
  else
    left_out "MariaDB and the floors that need it"
  fi
  machine
  "$bench" sync -program "$program" -folder "$SD_TMP" -urls "${BENCH_URLS:-1000000}" -per-file "${BENCH_PER_FILE:-2000}" \
    -rounds "${BENCH_ROUNDS:-3}" "${options[@]}"
}

bench_reader() { scripts/bench-reader/run.sh; }

case "${1:-all}" in
sync) bench_sync ;;
reader) bench_reader ;;
all)
  bench_reader
  bench_sync
  ;;
*) say "bench.sh [all|sync|reader]"; exit 2 ;;
esac
