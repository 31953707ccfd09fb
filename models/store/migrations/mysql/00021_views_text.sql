-- +goose Up

-- All views anew: bytes that are no UTF-8 (an address, a header, a text of a site) are read as question marks everywhere. MySQL
-- gives NULL for a whole value with one such byte; MariaDB always gave question marks.

-- Sites that are followed, with their last finished run.
CREATE OR REPLACE VIEW v1_sites AS
SELECT
  s.id AS site_id,
  s.name AS site,
  COALESCE(CONVERT(s.home USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(s.home USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS home,
  COALESCE(CONVERT(s.root USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(s.root USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS root,
  s.schedule AS schedule,
  s.time_zone AS time_zone,
  s.paused AS paused,
  s.current_run AS current_run,
  s.live AS live,
  s.next_due AS next_due,
  s.created_at AS created_at,
  r.verdict AS last_verdict,
  NULLIF(COALESCE(CONVERT(r.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(r.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS last_reason,
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
  NULLIF(COALESCE(CONVERT(r.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(r.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
  NULLIF(COALESCE(CONVERT(r.error USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(r.error USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS error,
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
  COALESCE(CONVERT(o.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(o.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  NULLIF(v.parent, 0) AS parent_id,
  v.depth AS depth,
  v.discovery AS discovery_method,
  v.type AS type,
  v.verdict AS verdict,
  NULLIF(COALESCE(CONVERT(v.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
  NULLIF(v.status, 0) AS status,
  NULLIF(COALESCE(CONVERT(v.final_url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.final_url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS final_url,
  NULLIF(COALESCE(CONVERT(v.content_type USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.content_type USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS content_type,
  NULLIF(COALESCE(CONVERT(v.encoding USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.encoding USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS encoding,
  NULLIF(v.compression, '') AS compression,
  v.bytes AS bytes,
  v.bytes_inflated AS bytes_inflated,
  v.entries AS entries,
  v.children AS children,
  v.foreign_entries AS foreign_entries,
  v.duplicates AS duplicates,
  NULLIF(COALESCE(CONVERT(v.generator USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.generator USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS generator,
  v.lastmod AS lastmod,
  COALESCE(CONVERT(v.lastmod_raw USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.lastmod_raw USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS lastmod_raw,
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
  COALESCE(CONVERT(d.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  CASE
    WHEN c.stage IS NULL OR c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN CASE WHEN v.verdict IN ('complete', 'unchanged') THEN 'live' ELSE 'stale' END
    WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'pending'
    WHEN c.stage = 'held' THEN 'held'
    WHEN c.stage = 'left_window' THEN 'stale'
    ELSE 'pending' END AS state,
  CASE
    WHEN c.stage IS NULL OR c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN CASE WHEN v.verdict IS NULL THEN 'its document is not known at this run' WHEN v.verdict IN ('complete', 'unchanged') THEN NULL ELSE NULLIF(COALESCE(CONVERT(v.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(v.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') END
    WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN CONCAT('its removal was approved: ', COALESCE(CONVERT(c.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin)
    ELSE NULLIF(COALESCE(CONVERT(c.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') END AS reason,
  CASE
    WHEN v.verdict IS NULL THEN 'current_unknown'
    WHEN v.verdict IN ('unavailable', 'gone') THEN 'unavailable'
    WHEN NOT (v.verdict IN ('complete', 'unchanged')) OR (c.stage IS NOT NULL AND NOT (c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run)) THEN 'stale'
    WHEN d.from_run = s.current_run AND d.first_run < s.current_run THEN 'changed'
    ELSE 'fresh' END AS freshness,
  d.document AS document_id,
  COALESCE(CONVERT(o.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(o.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS document,
  d.lastmod AS lastmod,
  COALESCE(CONVERT(d.lastmod_raw USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.lastmod_raw USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS lastmod_raw,
  CASE d.lastmod_precision WHEN 1 THEN 'year' WHEN 2 THEN 'month' WHEN 3 THEN 'day' WHEN 4 THEN 'minute' WHEN 5 THEN 'second' WHEN 6 THEN 'fraction' END AS lastmod_precision,
  NULLIF(v.lastmod_trust, 0) AS lastmod_trust,
  NULLIF(COALESCE(CONVERT(d.changefreq USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.changefreq USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS changefreq,
  d.priority AS priority,
  COALESCE(CONVERT(d.extensions USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.extensions USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS extensions,
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
  COALESCE(CONVERT(c.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  c.stage AS stage,
  NULLIF(COALESCE(CONVERT(c.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
  NULLIF(COALESCE(CONVERT(c.moved_to USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.moved_to USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS moved_to,
  r.finished_at AS removed_at,
  c.decided_run AS removed_run,
  c.document AS document_id,
  COALESCE(CONVERT(o.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(o.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS document
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
  COALESCE(CONVERT(d.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  CASE d.role WHEN 0 THEN 'declaration' WHEN 1 THEN 'duplicate' ELSE 'foreign' END AS listing,
  d.document AS document_id,
  COALESCE(CONVERT(o.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(o.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS document,
  d.lastmod AS lastmod,
  COALESCE(CONVERT(d.lastmod_raw USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.lastmod_raw USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS lastmod_raw,
  CASE d.lastmod_precision WHEN 1 THEN 'year' WHEN 2 THEN 'month' WHEN 3 THEN 'day' WHEN 4 THEN 'minute' WHEN 5 THEN 'second' WHEN 6 THEN 'fraction' END AS lastmod_precision,
  NULLIF(COALESCE(CONVERT(d.changefreq USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.changefreq USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS changefreq,
  d.priority AS priority,
  COALESCE(CONVERT(d.extensions USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.extensions USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS extensions,
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
  COALESCE(CONVERT(c.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  CASE WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'approved' WHEN c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN 'rejected' ELSE c.stage END AS stage,
  NULLIF(COALESCE(CONVERT(c.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
  c.since AS since,
  c.from_run AS from_run,
  NULLIF(c.held_run, 0) AS held_run,
  NULLIF(c.agreed_run, 0) AS agreed_run,
  c.ruled_at AS ruled_at,
  c.document AS document_id,
  COALESCE(CONVERT(o.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(o.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS document
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
  NULLIF(COALESCE(CONVERT(f.source USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.source USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS document,
  NULLIF(COALESCE(CONVERT(f.page USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.page USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS page,
  NULLIF(f.line, 0) AS line,
  COALESCE(CONVERT(f.text USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.text USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS text,
  NULLIF(COALESCE(CONVERT(f.rule USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.rule USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS rule,
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
  NULLIF(COALESCE(CONVERT(f.source USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.source USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS document,
  NULLIF(COALESCE(CONVERT(f.page USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.page USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS page,
  NULLIF(f.line, 0) AS line,
  COALESCE(CONVERT(f.text USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.text USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS text,
  NULLIF(COALESCE(CONVERT(f.rule USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.rule USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS rule,
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
  NULLIF(COALESCE(CONVERT(f.source USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.source USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS document,
  NULLIF(COALESCE(CONVERT(f.page USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.page USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS page,
  NULLIF(f.line, 0) AS line,
  COALESCE(CONVERT(f.text USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.text USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS text,
  NULLIF(COALESCE(CONVERT(f.rule USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(f.rule USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS rule,
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
  COALESCE(CONVERT(h.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(h.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  NULLIF(COALESCE(CONVERT(h.target USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(h.target USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS target,
  h.status AS status,
  NULLIF(h.reason, '') AS reason,
  h.own AS own_resolution,
  h.resolution AS resolution,
  NULLIF(COALESCE(CONVERT(h.edge USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(h.edge USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS edge,
  NULLIF(h.edge_kind, '') AS edge_kind,
  h.depth AS depth,
  LOWER(HEX(h.final_key)) AS final_hash,
  LOWER(HEX(h.loop_key)) AS loop_hash,
  h.listed AS listed
FROM sites s
JOIN canonical_heads h ON h.site_id = s.id
WHERE s.removed_at IS NULL;

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
  COALESCE(CONVERT(a.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(a.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
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
  COALESCE(CONVERT(b.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(b.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  NULLIF(COALESCE(CONVERT(e.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(e.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
  CASE WHEN e.stage IN ('moved', 'migrated') THEN NULLIF(COALESCE(CONVERT(e.moved_to USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(e.moved_to USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') END AS moved_to,
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
  COALESCE(CONVERT(c.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  NULLIF(COALESCE(CONVERT(c.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
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
  COALESCE(CONVERT(d.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  CASE WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN NULL ELSE NULLIF(COALESCE(CONVERT(i.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(i.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') END AS reason,
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
  COALESCE(CONVERT(d.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  CASE WHEN c.ruling = 1 THEN CONCAT('its removal was approved: ', COALESCE(CONVERT(c.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(c.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin) WHEN (i.verdict IS NULL OR i.verdict IN ('complete', 'unchanged')) THEN 'a person kept it' ELSE NULLIF(COALESCE(CONVERT(i.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(i.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') END AS reason,
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
  COALESCE(CONVERT(d.url USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(d.url USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin AS url,
  NULLIF(COALESCE(CONVERT(i.reason USING utf8mb4), CONVERT(REGEXP_REPLACE(CONVERT(i.reason USING latin1), '[^ -~]', '?') USING utf8mb4)) COLLATE utf8mb4_bin, '') AS reason,
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
