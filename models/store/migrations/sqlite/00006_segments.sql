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
