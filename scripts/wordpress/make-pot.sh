#!/usr/bin/env bash
# Writes wordpress/sitemapd/languages/sitemapd.pot from the plugin's texts. Needs xgettext (Debian: gettext).
#   scripts/wordpress/make-pot.sh [OUTPUT]
set -euo pipefail
cd "$(dirname "$0")/../../wordpress/sitemapd"
output=${1:-languages/sitemapd.pot}
version=$(sed -n 's/^ \* Version: *//p' sitemapd.php)
{
  cat <<HEADER
# Copyright (C) The sitemapd contributors
# This file is distributed under the GPL-2.0-or-later.
msgid ""
msgstr ""
"Project-Id-Version: sitemapd companion $version\n"
"Report-Msgid-Bugs-To: https://github.com/sitemapd/sitemapd/issues\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"X-Domain: sitemapd\n"

#. Plugin description
#: sitemapd.php
msgid "$(sed -n 's/^ \* Description: *//p' sitemapd.php)"
msgstr ""

HEADER
  find . -name '*.php' | LC_ALL=C sort | sed 's|^\./||' |
    xgettext --files-from=- --language=PHP --from-code=UTF-8 --add-comments=translators --omit-header --no-wrap \
      --sort-by-file --keyword=__:1 --keyword=esc_html__:1 --keyword=esc_attr__:1 --add-location=file --output=-
} >"$output"
