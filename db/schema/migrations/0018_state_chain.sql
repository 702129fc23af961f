-- What proves to members that a state is the run's (shared/protocol/state_proof.h). See ../README.md.

-- The project's newest statement of each run's state.
CREATE TABLE state_statement (
  run_id    TEXT    NOT NULL PRIMARY KEY REFERENCES run (run_id),
  round     INTEGER NOT NULL CHECK (round >= 0),
  serial    INTEGER NOT NULL,
  statement TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Members' signatures under the rounds since.
CREATE TABLE state_link (
  run_id TEXT    NOT NULL REFERENCES run (run_id),
  round  INTEGER NOT NULL CHECK (round >= 0),
  link   TEXT    NOT NULL,
  PRIMARY KEY (run_id, round)
) STRICT, WITHOUT ROWID;
