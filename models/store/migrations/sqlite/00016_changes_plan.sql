-- +goose Up

-- The change feed, with the same rows as before. SQLite, which keeps no statistics, began with the declarations of a site, or of all, and
-- held each against its open removals. CROSS JOIN fixes the order of tables: a site, its runs, the documents that they touched. A sum
-- (decided_run + 0) keeps an index out of the way of the look-up by page, INDEXED BY names the one by run.
DROP VIEW IF EXISTS v1_changes;
CREATE VIEW v1_changes AS
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN b.url_key IS NOT NULL THEN 'changed' WHEN a.first_run = r.run THEN 'added' WHEN (SELECT 1 FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) IS NOT NULL THEN 'changed' ELSE 'restored' END AS kind,
  a.url_key AS page_id,
  LOWER(HEX(a.url_key)) AS page_hash,
  a.url AS url,
  NULL AS reason,
  NULL AS moved_to,
  strftime('%Y-%m-%dT%H:%M:%S', ((CASE WHEN b.url_key IS NOT NULL THEN b.lastmod WHEN a.first_run < r.run THEN (SELECT e.lastmod FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) - (((CASE WHEN b.url_key IS NOT NULL THEN b.lastmod WHEN a.first_run < r.run THEN (SELECT e.lastmod FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', (((CASE WHEN b.url_key IS NOT NULL THEN b.lastmod WHEN a.first_run < r.run THEN (SELECT e.lastmod FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) % 1000000 + 1000000) % 1000000)) AS old_lastmod,
  strftime('%Y-%m-%dT%H:%M:%S', (a.lastmod - ((a.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((a.lastmod % 1000000 + 1000000) % 1000000)) AS new_lastmod,
  a.document AS document_id
FROM sites s
CROSS JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
CROSS JOIN touched t ON t.site_id = r.site_id AND t.run = r.run
CROSS JOIN declarations a ON a.site_id = t.site_id AND a.document = t.document AND a.from_run = r.run AND a.role = 0
LEFT JOIN declarations b ON b.site_id = a.site_id AND b.document = a.document AND b.url_key = a.url_key AND b.to_run = r.run AND b.role = 0
LEFT JOIN document_versions v ON v.site_id = a.site_id AND v.document = a.document AND v.from_run = r.run
WHERE s.removed_at IS NULL AND CASE
  WHEN b.url_key IS NOT NULL THEN a.fingerprint <> b.fingerprint AND NOT COALESCE(v.lastmod_shift <> 0 AND a.changefreq = b.changefreq AND a.priority IS b.priority AND a.extensions IS b.extensions
    AND a.lastmod - b.lastmod = v.lastmod_shift, 0)
  WHEN a.first_run < r.run THEN COALESCE((SELECT e.fingerprint FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = a.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) <> a.fingerprint, 1)
  ELSE NOT EXISTS (SELECT 1 FROM removals m INDEXED BY removals_run WHERE m.site_id = s.id AND m.valid_from = r.run AND m.stage = 'migrated' AND m.moved_key = a.url_key) END
UNION ALL
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN e.stage IN ('moved', 'migrated') THEN 'moved' ELSE 'removed' END AS kind,
  b.url_key AS page_id,
  LOWER(HEX(b.url_key)) AS page_hash,
  b.url AS url,
  NULLIF(e.reason, '') AS reason,
  CASE WHEN e.stage IN ('moved', 'migrated') THEN NULLIF(e.moved_to, '') END AS moved_to,
  strftime('%Y-%m-%dT%H:%M:%S', (b.lastmod - ((b.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((b.lastmod % 1000000 + 1000000) % 1000000)) AS old_lastmod,
  NULL AS new_lastmod,
  b.document AS document_id
FROM sites s
CROSS JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
CROSS JOIN touched t ON t.site_id = r.site_id AND t.run = r.run
CROSS JOIN declarations b ON b.site_id = t.site_id AND b.document = t.document AND b.to_run = r.run AND b.role = 0
LEFT JOIN removals e ON e.site_id = b.site_id AND e.url_key = b.url_key AND e.valid_from = r.run AND e.decided_run = r.run
WHERE s.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM page_documents p CROSS JOIN declarations n ON n.site_id = p.site_id AND n.document = p.document AND n.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = b.url_key AND n.role = 0 AND n.from_run <= r.run AND n.to_run > r.run)
UNION ALL
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN c.stage = 'held' THEN 'held' WHEN c.stage = 'pending' THEN 'pending' WHEN w.stage = 'left_window' THEN 'fresh' WHEN c.stage = 'left_window' THEN 'stale' ELSE 'restored' END AS kind,
  c.url_key AS page_id,
  LOWER(HEX(c.url_key)) AS page_hash,
  c.url AS url,
  NULLIF(c.reason, '') AS reason,
  NULL AS moved_to,
  NULL AS old_lastmod,
  NULL AS new_lastmod,
  c.document AS document_id
FROM sites s
CROSS JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
CROSS JOIN removals c INDEXED BY removals_run ON c.site_id = r.site_id AND c.valid_from = r.run
LEFT JOIN removals w ON w.site_id = c.site_id AND w.url_key = c.url_key AND w.from_run = c.from_run AND w.valid_to = r.run
WHERE s.removed_at IS NULL AND CASE
  WHEN w.stage = 'left_window' AND c.decided_run = r.run THEN c.stage IN ('left_window', 'restored') AND EXISTS (SELECT 1 FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    LEFT JOIN document_versions i ON i.site_id = e.site_id AND i.document = e.document AND i.from_run <= r.run AND i.to_run > r.run
    WHERE p.site_id = s.id AND p.url_key = c.url_key AND e.role = 0 AND e.from_run <= r.run AND e.to_run > r.run AND (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')))
  WHEN c.stage = 'left_window' THEN COALESCE(w.stage, '') <> 'left_window'
  WHEN c.stage = 'held' THEN COALESCE(w.stage, '') <> 'held'
  WHEN c.stage = 'pending' THEN COALESCE(w.stage, '') NOT IN ('pending', 'held')
  WHEN c.stage = 'restored' THEN COALESCE(w.stage, '') IN ('pending', 'held') AND (c.ruling <> 2 OR c.ruled_run >= r.run)
  ELSE 0 END
UNION ALL
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'fresh' ELSE 'stale' END AS kind,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  d.url AS url,
  CASE WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN NULL ELSE NULLIF(i.reason, '') END AS reason,
  NULL AS moved_to,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS old_lastmod,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS new_lastmod,
  d.document AS document_id
FROM sites s
CROSS JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
CROSS JOIN touched t ON t.site_id = r.site_id AND t.run = r.run
CROSS JOIN declarations d ON d.site_id = t.site_id AND d.document = t.document AND d.role = 0 AND d.from_run <= r.run AND d.to_run > r.run
LEFT JOIN document_versions i ON i.site_id = d.site_id AND i.document = d.document AND i.from_run <= r.run AND i.to_run > r.run
LEFT JOIN document_versions w ON w.site_id = d.site_id AND w.document = d.document AND w.from_run <= (r.run - 1) AND w.to_run > (r.run - 1)
LEFT JOIN document_versions b ON b.site_id = d.site_id AND b.document = (CASE WHEN d.from_run < r.run THEN d.document WHEN d.first_run < r.run THEN (SELECT e.document FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = d.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) AND b.from_run <= (r.run - 1) AND b.to_run > (r.run - 1)
LEFT JOIN removals x ON x.site_id = d.site_id AND x.url_key = d.url_key AND x.document = (CASE WHEN d.from_run < r.run THEN d.document WHEN d.first_run < r.run THEN (SELECT e.document FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = d.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) AND x.decided_run + 0 = 9223372036854775807 AND x.valid_from + 0 <= (r.run - 1) AND x.valid_to + 0 > (r.run - 1)
LEFT JOIN removals y ON y.site_id = d.site_id AND y.url_key = d.url_key AND y.document = d.document AND y.decided_run + 0 = 9223372036854775807 AND y.valid_from + 0 <= r.run AND y.valid_to + 0 > r.run
LEFT JOIN rulings g ON g.site_id = r.site_id AND g.ruled_run = (SELECT MAX(q.run) FROM runs q WHERE q.site_id = r.site_id AND q.run < r.run AND q.finished_at IS NOT NULL AND q.error = '')
WHERE s.removed_at IS NULL AND ((w.verdict IS NULL OR w.verdict IN ('complete', 'unchanged')) <> (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) OR d.from_run = r.run AND (NOT (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) OR d.first_run < r.run)) AND CASE
  WHEN (CASE WHEN d.from_run < r.run THEN d.document WHEN d.first_run < r.run THEN (SELECT e.document FROM page_documents p CROSS JOIN declarations e ON e.site_id = p.site_id AND e.document = p.document AND e.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = d.url_key AND e.role = 0 AND e.from_run <= (r.run - 1) AND e.to_run > (r.run - 1) LIMIT 1) END) IS NULL THEN NOT (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged'))
  WHEN x.stage IS NOT NULL AND g.ruled_run IS NOT NULL AND x.ruled_run = g.ruled_run AND x.ruling = 2 THEN 0
  WHEN x.stage = 'left_window' THEN 0
  WHEN x.stage IS NOT NULL AND NOT (x.stage IN ('pending', 'held') AND x.ruling = 2 AND x.ruled_run < r.run) THEN y.stage IS NULL AND NOT (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged'))
  ELSE (x.stage IS NOT NULL OR y.stage IS NULL) AND (b.verdict IS NULL OR b.verdict IN ('complete', 'unchanged')) <> (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) END
UNION ALL
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  CASE WHEN c.ruling = 1 THEN 'pending' WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'fresh' ELSE 'stale' END AS kind,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  d.url AS url,
  CASE WHEN c.ruling = 1 THEN 'its removal was approved: ' || c.reason WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'a person kept it' ELSE NULLIF(i.reason, '') END AS reason,
  NULL AS moved_to,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS old_lastmod,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS new_lastmod,
  d.document AS document_id
FROM sites s
CROSS JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
CROSS JOIN rulings g ON g.site_id = r.site_id AND g.ruled_run = (SELECT MAX(q.run) FROM runs q WHERE q.site_id = r.site_id AND q.run < r.run AND q.finished_at IS NOT NULL AND q.error = '')
CROSS JOIN removals c ON c.site_id = g.site_id AND c.ruled_run = g.ruled_run AND c.ruling <> 0 AND c.valid_from <= g.ruled_run AND c.valid_to > g.ruled_run
CROSS JOIN page_documents p ON p.site_id = c.site_id AND p.url_key = c.url_key
CROSS JOIN declarations d ON d.site_id = p.site_id AND d.document = p.document AND d.url_key = p.url_key AND d.role = 0 AND d.from_run <= r.run AND d.to_run > r.run
LEFT JOIN removals o ON o.site_id = c.site_id AND o.url_key = c.url_key AND o.valid_to = g.ruled_run AND o.ruling <> 0 AND o.ruled_run < g.ruled_run
LEFT JOIN removals y ON y.site_id = d.site_id AND y.url_key = d.url_key AND y.document = d.document AND y.decided_run + 0 = 9223372036854775807 AND y.valid_from + 0 <= r.run AND y.valid_to + 0 > r.run
LEFT JOIN document_versions i ON i.site_id = d.site_id AND i.document = d.document AND i.from_run <= r.run AND i.to_run > r.run
WHERE s.removed_at IS NULL AND (c.ruling <> 1 OR y.stage IS NOT NULL AND CASE WHEN o.ruling = 1 THEN 0 WHEN o.ruling = 2 THEN 1 ELSE c.stage <> 'pending' END)
UNION ALL
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  'stale' AS kind,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  d.url AS url,
  NULLIF(i.reason, '') AS reason,
  NULL AS moved_to,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS old_lastmod,
  strftime('%Y-%m-%dT%H:%M:%S', (d.lastmod - ((d.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((d.lastmod % 1000000 + 1000000) % 1000000)) AS new_lastmod,
  d.document AS document_id
FROM sites s
CROSS JOIN runs r ON r.site_id = s.id AND r.run <= s.current_run AND r.finished_at IS NOT NULL AND r.error = ''
  AND r.run > COALESCE((SELECT k.kept_from FROM retention k WHERE k.site_id = s.id), 0)
CROSS JOIN removals c INDEXED BY removals_run ON c.site_id = r.site_id AND c.valid_from = r.run AND c.stage = 'restored' AND (c.ruling <> 2 OR c.ruled_run >= r.run)
CROSS JOIN removals w ON w.site_id = c.site_id AND w.url_key = c.url_key AND w.from_run = c.from_run AND w.valid_to = r.run AND w.stage IN ('pending', 'held')
CROSS JOIN page_documents p ON p.site_id = c.site_id AND p.url_key = c.url_key
CROSS JOIN declarations d ON d.site_id = p.site_id AND d.document = p.document AND d.url_key = p.url_key AND d.role = 0 AND d.from_run < r.run AND d.to_run > r.run
CROSS JOIN document_versions i ON i.site_id = d.site_id AND i.document = d.document AND i.from_run <= r.run AND i.to_run > r.run AND i.verdict NOT IN ('complete', 'unchanged')
CROSS JOIN document_versions b ON b.site_id = d.site_id AND b.document = d.document AND b.from_run <= (r.run - 1) AND b.to_run > (r.run - 1) AND b.verdict NOT IN ('complete', 'unchanged')
LEFT JOIN removals y ON y.site_id = d.site_id AND y.url_key = d.url_key AND y.document = d.document AND y.decided_run + 0 = 9223372036854775807 AND y.valid_from + 0 <= r.run AND y.valid_to + 0 > r.run
WHERE s.removed_at IS NULL AND y.stage IS NULL;

-- A removed page is one that no document lists any more: that too is looked up by the page, where all declarations of the site were read for each.
DROP VIEW IF EXISTS v1_removed_pages;
CREATE VIEW v1_removed_pages AS
SELECT
  s.id AS site_id,
  s.name AS site,
  c.url_key AS page_id,
  LOWER(HEX(c.url_key)) AS page_hash,
  c.url AS url,
  c.stage AS stage,
  NULLIF(c.reason, '') AS reason,
  NULLIF(c.moved_to, '') AS moved_to,
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS removed_at,
  c.decided_run AS removed_run,
  c.document AS document_id,
  o.url AS document
FROM sites s
JOIN removals c ON c.site_id = s.id AND (c.stage IN ('removed', 'moved', 'migrated') AND c.valid_from <= s.current_run AND c.valid_to > s.current_run AND c.decided_run <= s.current_run)
LEFT JOIN runs r ON r.site_id = c.site_id AND r.run = c.decided_run
LEFT JOIN documents o ON o.site_id = c.site_id AND o.document = c.document
WHERE s.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM removals n WHERE n.site_id = s.id AND n.url_key = c.url_key AND n.from_run > c.from_run AND (n.stage IN ('removed', 'moved', 'migrated') AND n.valid_from <= s.current_run AND n.valid_to > s.current_run AND n.decided_run <= s.current_run))
  AND NOT EXISTS (SELECT 1 FROM page_documents p CROSS JOIN declarations d ON d.site_id = p.site_id AND d.document = p.document AND d.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = c.url_key AND d.from_run <= s.current_run AND d.to_run > s.current_run AND d.role < 2);
