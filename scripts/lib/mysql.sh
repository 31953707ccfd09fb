# shellcheck shell=bash
# A MySQL server of the tests' own, beside MariaDB: as Debian's sid packages it, unpacked with all its libraries into the cache
# folder and run from there. Nothing is installed. Sourced after install.sh.

# mysql_up: starts the server once and sets SD_MYSQL, mysql://USER:PASSWORD@127.0.0.1:PORT/ of a user who may create
# databases. Returns 1 with SD_WHY when no server can be had on this machine, and 2 when there is one that does not work.
mysql_up() {
  [ -z "${SD_MYSQL:-}" ] || return 0
  local dir=$SD_TMP/mysql root=$SD_CACHE/mysql port password started=$SECONDS server
  [ -e "$root/complete" ] || mysql_unpack "$root" || return 1
  port=$(free_port)
  password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
  # Its own loader and libraries: the packages are of a newer release than the machine may be.
  server=("$(find "$root/usr/lib" -name 'ld-linux*.so.*' | head -n 1)" --library-path "$(dirname "$(find "$root/usr/lib" -name libssl.so.3)")"
    "$root/usr/sbin/mysqld" --no-defaults --basedir="$root/usr" --user="$(id -un)" --datadir="$dir/data" --tmpdir="$dir/tmp"
    --secure-file-priv= --lc-messages-dir="$root/usr/share/mysql" --character-sets-dir="$root/usr/share/mysql/charsets")
  mkdir -p "$dir/run" "$dir/tmp"
  printf '%s\n' "CREATE USER 'sitemapd'@'127.0.0.1' IDENTIFIED BY '$password';" \
    "GRANT ALL ON *.* TO 'sitemapd'@'127.0.0.1' WITH GRANT OPTION;" >"$dir/init.sql"
  "${server[@]}" --initialize-insecure --init-file="$dir/init.sql" >"$dir/install.log" 2>&1 ||
    { say "MySQL did not initialise: $(tail -n 3 "$dir/install.log")"; return 2; }
  "${server[@]}" --socket="$dir/run/sock" --pid-file="$dir/run/pid" --bind-address=127.0.0.1 --port="$port" --mysqlx=OFF \
    --skip-name-resolve --max-connections=400 --disable-log-bin \
    --innodb-buffer-pool-size=1G --innodb-redo-log-capacity=512M --innodb-flush-log-at-trx-commit=2 >"$dir/server.log" 2>&1 &
  SD_MYSQL_PID=$!
  SD_PIDS+=("$SD_MYSQL_PID")
  wait_port "$port" 120 "$SD_MYSQL_PID" || { say "MySQL did not start: $(tail -n 5 "$dir/server.log")"; return 2; }
  SD_MYSQL="mysql://sitemapd:$password@127.0.0.1:$port/"
  say "MySQL $("${server[@]}" --version 2>/dev/null | sed 's/.*Ver \([^ ]*\).*/\1/') on port $port after $((SECONDS - started)) s"
}

# mysql_unpack FOLDER: downloads the server with everything that it needs (60 MB; no root needed) and lays the files there.
mysql_unpack() {
  local root=$1 work=$SD_TMP/apt-mysql package
  SD_WHY=
  [ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || [ "$(uname -s) $(uname -m)" = "Linux aarch64" ] || { SD_WHY="no package for this machine"; return 1; }
  have apt-get && have dpkg-deb || { SD_WHY="needs apt-get and dpkg-deb"; return 1; }
  other_suite sid "$work" || return 1
  # As on a machine where nothing is installed, so that no library of this one's older release is relied on.
  : >"$work/status"
  apt-get "${SD_APT_OPTIONS[@]}" -o Dir::State::status="$work/status" -y --no-install-recommends --download-only \
    install mysql-server-core >>"$work/log" 2>&1 || { SD_WHY="$(tail -n 1 "$work/log")"; return 1; }
  rm -rf "$root"
  mkdir -p "$root"
  for package in "$work"/cache/archives/*.deb; do
    case $(basename "$package") in
    perl* | libperl*) ;; # for its scripts
    *) dpkg-deb -x "$package" "$root" || { SD_WHY="$(basename "$package") does not unpack"; return 1; } ;;
    esac
  done
  [ -x "$root/usr/sbin/mysqld" ] || { SD_WHY="the packages hold no server"; return 1; }
  : >"$root/complete"
}
