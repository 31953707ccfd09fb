-- +goose Up

-- At which runs a person ruled on removals of a site: the run after each tells what became of the pages.
CREATE TABLE IF NOT EXISTS rulings (
  site_id   BIGINT NOT NULL,
  ruled_run BIGINT NOT NULL,
  PRIMARY KEY (site_id, ruled_run)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
