-- +goose Up

-- What pages say of their canonical URL: observations, relationships with their judgements, candidates, conflicts and heads
-- are stores of their own (docs/verify.md).

-- The one row that lists and joins read for a URL, and its out-edge with where that leads.
CREATE TABLE IF NOT EXISTS canonical_heads (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  url           MEDIUMBLOB NOT NULL,
  target        MEDIUMBLOB NOT NULL,
  target_key    BINARY(16),
  edge          MEDIUMBLOB NOT NULL,
  edge_key      BINARY(16),
  edge_kind     VARCHAR(64) NOT NULL,
  own           VARCHAR(64) NOT NULL,    -- resolution without the graph: self, none, conflict
  status        VARCHAR(64) NOT NULL,
  reason        VARCHAR(64) NOT NULL,
  listed        TINYINT NOT NULL,
  resolution    VARCHAR(64) NOT NULL,    -- where the edge leads: none, chain, loop, into_loop, too_long
  final_key     BINARY(16),
  depth         INT NOT NULL,
  loop_key      BINARY(16),
  PRIMARY KEY (site_id, url_key),
  KEY canonical_heads_edge (site_id, edge_key, url_key),
  KEY canonical_heads_status (site_id, status, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What is remembered of a URL between looks, and when it is looked at next.
CREATE TABLE IF NOT EXISTS canonical_watches (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  url           MEDIUMBLOB NOT NULL,
  revision      BIGINT NOT NULL,
  listed        TINYINT NOT NULL,
  class         INT NOT NULL,            -- order of work: what a hook named comes first
  next_look     DATETIME(6),
  due           VARCHAR(64) NOT NULL,
  last_look     DATETIME(6),
  last_read     DATETIME(6),
  confirmed_at  DATETIME(6),             -- look that saw every current relationship
  looks         BIGINT NOT NULL,         -- that were understood
  pace          BIGINT NOT NULL,         -- microseconds between looks by the clock
  reading       VARCHAR(64) NOT NULL,
  source_status INT NOT NULL,
  etag          MEDIUMBLOB NOT NULL,
  last_modified MEDIUMBLOB NOT NULL,
  validated_url MEDIUMBLOB NOT NULL,
  record        MEDIUMBLOB NOT NULL,
  evidence      MEDIUMBLOB,
  sketch        BLOB,
  PRIMARY KEY (site_id, url_key),
  KEY canonical_watches_due (site_id, class, next_look)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Statements as they were found, over the looks that found them.
CREATE TABLE IF NOT EXISTS canonical_observations (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  observation   BINARY(16) NOT NULL,
  kind          VARCHAR(64) NOT NULL,
  accepted      TINYINT NOT NULL,
  is_open       TINYINT NOT NULL,
  first_seen    DATETIME(6) NOT NULL,
  last_seen     DATETIME(6) NOT NULL,
  times         BIGINT NOT NULL,
  at_look       BIGINT NOT NULL,         -- canonical_watches.looks when the row was written: what a current one was seen since
  parser        VARCHAR(255) NOT NULL,
  item          MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, observation)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Source prefers target, by one method. A row is closed, never changed in meaning.
CREATE TABLE IF NOT EXISTS canonical_relationships (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  target_key    BINARY(16) NOT NULL,
  method        VARCHAR(64) NOT NULL,
  valid_from    DATETIME(6) NOT NULL,
  valid_until   DATETIME(6),
  is_open       TINYINT,                 -- 1 while current, else NULL: one current row of a meaning, any number of closed ones
  status        VARCHAR(64) NOT NULL,
  reason        VARCHAR(64) NOT NULL,
  score         INT NOT NULL,            -- hundredths
  rule          VARCHAR(64) NOT NULL,
  ruleset       VARCHAR(64) NOT NULL,
  observed_at   DATETIME(6) NOT NULL,
  recorded_at   DATETIME(6) NOT NULL,
  ended_at      DATETIME(6),             -- when we recorded the end
  end_reason    VARCHAR(64) NOT NULL,
  body          MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, valid_from, target_key, method),
  UNIQUE KEY canonical_relationships_open (site_id, url_key, target_key, method, is_open),
  KEY canonical_relationships_target (site_id, target_key, is_open)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How a relationship was judged, from each moment on.
CREATE TABLE IF NOT EXISTS canonical_states (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  valid_from    DATETIME(6) NOT NULL,
  target_key    BINARY(16) NOT NULL,
  method        VARCHAR(64) NOT NULL,
  judged_at     DATETIME(6) NOT NULL,
  status        VARCHAR(64) NOT NULL,
  reason        VARCHAR(64) NOT NULL,
  score         INT NOT NULL,
  rule          VARCHAR(64) NOT NULL,
  ruleset       VARCHAR(64) NOT NULL,
  cause         VARCHAR(64) NOT NULL,    -- look, target, graph
  validation    MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, valid_from, target_key, method, judged_at),
  KEY canonical_states_at (site_id, judged_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What weak or single signals name. Never among the relationships.
CREATE TABLE IF NOT EXISTS canonical_candidates (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  target_key    BINARY(16) NOT NULL,
  valid_from    DATETIME(6) NOT NULL,
  valid_until   DATETIME(6),
  score         INT NOT NULL,
  rule          VARCHAR(64) NOT NULL,
  body          MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, target_key, valid_from)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Explicit targets that contradict each other.
CREATE TABLE IF NOT EXISTS canonical_conflicts (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  opened_at     DATETIME(6) NOT NULL,
  closed_at     DATETIME(6),
  kinds         VARCHAR(255) NOT NULL,
  body          MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, url_key, opened_at),
  KEY canonical_conflicts_open (site_id, closed_at, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- URLs whose place in the graph is to be computed anew.
CREATE TABLE IF NOT EXISTS canonical_dirty (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  paging        TINYINT NOT NULL,
  after_key     BINARY(16) NOT NULL,
  hop           INT NOT NULL,
  seq           BIGINT NOT NULL,         -- random: changes whenever the entry is queued again
  PRIMARY KEY (site_id, url_key, paging, after_key),
  KEY canonical_dirty_hop (site_id, hop, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Sources to be judged anew: their target, or where it leads, has changed.
CREATE TABLE IF NOT EXISTS canonical_news (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  seq           BIGINT NOT NULL,
  PRIMARY KEY (site_id, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Faults of pages over time.
CREATE TABLE IF NOT EXISTS canonical_findings (
  site_id       BIGINT NOT NULL,
  finding       VARCHAR(255) NOT NULL,
  url_key       BINARY(16) NOT NULL,
  code          VARCHAR(64) NOT NULL,
  report        VARCHAR(64) NOT NULL,
  severity      VARCHAR(64) NOT NULL,
  state         VARCHAR(64) NOT NULL,
  page          MEDIUMBLOB NOT NULL,
  template      MEDIUMBLOB NOT NULL,
  first_seen    DATETIME(6) NOT NULL,
  last_seen     DATETIME(6) NOT NULL,
  changed_at    DATETIME(6) NOT NULL,    -- when the state became what it is
  confirmed     BIGINT NOT NULL,
  body          MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, finding),
  KEY canonical_findings_page (site_id, url_key),
  KEY canonical_findings_code (site_id, code, finding),
  KEY canonical_findings_changed (site_id, changed_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Findings that nobody wants to hear of for a time.
CREATE TABLE IF NOT EXISTS canonical_mutes (
  site_id       BIGINT NOT NULL,
  code          VARCHAR(64) NOT NULL,
  place_key     BINARY(16) NOT NULL,
  place         MEDIUMBLOB NOT NULL,     -- page, template, or empty for the whole site
  until         DATETIME(6),
  note          VARCHAR(255) NOT NULL,
  created_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (site_id, code, place_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One change that many pages of a site share.
CREATE TABLE IF NOT EXISTS canonical_incidents (
  site_id       BIGINT NOT NULL,
  change_key    BINARY(16) NOT NULL,
  started_at    DATETIME(6) NOT NULL,
  last_seen     DATETIME(6) NOT NULL,
  what          MEDIUMBLOB NOT NULL,
  pages         BIGINT NOT NULL,
  looked        BIGINT NOT NULL,
  examples      MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, change_key, started_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What a host was asked today, and what it answers to an address that does not exist.
CREATE TABLE IF NOT EXISTS canonical_hosts (
  host          BINARY(16) NOT NULL,
  day           VARCHAR(64) NOT NULL,
  spent         BIGINT NOT NULL,
  probed_at     DATETIME(6),
  probe_status  INT NOT NULL,
  probe_sketch  BLOB,
  PRIMARY KEY (host)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Up to which run and trigger the watches know.
CREATE TABLE IF NOT EXISTS canonical_progress (
  site_id       BIGINT NOT NULL,
  run           BIGINT NOT NULL,
  trigger_id    BIGINT NOT NULL,
  PRIMARY KEY (site_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
