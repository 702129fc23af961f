-- Credit that waits for its work to be checked, and what checks have found. See ../README.md.

-- Lines of rounds from this one on are pending. NULL: all lines of the run are final, and nothing is kept for it.
ALTER TABLE run ADD COLUMN final_below INTEGER;

-- The sums of pending lines, by holder (kinds as in tally).
CREATE TABLE pending (
  kind    INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
  holder  INTEGER NOT NULL,
  run     INTEGER NOT NULL REFERENCES run (number),
  samples INTEGER NOT NULL,
  credit  INTEGER NOT NULL,
  PRIMARY KEY (kind, holder, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX pending_spent ON pending (run) WHERE credit = 0 AND samples = 0;

-- A reversal has the round of its line, so both are pending or neither is.
CREATE TRIGGER contribution_waits AFTER INSERT ON contribution
WHEN NEW.round >= (SELECT final_below FROM run WHERE number = NEW.run)
BEGIN
  INSERT INTO pending (kind, holder, run, samples, credit)
  SELECT 0, NEW.account_id, NEW.run, NEW.samples, NEW.credit
  UNION ALL
  SELECT 2, NEW.host, NEW.run, NEW.samples, NEW.credit
  UNION ALL
  SELECT 1, NEW.team_id, NEW.run, NEW.samples, NEW.credit WHERE NEW.team_id IS NOT NULL
  ON CONFLICT (kind, holder, run) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit;
END;

CREATE TRIGGER final_credit_stays BEFORE UPDATE OF final_below ON run
WHEN OLD.final_below IS NOT NULL AND (NEW.final_below IS NULL OR NEW.final_below < OLD.final_below)
BEGIN
  SELECT RAISE(ABORT, 'credit that is final does not become pending again');
END;

-- A reversed line counts nothing, and so does its reversal.
CREATE TRIGGER credit_becomes_final AFTER UPDATE OF final_below ON run WHEN NEW.final_below > OLD.final_below
BEGIN
  INSERT INTO pending (kind, holder, run, samples, credit)
  SELECT kinds.kind, CASE kinds.kind WHEN 0 THEN line.account_id WHEN 1 THEN line.team_id ELSE line.host END, NEW.number,
    -sum(line.samples), -sum(line.credit)
  FROM contribution AS line CROSS JOIN (SELECT 0 AS kind UNION ALL SELECT 1 UNION ALL SELECT 2) AS kinds
  WHERE line.run = NEW.number AND line.round >= OLD.final_below AND line.round < NEW.final_below
    AND line.reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id)
    AND (kinds.kind <> 1 OR line.team_id IS NOT NULL)
  GROUP BY 1, 2
  ON CONFLICT (kind, holder, run) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit;
  DELETE FROM pending WHERE run = NEW.number AND credit = 0 AND samples = 0;
END;

-- What a check of a computer's round has found: that its work is right (0), that it is not (1), or nothing, because nobody
-- could check it in time (2). `auditors` are the keys' digests, one after the other.
CREATE TABLE work_check (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  run        INTEGER NOT NULL REFERENCES run (number),
  round      INTEGER NOT NULL CHECK (round >= 0),
  host       INTEGER NOT NULL REFERENCES host (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  verdict    INTEGER NOT NULL CHECK (verdict IN (0, 1, 2)),
  auditors   BLOB    NOT NULL CHECK (length(auditors) % 32 = 0 AND length(auditors) <= 2048),
  distance   REAL    NOT NULL,
  why        TEXT    NOT NULL CHECK (length(why) <= 500),
  at_ms      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX work_check_once ON work_check (run, round, host);
CREATE INDEX work_check_missed ON work_check (id) WHERE verdict = 1;
CREATE INDEX work_check_others ON work_check (id) WHERE verdict <> 1;

-- How many checks of a computer in a run have found what, and how many in a row found its work right.
CREATE TABLE checked_host (
  run       INTEGER NOT NULL REFERENCES run (number),
  host      INTEGER NOT NULL REFERENCES host (id),
  clean     INTEGER NOT NULL,
  missed    INTEGER NOT NULL,
  unchecked INTEGER NOT NULL,
  in_a_row  INTEGER NOT NULL,
  PRIMARY KEY (run, host)
) STRICT, WITHOUT ROWID;

-- The operator's own computers, whose results decide checks; and an account whose work is always checked until then.
ALTER TABLE account ADD COLUMN auditor INTEGER NOT NULL DEFAULT 0 CHECK (auditor IN (0, 1));
ALTER TABLE account ADD COLUMN watched_until_ms INTEGER NOT NULL DEFAULT 0;
