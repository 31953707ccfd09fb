-- +goose Up

-- From when to when looks at a URL left no relationship on record, and what they told instead: "looked at then, declared nothing".
CREATE TABLE IF NOT EXISTS canonical_negatives (
  site_id       INTEGER NOT NULL,
  url_key       BLOB NOT NULL,
  valid_from    DATETIME NOT NULL,
  valid_until   DATETIME,
  observed_at   DATETIME NOT NULL,   -- last look of that time; of one that is not over it is in canonical_watches
  status        TEXT NOT NULL,
  reason        TEXT NOT NULL,
  reading       TEXT NOT NULL,
  source_status INTEGER NOT NULL,
  PRIMARY KEY (site_id, url_key, valid_from)
) WITHOUT ROWID;

-- Who leads to a URL, in the order of keys, with what each declares: the declarers of a hub are counted in the index alone. It takes the place of
-- canonical_heads_edge, of which it has the columns.
CREATE INDEX IF NOT EXISTS canonical_heads_declarers ON canonical_heads (site_id, edge_key, url_key, target_key);
DROP INDEX IF EXISTS canonical_heads_edge;
