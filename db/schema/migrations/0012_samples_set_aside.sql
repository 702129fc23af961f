-- Samples of an epoch that are not waited for any more. See ../README.md.

CREATE TABLE sample_set_aside (
  run_id TEXT    NOT NULL REFERENCES run (run_id),
  epoch  INTEGER NOT NULL CHECK (epoch >= 0),
  place  INTEGER NOT NULL CHECK (place >= 0),
  PRIMARY KEY (run_id, epoch, place)
) STRICT, WITHOUT ROWID;
