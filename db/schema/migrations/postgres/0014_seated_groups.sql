-- The groups whose accounts may decide a round, so that a restart forgets no electorate. See ../../README.md.

CREATE TABLE seated_group (
  run_id      text   NOT NULL REFERENCES run (run_id),
  group_id    bytea  NOT NULL CHECK (length(group_id) = 16),
  round       bigint NOT NULL CHECK (round >= 0),
  dealt       bigint NOT NULL CHECK (dealt IN (0, 1)),
  samples_max bigint NOT NULL CHECK (samples_max >= 0),
  PRIMARY KEY (run_id, group_id)
);

CREATE TABLE seat (
  run_id       text   NOT NULL,
  group_id     bytea  NOT NULL,
  group_column bigint NOT NULL CHECK (group_column >= 0),
  seat_rank    bigint NOT NULL CHECK (seat_rank >= 0),
  peer_id      bytea  NOT NULL CHECK (length(peer_id) = 32),
  account_id   bigint NOT NULL,
  role         bigint NOT NULL CHECK (role >= 0),
  PRIMARY KEY (run_id, group_id, group_column, seat_rank),
  FOREIGN KEY (run_id, group_id) REFERENCES seated_group (run_id, group_id) ON DELETE CASCADE
);
