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

-- Who leads to a URL, in the order of keys, with what each declares: the declarers of a hub are counted in the index alone. It takes the place of
-- canonical_heads_edge, of which it has the columns.
SET @made = (SELECT COUNT(*) FROM information_schema.statistics
  WHERE table_schema = DATABASE() AND table_name = 'canonical_heads' AND index_name = 'canonical_heads_declarers');
SET @statement = IF(@made > 0, 'DO 0', 'ALTER TABLE canonical_heads ADD KEY canonical_heads_declarers (site_id, edge_key, url_key, target_key), DROP KEY canonical_heads_edge');
PREPARE make_index FROM @statement;
EXECUTE make_index;
DEALLOCATE PREPARE make_index;
