#!/usr/bin/env bash
# Measures the program against its floors and says which targets are met (docs/benchmarks.md).
#
#   scripts/bench.sh          everything
#   scripts/bench.sh sync     whole runs on SQLite and MariaDB: first, without changes, 1 % changed
#   scripts/bench.sh screens  every screen and list of a daemon with a site of 1,000,000 pages and 40 others: p50, p95, p99, weight
#   scripts/bench.sh reader   the sitemap reader against other parsers
#   scripts/bench.sh head     what is read of a page against html.Parse and goquery, on one page in one run
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

bench_screens() {
  local options=() program=$SD_TMP/sitemapd bench=$SD_TMP/bench
  CGO_ENABLED=0 go build -o "$program" ./cmd/sitemapd && go build -o "$bench" ./scripts/bench || return 1
  unset SITEMAPD_TEST_MYSQL # a server of our own: its processor time is read
  if mariadb_up; then
    options=(-socket "$SD_MARIADB_SOCKET" -mysql "$SITEMAPD_TEST_MYSQL")
  else
    left_out "MariaDB"
  fi
  machine
  "$bench" screens -program "$program" -folder "$SD_TMP" -pages "${BENCH_URLS:-1000000}" -per-file "${BENCH_PER_FILE:-2000}" \
    -rounds "${BENCH_ROUNDS:-12}" "${options[@]}"
}

bench_reader() { scripts/bench-reader/run.sh; }

# The comparison is a module of its own, so that the product needs no goquery.
bench_head() {
  local out=$SD_TMP/head.txt
  machine
  (cd sync/canonical/goquerybench && go test -run '^$' -bench . -count "${BENCH_ROUNDS:-5}" .) >"$out" || { cat "$out"; return 1; }
  awk '/^Benchmark/ {
      name = substr($1, index($1, "/") + 1); sub(/-[0-9]+$/, "", name); gsub(/_/, " ", name)
      if (!(name in n)) order[++names] = name
      value[name, ++n[name]] = $3; bytes[name] = $5
    }
    END {
      for (k = 1; k <= names; k++) {
        name = order[k]; m = n[name]
        for (i = 1; i <= m; i++) v[i] = value[name, i] + 0
        for (i = 2; i <= m; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        median = v[int((m + 1) / 2)]
        if (k == 1) base = median
        printf "%-22s %10.1f us %10d bytes %8.1fx\n", name, median / 1000, bytes[name], median / base
      }
    }' "$out"
}

case "${1:-all}" in
sync) bench_sync ;;
screens) bench_screens ;;
reader) bench_reader ;;
head) bench_head ;;
all)
  bench_reader
  bench_head
  bench_sync
  ;;
*) say "bench.sh [all|sync|screens|reader|head]"; exit 2 ;;
esac
