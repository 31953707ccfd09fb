-- +goose Up

-- What the companion plugin of a site says is published: a source of its own, beside the sitemaps.
CREATE TABLE IF NOT EXISTS plugin_inventories (
  site_id             INTEGER NOT NULL,
  run                 INTEGER NOT NULL,
  read_at             DATETIME NOT NULL,
  outcome             TEXT NOT NULL,
  reason              TEXT NOT NULL,
  endpoint            TEXT NOT NULL,
  steady              INTEGER NOT NULL,
  seq                 INTEGER NOT NULL,
  home                TEXT NOT NULL,
  site_url            TEXT NOT NULL,
  permalink_structure TEXT NOT NULL,
  system_name         TEXT NOT NULL,
  posts               INTEGER NOT NULL,
  not_declared        INTEGER NOT NULL,
  declared_gone       INTEGER NOT NULL,
  requests            INTEGER NOT NULL,
  PRIMARY KEY (site_id, run)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS published_posts (
  site_id   INTEGER NOT NULL,
  post_id   INTEGER NOT NULL,
  from_run  INTEGER NOT NULL,
  to_run    INTEGER NOT NULL,
  url_key   BLOB NOT NULL,
  url       TEXT NOT NULL,
  type      TEXT NOT NULL,
  status    TEXT NOT NULL,
  modified  DATETIME,
  password  INTEGER NOT NULL,
  noindex   INTEGER NOT NULL,
  canonical TEXT NOT NULL,
  PRIMARY KEY (site_id, post_id, from_run)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS published_posts_page ON published_posts (site_id, url_key);
