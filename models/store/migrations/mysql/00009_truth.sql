-- +goose Up

-- From which run on the history of a site is kept whole; no row: all of it.
CREATE TABLE IF NOT EXISTS retention (
  site_id   BIGINT NOT NULL,
  kept_from BIGINT NOT NULL,
  feed_after VARCHAR(100) NOT NULL, -- cursor of the last change up to that run
  pruned_at DATETIME(6) NOT NULL,
  PRIMARY KEY (site_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
