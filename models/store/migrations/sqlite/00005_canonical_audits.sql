-- +goose Up

-- Comparisons of where URLs lead, as it is on record, with a full computation of it (docs/verify.md).
CREATE TABLE IF NOT EXISTS canonical_audits (
  site_id       INTEGER NOT NULL,
  audited_at    DATETIME NOT NULL,
  micros        INTEGER NOT NULL,        -- that it took
  urls          INTEGER NOT NULL,        -- with an edge
  differences   INTEGER NOT NULL,        -- that were put right
  examples      BLOB NOT NULL,
  PRIMARY KEY (site_id, audited_at)
) WITHOUT ROWID;
