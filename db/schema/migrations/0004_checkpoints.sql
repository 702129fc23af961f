-- Copies of a run's state that the coordinator keeps; the files are artefacts.

CREATE TABLE checkpoint (
  run_id       TEXT    NOT NULL REFERENCES run (run_id),
  round        INTEGER NOT NULL CHECK (round >= 0),
  state_digest BLOB    NOT NULL CHECK (length(state_digest) = 32),
  artefact     BLOB    NOT NULL CHECK (length(artefact) = 32),
  bytes        INTEGER NOT NULL CHECK (bytes > 0),
  peer_id      BLOB    NOT NULL,
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (run_id, round)
) STRICT, WITHOUT ROWID;
