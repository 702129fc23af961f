-- The groups whose accounts may decide a round, so that a restart forgets no electorate. See ../README.md.

CREATE TABLE seated_group (
  run_id      TEXT    NOT NULL REFERENCES run (run_id),
  group_id    BLOB    NOT NULL CHECK (length(group_id) = 16),
  round       INTEGER NOT NULL CHECK (round >= 0),
  dealt       INTEGER NOT NULL CHECK (dealt IN (0, 1)),
  samples_max INTEGER NOT NULL CHECK (samples_max >= 0),
  PRIMARY KEY (run_id, group_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE seat (
  run_id       TEXT    NOT NULL,
  group_id     BLOB    NOT NULL,
  group_column INTEGER NOT NULL CHECK (group_column >= 0),
  seat_rank    INTEGER NOT NULL CHECK (seat_rank >= 0),
  peer_id      BLOB    NOT NULL CHECK (length(peer_id) = 32),
  account_id   INTEGER NOT NULL,
  role         INTEGER NOT NULL CHECK (role >= 0),
  PRIMARY KEY (run_id, group_id, group_column, seat_rank),
  FOREIGN KEY (run_id, group_id) REFERENCES seated_group (run_id, group_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
