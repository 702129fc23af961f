-- The ledger in few bytes a line: runs and computers by number. Reversals. The recent average, lazily
-- decayed, with a sort key that time does not change. Sums over the last day and week. See ../README.md.

ALTER TABLE run ADD COLUMN number INTEGER;
UPDATE run SET number = rowid;
CREATE UNIQUE INDEX run_by_number ON run (number);
CREATE TRIGGER run_gets_a_number AFTER INSERT ON run WHEN NEW.number IS NULL
BEGIN
  UPDATE run SET number = (SELECT coalesce(max(number), 0) + 1 FROM run) WHERE run_id = NEW.run_id;
END;

DROP TRIGGER contribution_is_never_changed;
DROP TRIGGER contribution_is_never_removed;
DROP TRIGGER contribution_counts;
DROP INDEX contribution_by_account;
DROP INDEX host_by_account;
ALTER TABLE contribution RENAME TO old_contribution;
ALTER TABLE host RENAME TO old_host;

CREATE TABLE host (
  id           INTEGER PRIMARY KEY,
  peer_id      BLOB    NOT NULL UNIQUE CHECK (length(peer_id) = 32),
  account_id   INTEGER NOT NULL REFERENCES account (id),
  created_ms   INTEGER NOT NULL,
  last_seen_ms INTEGER NOT NULL,
  revoked      INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT;
CREATE INDEX host_by_account ON host (account_id);
INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms, revoked)
  SELECT peer_id, account_id, created_ms, last_seen_ms, revoked FROM old_host ORDER BY created_ms, peer_id;

