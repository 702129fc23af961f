-- What computers say they brought and their groups do not confirm. See ../README.md.

CREATE TABLE unconfirmed_claim (
  run        INTEGER NOT NULL REFERENCES run (number),
  round      INTEGER NOT NULL CHECK (round >= 0),
  host       INTEGER NOT NULL REFERENCES host (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  samples    INTEGER NOT NULL CHECK (samples >= 1),
  at_ms      INTEGER NOT NULL,
  PRIMARY KEY (run, round, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX unconfirmed_claim_by_account ON unconfirmed_claim (account_id);
CREATE INDEX unconfirmed_claim_by_time ON unconfirmed_claim (at_ms);
