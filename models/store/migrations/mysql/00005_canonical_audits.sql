-- +goose Up

-- Comparisons of where URLs lead, as it is on record, with a full computation of it (docs/verify.md).
CREATE TABLE IF NOT EXISTS canonical_audits (
  site_id       BIGINT NOT NULL,
  audited_at    DATETIME(6) NOT NULL,
  micros        BIGINT NOT NULL,         -- that it took
  urls          BIGINT NOT NULL,         -- with an edge
  differences   BIGINT NOT NULL,         -- that were put right
  examples      MEDIUMBLOB NOT NULL,
  PRIMARY KEY (site_id, audited_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
