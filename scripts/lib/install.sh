# shellcheck shell=bash
# Installs from the machine's own package manager what the tests need. Sourced after common.sh.

SD_APT_UPDATED=

# as_root COMMAND...: runs it as root, or fails when neither root nor sudo without a password is to be had.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo && sudo -n true 2>/dev/null; then sudo -n "$@"; else return 1; fi
}

# need COMMAND PACKAGE...: makes sure that COMMAND exists, installing the packages when it does not.
# The -core packages of MariaDB hold the server alone: nothing is started on the machine by installing them.
need() {
  local command=$1
  shift
  have_anywhere "$command" && return 0
  have apt-get || { say "$command is missing and there is no apt-get to install $*"; return 1; }
  if [ -z "$SD_APT_UPDATED" ]; then
    as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the lists at hand"
    SD_APT_UPDATED=1
  fi
  say "installing $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$SD_TMP/apt.log" 2>&1 ||
    { say "apt-get install $* failed: $(tail -n 2 "$SD_TMP/apt.log")"; return 1; }
  have_anywhere "$command"
}

# Servers live in sbin, which is not on every user's path.
have_anywhere() { have "$1" || [ -x "/usr/sbin/$1" ]; }

need_mariadb() { need mariadbd mariadb-server-core mariadb-client-core && need mariadb mariadb-client-core; }

# PHP with what WordPress uses. A module can be missing although php is there.
need_php() {
  local packages=(php-cli php-mysql php-xml php-curl php-mbstring)
  need php "${packages[@]}" || return 1
  php_complete && return 0
  say "installing PHP's modules"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" \
    >"$SD_TMP/apt.log" 2>&1
  php_complete || { say "PHP lacks one of mysqli, curl, mbstring, dom"; return 1; }
}

php_complete() {
  php -r 'foreach (["mysqli", "curl", "mbstring", "dom"] as $module) if (!extension_loaded($module)) exit(1);'
}

need_chromium() { have chromium || have chromium-browser || have google-chrome || need chromium chromium; }

# other_suite SUITE FOLDER: sets SD_APT_OPTIONS so that apt-get and apt-cache know the packages of another Debian release and
# nothing else; lists and downloads stay in FOLDER, the machine's own are left as they are. Fails with SD_WHY when the release
# cannot be had.
other_suite() {
  local suite=$1 work=$2 mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "Debian" { print $1; exit }')
  [ -n "$mirror" ] || { SD_WHY="no Debian mirror among this machine's package sources"; return 1; }
  [ -e "$keyring" ] || { SD_WHY="no Debian keyring"; return 1; }
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
  SD_APT_OPTIONS=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$work/lists"
    -o Dir::Cache="$work/cache" -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)"
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
  apt-get "${SD_APT_OPTIONS[@]}" update >"$work/log" 2>&1 || { SD_WHY="its package list did not load"; return 1; }
}
