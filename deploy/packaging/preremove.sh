#!/bin/sh
# Data in /var/lib/sitemapd and settings in /etc/sitemapd stay. An upgrade (deb: "upgrade", rpm: 1) stops nothing here.
set -e
case "${1:-}" in
remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now sitemapd.service || true
  fi
  ;;
esac
