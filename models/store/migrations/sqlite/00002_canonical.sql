-- +goose Up

-- What pages say of their canonical URL: observations, relationships with their judgements, candidates, conflicts and heads
-- are stores of their own (docs/verify.md).

-- The one row that lists and joins read for a URL, and its out-edge with where that leads.
CREATE TABLE IF NOT EXISTS canonical_heads (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  url           TEXT NOT NULL,
  target        TEXT NOT NULL,
  target_key    BLOB,
  edge          TEXT NOT NULL,
  edge_key      BLOB,
  edge_kind     TEXT NOT NULL,
  own           TEXT NOT NULL,           -- resolution without the graph: self, none, conflict
  status        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  listed        INTEGER NOT NULL,
  resolution    TEXT NOT NULL,           -- where the edge leads: none, chain, loop, into_loop, too_long
  final_key     BLOB,
  depth         INTEGER NOT NULL,
  loop_key      BLOB,
  PRIMARY KEY (site_id, url_key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS canonical_heads_edge ON canonical_heads (site_id, edge_key, url_key);
CREATE INDEX IF NOT EXISTS canonical_heads_status ON canonical_heads (site_id, status, url_key);

-- What is remembered of a URL between looks, and when it is looked at next.
CREATE TABLE IF NOT EXISTS canonical_watches (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  url           TEXT NOT NULL,
  revision      INTEGER NOT NULL,
  listed        INTEGER NOT NULL,
  class         INTEGER NOT NULL,        -- order of work: what a hook named comes first
  next_look     DATETIME,
  due           TEXT NOT NULL,
  last_look     DATETIME,
  last_read     DATETIME,
  confirmed_at  DATETIME,                -- look that saw every current relationship
  looks         INTEGER NOT NULL,        -- that were understood
  pace          INTEGER NOT NULL,        -- microseconds between looks by the clock
  reading       TEXT NOT NULL,
  source_status INTEGER NOT NULL,
  etag          TEXT NOT NULL,
  last_modified TEXT NOT NULL,
  validated_url TEXT NOT NULL,
  record        BLOB NOT NULL,
  evidence      BLOB,
  sketch        BLOB,
  PRIMARY KEY (site_id, url_key)
);
CREATE INDEX IF NOT EXISTS canonical_watches_due ON canonical_watches (site_id, class, next_look);

-- Statements as they were found, over the looks that found them.
CREATE TABLE IF NOT EXISTS canonical_observations (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  observation   BLOB NOT NULL,
  kind          TEXT NOT NULL,
  accepted      INTEGER NOT NULL,
  is_open       INTEGER NOT NULL,
  first_seen    DATETIME NOT NULL,
  last_seen     DATETIME NOT NULL,
  times         INTEGER NOT NULL,
  at_look       INTEGER NOT NULL,        -- canonical_watches.looks when the row was written: what a current one was seen since
  parser        TEXT NOT NULL,
  item          BLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, observation)
);

-- Source prefers target, by one method. A row is closed, never changed in meaning.
CREATE TABLE IF NOT EXISTS canonical_relationships (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  target_key    BLOB NOT NULL,
  method        TEXT NOT NULL,
  valid_from    DATETIME NOT NULL,
  valid_until   DATETIME,
  is_open       INTEGER,                 -- 1 while current, else NULL: one current row of a meaning, any number of closed ones
  status        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  score         INTEGER NOT NULL,        -- hundredths
  rule          TEXT NOT NULL,
  ruleset       TEXT NOT NULL,
  observed_at   DATETIME NOT NULL,
  recorded_at   DATETIME NOT NULL,
  ended_at      DATETIME,                -- when we recorded the end
  end_reason    TEXT NOT NULL,
  body          BLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, valid_from, target_key, method)
);
CREATE UNIQUE INDEX IF NOT EXISTS canonical_relationships_open ON canonical_relationships (site_id, url_key, target_key, method, is_open);
CREATE INDEX IF NOT EXISTS canonical_relationships_target ON canonical_relationships (site_id, target_key, is_open);

-- How a relationship was judged, from each moment on.
CREATE TABLE IF NOT EXISTS canonical_states (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  valid_from    DATETIME NOT NULL,
  target_key    BLOB NOT NULL,
  method        TEXT NOT NULL,
  judged_at     DATETIME NOT NULL,
  status        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  score         INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  ruleset       TEXT NOT NULL,
  cause         TEXT NOT NULL,           -- look, target, graph
  validation    BLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, valid_from, target_key, method, judged_at)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS canonical_states_at ON canonical_states (site_id, judged_at);

