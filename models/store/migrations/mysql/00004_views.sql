-- +goose Up

-- Views for people and programs that read with SQL (docs/sql-views.md): stable names, readable times (UTC) and hashes, and
-- nothing of a run that is not finished. A column is added at the end of a later version's view or not at all.

-- Sites that are followed, with their last finished run.
CREATE OR REPLACE VIEW v1_sites AS
SELECT
  s.id AS site_id,
  s.name AS site,
  CONVERT(s.home USING utf8mb4) COLLATE utf8mb4_bin AS home,
  CONVERT(s.root USING utf8mb4) COLLATE utf8mb4_bin AS root,
  s.schedule AS schedule,
  s.time_zone AS time_zone,
  s.paused AS paused,
  s.current_run AS current_run,
  s.live AS live,
  s.next_due AS next_due,
  s.created_at AS created_at,
  r.verdict AS last_verdict,
  NULLIF(CONVERT(r.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS last_reason,
  r.started_at AS last_started_at,
  r.finished_at AS last_finished_at
FROM sites s
LEFT JOIN runs r ON r.site_id = s.id AND r.run = s.current_run
WHERE s.removed_at IS NULL;

-- Runs that ended, those that failed by our own fault included (error is set, visible is 0).
CREATE OR REPLACE VIEW v1_runs AS
SELECT
  r.finished_at AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  r.cause AS cause,
  r.targeted AS targeted,
  r.baseline AS baseline,
  NULLIF(r.verdict, '') AS verdict,
  NULLIF(CONVERT(r.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  NULLIF(CONVERT(r.error USING utf8mb4) COLLATE utf8mb4_bin, '') AS error,
  CASE WHEN r.error = '' THEN 1 ELSE 0 END AS visible,
  CASE WHEN r.run = s.current_run THEN 1 ELSE 0 END AS is_current,
  r.started_at AS started_at,
  r.finished_at AS finished_at,
  TIMESTAMPDIFF(MICROSECOND, r.started_at, r.finished_at) / 1000000 AS seconds,
  r.docs_read AS documents_read,
  r.docs_unchanged AS documents_unchanged,
  r.docs_failed AS documents_failed,
  r.live AS live,
  r.added AS added,
  r.removed AS removed,
  r.changed AS changed,
  r.moved AS moved,
  r.unchanged AS unchanged,
  r.pending AS pending,
  r.held AS held,
  r.stale AS stale,
  r.restored AS restored,
  r.requests AS requests,
  r.bytes AS bytes,
  NULLIF(r.semantic_hash, '') AS semantic_hash
FROM runs r
JOIN sites s ON s.id = r.site_id
WHERE s.removed_at IS NULL AND r.finished_at IS NOT NULL;

-- Sitemap files as readers see them now, those that are gone included.
CREATE OR REPLACE VIEW v1_documents AS
SELECT
  s.id AS site_id,
  s.name AS site,
  o.document AS document_id,
  CONVERT(o.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  NULLIF(v.parent, 0) AS parent_id,
  v.depth AS depth,
  v.discovery AS discovery_method,
  v.type AS type,
  v.verdict AS verdict,
  NULLIF(CONVERT(v.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  NULLIF(v.status, 0) AS status,
  NULLIF(CONVERT(v.final_url USING utf8mb4) COLLATE utf8mb4_bin, '') AS final_url,
  NULLIF(CONVERT(v.content_type USING utf8mb4) COLLATE utf8mb4_bin, '') AS content_type,
  NULLIF(CONVERT(v.encoding USING utf8mb4) COLLATE utf8mb4_bin, '') AS encoding,
  NULLIF(v.compression, '') AS compression,
  v.bytes AS bytes,
  v.bytes_inflated AS bytes_inflated,
  v.entries AS entries,
  v.children AS children,
  v.foreign_entries AS foreign_entries,
  v.duplicates AS duplicates,
  NULLIF(CONVERT(v.generator USING utf8mb4) COLLATE utf8mb4_bin, '') AS generator,
  v.lastmod AS lastmod,
  CONVERT(v.lastmod_raw USING utf8mb4) COLLATE utf8mb4_bin AS lastmod_raw,
  NULLIF(v.lastmod_trust, 0) AS lastmod_trust,
  v.fetched_at AS fetched_at,
  v.stale_since AS stale_since,
  o.first_run AS first_run,
  v.from_run AS from_run,
  LOWER(HEX(v.byte_hash)) AS byte_hash,
  LOWER(HEX(v.semantic_hash)) AS semantic_hash
FROM sites s
JOIN documents o ON o.site_id = s.id
JOIN document_versions v ON v.site_id = o.site_id AND v.document = o.document
  AND v.from_run <= s.current_run AND v.to_run > s.current_run
WHERE s.removed_at IS NULL;

-- The inventory as readers see it now: one row a page that is listed, by its declaration.
CREATE OR REPLACE VIEW v1_pages AS
SELECT
  s.id AS site_id,
  s.name AS site,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  CONVERT(d.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  CASE
    WHEN c.stage IS NULL OR c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN CASE WHEN v.verdict IN ('complete', 'unchanged') THEN 'live' ELSE 'stale' END
    WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'pending'
    WHEN c.stage = 'held' THEN 'held'
    WHEN c.stage = 'left_window' THEN 'stale'
    ELSE 'pending' END AS state,
  CASE
    WHEN c.stage IS NULL OR c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN CASE WHEN v.verdict IS NULL THEN 'its document is not known at this run' WHEN v.verdict IN ('complete', 'unchanged') THEN NULL ELSE NULLIF(CONVERT(v.reason USING utf8mb4) COLLATE utf8mb4_bin, '') END
    WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN CONCAT('its removal was approved: ', CONVERT(c.reason USING utf8mb4) COLLATE utf8mb4_bin)
    ELSE NULLIF(CONVERT(c.reason USING utf8mb4) COLLATE utf8mb4_bin, '') END AS reason,
  CASE
    WHEN v.verdict IS NULL THEN 'current_unknown'
    WHEN v.verdict IN ('unavailable', 'gone') THEN 'unavailable'
    WHEN NOT (v.verdict IN ('complete', 'unchanged')) OR (c.stage IS NOT NULL AND NOT (c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run)) THEN 'stale'
    WHEN d.from_run = s.current_run AND d.first_run < s.current_run THEN 'changed'
    ELSE 'fresh' END AS freshness,
  d.document AS document_id,
  CONVERT(o.url USING utf8mb4) COLLATE utf8mb4_bin AS document,
  d.lastmod AS lastmod,
  CONVERT(d.lastmod_raw USING utf8mb4) COLLATE utf8mb4_bin AS lastmod_raw,
  CASE d.lastmod_precision WHEN 1 THEN 'year' WHEN 2 THEN 'month' WHEN 3 THEN 'day' WHEN 4 THEN 'minute' WHEN 5 THEN 'second' WHEN 6 THEN 'fraction' END AS lastmod_precision,
  NULLIF(v.lastmod_trust, 0) AS lastmod_trust,
  NULLIF(CONVERT(d.changefreq USING utf8mb4) COLLATE utf8mb4_bin, '') AS changefreq,
  d.priority AS priority,
  CONVERT(d.extensions USING utf8mb4) COLLATE utf8mb4_bin AS extensions,
  f.finished_at AS first_seen,
  g.finished_at AS changed_at,
  v.stale_since AS stale_since,
  d.first_run AS first_run,
  d.from_run AS from_run,
  LOWER(HEX(d.fingerprint)) AS fingerprint
FROM sites s
JOIN documents o ON o.site_id = s.id
LEFT JOIN document_versions v ON v.site_id = o.site_id AND v.document = o.document AND v.from_run <= s.current_run AND v.to_run > s.current_run
JOIN declarations d ON d.site_id = o.site_id AND d.document = o.document AND d.from_run <= s.current_run AND d.to_run > s.current_run AND d.role = 0
LEFT JOIN removals c ON c.site_id = d.site_id AND c.url_key = d.url_key AND c.document = d.document AND c.decided_run = 9223372036854775807 AND c.valid_from <= s.current_run AND c.valid_to > s.current_run
LEFT JOIN runs f ON f.site_id = d.site_id AND f.run = d.first_run
LEFT JOIN runs g ON g.site_id = d.site_id AND g.run = d.from_run
WHERE s.removed_at IS NULL;

-- Pages that no document lists any more, by what ended them.
CREATE OR REPLACE VIEW v1_removed_pages AS
SELECT
  s.id AS site_id,
  s.name AS site,
  c.url_key AS page_id,
  LOWER(HEX(c.url_key)) AS page_hash,
  CONVERT(c.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  c.stage AS stage,
  NULLIF(CONVERT(c.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  NULLIF(CONVERT(c.moved_to USING utf8mb4) COLLATE utf8mb4_bin, '') AS moved_to,
  r.finished_at AS removed_at,
  c.decided_run AS removed_run,
  c.document AS document_id,
  CONVERT(o.url USING utf8mb4) COLLATE utf8mb4_bin AS document
FROM sites s
JOIN removals c ON c.site_id = s.id AND (c.stage IN ('removed', 'moved', 'migrated') AND c.valid_from <= s.current_run AND c.valid_to > s.current_run AND c.decided_run <= s.current_run)
LEFT JOIN runs r ON r.site_id = c.site_id AND r.run = c.decided_run
LEFT JOIN documents o ON o.site_id = c.site_id AND o.document = c.document
WHERE s.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM removals n WHERE n.site_id = s.id AND n.url_key = c.url_key AND n.from_run > c.from_run AND (n.stage IN ('removed', 'moved', 'migrated') AND n.valid_from <= s.current_run AND n.valid_to > s.current_run AND n.decided_run <= s.current_run))
  AND NOT EXISTS (SELECT 1 FROM declarations d WHERE d.site_id = s.id AND d.url_key = c.url_key AND d.from_run <= s.current_run AND d.to_run > s.current_run AND d.role < 2);

-- Every version of what every document said of every page, superseded ones included. to_run and valid_until are NULL while it holds.
CREATE OR REPLACE VIEW v1_page_history AS
SELECT
  s.id AS site_id,
  s.name AS site,
  d.url_key AS page_id,
  LOWER(HEX(d.url_key)) AS page_hash,
  CONVERT(d.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  CASE d.role WHEN 0 THEN 'declaration' WHEN 1 THEN 'duplicate' ELSE 'foreign' END AS listing,
  d.document AS document_id,
  CONVERT(o.url USING utf8mb4) COLLATE utf8mb4_bin AS document,
  d.lastmod AS lastmod,
  CONVERT(d.lastmod_raw USING utf8mb4) COLLATE utf8mb4_bin AS lastmod_raw,
  CASE d.lastmod_precision WHEN 1 THEN 'year' WHEN 2 THEN 'month' WHEN 3 THEN 'day' WHEN 4 THEN 'minute' WHEN 5 THEN 'second' WHEN 6 THEN 'fraction' END AS lastmod_precision,
  NULLIF(CONVERT(d.changefreq USING utf8mb4) COLLATE utf8mb4_bin, '') AS changefreq,
  d.priority AS priority,
  CONVERT(d.extensions USING utf8mb4) COLLATE utf8mb4_bin AS extensions,
  d.first_run AS first_run,
  d.from_run AS from_run,
  CASE WHEN d.to_run <= s.current_run THEN d.to_run END AS to_run,
  f.finished_at AS valid_from,
  g.finished_at AS valid_until,
  LOWER(HEX(d.fingerprint)) AS fingerprint
FROM sites s
JOIN documents o ON o.site_id = s.id
JOIN declarations d ON d.site_id = o.site_id AND d.document = o.document AND d.from_run <= s.current_run
LEFT JOIN runs f ON f.site_id = d.site_id AND f.run = d.from_run
LEFT JOIN runs g ON g.site_id = d.site_id AND g.run = d.to_run AND d.to_run <= s.current_run
WHERE s.removed_at IS NULL;

-- Removals that are not decided: pages missing for now, held by the guard, approved or rejected by a person.
CREATE OR REPLACE VIEW v1_removals AS
SELECT
  s.id AS site_id,
  s.name AS site,
  c.url_key AS page_id,
  LOWER(HEX(c.url_key)) AS page_hash,
  CONVERT(c.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  CASE WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'approved' WHEN c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN 'rejected' ELSE c.stage END AS stage,
  NULLIF(CONVERT(c.reason USING utf8mb4) COLLATE utf8mb4_bin, '') AS reason,
  c.since AS since,
  c.from_run AS from_run,
  NULLIF(c.held_run, 0) AS held_run,
  NULLIF(c.agreed_run, 0) AS agreed_run,
  c.ruled_at AS ruled_at,
  c.document AS document_id,
  CONVERT(o.url USING utf8mb4) COLLATE utf8mb4_bin AS document
FROM sites s
JOIN removals c ON c.site_id = s.id AND c.decided_run = 9223372036854775807 AND c.valid_from <= s.current_run AND c.valid_to > s.current_run
LEFT JOIN documents o ON o.site_id = c.site_id AND o.document = c.document
WHERE s.removed_at IS NULL;

-- What is wrong now: in documents, across documents, and in the current run as a whole.
CREATE OR REPLACE VIEW v1_findings AS
SELECT
  s.id AS site_id,
  s.name AS site,
  f.code AS code,
  f.severity AS severity,
  NULLIF(ABS(f.document), 0) AS document_id,
  NULLIF(CONVERT(f.source USING utf8mb4) COLLATE utf8mb4_bin, '') AS document,
  NULLIF(CONVERT(f.page USING utf8mb4) COLLATE utf8mb4_bin, '') AS page,
  NULLIF(f.line, 0) AS line,
  CONVERT(f.text USING utf8mb4) COLLATE utf8mb4_bin AS text,
  NULLIF(CONVERT(f.rule USING utf8mb4) COLLATE utf8mb4_bin, '') AS rule,
  f.from_run AS from_run,
  r.finished_at AS since
FROM sites s
JOIN document_versions v ON v.site_id = s.id AND v.from_run <= s.current_run AND v.to_run > s.current_run
JOIN findings f ON f.site_id = v.site_id AND f.document = v.document AND f.from_run = v.from_run
LEFT JOIN runs r ON r.site_id = f.site_id AND r.run = f.from_run
WHERE s.removed_at IS NULL
UNION ALL
SELECT
  s.id AS site_id,
  s.name AS site,
  f.code AS code,
  f.severity AS severity,
  NULLIF(ABS(f.document), 0) AS document_id,
  NULLIF(CONVERT(f.source USING utf8mb4) COLLATE utf8mb4_bin, '') AS document,
  NULLIF(CONVERT(f.page USING utf8mb4) COLLATE utf8mb4_bin, '') AS page,
  NULLIF(f.line, 0) AS line,
  CONVERT(f.text USING utf8mb4) COLLATE utf8mb4_bin AS text,
  NULLIF(CONVERT(f.rule USING utf8mb4) COLLATE utf8mb4_bin, '') AS rule,
  f.from_run AS from_run,
  r.finished_at AS since
FROM sites s
JOIN findings f ON f.site_id = s.id AND f.document = 0 AND f.from_run = s.current_run
LEFT JOIN runs r ON r.site_id = f.site_id AND r.run = f.from_run
WHERE s.removed_at IS NULL
UNION ALL
SELECT
  s.id AS site_id,
  s.name AS site,
  f.code AS code,
  f.severity AS severity,
  NULLIF(ABS(f.document), 0) AS document_id,
  NULLIF(CONVERT(f.source USING utf8mb4) COLLATE utf8mb4_bin, '') AS document,
  NULLIF(CONVERT(f.page USING utf8mb4) COLLATE utf8mb4_bin, '') AS page,
  NULLIF(f.line, 0) AS line,
  CONVERT(f.text USING utf8mb4) COLLATE utf8mb4_bin AS text,
  NULLIF(CONVERT(f.rule USING utf8mb4) COLLATE utf8mb4_bin, '') AS rule,
  f.from_run AS from_run,
  r.finished_at AS since
FROM sites s
JOIN findings f ON f.site_id = s.id AND f.document < 0 AND f.from_run <= s.current_run AND f.code <> ''
LEFT JOIN runs r ON r.site_id = f.site_id AND r.run = f.from_run
WHERE s.removed_at IS NULL
  AND f.from_run = (SELECT MAX(n.from_run) FROM findings n WHERE n.site_id = f.site_id AND n.document = f.document AND n.from_run <= s.current_run);

-- What is known of each page's canonical URL now: its target, and where that leads.
CREATE OR REPLACE VIEW v1_canonical_heads AS
SELECT
  s.id AS site_id,
  s.name AS site,
  h.url_key AS page_id,
  LOWER(HEX(h.url_key)) AS page_hash,
  CONVERT(h.url USING utf8mb4) COLLATE utf8mb4_bin AS url,
  NULLIF(CONVERT(h.target USING utf8mb4) COLLATE utf8mb4_bin, '') AS target,
  h.status AS status,
  NULLIF(h.reason, '') AS reason,
  h.own AS own_resolution,
  h.resolution AS resolution,
  NULLIF(CONVERT(h.edge USING utf8mb4) COLLATE utf8mb4_bin, '') AS edge,
  NULLIF(h.edge_kind, '') AS edge_kind,
  h.depth AS depth,
  LOWER(HEX(h.final_key)) AS final_hash,
  LOWER(HEX(h.loop_key)) AS loop_hash,
  h.listed AS listed
FROM sites s
JOIN canonical_heads h ON h.site_id = s.id
WHERE s.removed_at IS NULL;
