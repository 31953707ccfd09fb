#!/bin/sh
# Lives random histories of a site and its daemon and counts broken promises (see sync/simulate).
#
#   scripts/simulate.sh [HISTORIES [FIRST_SEED]]     1,000 histories from a seed by the clock
#
# Each has at least 40 steps; a history takes about a third of a second of one core. What happened in them is counted and
# printed at the end: edits of the site, answers that the engine met, runs, failures and where they struck, what became of
# pages. The line behind it is "N histories, M violations". A broken history is made smaller and kept in the directory
# KEEP, to be lived again with: go test ./sync/simulate -run Fixtures -replay FILE -trace
#
# With SITEMAPD_TEST_MYSQL=mysql://USER:PASSWORD@HOST:PORT/ and MYSQL_HISTORIES=N, N of them are lived on that server too.
set -eu
cd "$(dirname "$0")/.."
histories=${1:-1000}
seed=${2:-$(date +%s)}
KEEP=${KEEP:-$(mktemp -d)}
export KEEP
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
	export TMPDIR=/dev/shm # the databases are small and short-lived
fi
tests='^TestHistories_KeepEveryPromise$'
if [ -n "${SITEMAPD_TEST_MYSQL:-}" ] && [ -n "${MYSQL_HISTORIES:-}" ]; then
	tests='^TestHistories'
fi
echo "seed $seed; histories that break a promise are kept in $KEEP"
exec go test ./sync/simulate -count=1 -timeout 0 -run "$tests" -histories "$histories" -mysql-histories "${MYSQL_HISTORIES:-0}" \
	-first "$seed" -keep "$KEEP" -v
