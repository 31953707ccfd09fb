#!/usr/bin/env bash
# Checks the Prometheus rules, the example configuration and every expression of the Grafana dashboard with promtool
# (Debian: apt-get install prometheus jq). Not part of the tests: promtool is large.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in promtool jq; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install prometheus jq" >&2; exit 1; }
done
promtool check rules deploy/prometheus/sitemapd.rules.yml
promtool check config --syntax-only deploy/prometheus/prometheus.yml
rules=$(mktemp) && trap 'rm -f "$rules"' EXIT
# Expressions are read as recording rules, which is how promtool takes any of them.
{
  echo 'groups: [{name: dashboard, rules: ['
  jq -r '[.panels[].targets[].expr] | to_entries[] | {record: "panel:\(.key)", expr: (.value | gsub("\\$job"; "sitemapd") | gsub("\\$site"; ".*"))} | @json + ","' \
    deploy/grafana/dashboards/operations.json
  echo ']}]'
} >"$rules"
promtool check rules --lint=none "$rules"
