-- +goose Up

-- The change feed: what each run found, one row a change. Give a site and a span of runs or time: it is derived, not stored.
-- It stands behind the tables of rulings and retention, which it reads. A page that leaves a rolling window is told to be stale, and
-- fresh when a readable document lists it again.
CREATE OR REPLACE VIEW v1_changes AS
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN b.url_key IS NOT NULL THEN 'changed' WHEN a.first_run = r.run THEN 'added' WHEN (SELECT 1 FROM declarations e WHERE e.site_id = s.id AND e.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) IS NOT NULL THEN 'changed' ELSE 'restored' END AS kind,
  a.url_key AS page_id,
  LOWER(HEX(a.url_key)) AS page_hash,
  CONVERT(a.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  CAST(NULL AS CHAR) AS reason,
  CAST(NULL AS CHAR) AS moved_to,
  (CASE WHEN b.url_key IS NOT NULL THEN b.lastmod WHEN a.first_run < r.run THEN (SELECT e.lastmod FROM declarations e WHERE e.site_id = s.id AND e.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) AS old_lastmod,
  a.lastmod AS new_lastmod,
  a.document AS document_id
FROM sites s
JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
JOIN touched t ON t.site_id = r.site_id AND t.run = r.run
JOIN declarations a ON a.site_id = t.site_id AND a.document = t.document AND a.from_run = r.run AND a.role = 0
LEFT JOIN declarations b ON b.site_id = a.site_id AND b.document = a.document AND b.url_key = a.url_key AND b.to_run = r.run AND b.role = 0
LEFT JOIN document_versions v ON v.site_id = a.site_id AND v.document = a.document AND v.from_run = r.run
WHERE s.removed_at IS NULL AND CASE
  WHEN b.url_key IS NOT NULL THEN a.fingerprint <> b.fingerprint AND NOT COALESCE(v.lastmod_shift <> 0 AND a.changefreq = b.changefreq AND a.priority <=> b.priority AND a.extensions <=> b.extensions
    AND TIMESTAMPDIFF(MICROSECOND, b.lastmod, a.lastmod) = v.lastmod_shift, FALSE)
  WHEN a.first_run < r.run THEN COALESCE((SELECT e.fingerprint FROM declarations e WHERE e.site_id = s.id AND e.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) <> a.fingerprint, TRUE)
  ELSE NOT EXISTS (SELECT 1 FROM removals m WHERE m.site_id = s.id AND m.valid_from = r.run AND m.stage = 'migrated' AND m.moved_key = a.url_key) END
UNION ALL
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN e.stage IN ('moved', 'migrated') THEN 'moved' ELSE 'removed' END AS kind,
  b.url_key AS page_id,
  LOWER(HEX(b.url_key)) AS page_hash,
  CONVERT(b.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  NULLIF(CONVERT(e.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  CASE WHEN e.stage IN ('moved', 'migrated') THEN NULLIF(CONVERT(e.moved_to USING utf8mb4) COLLATE utf8mb4_bin, '') END AS moved_to,
  b.lastmod AS old_lastmod,
  CAST(NULL AS DATETIME(6)) AS new_lastmod,
  b.document AS document_id
FROM sites s
JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
JOIN touched t ON t.site_id = r.site_id AND t.run = r.run
JOIN declarations b ON b.site_id = t.site_id AND b.document = t.document AND b.to_run = r.run AND b.role = 0
LEFT JOIN removals e ON e.site_id = b.site_id AND e.url_key = b.url_key AND e.valid_from = r.run AND e.decided_run = r.run
WHERE s.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM declarations n WHERE n.site_id = s.id AND n.url_key = b.url_key AND n.role = 0 AND n.from_run <= r.run AND n.to_run > r.run)
UNION ALL
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN c.stage = 'held' THEN 'held' WHEN c.stage = 'pending' THEN 'pending' WHEN w.stage = 'left_window' THEN 'fresh' WHEN c.stage = 'left_window' THEN 'stale' ELSE 'restored' END AS kind,
  c.url_key AS page_id,
  LOWER(HEX(c.url_key)) AS page_hash,
  CONVERT(c.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  NULLIF(CONVERT(c.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  CAST(NULL AS CHAR) AS moved_to,
  CAST(NULL AS DATETIME(6)) AS old_lastmod,
  CAST(NULL AS DATETIME(6)) AS new_lastmod,
  c.document AS document_id
FROM sites s
JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
JOIN removals c ON c.site_id = r.site_id AND c.valid_from = r.run
LEFT JOIN removals w ON w.site_id = c.site_id AND w.url_key = c.url_key AND w.from_run = c.from_run AND w.valid_to = r.run
WHERE s.removed_at IS NULL AND CASE
  WHEN w.stage = 'left_window' AND c.decided_run = r.run THEN c.stage IN ('left_window', 'restored') AND EXISTS (SELECT 1 FROM declarations e
    LEFT JOIN document_versions i ON i.site_id = e.site_id AND i.document = e.document AND i.from_run <= r.run AND i.to_run > r.run
    WHERE e.site_id = s.id AND e.url_key = c.url_key AND e.role = 0 AND e.from_run <= r.run AND e.to_run > r.run AND (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')))
  WHEN c.stage = 'left_window' THEN COALESCE(w.stage, '') <> 'left_window'
  WHEN c.stage = 'held' THEN COALESCE(w.stage, '') <> 'held'
  WHEN c.stage = 'pending' THEN COALESCE(w.stage, '') NOT IN ('pending', 'held')
  WHEN c.stage = 'restored' THEN COALESCE(w.stage, '') IN ('pending', 'held') AND (c.ruling <> 2 OR c.ruled_run >= r.run)
  ELSE FALSE END
UNION ALL
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'fresh' ELSE 'stale' END AS kind,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  CONVERT(d.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  CASE WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN NULL ELSE NULLIF(CONVERT(i.reason USING utf8mb4) COLLATE utf8mb4_bin, '') END AS reason,
  CAST(NULL AS CHAR) AS moved_to,
  d.lastmod AS old_lastmod,
  d.lastmod AS new_lastmod,
  d.document AS document_id
FROM sites s
JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
JOIN touched t ON t.site_id = r.site_id AND t.run = r.run
JOIN declarations d ON d.site_id = t.site_id AND d.document = t.document AND d.role = 0 AND d.from_run <= r.run AND d.to_run > r.run
LEFT JOIN document_versions i ON i.site_id = d.site_id AND i.document = d.document AND i.from_run <= r.run AND i.to_run > r.run
LEFT JOIN document_versions w ON w.site_id = d.site_id AND w.document = d.document AND w.from_run <= (r.run - 1) AND w.to_run > (r.run - 1)
LEFT JOIN document_versions b ON b.site_id = d.site_id AND b.document = (CASE WHEN d.from_run < r.run THEN d.document WHEN d.first_run < r.run THEN (SELECT e.document FROM declarations e WHERE e.site_id = s.id AND e.url_key = d.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) AND b.from_run <= (r.run - 1) AND b.to_run > (r.run - 1)
LEFT JOIN removals x ON x.site_id = d.site_id AND x.url_key = d.url_key AND x.document = (CASE WHEN d.from_run < r.run THEN d.document WHEN d.first_run < r.run THEN (SELECT e.document FROM declarations e WHERE e.site_id = s.id AND e.url_key = d.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) AND x.decided_run = 9223372036854775807 AND x.valid_from <= (r.run - 1) AND x.valid_to > (r.run - 1)
LEFT JOIN removals y ON y.site_id = d.site_id AND y.url_key = d.url_key AND y.document = d.document AND y.decided_run = 9223372036854775807 AND y.valid_from <= r.run AND y.valid_to > r.run
LEFT JOIN rulings g ON g.site_id = r.site_id AND g.ruled_run = (SELECT MAX(q.run) FROM runs q WHERE q.site_id = r.site_id AND q.run < r.run AND q.finished_at IS NOT NULL AND q.error = '')
WHERE s.removed_at IS NULL AND ((w.verdict IS NULL OR w.verdict IN ('complete', 'unchanged')) <> (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) OR d.from_run = r.run AND (NOT (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) OR d.first_run < r.run)) AND CASE
  WHEN (CASE WHEN d.from_run < r.run THEN d.document WHEN d.first_run < r.run THEN (SELECT e.document FROM declarations e WHERE e.site_id = s.id AND e.url_key = d.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) IS NULL THEN NOT (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged'))
  WHEN x.stage IS NOT NULL AND g.ruled_run IS NOT NULL AND x.ruled_run = g.ruled_run AND x.ruling = 2 THEN FALSE
  WHEN x.stage = 'left_window' THEN FALSE
  WHEN x.stage IS NOT NULL AND NOT (x.stage IN ('pending', 'held') AND x.ruling = 2 AND x.ruled_run < r.run) THEN y.stage IS NULL AND NOT (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged'))
  ELSE (x.stage IS NOT NULL OR y.stage IS NULL) AND (b.verdict IS NULL OR b.verdict IN ('complete', 'unchanged')) <> (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) END
UNION ALL
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN c.ruling = 1 THEN 'pending' WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'fresh' ELSE 'stale' END AS kind,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  CONVERT(d.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  CASE WHEN c.ruling = 1 THEN CONCAT('its removal was approved: ', CONVERT(c.reason USING utf8mb4) COLLATE utf8mb4_bin) WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'a person kept it' ELSE NULLIF(CONVERT(i.reason USING utf8mb4) COLLATE utf8mb4_bin, '') END AS reason,
  CAST(NULL AS CHAR) AS moved_to,
  d.lastmod AS old_lastmod,
  d.lastmod AS new_lastmod,
  d.document AS document_id
FROM sites s
JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
JOIN rulings g ON g.site_id = r.site_id AND g.ruled_run = (SELECT MAX(q.run) FROM runs q WHERE q.site_id = r.site_id AND q.run < r.run AND q.finished_at IS NOT NULL AND q.error = '')
JOIN removals c ON c.site_id = g.site_id AND c.ruled_run = g.ruled_run AND c.ruling <> 0 AND c.valid_from <= g.ruled_run AND c.valid_to > g.ruled_run
JOIN declarations d ON d.site_id = c.site_id AND d.url_key = c.url_key AND d.role = 0 AND d.from_run <= r.run AND d.to_run > r.run
LEFT JOIN removals o ON o.site_id = c.site_id AND o.url_key = c.url_key AND o.valid_to = g.ruled_run AND o.ruling <> 0 AND o.ruled_run < g.ruled_run
LEFT JOIN removals y ON y.site_id = d.site_id AND y.url_key = d.url_key AND y.document = d.document AND y.decided_run = 9223372036854775807 AND y.valid_from <= r.run AND y.valid_to > r.run
LEFT JOIN document_versions i ON i.site_id = d.site_id AND i.document = d.document AND i.from_run <= r.run AND i.to_run > r.run
WHERE s.removed_at IS NULL AND (c.ruling <> 1 OR y.stage IS NOT NULL AND CASE WHEN o.ruling = 1 THEN FALSE WHEN o.ruling = 2 THEN TRUE ELSE c.stage <> 'pending' END)
UNION ALL
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  'stale' AS kind,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  CONVERT(d.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  NULLIF(CONVERT(i.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  CAST(NULL AS CHAR) AS moved_to,
  d.lastmod AS old_lastmod,
  d.lastmod AS new_lastmod,
  d.document AS document_id
FROM sites s
JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
JOIN removals c ON c.site_id = r.site_id AND c.valid_from = r.run AND c.stage = 'restored' AND (c.ruling <> 2 OR c.ruled_run >= r.run)
JOIN removals w ON w.site_id = c.site_id AND w.url_key = c.url_key AND w.from_run = c.from_run AND w.valid_to = r.run AND w.stage IN ('pending', 'held')
JOIN declarations d ON d.site_id = c.site_id AND d.url_key = c.url_key AND d.role = 0 AND d.from_run < r.run AND d.to_run > r.run
JOIN document_versions i ON i.site_id = d.site_id AND i.document = d.document AND i.from_run <= r.run AND i.to_run > r.run AND i.verdict NOT IN ('complete', 'unchanged')
JOIN document_versions b ON b.site_id = d.site_id AND b.document = d.document AND b.from_run <= (r.run - 1) AND b.to_run > (r.run - 1) AND b.verdict NOT IN ('complete', 'unchanged')
LEFT JOIN removals y ON y.site_id = d.site_id AND y.url_key = d.url_key AND y.document = d.document AND y.decided_run = 9223372036854775807 AND y.valid_from <= r.run AND y.valid_to > r.run
WHERE s.removed_at IS NULL AND y.stage IS NULL;
