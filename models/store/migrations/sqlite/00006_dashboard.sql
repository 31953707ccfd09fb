-- +goose Up

-- Named filters of the inventory. site_id 0: every site has it.
CREATE TABLE IF NOT EXISTS segments (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  site_id    INTEGER NOT NULL,
  name       TEXT NOT NULL,
  name_key   BLOB NOT NULL,
  filter     TEXT NOT NULL,     -- query of the inventory
  created_at DATETIME NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS segments_name ON segments (site_id, name_key);

-- Undecided removals by what they are and document: lists of pending and held pages read a page of them, however many there are.
CREATE INDEX IF NOT EXISTS removals_open ON removals (site_id, decided_run, valid_to, stage, ruling, document, url_key);
