-- +goose Up

-- Sums over the open rows of documents, by leading bits of their keys: which rows a diff need not read. A row that is
-- missing, or was written by a run that is swept, means that all are read.
CREATE TABLE IF NOT EXISTS document_sums (
  site_id  INTEGER NOT NULL,
  document INTEGER NOT NULL,
  run      INTEGER NOT NULL,  -- that wrote it
  sums     BLOB NOT NULL,
  doubts   TEXT NOT NULL,     -- two leading bytes, in hex, of each key whose rows changed since
  PRIMARY KEY (site_id, document)
);
