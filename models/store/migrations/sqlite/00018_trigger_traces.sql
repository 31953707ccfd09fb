-- +goose Up

-- Which trace a trigger came with, in the form of a traceparent header; rows only while traces are kept. The run that serves
-- it links to it.
CREATE TABLE IF NOT EXISTS trigger_traces (
  site_id    INTEGER NOT NULL,
  trigger_id INTEGER NOT NULL,
  trace      TEXT NOT NULL,
  PRIMARY KEY (site_id, trigger_id)
) WITHOUT ROWID;
