# shellcheck shell=bash
# PHP-FPM beside PHP's built-in server, for what only it can do: end a response and go on working. The package's files
# are unpacked, not installed, so no service starts. Sourced after wordpress.sh.

# fpm_unpack VERSION FOLDER: with the one library that PHP's command line does without.
fpm_unpack() {
  local work=$SD_TMP/fpm package
  have dpkg-deb && mkdir -p "$work" || return 1
  (cd "$work" && apt-get -o APT::Sandbox::User="$(id -un)" download "php$1-fpm" libapparmor1 >log 2>&1) || return 1
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$2" || return 1; done
  touch "$2/complete"
}

# fpm_up NAME: serves the site NAME of wp_up on a socket; exports SITEMAPD_TEST_WP_FPM and SITEMAPD_TEST_WP_ROOT.
fpm_up() {
  local site=$SD_TMP/wp-$1 version folder=$SD_CACHE/php-fpm binary
  version=$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
  binary=$(command -v "php-fpm$version" || echo "/usr/sbin/php-fpm$version")
  if [ ! -x "$binary" ]; then
    binary=$folder/usr/sbin/php-fpm$version
    [ -x "$binary" ] && [ -e "$folder/complete" ] || fpm_unpack "$version" "$folder" || return 1
  fi
  cat >"$site/fpm.conf" <<CONF
[global]
error_log = $site/fpm.log
daemonize = no
[www]
listen = $site/fpm.sock
pm = static
pm.max_children = 2
catch_workers_output = yes
clear_env = no
CONF
  if [ "$(id -u)" = 0 ]; then printf 'user = root\ngroup = root\n' >>"$site/fpm.conf"; fi
  # The modules that the command line has.
  LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu) \
    PHP_INI_SCAN_DIR=$(php -r 'echo PHP_CONFIG_FILE_SCAN_DIR;') apart "$binary" --allow-to-run-as-root --nodaemonize \
    -c "$(php -r 'echo php_ini_loaded_file();')" -y "$site/fpm.conf" >"$site/fpm.out" 2>&1 &
  SD_PIDS+=($!)
  SD_FPM_PID=$!
  local tries=100
  until [ -S "$site/fpm.sock" ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] && kill -0 "$SD_FPM_PID" 2>/dev/null || return 1
    sleep 0.05
  done
  export SITEMAPD_TEST_WP_FPM=$site/fpm.sock SITEMAPD_TEST_WP_ROOT=$site/htdocs
}
