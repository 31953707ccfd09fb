-- +goose Up

-- Views for people and programs that read with SQL (docs/sql-views.md): stable names, readable times (UTC) and hashes, and
-- nothing of a run that is not finished. A column is added at the end of a later version's view or not at all.

-- Sites that are followed, with their last finished run.
DROP VIEW IF EXISTS v1_sites;
CREATE VIEW v1_sites AS
SELECT
  s.id AS site_id,
  s.name AS site,
  s.home AS home,
  s.root AS root,
  s.schedule AS schedule,
  s.time_zone AS time_zone,
  s.paused AS paused,
  s.current_run AS current_run,
  s.live AS live,
  strftime('%Y-%m-%dT%H:%M:%S', (s.next_due - ((s.next_due % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((s.next_due % 1000000 + 1000000) % 1000000)) AS next_due,
  strftime('%Y-%m-%dT%H:%M:%S', (s.created_at - ((s.created_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((s.created_at % 1000000 + 1000000) % 1000000)) AS created_at,
  r.verdict AS last_verdict,
  NULLIF(r.reason, '') AS last_reason,
  strftime('%Y-%m-%dT%H:%M:%S', (r.started_at - ((r.started_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.started_at % 1000000 + 1000000) % 1000000)) AS last_started_at,
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS last_finished_at
FROM sites s
LEFT JOIN runs r ON r.site_id = s.id AND r.run = s.current_run
WHERE s.removed_at IS NULL;

-- Runs that ended, those that failed by our own fault included (error is set, visible is 0).
DROP VIEW IF EXISTS v1_runs;
CREATE VIEW v1_runs AS
SELECT
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS time,
  s.id AS site_id,
  s.name AS site,
  r.run AS run,
  r.cause AS cause,
  r.targeted AS targeted,
  r.baseline AS baseline,
  NULLIF(r.verdict, '') AS verdict,
  NULLIF(r.reason, '') AS reason,
  NULLIF(r.error, '') AS error,
  CASE WHEN r.error = '' THEN 1 ELSE 0 END AS visible,
  CASE WHEN r.run = s.current_run THEN 1 ELSE 0 END AS is_current,
  strftime('%Y-%m-%dT%H:%M:%S', (r.started_at - ((r.started_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.started_at % 1000000 + 1000000) % 1000000)) AS started_at,
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS finished_at,
  (r.finished_at - r.started_at) / 1000000.0 AS seconds,
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
DROP VIEW IF EXISTS v1_documents;
CREATE VIEW v1_documents AS
SELECT
  s.id AS site_id,
  s.name AS site,
  o.document AS document_id,
  o.url AS url,
  NULLIF(v.parent, 0) AS parent_id,
  v.depth AS depth,
  v.discovery AS discovery_method,
  v.type AS type,
  v.verdict AS verdict,
  NULLIF(v.reason, '') AS reason,
  NULLIF(v.status, 0) AS status,
  NULLIF(v.final_url, '') AS final_url,
  NULLIF(v.content_type, '') AS content_type,
  NULLIF(v.encoding, '') AS encoding,
  NULLIF(v.compression, '') AS compression,
  v.bytes AS bytes,
  v.bytes_inflated AS bytes_inflated,
  v.entries AS entries,
  v.children AS children,
  v.foreign_entries AS foreign_entries,
  v.duplicates AS duplicates,
  NULLIF(v.generator, '') AS generator,
  strftime('%Y-%m-%dT%H:%M:%S', (v.lastmod - ((v.lastmod % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((v.lastmod % 1000000 + 1000000) % 1000000)) AS lastmod,
  v.lastmod_raw AS lastmod_raw,
  NULLIF(v.lastmod_trust, 0) AS lastmod_trust,
  strftime('%Y-%m-%dT%H:%M:%S', (v.fetched_at - ((v.fetched_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((v.fetched_at % 1000000 + 1000000) % 1000000)) AS fetched_at,
  strftime('%Y-%m-%dT%H:%M:%S', (v.stale_since - ((v.stale_since % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((v.stale_since % 1000000 + 1000000) % 1000000)) AS stale_since,
  o.first_run AS first_run,
  v.from_run AS from_run,
  LOWER(NULLIF(HEX(v.byte_hash), '')) AS byte_hash,
  LOWER(NULLIF(HEX(v.semantic_hash), '')) AS semantic_hash
FROM sites s
JOIN documents o ON o.site_id = s.id
JOIN document_versions v ON v.site_id = o.site_id AND v.document = o.document
  AND v.from_run <= s.current_run AND v.to_run > s.current_run
WHERE s.removed_at IS NULL;

-- The inventory as readers see it now: one row a page that is listed, by its declaration.
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
JOIN declarations d ON d.site_id = o.site_id AND d.document = o.document AND d.from_run <= s.current_run AND d.to_run > s.current_run AND d.role = 0
LEFT JOIN removals c ON c.site_id = d.site_id AND c.url_key = d.url_key AND c.document = d.document AND c.decided_run = 9223372036854775807 AND c.valid_from <= s.current_run AND c.valid_to > s.current_run
LEFT JOIN runs f ON f.site_id = d.site_id AND f.run = d.first_run
LEFT JOIN runs g ON g.site_id = d.site_id AND g.run = d.from_run
WHERE s.removed_at IS NULL;

-- Pages that no document lists any more, by what ended them.
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
  AND NOT EXISTS (SELECT 1 FROM page_documents p JOIN declarations d ON d.site_id = p.site_id AND d.document = p.document AND d.url_key = p.url_key
    WHERE p.site_id = s.id AND p.url_key = c.url_key AND d.from_run <= s.current_run AND d.to_run > s.current_run AND d.role < 2);

-- Every version of what every document said of every page, superseded ones included. to_run and valid_until are NULL while it holds.
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
JOIN declarations d ON d.site_id = o.site_id AND d.document = o.document AND d.from_run <= s.current_run
LEFT JOIN runs f ON f.site_id = d.site_id AND f.run = d.from_run
LEFT JOIN runs g ON g.site_id = d.site_id AND g.run = d.to_run AND d.to_run <= s.current_run
WHERE s.removed_at IS NULL;

-- Removals that are not decided: pages missing for now, held by the guard, approved or rejected by a person.
DROP VIEW IF EXISTS v1_removals;
CREATE VIEW v1_removals AS
SELECT
  s.id AS site_id,
  s.name AS site,
  c.url_key AS page_id,
  LOWER(HEX(c.url_key)) AS page_hash,
  c.url AS url,
  CASE WHEN c.stage IN ('pending', 'held') AND c.ruling = 1 AND c.ruled_run <= s.current_run THEN 'approved' WHEN c.stage IN ('pending', 'held') AND c.ruling = 2 AND c.ruled_run <= s.current_run THEN 'rejected' ELSE c.stage END AS stage,
  NULLIF(c.reason, '') AS reason,
  strftime('%Y-%m-%dT%H:%M:%S', (c.since - ((c.since % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((c.since % 1000000 + 1000000) % 1000000)) AS since,
  c.from_run AS from_run,
  NULLIF(c.held_run, 0) AS held_run,
  NULLIF(c.agreed_run, 0) AS agreed_run,
  strftime('%Y-%m-%dT%H:%M:%S', (c.ruled_at - ((c.ruled_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((c.ruled_at % 1000000 + 1000000) % 1000000)) AS ruled_at,
  c.document AS document_id,
  o.url AS document
FROM sites s
JOIN removals c ON c.site_id = s.id AND c.decided_run = 9223372036854775807 AND c.valid_from <= s.current_run AND c.valid_to > s.current_run
LEFT JOIN documents o ON o.site_id = c.site_id AND o.document = c.document
WHERE s.removed_at IS NULL;

-- What is wrong now: in documents, across documents, and in the current run as a whole.
DROP VIEW IF EXISTS v1_findings;
CREATE VIEW v1_findings AS
SELECT
  s.id AS site_id,
  s.name AS site,
  f.code AS code,
  f.severity AS severity,
  NULLIF(ABS(f.document), 0) AS document_id,
  NULLIF(f.source, '') AS document,
  NULLIF(f.page, '') AS page,
  NULLIF(f.line, 0) AS line,
  f.text AS text,
  NULLIF(f.rule, '') AS rule,
  f.from_run AS from_run,
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS since
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
  NULLIF(f.source, '') AS document,
  NULLIF(f.page, '') AS page,
  NULLIF(f.line, 0) AS line,
  f.text AS text,
  NULLIF(f.rule, '') AS rule,
  f.from_run AS from_run,
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS since
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
  NULLIF(f.source, '') AS document,
  NULLIF(f.page, '') AS page,
  NULLIF(f.line, 0) AS line,
  f.text AS text,
  NULLIF(f.rule, '') AS rule,
  f.from_run AS from_run,
  strftime('%Y-%m-%dT%H:%M:%S', (r.finished_at - ((r.finished_at % 1000000 + 1000000) % 1000000)) / 1000000, 'unixepoch') || printf('.%06dZ', ((r.finished_at % 1000000 + 1000000) % 1000000)) AS since
FROM sites s
JOIN findings f ON f.site_id = s.id AND f.document < 0 AND f.from_run <= s.current_run AND f.code <> ''
LEFT JOIN runs r ON r.site_id = f.site_id AND r.run = f.from_run
WHERE s.removed_at IS NULL
  AND f.from_run = (SELECT MAX(n.from_run) FROM findings n WHERE n.site_id = f.site_id AND n.document = f.document AND n.from_run <= s.current_run);

-- What is known of each page's canonical URL now: its target, and where that leads.
DROP VIEW IF EXISTS v1_canonical_heads;
CREATE VIEW v1_canonical_heads AS
SELECT
  s.id AS site_id,
  s.name AS site,
  h.url_key AS page_id,
  LOWER(HEX(h.url_key)) AS page_hash,
  h.url AS url,
  NULLIF(h.target, '') AS target,
  h.status AS status,
  NULLIF(h.reason, '') AS reason,
  h.own AS own_resolution,
  h.resolution AS resolution,
  NULLIF(h.edge, '') AS edge,
  NULLIF(h.edge_kind, '') AS edge_kind,
  h.depth AS depth,
  LOWER(NULLIF(HEX(h.final_key), '')) AS final_hash,
  LOWER(NULLIF(HEX(h.loop_key), '')) AS loop_hash,
  h.listed AS listed
FROM sites s
JOIN canonical_heads h ON h.site_id = s.id
WHERE s.removed_at IS NULL;
