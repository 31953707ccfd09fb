-- +goose Up

-- Times are UTC. to_run 9223372036854775807 means "current". Texts that come from the web are bytes: no collation ever
-- compares them. Each statement may run again after a crash half-way.

CREATE TABLE IF NOT EXISTS sites (
  id                BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name              VARCHAR(255) NOT NULL,
  name_key          BINARY(16),              -- NULL once the site is removed, so that the name is free again
  home              MEDIUMBLOB NOT NULL,
  home_key          BINARY(16) NOT NULL,
  root              MEDIUMBLOB NOT NULL,
  root_key          BINARY(16),
  roots             MEDIUMBLOB NOT NULL,     -- JSON
  schedule          VARCHAR(255) NOT NULL,
  time_zone         VARCHAR(255) NOT NULL,
  paused            TINYINT NOT NULL,
  settings          MEDIUMBLOB NOT NULL,     -- JSON
  password          VARCHAR(255) NOT NULL,
  current_run       BIGINT NOT NULL,
  last_run          BIGINT NOT NULL,
  staged_run        BIGINT NOT NULL,  -- run that writes at the moment, 0 for none
  live              BIGINT NOT NULL,
  next_due          DATETIME(6),
  created_at        DATETIME(6) NOT NULL,
  removed_at        DATETIME(6),
  UNIQUE KEY sites_name (name_key),
  UNIQUE KEY sites_root (root_key),
  KEY sites_home (home_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS host_leases (
  host              BINARY(16) NOT NULL PRIMARY KEY,
  owner             VARCHAR(255) NOT NULL,
  epoch             BIGINT NOT NULL,
  until             DATETIME(6) NOT NULL,
  beat              BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS runs (
  site_id           BIGINT NOT NULL,
  run               BIGINT NOT NULL,
  cause             VARCHAR(255) NOT NULL,
  targeted          TINYINT NOT NULL,
  baseline          TINYINT NOT NULL,
  verdict           VARCHAR(64) NOT NULL,
  reason            MEDIUMBLOB NOT NULL,
  error             MEDIUMBLOB NOT NULL,
  started_at        DATETIME(6) NOT NULL,
  finished_at       DATETIME(6),
  docs_read         BIGINT NOT NULL,
  docs_unchanged    BIGINT NOT NULL,
  docs_failed       BIGINT NOT NULL,
  live              BIGINT NOT NULL,
  added             BIGINT NOT NULL,
  removed           BIGINT NOT NULL,
  changed           BIGINT NOT NULL,
  moved             BIGINT NOT NULL,
  unchanged         BIGINT NOT NULL,
  pending           BIGINT NOT NULL,
  held              BIGINT NOT NULL,
  stale             BIGINT NOT NULL,
  restored          BIGINT NOT NULL,
  requests          BIGINT NOT NULL,
  bytes             BIGINT NOT NULL,
  semantic_hash     VARCHAR(64) NOT NULL,
  triggers          MEDIUMBLOB NOT NULL,   -- JSON
  PRIMARY KEY (site_id, run)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS documents (
  site_id           BIGINT NOT NULL,
  document          INT NOT NULL,
  url_key           BINARY(16) NOT NULL,
  url               MEDIUMBLOB NOT NULL,
  first_run         BIGINT NOT NULL,
  PRIMARY KEY (site_id, document),
  UNIQUE KEY documents_url (site_id, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS document_versions (
  site_id           BIGINT NOT NULL,
  document          INT NOT NULL,
  from_run          BIGINT NOT NULL,
  to_run            BIGINT NOT NULL,
  parent            INT NOT NULL,
  depth             INT NOT NULL,
  discovery         VARCHAR(64) NOT NULL,
  verdict           VARCHAR(64) NOT NULL,
  reason            MEDIUMBLOB NOT NULL,
  type              VARCHAR(64) NOT NULL,
  status            INT NOT NULL,
  final_url         MEDIUMBLOB NOT NULL,
  content_type      BLOB NOT NULL,
  encoding          BLOB NOT NULL,
  compression       VARCHAR(64) NOT NULL,
  bytes             BIGINT NOT NULL,
  bytes_inflated    BIGINT NOT NULL,
  entries           BIGINT NOT NULL,
  children          BIGINT NOT NULL,
  foreign_entries   BIGINT NOT NULL,
  duplicates        BIGINT NOT NULL,
  generator         BLOB NOT NULL,
  namespaces        MEDIUMBLOB NOT NULL,  -- JSON
  fetched_at        DATETIME(6) NOT NULL,
  observed_at       DATETIME(6),
  lastmod_raw       VARBINARY(1024),
  lastmod           DATETIME(6),
  lastmod_precision TINYINT NOT NULL,
  lastmod_zone      TINYINT NOT NULL,
  stale_since       DATETIME(6),
  etag              BLOB NOT NULL,
  last_modified     BLOB NOT NULL,
  byte_hash         VARBINARY(64),
  semantic_hash     VARBINARY(64),
  first_key         BINARY(16),
  last_key          BINARY(16),
  findings_hash     VARBINARY(64),
  lastmod_record    MEDIUMBLOB,
  lastmod_trust     DOUBLE NOT NULL,
  lastmod_shift     BIGINT NOT NULL,
  validation        MEDIUMBLOB,           -- JSON
  PRIMARY KEY (site_id, document, from_run)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What each run touched: where a sweep and the change feed look.
CREATE TABLE IF NOT EXISTS touched (
  site_id           BIGINT NOT NULL,
  run               BIGINT NOT NULL,
  document          INT NOT NULL,
  PRIMARY KEY (site_id, run, document)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS declarations (
  site_id           BIGINT NOT NULL,
  document          INT NOT NULL,
  url_key           BINARY(16) NOT NULL,
  from_run          BIGINT NOT NULL,
  to_run            BIGINT NOT NULL,
  first_run         BIGINT NOT NULL,
  role              TINYINT NOT NULL,
  url               MEDIUMBLOB NOT NULL,
  lastmod_raw       VARBINARY(1024),
  lastmod           DATETIME(6),
  lastmod_precision TINYINT NOT NULL,
  lastmod_zone      TINYINT NOT NULL,
  changefreq        VARBINARY(64) NOT NULL,
  priority          DOUBLE,
  extensions        MEDIUMBLOB,            -- JSON
  fingerprint       BINARY(16) NOT NULL,
  PRIMARY KEY (site_id, document, url_key, from_run),
  KEY declarations_page (site_id, url_key, to_run)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS removals (
  site_id           BIGINT NOT NULL,
  url_key           BINARY(16) NOT NULL,
  from_run          BIGINT NOT NULL,
  valid_from        BIGINT NOT NULL,  -- run that wrote this version of the case
  valid_to          BIGINT NOT NULL,
  document          INT NOT NULL,
  first_run         BIGINT NOT NULL,
  held_run          BIGINT NOT NULL,
  decided_run       BIGINT NOT NULL,
  agreed_run        BIGINT NOT NULL,
  stage             VARCHAR(64) NOT NULL,
  since             DATETIME(6) NOT NULL,
  url               MEDIUMBLOB NOT NULL,
  reason            MEDIUMBLOB NOT NULL,
  moved_to          MEDIUMBLOB NOT NULL,
  moved_key         BINARY(16),
  evidence          MEDIUMBLOB,              -- JSON
  ruling            TINYINT NOT NULL,  -- 0 none, 1 approved, 2 rejected by a person
  ruled_run         BIGINT NOT NULL,  -- run that was current then
  ruled_at          DATETIME(6),
  PRIMARY KEY (site_id, url_key, from_run, valid_from),
  KEY removals_decided (site_id, decided_run, valid_to, url_key),
  KEY removals_run (site_id, valid_from, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS findings (
  site_id           BIGINT NOT NULL,
  document          INT NOT NULL,     -- 0: the run as a whole
  from_run          BIGINT NOT NULL,
  seq               INT NOT NULL,
  code              VARCHAR(64) NOT NULL,
  severity          VARCHAR(64) NOT NULL,
  source            MEDIUMBLOB NOT NULL,        -- URL of the document
  page              MEDIUMBLOB NOT NULL,
  line              INT NOT NULL,
  position          BIGINT NOT NULL,
  text              MEDIUMBLOB NOT NULL,
  rule              BLOB NOT NULL,
  PRIMARY KEY (site_id, document, from_run, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS triggers (
  id                BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  site_id           BIGINT NOT NULL,
  kind              VARCHAR(64) NOT NULL,
  dialect           VARCHAR(64) NOT NULL,
  dedupe_key        BINARY(16) NOT NULL,
  received_at       DATETIME(6) NOT NULL,
  served_run        BIGINT NOT NULL,
  served_at         DATETIME(6),
  hints             MEDIUMBLOB NOT NULL,     -- JSON
  body              MEDIUMBLOB,
  UNIQUE KEY triggers_dedupe (site_id, dedupe_key),
  KEY triggers_pending (served_run, site_id, id),
  KEY triggers_site (site_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS deliveries (
  id                BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  site_id           BIGINT NOT NULL,
  at                DATETIME(6) NOT NULL,
  result            VARCHAR(64) NOT NULL,
  cause             VARCHAR(255) NOT NULL,
  status            INT NOT NULL,
  dialect           VARCHAR(64) NOT NULL,
  key_id            VARCHAR(64) NOT NULL,
  remote            VARCHAR(255) NOT NULL,
  bytes             BIGINT NOT NULL,
  trigger_id        BIGINT NOT NULL,
  hints             MEDIUMBLOB NOT NULL,       -- JSON
  KEY deliveries_site (site_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hook_keys (
  site_id           BIGINT NOT NULL,
  key_id            VARCHAR(64) NOT NULL,
  secret            VARCHAR(255) NOT NULL,
  not_before        DATETIME(6) NOT NULL,
  not_after         DATETIME(6),
  PRIMARY KEY (site_id, key_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS tokens (
  id                BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name              VARCHAR(255) NOT NULL,
  prefix            VARCHAR(255) NOT NULL,
  hash              BINARY(32) NOT NULL,
  scopes            VARCHAR(255) NOT NULL,    -- JSON
  created_at        DATETIME(6) NOT NULL,
  expires_at        DATETIME(6),
  last_used_at      DATETIME(6),
  revoked_at        DATETIME(6),
  UNIQUE KEY tokens_hash (hash)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS accounts (
  name_key          BINARY(16) NOT NULL PRIMARY KEY,
  name              VARCHAR(255) NOT NULL,
  password          VARCHAR(255) NOT NULL,
  scopes            VARCHAR(255) NOT NULL,      -- JSON
  created_at        DATETIME(6) NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS sessions (
  hash              BINARY(32) NOT NULL PRIMARY KEY,
  account           VARCHAR(255) NOT NULL,
  created_at        DATETIME(6) NOT NULL,
  seen_at           DATETIME(6) NOT NULL,
  expires_at        DATETIME(6) NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One row at most: the link by which the first administrator comes in.
CREATE TABLE IF NOT EXISTS admin_link (
  id                INT NOT NULL PRIMARY KEY,
  hash              BINARY(32) NOT NULL,
  expires_at        DATETIME(6) NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What triggers said should become true of pages, and what became of it.
CREATE TABLE IF NOT EXISTS expectations (
  site_id           BIGINT NOT NULL,
  trigger_id        BIGINT NOT NULL,
  url_key           BINARY(16) NOT NULL,
  kind              VARCHAR(64) NOT NULL,
  url               MEDIUMBLOB NOT NULL,
  previous_key      BINARY(16),
  previous_url      MEDIUMBLOB NOT NULL,
  modified          DATETIME(6),
  opened_at         DATETIME(6) NOT NULL,
  opened_run        BIGINT NOT NULL,
  checks            INT NOT NULL,
  next_check        DATETIME(6),
  outcome           VARCHAR(64) NOT NULL,
  decided_run       BIGINT NOT NULL,
  decided_at        DATETIME(6),
  finding           VARCHAR(64) NOT NULL,
  text              MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, trigger_id, url_key, kind),
  KEY expectations_outcome (site_id, outcome, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
