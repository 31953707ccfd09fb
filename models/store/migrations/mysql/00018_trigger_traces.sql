-- +goose NO TRANSACTION
-- +goose Up

-- Which trace a trigger came with, in the form of a traceparent header; rows only while traces are kept. The run that serves
-- it links to it.
CREATE TABLE IF NOT EXISTS trigger_traces (
  site_id    BIGINT NOT NULL,
  trigger_id BIGINT NOT NULL,
  trace      VARBINARY(128) NOT NULL,
  PRIMARY KEY (site_id, trigger_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
