-- What proves to members that a state is the run's (shared/protocol/state_proof.h). See ../../README.md.

-- The project's newest statement of each run's state.
CREATE TABLE state_statement (
  run_id    text    NOT NULL PRIMARY KEY REFERENCES run (run_id),
  round     bigint  NOT NULL CHECK (round >= 0),
  serial    bigint  NOT NULL,
  statement text    NOT NULL
);

-- Members' signatures under the rounds since.
CREATE TABLE state_link (
  run_id text    NOT NULL REFERENCES run (run_id),
  round  bigint  NOT NULL CHECK (round >= 0),
  link   text    NOT NULL,
  PRIMARY KEY (run_id, round)
);
