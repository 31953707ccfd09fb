-- +goose Up

-- Times are DATETIME columns that hold integer microseconds since 1970 UTC. to_run 9223372036854775807 means "current".

CREATE TABLE IF NOT EXISTS sites (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT NOT NULL,
  name_key    BLOB,              -- NULL once the site is removed, so that the name is free again
  home        TEXT NOT NULL,
  home_key    BLOB NOT NULL,
  root        TEXT NOT NULL,
  root_key    BLOB,
  roots       TEXT NOT NULL,     -- JSON
  schedule    TEXT NOT NULL,
  time_zone   TEXT NOT NULL,
  paused      INTEGER NOT NULL,
  settings    TEXT NOT NULL,     -- JSON
  password    TEXT NOT NULL,
  current_run INTEGER NOT NULL,
  last_run    INTEGER NOT NULL,
  staged_run  INTEGER NOT NULL,  -- run that writes at the moment, 0 for none
  live        INTEGER NOT NULL,
  next_due    DATETIME,
  created_at  DATETIME NOT NULL,
  removed_at  DATETIME
);
CREATE UNIQUE INDEX IF NOT EXISTS sites_name ON sites (name_key);
CREATE UNIQUE INDEX IF NOT EXISTS sites_root ON sites (root_key);
CREATE INDEX IF NOT EXISTS sites_home ON sites (home_key);

