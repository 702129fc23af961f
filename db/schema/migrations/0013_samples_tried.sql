-- Samples of an epoch that somebody could not use, so that a restart forgets no tries. See ../README.md.

CREATE TABLE sample_tried (
  run_id     TEXT    NOT NULL REFERENCES run (run_id),
  epoch      INTEGER NOT NULL CHECK (epoch >= 0),
  place      INTEGER NOT NULL CHECK (place >= 0),
  peer_id    BLOB    NOT NULL CHECK (length(peer_id) = 32),
  last_round INTEGER NOT NULL CHECK (last_round >= 0),
  account_id INTEGER NOT NULL,
  PRIMARY KEY (run_id, epoch, place, peer_id, last_round)
) STRICT, WITHOUT ROWID;
