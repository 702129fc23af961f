-- What lets an operator go back, and tells afterwards who did what. See ../../README.md.

CREATE TABLE rollback (
  run_id       text   NOT NULL REFERENCES run (run_id),
  round        bigint NOT NULL CHECK (round >= 1),
  to_round     bigint NOT NULL CHECK (to_round BETWEEN 0 AND round - 1),
  state_digest bytea  NOT NULL CHECK (length(state_digest) = 32),
  at_ms        bigint NOT NULL,
  PRIMARY KEY (run_id, round)
);
