#!/bin/sh
# Lives random histories of a site and its daemon and counts broken promises (see sync/simulate).
#
#   scripts/simulate.sh [HISTORIES [FIRST_SEED]]     1,000 histories from a seed by the clock
#
# Each has at least 40 steps. The last line is "N histories, M violations"; a broken history is made smaller and kept in
# the directory KEEP, to be lived again with: go test ./sync/simulate -run Fixtures -replay FILE -trace
set -eu
cd "$(dirname "$0")/.."
histories=${1:-1000}
seed=${2:-$(date +%s)}
KEEP=${KEEP:-$(mktemp -d)}
export KEEP
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
	export TMPDIR=/dev/shm # the databases are small and short-lived
fi
echo "seed $seed; histories that break a promise are kept in $KEEP"
exec go test ./sync/simulate -count=1 -timeout 0 -run '^TestHistories' -histories "$histories" -first "$seed" -keep "$KEEP" -v
