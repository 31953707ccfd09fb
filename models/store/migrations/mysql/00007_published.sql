-- +goose Up

-- What the companion plugin of a site says is published: a source of its own, beside the sitemaps.
CREATE TABLE IF NOT EXISTS plugin_inventories (
  site_id             BIGINT NOT NULL,
  run                 BIGINT NOT NULL,
  read_at             DATETIME(6) NOT NULL,
  outcome             VARCHAR(64) NOT NULL,
  reason              MEDIUMBLOB NOT NULL,
  endpoint            MEDIUMBLOB NOT NULL,
  steady              TINYINT NOT NULL,
  seq                 BIGINT NOT NULL,
  home                MEDIUMBLOB NOT NULL,
  site_url            MEDIUMBLOB NOT NULL,
  permalink_structure MEDIUMBLOB NOT NULL,
  system_name         VARCHAR(255) NOT NULL,
  posts               BIGINT NOT NULL,
  not_declared        BIGINT NOT NULL,
  declared_gone       BIGINT NOT NULL,
  requests            BIGINT NOT NULL,
  PRIMARY KEY (site_id, run)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS published_posts (
  site_id   BIGINT NOT NULL,
  post_id   BIGINT NOT NULL,
  from_run  BIGINT NOT NULL,
  to_run    BIGINT NOT NULL,
  url_key   BINARY(16) NOT NULL,
  url       MEDIUMBLOB NOT NULL,
  type      VARCHAR(255) NOT NULL,
  status    VARCHAR(64) NOT NULL,
  modified  DATETIME(6),
  password  TINYINT NOT NULL,
  noindex   TINYINT NOT NULL,
  canonical MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, post_id, from_run),
  KEY published_posts_page (site_id, url_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
