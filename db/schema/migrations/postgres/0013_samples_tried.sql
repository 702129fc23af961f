-- Samples of an epoch that somebody could not use, so that a restart forgets no tries. See ../../README.md.

CREATE TABLE sample_tried (
  run_id     text   NOT NULL REFERENCES run (run_id),
  epoch      bigint NOT NULL CHECK (epoch >= 0),
  place      bigint NOT NULL CHECK (place >= 0),
  peer_id    bytea  NOT NULL CHECK (length(peer_id) = 32),
  last_round bigint NOT NULL CHECK (last_round >= 0),
  account_id bigint NOT NULL,
  PRIMARY KEY (run_id, epoch, place, peer_id, last_round)
);
