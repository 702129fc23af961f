-- Samples of an epoch that are not waited for any more. See ../../README.md.

CREATE TABLE sample_set_aside (
  run_id text   NOT NULL REFERENCES run (run_id),
  epoch  bigint NOT NULL CHECK (epoch >= 0),
  place  bigint NOT NULL CHECK (place >= 0),
  PRIMARY KEY (run_id, epoch, place)
);
