-- +goose Up

-- From which run on the history of a site is kept whole; no row: all of it.
CREATE TABLE IF NOT EXISTS retention (
  site_id   INTEGER NOT NULL PRIMARY KEY,
  kept_from INTEGER NOT NULL,
  feed_after TEXT NOT NULL, -- cursor of the last change up to that run
  pruned_at DATETIME NOT NULL
);
