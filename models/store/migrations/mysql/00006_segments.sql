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
