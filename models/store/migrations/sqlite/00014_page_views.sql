-- +goose Up

-- One page by its key is looked up in each document: CROSS JOIN fixes the order of tables, without which SQLite, which keeps no
-- statistics, reads every declaration of the site. Columns and rows are what they were.

DROP VIEW IF EXISTS v1_pages;
CREATE VIEW v1_pages AS
SELECT
  s.id AS site_id,
  s.name AS site,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  d.url AS url,
  CASE
    WHEN c.stage IS NULL OR c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN CASE WHEN v.verdict IN ('complete', 'unchanged') THEN 'live' ELSE 'stale' END
    WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'pending'
    WHEN c.stage = 'held' THEN 'held'
    WHEN c.stage = 'left_window' THEN 'stale'
    ELSE 'pending' END AS state,
  CASE
    WHEN c.stage IS NULL OR c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN CASE WHEN v.verdict IS NULL THEN 'its document is not known at this run' WHEN v.verdict IN ('complete', 'unchanged') THEN NULL ELSE NULLIF(v.reason, '') END
    WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'its removal was approved: ' || c.reason
    ELSE NULLIF(c.reason, '') END AS reason,
  CASE
    WHEN v.verdict IS NULL THEN 'current_unknown'
    WHEN v.verdict IN ('unavailable', 'gone') THEN 'unavailable'
    WHEN NOT (v.verdict IN ('complete', 'unchanged')) OR (c.stage IS NOT NULL AND NOT (c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run)) THEN 'stale'
    WHEN d.from_run = s.current_run AND d.first_run < s.current_run THEN 'changed'
    ELSE 'fresh' END AS freshness,
  d.document AS document_id,
  o.url AS document,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS lastmod,
  d.lastmod_raw AS lastmod_raw,
  CASE d.lastmod_precision WHEN 1 THEN 'year' WHEN 2 THEN 'month' WHEN 3 THEN 'day' WHEN 4 THEN 'minute' WHEN 5 THEN 'second' WHEN 6 THEN 'fraction' END AS lastmod_precision,
  NULLIF(v.lastmod_trust, 0) AS lastmod_trust,
  NULLIF(d.changefreq, '') AS changefreq,
  d.priority AS priority,
  CAST(d.extensions AS TEXT) AS extensions,
  strftime('%Y-%m-%dT%H:%M:%S', (f.finished_at - ((f.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((f.finished_at % 1000000 + 1000000) % 1000000)) AS first_seen,
  strftime('%Y-%m-%dT%H:%M:%S', (g.finished_at - ((g.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((g.finished_at % 1000000 + 1000000) % 1000000)) AS changed_at,
  strftime('%Y-%m-%dT%H:%M:%S', (v.stale_since - ((v.stale_since % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((v.stale_since % 1000000 + 1000000) % 1000000)) AS stale_since,
  d.first_run AS first_run,
  d.from_run AS from_run,
  LOWER(HEX(d.fingerprint)) AS fingerprint
FROM sites s
JOIN documents o ON o.site_id = s.id
LEFT JOIN document_versions v ON v.site_id = o.site_id AND v.document = o.document AND v.from_run <= s.current_run AND v.to_run > s.current_run
CROSS JOIN declarations d ON d.site_id = o.site_id AND d.document = o.document AND d.from_run <= s.current_run AND d.to_run > s.current_run AND d.role = 0
LEFT JOIN removals c ON c.site_id = d.site_id AND c.url_key = d.url_key AND c.document = d.document AND c.decided_run = 9223372036854775807 AND c.valid_from <= s.current_run AND c.valid_to > s.current_run
LEFT JOIN runs f ON f.site_id = d.site_id AND f.run = d.first_run
LEFT JOIN runs g ON g.site_id = d.site_id AND g.run = d.from_run
WHERE s.removed_at IS NULL;

DROP VIEW IF EXISTS v1_page_history;
CREATE VIEW v1_page_history AS
SELECT
  s.id AS site_id,
  s.name AS site,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  d.url AS url,
  CASE d.role WHEN 0 THEN 'declaration' WHEN 1 THEN 'duplicate' ELSE 'foreign' END AS listing,
  d.document AS document_id,
  o.url AS document,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS lastmod,
  d.lastmod_raw AS lastmod_raw,
  CASE d.lastmod_precision WHEN 1 THEN 'year' WHEN 2 THEN 'month' WHEN 3 THEN 'day' WHEN 4 THEN 'minute' WHEN 5 THEN 'second' WHEN 6 THEN 'fraction' END AS lastmod_precision,
  NULLIF(d.changefreq, '') AS changefreq,
  d.priority AS priority,
  CAST(d.extensions AS TEXT) AS extensions,
  d.first_run AS first_run,
  d.from_run AS from_run,
  CASE WHEN d.to_run <= s.current_run THEN d.to_run END AS to_run,
  strftime('%Y-%m-%dT%H:%M:%S', (f.finished_at - ((f.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((f.finished_at % 1000000 + 1000000) % 1000000)) AS valid_from,
  strftime('%Y-%m-%dT%H:%M:%S', (g.finished_at - ((g.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((g.finished_at % 1000000 + 1000000) % 1000000)) AS valid_until,
  LOWER(HEX(d.fingerprint)) AS fingerprint
FROM sites s
JOIN documents o ON o.site_id = s.id
CROSS JOIN declarations d ON d.site_id = o.site_id AND d.document = o.document AND d.from_run <= s.current_run
LEFT JOIN runs f ON f.site_id = d.site_id AND f.run = d.from_run
LEFT JOIN runs g ON g.site_id = d.site_id AND g.run = d.to_run AND d.to_run <= s.current_run
WHERE s.removed_at IS NULL;
