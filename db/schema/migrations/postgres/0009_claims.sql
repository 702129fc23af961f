-- What computers say they brought and their groups do not confirm. See ../../README.md.

CREATE TABLE unconfirmed_claim (
  run        bigint NOT NULL REFERENCES run (number),
  round      bigint NOT NULL CHECK (round >= 0),
  host       bigint NOT NULL REFERENCES host (id),
  account_id bigint NOT NULL REFERENCES account (id),
  samples    bigint NOT NULL CHECK (samples >= 1),
  at_ms      bigint NOT NULL,
  PRIMARY KEY (run, round, host)
);
CREATE INDEX unconfirmed_claim_by_account ON unconfirmed_claim (account_id);
CREATE INDEX unconfirmed_claim_by_time ON unconfirmed_claim (at_ms);
