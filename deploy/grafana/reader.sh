#!/bin/sh
# Makes the user that Grafana reads the SQL views with. MariaDB's image runs it once, on an empty volume; on a database that is
# there already run its statements by hand (docs/sql-views.md). The views do not exist yet at that moment: a right on a
# table that is not there can only be given together with CREATE, which is taken back at once.
set -e
for view in sites runs documents pages removed_pages page_history removals changes findings canonical_heads; do
  echo "GRANT SELECT, CREATE ON \`$MARIADB_DATABASE\`.v1_$view TO grafana@'%';"
  echo "REVOKE CREATE ON \`$MARIADB_DATABASE\`.v1_$view FROM grafana@'%';"
done | {
  echo "CREATE USER IF NOT EXISTS grafana@'%' IDENTIFIED BY '$SITEMAPD_GRAFANA_PASSWORD';"
  cat
} | ${MARIADB_CLIENT:-mariadb -uroot -p"$MARIADB_ROOT_PASSWORD"}
