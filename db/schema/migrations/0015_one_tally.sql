-- Volunteers are holders like teams and computers: their sums stand in the same tables, as kind 0. See ../README.md.

DROP TRIGGER contribution_counts;
DROP TRIGGER contribution_is_tallied;
DROP TRIGGER line_is_tallied;
DROP VIEW tallied_line;
DROP TRIGGER computers_are_shown;
DROP INDEX tally_by_rank;
DROP INDEX tally_by_recent;
DROP INDEX tally_run_by_rank;
DROP INDEX tally_window_by_rank;
DROP INDEX tally_window_spent;
ALTER TABLE tally RENAME TO old_tally;
ALTER TABLE tally_run RENAME TO old_tally_run;
ALTER TABLE tally_window RENAME TO old_tally_window;

-- What a volunteer (kind 0), a team (1) or a computer (2) has earned. `recent` is credit a day, half of it forgotten every
-- 7 days, true at recent_ms. Only shown ones are on boards: all volunteers and teams, and the computers of those who want
-- that.
CREATE TABLE tally (
  kind       INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
  holder     INTEGER NOT NULL,
  samples    INTEGER NOT NULL,
  credit     INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  recent     REAL    NOT NULL,
  recent_ms  INTEGER NOT NULL,
  shown      INTEGER NOT NULL CHECK (shown IN (0, 1)),
  PRIMARY KEY (kind, holder)
) STRICT, WITHOUT ROWID;
INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown)
  SELECT 0, account_id, samples, credit, last_ms, recent, recent_ms, 1 FROM account_total ORDER BY account_id;
INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown)
  SELECT kind, holder, samples, credit, last_ms, recent, recent_ms, shown FROM old_tally;
CREATE INDEX tally_by_rank ON tally (kind, credit DESC, samples DESC, holder) WHERE shown = 1;
-- log2 of the average at one fixed moment: its order is that of the averages at any moment. It is an expression, because a
-- backup (VACUUM INTO) does not copy a table whose key is of two columns and that has a generated one.
CREATE INDEX tally_by_recent ON tally (
  kind, (CASE WHEN recent > 0 THEN log2(recent) + recent_ms / 604800000.0 END) DESC, holder) WHERE shown = 1;

CREATE TABLE tally_run (
  kind    INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
  run     INTEGER NOT NULL REFERENCES run (number),
  holder  INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  credit  INTEGER NOT NULL,
  shown   INTEGER NOT NULL CHECK (shown IN (0, 1)),
  PRIMARY KEY (kind, run, holder)
) STRICT, WITHOUT ROWID;
INSERT INTO tally_run (kind, run, holder, samples, credit, shown)
  SELECT 0, run.number, total.account_id, total.samples, total.credit, 1
  FROM volunteer_total AS total JOIN run ON run.run_id = total.run_id ORDER BY run.number, total.account_id;
INSERT INTO tally_run (kind, run, holder, samples, credit, shown)
  SELECT kind, run, holder, samples, credit, shown FROM old_tally_run;
CREATE INDEX tally_run_by_rank ON tally_run (kind, run, credit DESC, samples DESC, holder) WHERE shown = 1;

CREATE TABLE tally_window (
  kind    INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
  days    INTEGER NOT NULL REFERENCES standing_window (days),
  holder  INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  credit  INTEGER NOT NULL,
  shown   INTEGER NOT NULL CHECK (shown IN (0, 1)),
  PRIMARY KEY (kind, days, holder)
) STRICT, WITHOUT ROWID;
INSERT INTO tally_window (kind, days, holder, samples, credit, shown)
  SELECT 0, days, account_id, samples, credit, 1 FROM window_total ORDER BY days, account_id;
INSERT INTO tally_window (kind, days, holder, samples, credit, shown)
  SELECT kind, days, holder, samples, credit, shown FROM old_tally_window;
