-- What lets an operator go back, and tells afterwards who did what. See ../README.md.

-- The run went on in round `round` + 1 with the state that `to_round` began with: the results of the rounds from
-- `to_round` on are given up, and `round` itself, which was in work, was never decided.
CREATE TABLE rollback (
  run_id       TEXT    NOT NULL REFERENCES run (run_id),
  round        INTEGER NOT NULL CHECK (round >= 1),
  to_round     INTEGER NOT NULL CHECK (to_round BETWEEN 0 AND round - 1),
  state_digest BLOB    NOT NULL CHECK (length(state_digest) = 32),
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (run_id, round)
) STRICT, WITHOUT ROWID;
