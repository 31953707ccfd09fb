-- +goose Up

-- What a trigger says should become true of one page.
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
CREATE INDEX IF NOT EXISTS expectations_open ON expectations (site_id, outcome, trigger_id);
