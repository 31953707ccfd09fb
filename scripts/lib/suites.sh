# shellcheck shell=bash
# The suites of test.sh: each is a function suite_NAME that returns 0 when it passed. Sourced after the other libraries.

SD_PASSED=0 SD_FAILED=0 SD_SKIPPED=0
SD_SKIP=75 # a suite returns this after left_out when it could not run at all

# run_suite NAME: runs it and prints its result and time.
run_suite() {
  local name=$1 started=$SECONDS code
  printf '\n=== %s\n' "$name"
  "suite_$name"
  code=$?
  case $code in
  0) SD_PASSED=$((SD_PASSED + 1)); printf -- '--- ok    %s (%d s)\n' "$name" $((SECONDS - started)) ;;
  "$SD_SKIP") SD_SKIPPED=$((SD_SKIPPED + 1)); printf -- '--- none  %s\n' "$name" ;;
  *) SD_FAILED=$((SD_FAILED + 1)); printf -- '--- FAIL  %s (%d s)\n' "$name" $((SECONDS - started)) ;;
  esac
}

# summary: what was left out, then the closing line.
summary() {
  local line
  printf '\n'
  for line in ${SD_LEFT_OUT[@]+"${SD_LEFT_OUT[@]}"}; do printf 'left out: %s\n' "$line"; done
  printf 'all suites took %d s\n' "$SECONDS"
  printf '%d passed, %d failed, %d skipped\n' "$SD_PASSED" "$SD_FAILED" "$SD_SKIPPED"
  [ "$SD_FAILED" = 0 ]
}

# need_server WHAT: MariaDB runs; else the suite's result: skipped when there is none, failed when it does not work.
need_server() {
  mariadb_up && return 0
  [ $? = 1 ] || return 1
  left_out "$1: no MariaDB server (mariadb-server-core) can be had"
  return $SD_SKIP
}

suite_format() {
  local wrong
  # Files that a generator writes are its own business.
  wrong=$(gofmt -l $(git ls-files '*.go' 2>/dev/null || find . -name '*.go') | grep -v '_templ\.go$')
  [ -z "$wrong" ] || { printf 'not formatted by gofmt:\n%s\n' "$wrong"; return 1; }
}

suite_vet() { go vet ./...; }

# The released program: static, and it says its version.
suite_build() {
  CGO_ENABLED=0 go build -o "$SD_TMP/sitemapd" ./cmd/sitemapd && "$SD_TMP/sitemapd" version &&
    export SITEMAPD_TEST_BIN=$SD_TMP/sitemapd # for the end-to-end tests
}

# All Go tests; what needs a server skips itself.
suite_unit() { env -u SITEMAPD_TEST_MYSQL go test -timeout 20m ./...; }

# The same tests with a real MariaDB: what is tested on SQLite is tested on it as well.
suite_mariadb() {
  need_server "tests on MariaDB" || return
  go test -timeout 20m ./...
}

# What is the database's, with a real MySQL, whose plans, casts and refusals are not MariaDB's.
suite_mysql() {
  mysql_up
  case $? in
  0) ;;
  1) left_out "tests on MySQL: ${SD_WHY:-no server can be had}"; return $SD_SKIP ;;
  *) return 1 ;;
  esac
  local code=0
  SITEMAPD_TEST_MYSQL=$SD_MYSQL go test -timeout 20m ./models/... ./e2e/ ./e2e/crash/ ./e2e/notify/ || code=1
  SITEMAPD_TEST_MYSQL=$SD_MYSQL go test -timeout 20m -run 'AsOf|Edges|EveryDatabase|Export|Moves|Windows|Switch|Histories_OnMySQL' \
    ./sync/ ./cmd/... ./sync/simulate/ || code=1
  stop "$SD_MYSQL_PID" # the suites after this one need the memory and the cores
  return $code
}

# older_php: the plugin promises PHP 7.2, distributions package 8.2 and later. Its files are read by the grammar of each older
# version, by a parser from npm at one fixed version, whose reading is tested itself first.
older_php() {
  local version problem=0 folder=$SD_CACHE/php-parser
  have npm && have node || { left_out "PHP 7.2 to 8.1 syntax: no node and npm"; return 0; }
  [ -e "$folder/node_modules/php-parser/package.json" ] ||
    npm install --silent --no-audit --no-fund --prefix "$folder" php-parser@3.7.0 >"$SD_TMP/npm.log" 2>&1 ||
    { left_out "PHP 7.2 to 8.1 syntax: php-parser cannot be had: $(tail -n 1 "$SD_TMP/npm.log")"; return 0; }
  export SD_NODE_MODULES=$folder/here.js # node looks for packages beside it
  node scripts/wordpress/lint.mjs --self-test || problem=1
  for version in 7.2 7.3 7.4 8.0 8.1; do
    find wordpress -name '*.php' -print0 | xargs -0 node scripts/wordpress/lint.mjs "$version" || problem=1
  done
  return $problem
}