CREATE TABLE IF NOT EXISTS host_leases (
  host  BLOB NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  until DATETIME NOT NULL,
  beat  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS runs (
  site_id       INTEGER NOT NULL,
  run           INTEGER NOT NULL,
  cause         TEXT NOT NULL,
  targeted      INTEGER NOT NULL,
  baseline      INTEGER NOT NULL,
  verdict       TEXT NOT NULL,
  reason        TEXT NOT NULL,
  error         TEXT NOT NULL,
  started_at    DATETIME NOT NULL,
  finished_at   DATETIME,
  docs_read     INTEGER NOT NULL,
  docs_unchanged INTEGER NOT NULL,
  docs_failed   INTEGER NOT NULL,
  live          INTEGER NOT NULL,
  added         INTEGER NOT NULL,
  removed       INTEGER NOT NULL,
  changed       INTEGER NOT NULL,
  moved         INTEGER NOT NULL,
  unchanged     INTEGER NOT NULL,
  pending       INTEGER NOT NULL,
  held          INTEGER NOT NULL,
  stale         INTEGER NOT NULL,
  restored      INTEGER NOT NULL,
  requests      INTEGER NOT NULL,
  bytes         INTEGER NOT NULL,
  semantic_hash TEXT NOT NULL,
  triggers      TEXT NOT NULL,   -- JSON
  PRIMARY KEY (site_id, run)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS documents (
  site_id   INTEGER NOT NULL,
  document  INTEGER NOT NULL,
  url_key   BLOB NOT NULL,
  url       TEXT NOT NULL,
  first_run INTEGER NOT NULL,
  PRIMARY KEY (site_id, document)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS documents_url ON documents (site_id, url_key);

CREATE TABLE IF NOT EXISTS document_versions (
  site_id           INTEGER NOT NULL,
  document          INTEGER NOT NULL,
  from_run          INTEGER NOT NULL,
  to_run            INTEGER NOT NULL,
  parent            INTEGER NOT NULL,
  depth             INTEGER NOT NULL,
  discovery         TEXT NOT NULL,
  verdict           TEXT NOT NULL,
  reason            TEXT NOT NULL,
  type              TEXT NOT NULL,
  status            INTEGER NOT NULL,
  final_url         TEXT NOT NULL,
  content_type      TEXT NOT NULL,
  encoding          TEXT NOT NULL,
  compression       TEXT NOT NULL,
  bytes             INTEGER NOT NULL,
  bytes_inflated    INTEGER NOT NULL,
  entries           INTEGER NOT NULL,
  children          INTEGER NOT NULL,
  foreign_entries   INTEGER NOT NULL,
  duplicates        INTEGER NOT NULL,
  generator         TEXT NOT NULL,
  namespaces        TEXT NOT NULL,  -- JSON
  fetched_at        DATETIME NOT NULL,
  observed_at       DATETIME,
  lastmod_raw       TEXT,
  lastmod           DATETIME,
  lastmod_precision INTEGER NOT NULL,
  lastmod_zone      INTEGER NOT NULL,
  stale_since       DATETIME,
  etag              TEXT NOT NULL,
  last_modified     TEXT NOT NULL,
  byte_hash         BLOB,
  semantic_hash     BLOB,
  first_key         BLOB,
  last_key          BLOB,
  findings_hash     BLOB,
  lastmod_record    BLOB,
  lastmod_trust     REAL NOT NULL,
  lastmod_shift     INTEGER NOT NULL,
  validation        BLOB,           -- JSON
  PRIMARY KEY (site_id, document, from_run)
) WITHOUT ROWID;

-- What each run touched: where a sweep and the change feed look.
CREATE TABLE IF NOT EXISTS touched (
  site_id  INTEGER NOT NULL,
  run      INTEGER NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (site_id, run, document)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS declarations (
  site_id           INTEGER NOT NULL,
  document          INTEGER NOT NULL,
  url_key           BLOB NOT NULL,
  from_run          INTEGER NOT NULL,
  to_run            INTEGER NOT NULL,
  first_run         INTEGER NOT NULL,
  role              INTEGER NOT NULL,
  url               TEXT NOT NULL,
  lastmod_raw       TEXT,
  lastmod           DATETIME,
  lastmod_precision INTEGER NOT NULL,
  lastmod_zone      INTEGER NOT NULL,
  changefreq        TEXT NOT NULL,
  priority          REAL,
  extensions        BLOB,            -- JSON
  fingerprint       BLOB NOT NULL,
  PRIMARY KEY (site_id, document, url_key, from_run)
) WITHOUT ROWID;

-- Which documents list or listed a page: an index by page, written in key order after a document's rows, which is
-- four times faster than an index that SQLite keeps row by row. It may name documents that no longer list the page.
CREATE TABLE IF NOT EXISTS page_documents (
  site_id  INTEGER NOT NULL,
  url_key  BLOB NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (site_id, url_key, document)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS removals (
  site_id     INTEGER NOT NULL,
  url_key     BLOB NOT NULL,
  from_run    INTEGER NOT NULL,
  valid_from  INTEGER NOT NULL,  -- run that wrote this version of the case
  valid_to    INTEGER NOT NULL,
  document    INTEGER NOT NULL,
  first_run   INTEGER NOT NULL,
  held_run    INTEGER NOT NULL,
  decided_run INTEGER NOT NULL,
  agreed_run  INTEGER NOT NULL,
  stage       TEXT NOT NULL,
  since       DATETIME NOT NULL,
  url         TEXT NOT NULL,
  reason      TEXT NOT NULL,
  moved_to    TEXT NOT NULL,
  moved_key   BLOB,
  evidence    BLOB,              -- JSON
  ruling      INTEGER NOT NULL,  -- 0 none, 1 approved, 2 rejected by a person
  ruled_run   INTEGER NOT NULL,  -- run that was current then
  ruled_at    DATETIME,
  PRIMARY KEY (site_id, url_key, from_run, valid_from)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS removals_decided ON removals (site_id, decided_run, valid_to, url_key);
CREATE INDEX IF NOT EXISTS removals_run ON removals (site_id, valid_from, url_key);

CREATE TABLE IF NOT EXISTS findings (
  site_id  INTEGER NOT NULL,
  document INTEGER NOT NULL,     -- 0: the run as a whole
  from_run INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  code     TEXT NOT NULL,
  severity TEXT NOT NULL,
  source   TEXT NOT NULL,        -- URL of the document
  page     TEXT NOT NULL,
  line     INTEGER NOT NULL,
  position INTEGER NOT NULL,
  text     TEXT NOT NULL,
  rule     TEXT NOT NULL,
  PRIMARY KEY (site_id, document, from_run, seq)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS triggers (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id     INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  dialect     TEXT NOT NULL,
  dedupe_key  BLOB NOT NULL,
  received_at DATETIME NOT NULL,
  served_run  INTEGER NOT NULL,
  served_at   DATETIME,
  hints       TEXT NOT NULL,     -- JSON
  body        BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS triggers_dedupe ON triggers (site_id, dedupe_key);
CREATE INDEX IF NOT EXISTS triggers_pending ON triggers (served_run, site_id, id);
CREATE INDEX IF NOT EXISTS triggers_site ON triggers (site_id, id);

CREATE TABLE IF NOT EXISTS deliveries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id    INTEGER NOT NULL,
  at         DATETIME NOT NULL,
  result     TEXT NOT NULL,
  cause      TEXT NOT NULL,
  status     INTEGER NOT NULL,
  dialect    TEXT NOT NULL,
  key_id     TEXT NOT NULL,
  remote     TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  trigger_id INTEGER NOT NULL,
  hints      TEXT NOT NULL       -- JSON
);
CREATE INDEX IF NOT EXISTS deliveries_site ON deliveries (site_id, id);

CREATE TABLE IF NOT EXISTS hook_keys (
  site_id    INTEGER NOT NULL,
  key_id     TEXT NOT NULL,
  secret     TEXT NOT NULL,
  not_before DATETIME NOT NULL,
  not_after  DATETIME,
  PRIMARY KEY (site_id, key_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tokens (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  name         TEXT NOT NULL,
  prefix       TEXT NOT NULL,
  hash         BLOB NOT NULL,
  scopes       TEXT NOT NULL,    -- JSON
  created_at   DATETIME NOT NULL,
  expires_at   DATETIME,
  last_used_at DATETIME,
  revoked_at   DATETIME
);
CREATE UNIQUE INDEX IF NOT EXISTS tokens_hash ON tokens (hash);

CREATE TABLE IF NOT EXISTS accounts (
  name_key   BLOB NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL,
  password   TEXT NOT NULL,
  scopes     TEXT NOT NULL,      -- JSON
  created_at DATETIME NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS sessions (
  hash       BLOB NOT NULL PRIMARY KEY,
  account    TEXT NOT NULL,
  created_at DATETIME NOT NULL,
  seen_at    DATETIME NOT NULL,
  expires_at DATETIME NOT NULL
) WITHOUT ROWID;

-- One row at most: the link by which the first administrator comes in.
CREATE TABLE IF NOT EXISTS admin_link (
  id         INTEGER NOT NULL PRIMARY KEY,
  hash       BLOB NOT NULL,
  expires_at DATETIME NOT NULL
);

-- What triggers said should become true of pages, and what became of it.
CREATE TABLE IF NOT EXISTS expectations (
  site_id      INTEGER NOT NULL,
  trigger_id   INTEGER NOT NULL,
  url_key      BLOB NOT NULL,
  kind         TEXT NOT NULL,
  url          TEXT NOT NULL,
  previous_key BLOB,
  previous_url TEXT NOT NULL,
  modified     DATETIME,
  opened_at    DATETIME NOT NULL,
  opened_run   INTEGER NOT NULL,
  checks       INTEGER NOT NULL,
  next_check   DATETIME,
  outcome      TEXT NOT NULL,
  decided_run  INTEGER NOT NULL,
  decided_at   DATETIME,
  finding      TEXT NOT NULL,
  text         TEXT NOT NULL,
  PRIMARY KEY (site_id, trigger_id, url_key, kind)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS expectations_outcome ON expectations (site_id, outcome, url_key);
