-- Epochs: which samples are leased to whom, and which contribution has counted each. See ../README.md.

-- counted follows sample_counted.
CREATE TABLE sample_epoch (
  run_id  TEXT    NOT NULL REFERENCES run (run_id),
  epoch   INTEGER NOT NULL CHECK (epoch >= 0),
  samples INTEGER NOT NULL CHECK (samples >= 1),
  counted INTEGER NOT NULL DEFAULT 0 CHECK (counted BETWEEN 0 AND samples),
  PRIMARY KEY (run_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample_lease (
  run_id       TEXT    NOT NULL REFERENCES run (run_id),
  peer_id      BLOB    NOT NULL CHECK (length(peer_id) = 32),
  number       INTEGER NOT NULL CHECK (number >= 1),
  process      INTEGER NOT NULL,
  epoch        INTEGER NOT NULL CHECK (epoch >= 0),
  first_sample INTEGER NOT NULL CHECK (first_sample >= 0),
  samples      INTEGER NOT NULL CHECK (samples >= 1),
  last_round   INTEGER NOT NULL CHECK (last_round >= 0),
  PRIMARY KEY (run_id, peer_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX sample_lease_by_end ON sample_lease (run_id, last_round);

-- Beside the ledger, and as large: whoever has a line there for a round has its samples named here.
CREATE TABLE sample_counted (
  run          INTEGER NOT NULL REFERENCES run (number),
  epoch        INTEGER NOT NULL CHECK (epoch >= 0),
  first_sample INTEGER NOT NULL CHECK (first_sample >= 0),
  samples      INTEGER NOT NULL CHECK (samples >= 1),
  round        INTEGER NOT NULL CHECK (round >= 0),
  host         INTEGER NOT NULL REFERENCES host (id),
  PRIMARY KEY (run, epoch, first_sample)
) STRICT, WITHOUT ROWID;
