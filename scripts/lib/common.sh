# shellcheck shell=bash
# Shared by the scripts: one temporary folder, one way to stop what was started, one way to say what was left out.
# Sourced, not run. Every function speaks on standard error, so that a caller's standard output stays its own.

if [ -z "${SD_TMP:-}" ]; then
  # /tmp itself, not $TMPDIR: the path of a database socket must stay below 107 bytes.
  SD_TMP=$(mktemp -d /tmp/sitemapd-test.XXXXXX)
  chmod 711 "$SD_TMP" # the database server may run as another user
fi
SD_CACHE=${SITEMAPD_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/sitemapd-test}
SD_PIDS=()     # processes that we started and must stop
SD_LEFT_OUT=() # what could not be run, named at the end

say() { printf '%s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
left_out() { SD_LEFT_OUT+=("$*"); say "left out: $*"; }

# apart COMMAND...: as the leader of a group of its own, so that what it starts (PHP's workers) can be stopped with it.
# Used as: apart COMMAND... & SD_PIDS+=($!)
apart() { if have setsid; then exec setsid "$@"; else exec "$@"; fi; }

# stop PID [SECONDS]: asks it and its group, waits, then insists. Only ever called with ids that this script started.
stop() {
  local pid=$1 tries=$(( ${2:-10} * 10 )) target=$1
  kill -0 -- "-$pid" 2>/dev/null && target=-$pid
  kill -- "$target" 2>/dev/null || return 0
  while [ "$tries" -gt 0 ] && kill -0 -- "$target" 2>/dev/null; do sleep 0.1; tries=$((tries - 1)); done
  kill -9 -- "$target" 2>/dev/null
  wait "$pid" 2>/dev/null
  return 0
}

# Last started, first stopped; then the temporary folder goes, unless SITEMAPD_TEST_KEEP is set.
cleanup() {
  local i
  for ((i = ${#SD_PIDS[@]} - 1; i >= 0; i--)); do stop "${SD_PIDS[i]}"; done
  SD_PIDS=()
  if [ -n "${SITEMAPD_TEST_KEEP:-}" ]; then say "kept: $SD_TMP"; else rm -rf "$SD_TMP"; fi
}

# free_port: prints a loopback port on which nothing listens.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

# wait_port PORT SECONDS PID: until something listens there; fails when PID ends first.
wait_port() {
  local tries=$(( $2 * 20 ))
  while [ "$tries" -gt 0 ]; do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
    kill -0 "$3" 2>/dev/null || return 1
    sleep 0.05
    tries=$((tries - 1))
  done
  return 1
}