CREATE INDEX tally_window_by_rank ON tally_window (kind, days, credit DESC, samples DESC, holder) WHERE shown = 1;
CREATE INDEX tally_window_spent ON tally_window (days) WHERE credit = 0 AND samples = 0;

DROP TABLE old_tally;
DROP TABLE old_tally_run;
DROP TABLE old_tally_window;
DROP TABLE account_total;
DROP TABLE volunteer_total;
DROP TABLE window_total;

-- Totals follow the ledger here and nowhere else, so whatever adds a line keeps them true. A line that was there already
-- (ON CONFLICT DO NOTHING) fires nothing. A reversal leaves the recent averages to whoever adds it: the holders' lines must
-- be replayed (db/stores/tallies.cpp).
CREATE TRIGGER contribution_counts AFTER INSERT ON contribution
BEGIN
  UPDATE run SET
    samples = samples + NEW.samples,
    credit = credit + NEW.credit,
    volunteers = volunteers + NOT EXISTS (
      SELECT 1 FROM tally_run WHERE kind = 0 AND run = NEW.run AND holder = NEW.account_id)
  WHERE number = NEW.run;
  INSERT INTO tally_day (kind, holder, day, samples, credit)
  SELECT 0, NEW.account_id, NEW.at_ms / 86400000, NEW.samples, NEW.credit
  UNION ALL
  SELECT 1, NEW.team_id, NEW.at_ms / 86400000, NEW.samples, NEW.credit WHERE NEW.team_id IS NOT NULL
  ON CONFLICT (kind, holder, day) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit;
  INSERT INTO team_volunteer (team_id, account_id, samples, credit)
  SELECT NEW.team_id, NEW.account_id, NEW.samples, NEW.credit WHERE NEW.team_id IS NOT NULL
  ON CONFLICT (team_id, account_id) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit;
  INSERT INTO tally_run (kind, run, holder, samples, credit, shown)
  SELECT 0, NEW.run, NEW.account_id, NEW.samples, NEW.credit, 1
  UNION ALL
  SELECT 1, NEW.run, NEW.team_id, NEW.samples, NEW.credit, 1 WHERE NEW.team_id IS NOT NULL
  UNION ALL
  SELECT 2, NEW.run, NEW.host, NEW.samples, NEW.credit, shows_computers FROM account WHERE id = NEW.account_id
  ON CONFLICT (kind, run, holder) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit;
  INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown)
  SELECT 0, id, 0, 0, 0, 0, created_ms, 1 FROM account WHERE id = NEW.account_id
  UNION ALL
  SELECT 1, id, 0, 0, 0, 0, created_ms, 1 FROM team WHERE id = NEW.team_id
  UNION ALL
  SELECT 2, host.id, 0, 0, 0, 0, host.created_ms, account.shows_computers
  FROM host JOIN account ON account.id = host.account_id WHERE host.id = NEW.host
  ON CONFLICT DO NOTHING;
  -- Three times, because one UPDATE of all three rows would not find them by the key.
  UPDATE tally SET
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
  WHERE kind = 0 AND holder = NEW.account_id;
  UPDATE tally SET
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
  WHERE kind = 1 AND holder = NEW.team_id;
  UPDATE tally SET
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
  WHERE kind = 2 AND holder = NEW.host;
END;

CREATE TRIGGER computers_are_shown AFTER UPDATE OF shows_computers ON account
WHEN NEW.shows_computers <> OLD.shows_computers
BEGIN
  UPDATE tally SET shown = NEW.shows_computers
  WHERE kind = 2 AND holder IN (SELECT id FROM host WHERE account_id = NEW.id);
  UPDATE tally_run SET shown = NEW.shows_computers
  WHERE kind = 2 AND run IN (SELECT number FROM run) AND holder IN (SELECT id FROM host WHERE account_id = NEW.id);
  UPDATE tally_window SET shown = NEW.shows_computers
  WHERE kind = 2 AND days IN (SELECT days FROM standing_window)
    AND holder IN (SELECT id FROM host WHERE account_id = NEW.id);
END;
