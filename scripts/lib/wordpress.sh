# shellcheck shell=bash
# Real WordPress for the tests: the package of this machine's own distribution and newer ones, each in a folder of its
# own on the tests' MariaDB, served by PHP's built-in server. Nothing is installed. Sourced after mariadb.sh.

SD_WP_FOLDERS=() # unpacked versions, oldest first, filled by wp_fetch
SD_SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

wp_version() { sed -n "s/^\$wp_version = '\([0-9.]*\).*/\1/p" "$1/wp-includes/version.php"; }

# wp_fetch: unpacks WordPress as packaged by this machine's distribution and, where a Debian mirror is configured, by
# the Debian releases below; reuses what is in the cache folder. A version that cannot be had is left out by name.
wp_fetch() {
  local suite folder
  for suite in own trixie sid; do
    folder=$SD_CACHE/wordpress/$suite
    if [ ! -e "$folder/wp-includes/version.php" ]; then
      rm -rf "$folder"
      wp_unpack "$suite" "$folder" || { left_out "WordPress of $suite: ${SD_WHY:-cannot be had}"; continue; }
    fi
    SD_WP_FOLDERS+=("$folder")
  done
  [ "${#SD_WP_FOLDERS[@]}" -gt 0 ]
}

# wp_unpack SUITE FOLDER: downloads the package (no root needed) and lays its files into FOLDER.
wp_unpack() {
  local suite=$1 folder=$2 work=$SD_TMP/apt-$1
  SD_WHY=
  if [ "$suite" = own ] && [ -e /usr/share/wordpress/wp-includes/version.php ]; then
    mkdir -p "$folder" && cp -a /usr/share/wordpress/. "$folder"
    return
  fi
  have apt-get && have dpkg-deb || { SD_WHY="needs apt-get and dpkg-deb"; return 1; }
  mkdir -p "$work/unpacked" "$(dirname "$folder")"
  SD_APT_OPTIONS=(-o APT::Sandbox::User="$(id -un)")
  [ "$suite" = own ] || other_suite "$suite" "$work" || return 1
  # Without a version apt takes the newest it knows, which in a private set of lists is that of the suite. What is
  # installed counts as well, so the version is asked for by name.
  local version
  version=$(apt-cache "${SD_APT_OPTIONS[@]}" madison wordpress 2>/dev/null | awk -F' *[|] *' 'NR == 1 { print $2 }')
  [ -n "$version" ] || { SD_WHY="no package of this name"; return 1; }
  (cd "$work" && apt-get "${SD_APT_OPTIONS[@]}" download "wordpress=$version") >>"$work/log" 2>&1 &&
    dpkg-deb -x "$work"/wordpress_*.deb "$work/unpacked" && mv "$work/unpacked/usr/share/wordpress" "$folder" ||
    { SD_WHY="$(tail -n 1 "$work/log")"; return 1; }
}

# wp_up NAME FOLDER POSTS: a site of its own with POSTS published posts (0: a few pages and nothing else). Exports
#   SITEMAPD_TEST_WP_URL      its home
#   SITEMAPD_TEST_WP_PHP      driver: php $SITEMAPD_TEST_WP_PHP ACTION [ARGUMENT]..., see scripts/wordpress/driver.php
#   SITEMAPD_TEST_WP_VERSION  its version
# SD_WP_PID is the server to stop.
wp_up() {
  local name=$1 folder=$2 posts=$3 site=$SD_TMP/wp-$1 port database=sitemapd_wp_$1 started=$SECONDS
  port=$(free_port)
  SITEMAPD_TEST_WP_VERSION=$(wp_version "$folder")
  SITEMAPD_TEST_WP_URL=http://127.0.0.1:$port/
  SITEMAPD_TEST_WP_PHP=$site/driver.php
  export SITEMAPD_TEST_WP_URL SITEMAPD_TEST_WP_PHP SITEMAPD_TEST_WP_VERSION
  mkdir -p "$site"
  cp -a "$folder" "$site/htdocs"
  rm -rf "$site/htdocs/wp-content" "$site/htdocs/wp-config.php" "$site/htdocs/.htaccess"
  cp -a "$SD_SCRIPTS/wordpress/content" "$site/htdocs/wp-content"
  mkdir -p "$site/htdocs/wp-content/plugins"
  ln -s "$SD_SCRIPTS/../wordpress/sitemapd" "$site/htdocs/wp-content/plugins/sitemapd"
  mariadb_sql "DROP DATABASE IF EXISTS $database; CREATE DATABASE $database" || return 1
  sed -e "s|@DATABASE@|$database|; s|@PORT@|$SD_MARIADB_PORT|; s|@PASSWORD@|$SD_MARIADB_PASSWORD|" \
    -e "s|@HOME@|http://127.0.0.1:$port|" "$SD_SCRIPTS/wordpress/wp-config.php" >"$site/htdocs/wp-config.php"
  printf '<?php define( "SITEMAPD_TEST_ROOT", "%s/htdocs/" ); require "%s/wordpress/driver.php";\n' \
    "$site" "$SD_SCRIPTS" >"$site/driver.php"
  php "$site/driver.php" install "$posts" >"$site/install.json" || { say "WordPress was not set up"; return 1; }
  # Several workers, as a page that asks the site itself would wait for ever on one.
  PHP_CLI_SERVER_WORKERS=4 apart php -d opcache.enable=1 -d memory_limit=512M -S "127.0.0.1:$port" -t "$site/htdocs" \
    "$SD_SCRIPTS/wordpress/router.php" >"$site/server.log" 2>&1 &
  SD_WP_PID=$!
  SD_PIDS+=("$SD_WP_PID")
  wait_port "$port" 30 "$SD_WP_PID" || { say "PHP's server did not start"; return 1; }
  say "WordPress $SITEMAPD_TEST_WP_VERSION with $posts posts on port $port after $((SECONDS - started)) s"
}
