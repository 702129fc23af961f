-- Epochs: which samples are leased to whom, and which contribution has counted each. See ../../README.md.

-- counted follows sample_counted.
CREATE TABLE sample_epoch (
  run_id  text   NOT NULL REFERENCES run (run_id),
  epoch   bigint NOT NULL CHECK (epoch >= 0),
  samples bigint NOT NULL CHECK (samples >= 1),
  counted bigint NOT NULL DEFAULT 0 CHECK (counted BETWEEN 0 AND samples),
  PRIMARY KEY (run_id, epoch)
);

CREATE TABLE sample_lease (
  run_id       text   NOT NULL REFERENCES run (run_id),
  peer_id      bytea  NOT NULL CHECK (length(peer_id) = 32),
  number       bigint NOT NULL CHECK (number >= 1),
  process      bigint NOT NULL,
  epoch        bigint NOT NULL CHECK (epoch >= 0),
  first_sample bigint NOT NULL CHECK (first_sample >= 0),
  samples      bigint NOT NULL CHECK (samples >= 1),
  last_round   bigint NOT NULL CHECK (last_round >= 0),
  PRIMARY KEY (run_id, peer_id, number)
);
CREATE INDEX sample_lease_by_end ON sample_lease (run_id, last_round);

-- Beside the ledger, and as large: whoever has a line there for a round has its samples named here.
CREATE TABLE sample_counted (
  run          bigint NOT NULL REFERENCES run (number),
  epoch        bigint NOT NULL CHECK (epoch >= 0),
  first_sample bigint NOT NULL CHECK (first_sample >= 0),
  samples      bigint NOT NULL CHECK (samples >= 1),
  round        bigint NOT NULL CHECK (round >= 0),
  host         bigint NOT NULL REFERENCES host (id),
  PRIMARY KEY (run, epoch, first_sample)
);
