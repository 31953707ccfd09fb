-- +goose Up

-- What a trigger says should become true of one page.
CREATE TABLE IF NOT EXISTS expectations (
  site_id      BIGINT NOT NULL,
  trigger_id   BIGINT NOT NULL,
  url_key      BINARY(16) NOT NULL,
  kind         VARCHAR(16) NOT NULL,
  url          VARBINARY(8192) NOT NULL,
  previous_key BINARY(16),
  previous_url VARBINARY(8192) NOT NULL,
  modified     DATETIME(6),
  opened_at    DATETIME(6) NOT NULL,
  opened_run   BIGINT NOT NULL,
  checks       INT NOT NULL,
  next_check   DATETIME(6),
  outcome      VARCHAR(16) NOT NULL,
  decided_run  BIGINT NOT NULL,
  decided_at   DATETIME(6),
  finding      VARCHAR(64) NOT NULL,
  text         VARCHAR(1000) NOT NULL,
  PRIMARY KEY (site_id, trigger_id, url_key, kind),
  KEY expectations_open (site_id, outcome, trigger_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
