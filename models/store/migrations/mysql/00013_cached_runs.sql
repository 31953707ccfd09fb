-- +goose Up

-- Runs in which a cache on the way answered for a document: what such a run saw of it may be older than the run.
CREATE TABLE IF NOT EXISTS cached_runs (
  site_id BIGINT NOT NULL,
  run     BIGINT NOT NULL,
  PRIMARY KEY (site_id, run)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
