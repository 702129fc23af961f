-- The coordinator's tables. Times are milliseconds since 1970 UTC, credit is in millionths, ids of hosts
-- are 32-byte digests. See ../README.md.

CREATE TABLE account (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  display_name TEXT    NOT NULL COLLATE NOCASE UNIQUE CHECK (length(display_name) BETWEEN 1 AND 64),
  created_ms   INTEGER NOT NULL
) STRICT;

CREATE TABLE host (
  peer_id      BLOB    NOT NULL PRIMARY KEY CHECK (length(peer_id) = 32),
  account_id   INTEGER NOT NULL REFERENCES account (id),
  created_ms   INTEGER NOT NULL,
  last_seen_ms INTEGER NOT NULL,
  revoked      INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX host_by_account ON host (account_id);

CREATE TABLE invite (
  token_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  uses_max   INTEGER NOT NULL CHECK (uses_max >= 1),
  uses       INTEGER NOT NULL DEFAULT 0 CHECK (uses BETWEEN 0 AND uses_max)
) STRICT, WITHOUT ROWID;

-- samples, credit and volunteers are kept by the triggers below.
CREATE TABLE run (
  run_id            TEXT    NOT NULL PRIMARY KEY CHECK (length(run_id) BETWEEN 1 AND 40),
  manifest_envelope TEXT    NOT NULL,
  state             TEXT    NOT NULL CHECK (state IN ('paused', 'running', 'complete')),
  created_ms        INTEGER NOT NULL,
  round             INTEGER NOT NULL DEFAULT 0 CHECK (round >= 0),
  samples           INTEGER NOT NULL DEFAULT 0,
  credit            INTEGER NOT NULL DEFAULT 0,
  volunteers        INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What one group did in one round.
CREATE TABLE round (
  run_id        TEXT    NOT NULL REFERENCES run (run_id),
  round         INTEGER NOT NULL CHECK (round >= 0),
  group_id      BLOB    NOT NULL CHECK (length(group_id) = 16),
  decided_at_ms INTEGER NOT NULL,
  samples       INTEGER NOT NULL CHECK (samples >= 0),
  state_digest  BLOB    NOT NULL CHECK (length(state_digest) = 32),
  survivors     INTEGER NOT NULL CHECK (survivors >= 0),
  duration_ms   INTEGER NOT NULL CHECK (duration_ms >= 0),
  loss          REAL    NOT NULL,
  PRIMARY KEY (run_id, round, group_id)
) STRICT, WITHOUT ROWID;

-- The ledger: lines are added and nothing else. A peer is credited once a round. The bounds on samples and
-- credit keep every sum far from overflow.
CREATE TABLE contribution (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id     TEXT    NOT NULL REFERENCES run (run_id),
  round      INTEGER NOT NULL CHECK (round >= 0),
  peer_id    BLOB    NOT NULL REFERENCES host (peer_id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  samples    INTEGER NOT NULL CHECK (samples BETWEEN 0 AND 1000000000),
  credit     INTEGER NOT NULL CHECK (credit BETWEEN 0 AND 1000000000000),
  at_ms      INTEGER NOT NULL,
  UNIQUE (run_id, round, peer_id)
) STRICT;
CREATE INDEX contribution_by_account ON contribution (account_id);

CREATE TABLE volunteer_total (
  run_id     TEXT    NOT NULL REFERENCES run (run_id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  samples    INTEGER NOT NULL,
  credit     INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  PRIMARY KEY (run_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX volunteer_total_by_rank ON volunteer_total (run_id, credit DESC, samples DESC, account_id);

CREATE TABLE account_total (
  account_id INTEGER PRIMARY KEY REFERENCES account (id),
  samples    INTEGER NOT NULL,
  credit     INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL
) STRICT;
CREATE INDEX account_total_by_rank ON account_total (credit DESC, samples DESC, account_id);

CREATE TRIGGER contribution_is_never_changed BEFORE UPDATE ON contribution
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: a line may not be changed');
END;

CREATE TRIGGER contribution_is_never_removed BEFORE DELETE ON contribution
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: a line may not be removed');
END;

-- Totals follow the ledger here and nowhere else, so whatever adds a line keeps them true. A line that was
-- there already (ON CONFLICT DO NOTHING) fires nothing.
CREATE TRIGGER contribution_counts AFTER INSERT ON contribution
BEGIN
  UPDATE run SET
    samples = samples + NEW.samples,
    credit = credit + NEW.credit,
    volunteers = volunteers + NOT EXISTS (
      SELECT 1 FROM volunteer_total WHERE run_id = NEW.run_id AND account_id = NEW.account_id)
  WHERE run_id = NEW.run_id;
  INSERT INTO volunteer_total (run_id, account_id, samples, credit, last_ms)
  VALUES (NEW.run_id, NEW.account_id, NEW.samples, NEW.credit, NEW.at_ms)
  ON CONFLICT (run_id, account_id) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit,
    last_ms = max(last_ms, excluded.last_ms);
  INSERT INTO account_total (account_id, samples, credit, last_ms)
  VALUES (NEW.account_id, NEW.samples, NEW.credit, NEW.at_ms)
  ON CONFLICT (account_id) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit,
    last_ms = max(last_ms, excluded.last_ms);
END;

CREATE TABLE evaluation (
  run_id        TEXT    NOT NULL REFERENCES run (run_id),
  round         INTEGER NOT NULL CHECK (round >= 0),
  peer_id       BLOB    NOT NULL CHECK (length(peer_id) = 32),
  bits_per_byte REAL    NOT NULL,
  loss          REAL    NOT NULL,
  bytes         INTEGER NOT NULL CHECK (bytes >= 0),
  at_ms         INTEGER NOT NULL,
  PRIMARY KEY (run_id, round, peer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE lane (
  run_id   TEXT    NOT NULL REFERENCES run (run_id),
  peer_id  BLOB    NOT NULL CHECK (length(peer_id) = 32),
  lane     INTEGER NOT NULL CHECK (lane >= 0),
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, peer_id),
  UNIQUE (run_id, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE artefact (
  digest BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
  bytes  INTEGER NOT NULL CHECK (bytes >= 0),
  name   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
