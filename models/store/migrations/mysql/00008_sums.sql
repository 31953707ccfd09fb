-- +goose Up

-- Sums over the open rows of documents, by leading bits of their keys: which rows a diff need not read. A row that is
-- missing, or was written by a run that is swept, means that all are read.
CREATE TABLE IF NOT EXISTS document_sums (
  site_id  BIGINT NOT NULL,
  document INT NOT NULL,
  run      BIGINT NOT NULL,      -- that wrote it
  sums     MEDIUMBLOB NOT NULL,
  doubts   MEDIUMTEXT NOT NULL,  -- two leading bytes, in hex, of each key whose rows changed since
  PRIMARY KEY (site_id, document)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
