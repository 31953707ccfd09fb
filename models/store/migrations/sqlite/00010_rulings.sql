-- +goose Up

-- At which runs a person ruled on removals of a site: the run after each tells what became of the pages.
CREATE TABLE IF NOT EXISTS rulings (
  site_id   INTEGER NOT NULL,
  ruled_run INTEGER NOT NULL,
  PRIMARY KEY (site_id, ruled_run)
) WITHOUT ROWID;
