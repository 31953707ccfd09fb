-- +goose Up

-- Named filters of the inventory. site_id 0: every site has it.
CREATE TABLE IF NOT EXISTS segments (
  id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  site_id    BIGINT NOT NULL,
  name       VARCHAR(255) NOT NULL,
  name_key   BINARY(16) NOT NULL,
  filter     MEDIUMBLOB NOT NULL,   -- query of the inventory
  created_at DATETIME(6) NOT NULL,
  UNIQUE KEY segments_name (site_id, name_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Undecided removals by what they are and document: lists of pending and held pages read a page of them, however many there are. MySQL cannot
-- make an index unless it exists, and a migration may be cut between its statements.
SET @made = (SELECT COUNT(*) FROM information_schema.statistics
  WHERE table_schema = DATABASE() AND table_name = 'removals' AND index_name = 'removals_open');
SET @statement = IF(@made > 0, 'DO 0', 'CREATE INDEX removals_open ON removals (site_id, decided_run, valid_to, stage, ruling, document, url_key)');
PREPARE make_index FROM @statement;
EXECUTE make_index;
DEALLOCATE PREPARE make_index;