-- What weak or single signals name. Never among the relationships.
CREATE TABLE IF NOT EXISTS canonical_candidates (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  target_key    BLOB NOT NULL,
  valid_from    DATETIME NOT NULL,
  valid_until   DATETIME,
  score         INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  body          BLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, target_key, valid_from)
);

-- Explicit targets that contradict each other.
CREATE TABLE IF NOT EXISTS canonical_conflicts (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  opened_at     DATETIME NOT NULL,
  closed_at     DATETIME,
  kinds         TEXT NOT NULL,
  body          BLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, opened_at)
);
CREATE INDEX IF NOT EXISTS canonical_conflicts_open ON canonical_conflicts (site_id, closed_at, url_key);

-- URLs whose place in the graph is to be computed anew.
CREATE TABLE IF NOT EXISTS canonical_dirty (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  paging        INTEGER NOT NULL,
  after_key     BLOB NOT NULL,
  hop           INTEGER NOT NULL,
  seq           INTEGER NOT NULL,        -- random: changes whenever the entry is queued again
  PRIMARY KEY (site_id, url_key, paging, after_key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS canonical_dirty_hop ON canonical_dirty (site_id, hop, url_key);

-- Sources to be judged anew: their target, or where it leads, has changed.
CREATE TABLE IF NOT EXISTS canonical_news (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  seq           INTEGER NOT NULL,
  PRIMARY KEY (site_id, url_key)
) WITHOUT ROWID;

-- Faults of pages over time.
CREATE TABLE IF NOT EXISTS canonical_findings (
  site_id       INTEGER NOT NULL,
  finding       TEXT NOT NULL,
  url_key       BLOB NOT NULL,
  code          TEXT NOT NULL,
  report        TEXT NOT NULL,
  severity      TEXT NOT NULL,
  state         TEXT NOT NULL,
  page          TEXT NOT NULL,
  template      TEXT NOT NULL,
  first_seen    DATETIME NOT NULL,
  last_seen     DATETIME NOT NULL,
  changed_at    DATETIME NOT NULL,       -- when the state became what it is
  confirmed     INTEGER NOT NULL,
  body          BLOB NOT NULL,
  PRIMARY KEY (site_id, finding)
);
CREATE INDEX IF NOT EXISTS canonical_findings_page ON canonical_findings (site_id, url_key);
CREATE INDEX IF NOT EXISTS canonical_findings_code ON canonical_findings (site_id, code, finding);
CREATE INDEX IF NOT EXISTS canonical_findings_changed ON canonical_findings (site_id, changed_at);

-- Findings that nobody wants to hear of for a time.
CREATE TABLE IF NOT EXISTS canonical_mutes (
  site_id       INTEGER NOT NULL,
  code          TEXT NOT NULL,
  place_key     BLOB NOT NULL,
  place         TEXT NOT NULL,           -- page, template, or empty for the whole site
  until         DATETIME,
  note          TEXT NOT NULL,
  created_at    DATETIME NOT NULL,
  PRIMARY KEY (site_id, code, place_key)
) WITHOUT ROWID;

-- One change that many pages of a site share.
CREATE TABLE IF NOT EXISTS canonical_incidents (
  site_id       INTEGER NOT NULL,
  change_key    BLOB NOT NULL,
  started_at    DATETIME NOT NULL,
  last_seen     DATETIME NOT NULL,
  what          TEXT NOT NULL,
  pages         INTEGER NOT NULL,
  looked        INTEGER NOT NULL,
  examples      BLOB NOT NULL,
  PRIMARY KEY (site_id, change_key, started_at)
);

-- What a host was asked today, and what it answers to an address that does not exist.
CREATE TABLE IF NOT EXISTS canonical_hosts (
  host          BLOB NOT NULL,
  day           TEXT NOT NULL,
  spent         INTEGER NOT NULL,
  probed_at     DATETIME,
  probe_status  INTEGER NOT NULL,
  probe_sketch  BLOB,
  PRIMARY KEY (host)
) WITHOUT ROWID;

-- Up to which run and trigger the watches know.
CREATE TABLE IF NOT EXISTS canonical_progress (
  site_id       INTEGER NOT NULL,
  run           INTEGER NOT NULL,
  trigger_id    INTEGER NOT NULL,
  PRIMARY KEY (site_id)
) WITHOUT ROWID;