suite_phplint() {
  local file problem=0
  need_php || { left_out "PHP lint: no php"; return $SD_SKIP; }
  while IFS= read -r file; do
    php -d display_errors=1 -d error_reporting=-1 -l "$file" >"$SD_TMP/lint" 2>&1 || { cat "$SD_TMP/lint"; problem=1; }
  done < <(find wordpress scripts/wordpress -name '*.php')
  older_php || problem=1
  # The template for translators holds every text of the plugin; checked where its tool is at hand.
  if have xgettext && ! { scripts/wordpress/make-pot.sh "$SD_TMP/new.pot" &&
    cmp -s "$SD_TMP/new.pot" wordpress/sitemapd/languages/sitemapd.pot; }; then
    echo "wordpress/sitemapd/languages/sitemapd.pot is not up to date: run scripts/wordpress/make-pot.sh"
    problem=1
  fi
  return $problem
}

# wordpress_each TEST POSTS: runs the Go tests named TEST in e2e/ against every WordPress that could be had.
wordpress_each() {
  local folder failed=0
  need_php || { left_out "$1 on real WordPress: no PHP"; return $SD_SKIP; }
  need_server "$1 on real WordPress" || return
  [ "${#SD_WP_FOLDERS[@]}" -gt 0 ] || wp_fetch || { left_out "$1: no WordPress could be had"; return $SD_SKIP; }
  for folder in "${SD_WP_FOLDERS[@]}"; do
    wordpress_one "$1" "$2" "$folder" "$(basename "$folder")" || { say "failed on WordPress $(wp_version "$folder")"; failed=1; }
  done
  return $failed
}

wordpress_one() {
  local test=$1 posts=$2 folder=$3 name=$4 site_pid empty_pid code
  # A second, small site without a single post: some versions answer its sitemap with status 404.
  wp_up "${name}_empty" "$folder" 0 || return 1
  empty_pid=$SD_WP_PID
  export SITEMAPD_TEST_WP_EMPTY_URL=$SITEMAPD_TEST_WP_URL SITEMAPD_TEST_WP_EMPTY_PHP=$SITEMAPD_TEST_WP_PHP
  wp_up "$name" "$folder" "$posts" || return 1
  site_pid=$SD_WP_PID
  SD_FPM_PID=
  unset SITEMAPD_TEST_WP_FPM
  fpm_up "$name" || left_out "plugin under PHP-FPM: php-fpm cannot be had"
  # With -v, as the tests say what they measured; without the line that announces each.
  go test -count=1 -timeout 20m -v -run "^($test)" ./e2e/ | grep -v '^=== '
  code=${PIPESTATUS[0]}
  [ -z "$SD_FPM_PID" ] || stop "$SD_FPM_PID"
  stop "$site_pid"
  stop "$empty_pid"
  return $code
}

# The main job on real WordPress, and what the daemon makes of its quirks.
suite_wordpress() { wordpress_each TestWordPress "${SITEMAPD_TEST_POSTS:-5000}"; }

# The companion plugin on real WordPress.
suite_plugin() {
  [ -e wordpress/sitemapd/sitemapd.php ] || return $SD_SKIP
  wordpress_each TestPlugin 200
}

# The dashboard in a real browser.
suite_browser() {
  [ -d e2e/browser ] || return $SD_SKIP
  need_chromium || { left_out "the dashboard in a browser: no Chromium"; return $SD_SKIP; }
  SITEMAPD_TEST_CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
    go test -count=1 -timeout 10m ./e2e/browser/...
}

# servers: for work by hand; ends with the script.
servers() {
  need_php && mariadb_up && wp_fetch || return 1
  wp_up hand "${SD_WP_FOLDERS[0]}" "${SITEMAPD_TEST_POSTS:-5000}" || return 1
  printf 'export SITEMAPD_TEST_MYSQL=%s\n' "$SITEMAPD_TEST_MYSQL"
  printf 'export SITEMAPD_TEST_WP_URL=%s SITEMAPD_TEST_WP_PHP=%s SITEMAPD_TEST_WP_VERSION=%s\n' \
    "$SITEMAPD_TEST_WP_URL" "$SITEMAPD_TEST_WP_PHP" "$SITEMAPD_TEST_WP_VERSION"
  say "Ctrl-C stops them"
  wait
}
