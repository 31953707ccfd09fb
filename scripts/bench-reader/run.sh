#!/usr/bin/env bash
# Compares the sitemap reader with other parsers, all in one run on documents of 50,000 entries.
#
#   scripts/bench-reader/run.sh           Go parsers (benchstat), then those of other languages
#   scripts/bench-reader/run.sh go        Go parsers alone
#   scripts/bench-reader/run.sh peers     libxml2 and expat tools, Python, Node alone
#
# BENCH_ROUNDS (5): figures are medians of so many rounds. Processor time is what is compared; wall time is stretched by
# whatever else the machine does. What is not on the machine is installed (Debian packages; npm packages into the temporary
# folder) or, where that fails, left out and named.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
for library in common install; do
  # shellcheck disable=SC1090
  . "scripts/lib/$library.sh"
done
trap cleanup EXIT
trap 'exit 130' INT TERM
rounds=${BENCH_ROUNDS:-5}

go_parsers() {
  local out=$SD_TMP/go.txt
  go test -run '^$' -bench . -count "$rounds" -benchtime 10x ./scripts/bench-reader/ >"$out" || { cat "$out"; return 1; }
  go run golang.org/x/perf/cmd/benchstat@latest "$out" 2>/dev/null || cat "$out"
  echo
  echo "Ratios of processor time, medians:"
  awk '
    /cpu-ms\/op/ {
      split($1, part, "/"); name = substr(part[1], 10); shape = part[2]; sub(/-[0-9]+$/, "", shape)
      for (i = 1; i <= NF; i++) if ($i == "cpu-ms/op") value[name, shape, ++n[name, shape]] = $(i - 1)
    }
    function median(name, shape,    i, j, m, v, t) {
      m = n[name, shape]
      for (i = 1; i <= m; i++) v[i] = value[name, shape, i]
      for (i = 2; i <= m; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      return v[int((m + 1) / 2)]
    }
    function line(target, what, a, b, limit, least,    k, r, shapes) {
      printf "%-3s %-62s", target, what
      split("core yoast rich", shapes, " ")
      for (k = 1; k <= 3; k++) {
        r = median(a, shapes[k]) / median(b, shapes[k])
        printf " %s %6.2f %s", shapes[k], r, target == "" ? "" : (least ? r >= limit : r <= limit) ? "met   " : "MISSED"
      }
      print ""
    }
    END {
      line("P1", "encoding/xml DecodeElement / parsing (>= 12)", "EncodingXML", "SitemapdParse", 12, 1)
      line("P1", "encoding/xml DecodeElement / parsing and hashing (>= 12)", "EncodingXML", "Sitemapd", 12, 1)
      line("P2", "inflate, parse and hash / inflate (<= 1.6; fetching adds to both)", "SitemapdGzip", "Gunzip", 1.6, 0)
      line("P3", "parsing / gosax event loop (<= 1.0)", "SitemapdParse", "Gosax", 1.0, 0)
      line("", "parsing and hashing / gosax event loop", "Sitemapd", "Gosax", 1.0, 0)
    }' "$out"
}

# measure NAME SHAPE COMMAND...: runs a whole process and prints the median of its processor time.
measure() {
  local name=$1 shape=$2
  shift 2
  for ((i = 0; i < rounds; i++)); do
    { TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; } 2>&1
  done | awk '{ print ($1 + $2) * 1000 }' | sort -n | awk -v name="$name" -v shape="$shape" \
    '{ v[NR] = $1 } END { printf "%-36s %-6s %9.1f\n", name, shape, v[int((NR + 1) / 2)] }'
}

# inside NAME SHAPE COMMAND...: the same for a program that prints "milliseconds pages" for each round.
inside() {
  local name=$1 shape=$2
  shift 2
  "$@" 2>"$SD_TMP/err.txt" | sort -n | awk -v name="$name" -v shape="$shape" \
    '{ v[NR] = $1; n = $2 } END { if (NR) printf "%-36s %-6s %9.1f  %d pages\n", name, shape, v[int((NR + 1) / 2)], n; else exit 1 }' ||
    left_out "$name: $(tail -n 1 "$SD_TMP/err.txt")"
}

peers() {
  local docs=$SD_TMP/docs python=/usr/bin/python3 node_dir=$SD_TMP/node shape
  mkdir -p "$docs" "$node_dir" && go run ./scripts/bench-reader/corpus "$docs" || return 1
  go test -c -o "$SD_TMP/bench.test" ./scripts/bench-reader/ || return 1
  need xmllint libxml2-utils || left_out "xmllint"
  need xmlwf expat || left_out "xmlwf"
  "$python" -c 'import scrapy' 2>/dev/null || need scrapy python3-scrapy || left_out "scrapy"
  if have npm; then
    (cd "$node_dir" && npm init -y && npm install sitemap@9 sitemapper@4) >"$SD_TMP/npm.txt" 2>&1 || left_out "npm packages"
  else
    left_out "npm"
  fi
  printf '%-36s %-6s %9s\n' "processor time, median of $rounds" shape ms
  for shape in core yoast rich; do
    "$SD_TMP/bench.test" -test.run '^$' -test.bench "Sitemapd\$/$shape" -test.benchtime "${rounds}x" |
      awk -v shape="$shape" '/cpu-ms/ { for (i = 1; i <= NF; i++) if ($i == "cpu-ms/op") printf "%-36s %-6s %9.1f\n", "sitemapd, hashes included", shape, $(i - 1) }'
    if have xmllint; then
      measure "libxml2 xmllint --sax --noout" "$shape" xmllint --sax --noout "$docs/$shape.xml"
      measure "libxml2 xmllint --stream --noout" "$shape" xmllint --stream --noout "$docs/$shape.xml"
    fi
    if have xmlwf; then measure "expat xmlwf" "$shape" xmlwf "$docs/$shape.xml"; fi
    inside "Python expat callbacks" "$shape" "$python" scripts/bench-reader/peers.py expat "$docs/$shape.xml" "$rounds"
    inside "Python xml.etree iterparse" "$shape" "$python" scripts/bench-reader/peers.py etree "$docs/$shape.xml" "$rounds"
    inside "Python lxml tree" "$shape" "$python" scripts/bench-reader/peers.py lxml "$docs/$shape.xml" "$rounds"
    inside "scrapy.utils.sitemap" "$shape" "$python" scripts/bench-reader/peers.py scrapy "$docs/$shape.xml" "$rounds"
    if [ -d "$node_dir/node_modules" ]; then
      local here=$PWD
      for library in sitemap sitemapper; do
        inside "npm $library" "$shape" env -C "$node_dir" node "$here/scripts/bench-reader/peers.mjs" "$library" "$docs/$shape.xml" "$rounds"
      done
    fi
  done
}

case "${1:-all}" in
go) go_parsers ;;
peers) peers ;;
all)
  go_parsers
  echo
  peers
  ;;
*) say "run.sh [all|go|peers]"; exit 2 ;;
esac
