-- +goose Up

-- Runs in which a cache on the way answered for a document: what such a run saw of it may be older than the run.
CREATE TABLE IF NOT EXISTS cached_runs (
  site_id INTEGER NOT NULL,
  run     INTEGER NOT NULL,
  PRIMARY KEY (site_id, run)
) WITHOUT ROWID;
