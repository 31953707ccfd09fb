-- +goose Up

-- From when to when looks at a URL left no relationship on record, and what they told instead: "looked at then, declared nothing".
CREATE TABLE IF NOT EXISTS canonical_negatives (
  site_id       BIGINT NOT NULL,
  url_key       BINARY(16) NOT NULL,
  valid_from    DATETIME(6) NOT NULL,
  valid_until   DATETIME(6),
  observed_at   DATETIME(6) NOT NULL,   -- last look of that time; of one that is not over it is in canonical_watches
  status        VARCHAR(64) NOT NULL,
  reason        VARCHAR(64) NOT NULL,
  reading       VARCHAR(64) NOT NULL,
  source_status INT NOT NULL,
  PRIMARY KEY (site_id, url_key, valid_from)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