-- The ledger: lines are added and nothing else. A computer is credited once a round. A correction is a line
-- of its own that takes an earlier one back as a whole. The bounds keep every sum far from overflow.
CREATE TABLE contribution (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  run        INTEGER NOT NULL REFERENCES run (number),
  round      INTEGER NOT NULL CHECK (round >= 0),
  host       INTEGER NOT NULL REFERENCES host (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  samples    INTEGER NOT NULL CHECK (abs(samples) <= 1000000000),
  credit     INTEGER NOT NULL CHECK (abs(credit) <= 1000000000000),
  at_ms      INTEGER NOT NULL,
  reverses   INTEGER REFERENCES contribution (id),
  CHECK (reverses IS NOT NULL OR (samples >= 0 AND credit >= 0))
) STRICT;
CREATE UNIQUE INDEX contribution_once ON contribution (run, round, host) WHERE reverses IS NULL;
CREATE UNIQUE INDEX contribution_reversed_once ON contribution (reverses) WHERE reverses IS NOT NULL;
CREATE INDEX contribution_by_account ON contribution (account_id);

-- Why lines were taken back.
CREATE TABLE correction (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms  INTEGER NOT NULL,
  reason TEXT    NOT NULL CHECK (length(reason) BETWEEN 1 AND 500)
) STRICT;
CREATE TABLE reversal (
  contribution INTEGER PRIMARY KEY REFERENCES contribution (id),
  correction   INTEGER NOT NULL REFERENCES correction (id)
) STRICT;

-- The recent average: credit a day, half of it forgotten every 7 days; true at recent_ms. recent_key is log2
-- of its value at one fixed moment, so its order is the order of the averages at any moment.
ALTER TABLE account_total ADD COLUMN recent REAL NOT NULL DEFAULT 0;
ALTER TABLE account_total ADD COLUMN recent_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account_total ADD COLUMN recent_key REAL
  GENERATED ALWAYS AS (CASE WHEN recent > 0 THEN log2(recent) + recent_ms / 604800000.0 END) VIRTUAL;
CREATE INDEX account_total_by_recent ON account_total (recent_key DESC, account_id);

-- Sums over the last `days`. Lines after `tail` and up to `head` are in them, but reversed lines and
-- reversals; both marks move with time (db/stores/windows.cpp).
CREATE TABLE standing_window (
  days INTEGER PRIMARY KEY,
  tail INTEGER NOT NULL,
  head INTEGER NOT NULL,
  CHECK (tail <= head)
) STRICT;
CREATE TABLE window_total (
  days       INTEGER NOT NULL REFERENCES standing_window (days),
  account_id INTEGER NOT NULL REFERENCES account (id),
  samples    INTEGER NOT NULL,
  credit     INTEGER NOT NULL,
  PRIMARY KEY (days, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX window_total_by_rank ON window_total (days, credit DESC, samples DESC, account_id);

CREATE TRIGGER contribution_is_never_changed BEFORE UPDATE ON contribution
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: a line may not be changed');
END;

CREATE TRIGGER contribution_is_never_removed BEFORE DELETE ON contribution
BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: a line may not be removed');
END;

CREATE TRIGGER contribution_reverses_one_line BEFORE INSERT ON contribution WHEN NEW.reverses IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a reversal must take one earlier line back, as a whole') WHERE NOT EXISTS (
    SELECT 1 FROM contribution AS line
    WHERE line.id = NEW.reverses AND line.reverses IS NULL AND line.run = NEW.run AND line.round = NEW.round
      AND line.host = NEW.host AND line.account_id = NEW.account_id AND line.samples = -NEW.samples
      AND line.credit = -NEW.credit);
END;

-- Totals follow the ledger here and nowhere else, so whatever adds a line keeps them true. A line that was
-- there already (ON CONFLICT DO NOTHING) fires nothing. A reversal leaves the recent average to whoever adds
-- it: the account's lines must be replayed (db/stores/correction_store.cpp).
CREATE TRIGGER contribution_counts AFTER INSERT ON contribution
BEGIN
  UPDATE run SET
    samples = samples + NEW.samples,
    credit = credit + NEW.credit,
    volunteers = volunteers + NOT EXISTS (
      SELECT 1 FROM volunteer_total WHERE run_id = run.run_id AND account_id = NEW.account_id)
  WHERE number = NEW.run;
  INSERT INTO volunteer_total (run_id, account_id, samples, credit, last_ms)
  VALUES ((SELECT run_id FROM run WHERE number = NEW.run), NEW.account_id, NEW.samples, NEW.credit, NEW.at_ms)
  ON CONFLICT (run_id, account_id) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit,
    last_ms = max(last_ms, excluded.last_ms);
  INSERT INTO account_total (account_id, samples, credit, last_ms, recent_ms)
  SELECT id, 0, 0, 0, created_ms FROM account WHERE id = NEW.account_id
  ON CONFLICT DO NOTHING;
  UPDATE account_total SET
    samples = samples + NEW.samples,
    credit = credit + NEW.credit,
    last_ms = max(last_ms, NEW.at_ms),
    recent = CASE
      WHEN NEW.reverses IS NOT NULL THEN recent
      WHEN NEW.at_ms - recent_ms < 1000 THEN
        recent * exp(max(0, NEW.at_ms - recent_ms) * -ln(2) / 604800000.0) + NEW.credit / 1e6 * ln(2) / 7
      ELSE
        recent * exp((NEW.at_ms - recent_ms) * -ln(2) / 604800000.0)
        + NEW.credit / 1e6 * (1 - exp((NEW.at_ms - recent_ms) * -ln(2) / 604800000.0))
          / ((NEW.at_ms - recent_ms) / 86400000.0)
      END,
    recent_ms = CASE WHEN NEW.reverses IS NULL THEN max(recent_ms, NEW.at_ms) ELSE recent_ms END
  WHERE account_id = NEW.account_id;
END;

-- The lines of before, through the new trigger.
DELETE FROM volunteer_total;
DELETE FROM account_total;
UPDATE run SET samples = 0, credit = 0, volunteers = 0;
INSERT INTO contribution (id, run, round, host, account_id, samples, credit, at_ms)
  SELECT old.id, run.number, old.round, host.id, old.account_id, old.samples, old.credit, old.at_ms
  FROM old_contribution AS old
  JOIN run ON run.run_id = old.run_id
  JOIN host ON host.peer_id = old.peer_id
  ORDER BY old.id;
DROP TABLE old_contribution;
DROP TABLE old_host;

INSERT INTO standing_window (days, tail, head)
  SELECT days, line, line FROM (
    SELECT days, (SELECT coalesce(max(id), 0) FROM contribution
                  WHERE at_ms <= unixepoch() * 1000 - days * 86400000) AS line
    FROM (SELECT 1 AS days UNION ALL SELECT 7));
