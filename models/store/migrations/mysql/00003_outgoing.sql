-- +goose Up

-- What happened, in the order of commits: ids come from the counter, whose row is locked until the transaction ends, so
-- a reader that has seen one has seen all before it.
CREATE TABLE IF NOT EXISTS event_counter (
  id              BIGINT NOT NULL PRIMARY KEY,
  last            BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO event_counter (id, last) VALUES (1, 0);

CREATE TABLE IF NOT EXISTS events (
  id              BIGINT NOT NULL PRIMARY KEY,
  uid             VARCHAR(64) NOT NULL,
  site_id         BIGINT NOT NULL,
  run             BIGINT NOT NULL,
  type            VARCHAR(64) NOT NULL,
  at              DATETIME(6) NOT NULL,
  channel         BIGINT NOT NULL,      -- 0: whoever subscribed
  data            MEDIUMBLOB NOT NULL,          -- JSON
  UNIQUE KEY events_uid (uid)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The last run of each site that events were made of. What was before this version is history.
CREATE TABLE IF NOT EXISTS event_runs (
  site_id         BIGINT NOT NULL PRIMARY KEY,
  run             BIGINT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO event_runs (site_id, run) SELECT id, current_run FROM sites;

CREATE TABLE IF NOT EXISTS channels (
  id              BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name            VARCHAR(255) NOT NULL,
  name_key        BINARY(16) NOT NULL,
  kind            VARCHAR(64) NOT NULL,
  address         MEDIUMBLOB NOT NULL,
  site_id         BIGINT NOT NULL,
  types           MEDIUMBLOB NOT NULL,     -- JSON
  digest          VARCHAR(255) NOT NULL,
  time_zone       VARCHAR(64) NOT NULL,
  digest_due      DATETIME(6),
  origin          VARCHAR(64) NOT NULL,
  created_at      DATETIME(6) NOT NULL,
  position        BIGINT NOT NULL,  -- the last event that is settled here
  head            BIGINT NOT NULL,  -- the event that was tried last
  tries           INT NOT NULL,
  next_at         DATETIME(6),
  failing_since   DATETIME(6),
  disabled_at     DATETIME(6),
  disabled_reason VARCHAR(255) NOT NULL,
  owner           VARCHAR(255) NOT NULL,
  epoch           BIGINT NOT NULL,
  until           DATETIME(6) NOT NULL,
  UNIQUE KEY channels_name (name_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS channel_keys (
  channel_id      BIGINT NOT NULL,
  key_id          VARCHAR(64) NOT NULL,
  secret          VARCHAR(255) NOT NULL,
  not_before      DATETIME(6) NOT NULL,
  not_after       DATETIME(6),
  PRIMARY KEY (channel_id, key_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS attempts (
  id              BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  channel_id      BIGINT NOT NULL,
  event_id        BIGINT NOT NULL,
  at              DATETIME(6) NOT NULL,
  try             INT NOT NULL,
  resend          TINYINT NOT NULL,
  outcome         VARCHAR(64) NOT NULL,
  status          INT NOT NULL,
  took            BIGINT NOT NULL,   -- microseconds
  error           VARCHAR(255) NOT NULL,
  excerpt         TEXT NOT NULL,
  KEY attempts_channel (channel_id, id),
  KEY attempts_event (event_id, channel_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What somebody asked to be sent again, outside the order.
CREATE TABLE IF NOT EXISTS resends (
  channel_id      BIGINT NOT NULL,
  event_id        BIGINT NOT NULL,
  asked_at        DATETIME(6) NOT NULL,
  tries           INT NOT NULL,
  next_at         DATETIME(6) NOT NULL,
  PRIMARY KEY (channel_id, event_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS alert_rules (
  id              BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name            VARCHAR(255) NOT NULL,
  name_key        BINARY(16) NOT NULL,
  measure         VARCHAR(64) NOT NULL,
  threshold       DOUBLE NOT NULL,
  severity        VARCHAR(64) NOT NULL,
  code            VARCHAR(255) NOT NULL,
  lookback        BIGINT NOT NULL,   -- microseconds
  site_id         BIGINT NOT NULL,
  filter          MEDIUMBLOB NOT NULL,
  channels        MEDIUMBLOB NOT NULL,      -- JSON
  paused          TINYINT NOT NULL,
  origin          VARCHAR(64) NOT NULL,
  created_at      DATETIME(6) NOT NULL,
  silenced_until  DATETIME(6),
  silence_reason  VARCHAR(255) NOT NULL,
  UNIQUE KEY alert_rules_name (name_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS alert_states (
  rule_id         BIGINT NOT NULL,
  site_id         BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  alert_id        BIGINT NOT NULL,         -- 0: the rule does not hold
  PRIMARY KEY (rule_id, site_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS alerts (
  id              BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  rule_id         BIGINT NOT NULL,
  rule            VARCHAR(255) NOT NULL,
  measure         VARCHAR(64) NOT NULL,
  site_id         BIGINT NOT NULL,
  opened_at       DATETIME(6) NOT NULL,
  opened_run      BIGINT NOT NULL,
  resolved_at     DATETIME(6),
  resolved_run    BIGINT NOT NULL,
  value           DOUBLE NOT NULL,
  text            MEDIUMBLOB NOT NULL,
  told            TINYINT NOT NULL,
  KEY alerts_site (site_id, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
