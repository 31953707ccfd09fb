-- +goose Up

-- What happened, in the order of commits: ids come from the counter, whose row is locked until the transaction ends, so
-- a reader that has seen one has seen all before it.
CREATE TABLE IF NOT EXISTS event_counter (
  id   INTEGER NOT NULL PRIMARY KEY,
  last INTEGER NOT NULL
);
INSERT OR IGNORE INTO event_counter (id, last) VALUES (1, 0);

CREATE TABLE IF NOT EXISTS events (
  id      INTEGER NOT NULL PRIMARY KEY,
  uid     TEXT NOT NULL,
  site_id INTEGER NOT NULL,
  run     INTEGER NOT NULL,
  type    TEXT NOT NULL,
  at      DATETIME NOT NULL,
  channel INTEGER NOT NULL,      -- 0: whoever subscribed
  data    BLOB NOT NULL          -- JSON
);
CREATE UNIQUE INDEX IF NOT EXISTS events_uid ON events (uid);

-- The last run of each site that events were made of. What was before this version is history.
CREATE TABLE IF NOT EXISTS event_runs (
  site_id INTEGER NOT NULL PRIMARY KEY,
  run     INTEGER NOT NULL
);
INSERT OR IGNORE INTO event_runs (site_id, run) SELECT id, current_run FROM sites;

CREATE TABLE IF NOT EXISTS channels (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT NOT NULL,
  name_key        BLOB NOT NULL,
  kind            TEXT NOT NULL,
  address         TEXT NOT NULL,
  site_id         INTEGER NOT NULL,
  types           TEXT NOT NULL,     -- JSON
  digest          TEXT NOT NULL,
  time_zone       TEXT NOT NULL,
  digest_due      DATETIME,
  origin          TEXT NOT NULL,
  created_at      DATETIME NOT NULL,
  position        INTEGER NOT NULL,  -- the last event that is settled here
  head            INTEGER NOT NULL,  -- the event that was tried last
  tries           INTEGER NOT NULL,
  next_at         DATETIME,
  failing_since   DATETIME,
  disabled_at     DATETIME,
  disabled_reason TEXT NOT NULL,
  owner           TEXT NOT NULL,
  epoch           INTEGER NOT NULL,
  until           DATETIME NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS channels_name ON channels (name_key);

CREATE TABLE IF NOT EXISTS channel_keys (
  channel_id INTEGER NOT NULL,
  key_id     TEXT NOT NULL,
  secret     TEXT NOT NULL,
  not_before DATETIME NOT NULL,
  not_after  DATETIME,
  PRIMARY KEY (channel_id, key_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS attempts (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  channel_id INTEGER NOT NULL,
  event_id   INTEGER NOT NULL,
  at         DATETIME NOT NULL,
  try        INTEGER NOT NULL,
  resend     INTEGER NOT NULL,
  outcome    TEXT NOT NULL,
  status     INTEGER NOT NULL,
  took       INTEGER NOT NULL,   -- microseconds
  error      TEXT NOT NULL,
  excerpt    TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS attempts_channel ON attempts (channel_id, id);
CREATE INDEX IF NOT EXISTS attempts_event ON attempts (event_id, channel_id);

-- What somebody asked to be sent again, outside the order.
CREATE TABLE IF NOT EXISTS resends (
  channel_id INTEGER NOT NULL,
  event_id   INTEGER NOT NULL,
  asked_at   DATETIME NOT NULL,
  tries      INTEGER NOT NULL,
  next_at    DATETIME NOT NULL,
  PRIMARY KEY (channel_id, event_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS alert_rules (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  name           TEXT NOT NULL,
  name_key       BLOB NOT NULL,
  measure        TEXT NOT NULL,
  threshold      REAL NOT NULL,
  severity       TEXT NOT NULL,
  code           TEXT NOT NULL,
  lookback       INTEGER NOT NULL,   -- microseconds
  site_id        INTEGER NOT NULL,
  filter         TEXT NOT NULL,
  channels       TEXT NOT NULL,      -- JSON
  paused         INTEGER NOT NULL,
  origin         TEXT NOT NULL,
  created_at     DATETIME NOT NULL,
  silenced_until DATETIME,
  silence_reason TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS alert_rules_name ON alert_rules (name_key);

CREATE TABLE IF NOT EXISTS alert_states (
  rule_id  INTEGER NOT NULL,
  site_id  INTEGER NOT NULL,
  version  INTEGER NOT NULL,
  alert_id INTEGER NOT NULL,         -- 0: the rule does not hold
  PRIMARY KEY (rule_id, site_id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS alerts (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_id      INTEGER NOT NULL,
  rule         TEXT NOT NULL,
  measure      TEXT NOT NULL,
  site_id      INTEGER NOT NULL,
  opened_at    DATETIME NOT NULL,
  opened_run   INTEGER NOT NULL,
  resolved_at  DATETIME,
  resolved_run INTEGER NOT NULL,
  value        REAL NOT NULL,
  text         TEXT NOT NULL,
  told         INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS alerts_site ON alerts (site_id, id);
