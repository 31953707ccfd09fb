#!/bin/sh
# The service is not started by itself: it would begin to fetch before anybody has read the configuration.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart sitemapd.service || true
fi
