#!/usr/bin/env bash
# Runs the conformance suite of sitemap documents and prints the score.
#
#   scripts/conformance.sh              reads every document of sync/sitemap/testdata/documents with this repository's
#                                       reader and compares the whole report, findings included
#   scripts/conformance.sh -v           names every document
#   scripts/conformance.sh PROGRAM ...  asks another program instead: it gets the document's file name and its address as
#                                       its last two arguments and prints the page addresses it finds, one a line;
#                                       only these are compared then. Example: scripts/conformance.sh ./my-reader --quiet
#
# Each document NAME has a NAME.json beside it: "request" says how it came (address, status, headers, limits), "want" what
# it must be read as. The last line is "N passed, N failed"; the exit code is 0 when none failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
folder=sync/sitemap/testdata/documents

own() {
  local out
  out=$(go test ./sync/sitemap -run '^TestFixtures$' -count=1 -v 2>&1)
  if ! grep -q '^=== RUN   TestFixtures/' <<<"$out"; then
    printf '%s\n' "$out" >&2
    exit 2
  fi
  [ "${1:-}" = -v ] && sed -n 's/^    --- \(PASS\|FAIL\): TestFixtures\/\([^ ]*\).*/\1 \2/p' <<<"$out"
  grep -q '^    --- FAIL' <<<"$out" && grep -v '^=== \|^ *--- PASS' <<<"$out"
  local passed failed
  passed=$(grep -c '^    --- PASS: TestFixtures/' <<<"$out")
  failed=$(grep -c '^    --- FAIL: TestFixtures/' <<<"$out")
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}

# other asks a program for the addresses of every document that came with status 200 and within the usual limits.
other() {
  local passed=0 failed=0 name want got base
  for name in "$folder"/*.json; do
    name=${name%.json}
    [ -f "$name" ] || continue
    # shellcheck disable=SC2016
    want=$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
q = d["request"]
if q.get("status", 200) != 200 or any(k.startswith("max_") for k in q): sys.exit(3)
print(q.get("base", "https://example.org/sitemap.xml"))
for u in sorted({u["loc"] for u in d["want"]["declarations"]}): print(u)' "$name.json") || continue
    base=${want%%$'\n'*}
    want=$(tail -n +2 <<<"$want")
    got=$(timeout 10 "$@" "$name" "$base" 2>/dev/null | sort -u | sed '/^$/d')
    if [ "$got" = "$(sort -u <<<"$want" | sed '/^$/d')" ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      printf 'FAIL %s\n' "${name##*/}"
    fi
  done
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}

case "${1:-}" in
'' | -v) own "$@" ;;
-*) sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,12p'; exit 2 ;;
*) other "$@" ;;
esac
