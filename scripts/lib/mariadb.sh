# shellcheck shell=bash
# A MariaDB server of the tests' own: its own data folder, loopback only, gone at the end. Sourced after common.sh.

# mariadb_up: starts the server once and exports
#   SITEMAPD_TEST_MYSQL   mysql://USER:PASSWORD@127.0.0.1:PORT/ of a user who may create databases; each test makes its own
# Settings differ from the defaults in two ways: 1 GiB of buffer pool, and the log is flushed once a second
# (a killed server loses nothing by that, a power cut might). Returns 1 when no server can be had on this machine, and 2
# when there is one that does not work, which is a failure.
mariadb_up() {
  [ -n "${SITEMAPD_TEST_MYSQL:-}" ] && return 0
  need_mariadb || return 1
  local dir=$SD_TMP/mariadb port password user started=$SECONDS server
  port=$(free_port)
  password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
  server=$(command -v mariadbd || echo /usr/sbin/mariadbd)
  mkdir -p "$dir/data" "$dir/run" "$dir/tmp"
  # The server refuses to run as root; without the package's own user any other will do.
  if [ "$(id -u)" = 0 ]; then
    user=$(getent passwd mysql >/dev/null && echo mysql || echo nobody)
    chown -R "$user" "$dir"
  else
    user=$(id -un)
  fi
  mariadb-install-db --no-defaults --user="$user" --datadir="$dir/data" --skip-test-db \
    --auth-root-authentication-method=normal --force >"$dir/install.log" 2>&1 ||
    { say "mariadb-install-db failed: $(cat "$dir/install.log")"; return 2; }
  # A folder of its own for temporary files: a server that starts deletes those of every other one in the same folder.
  "$server" --no-defaults --user="$user" --datadir="$dir/data" --tmpdir="$dir/tmp" --socket="$dir/run/sock" --pid-file="$dir/run/pid" \
    --bind-address=127.0.0.1 --port="$port" --skip-name-resolve --max-connections=400 \
    --innodb-buffer-pool-size=1G --innodb-log-file-size=256M --innodb-flush-log-at-trx-commit=2 \
    --character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci >"$dir/server.log" 2>&1 &
  SD_MARIADB_PID=$!
  SD_PIDS+=("$SD_MARIADB_PID")
  wait_port "$port" 60 "$SD_MARIADB_PID" || { say "MariaDB did not start: $(tail -n 5 "$dir/server.log")"; return 2; }
  mariadb --no-defaults -uroot -S "$dir/run/sock" -e "CREATE USER 'sitemapd'@'127.0.0.1' IDENTIFIED BY '$password';
    GRANT ALL ON *.* TO 'sitemapd'@'127.0.0.1' WITH GRANT OPTION" || return 2
  SD_MARIADB_PORT=$port SD_MARIADB_PASSWORD=$password SD_MARIADB_SOCKET=$dir/run/sock
  export SITEMAPD_TEST_MYSQL="mysql://sitemapd:$password@127.0.0.1:$port/"
  say "MariaDB $("$server" --no-defaults --version | sed 's/.*Ver \([^ ]*\).*/\1/') on port $port after $((SECONDS - started)) s"
}

# mariadb_sql STATEMENTS: as the administrator.
mariadb_sql() { mariadb --no-defaults -uroot -S "$SD_MARIADB_SOCKET" -N -e "$1"; }
