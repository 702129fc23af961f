-- Teams, and what teams and computers have earned, with boards of their own; what was earned day by day. See ../README.md.

CREATE TABLE team (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL COLLATE NOCASE UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
  founder_id INTEGER NOT NULL REFERENCES account (id),
  created_ms INTEGER NOT NULL
) STRICT;
ALTER TABLE account ADD COLUMN team_id INTEGER REFERENCES team (id);
CREATE INDEX account_by_team ON account (team_id) WHERE team_id IS NOT NULL;

-- The team that the volunteer was in when the line was added: credit stays with it. No reference, which would make the
-- end of a team search the whole ledger: a team that has earned anything never ends (db/stores/team_store.cpp).
ALTER TABLE contribution ADD COLUMN team_id INTEGER;

DROP TRIGGER contribution_reverses_one_line;
CREATE TRIGGER contribution_reverses_one_line BEFORE INSERT ON contribution WHEN NEW.reverses IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a reversal must take one earlier line back, as a whole') WHERE NOT EXISTS (
    SELECT 1 FROM contribution AS line
    WHERE line.id = NEW.reverses AND line.reverses IS NULL AND line.run = NEW.run AND line.round = NEW.round
      AND line.host = NEW.host AND line.account_id = NEW.account_id AND line.samples = -NEW.samples
      AND line.credit = -NEW.credit AND line.team_id IS NEW.team_id);
END;

-- What a team (kind 1) or a computer (kind 2) has earned; the columns mean what they do in account_total. Only shown ones are on
-- boards: all teams, and the computers of those who want that.
CREATE TABLE tally (
  kind       INTEGER NOT NULL CHECK (kind IN (1, 2)),
  holder     INTEGER NOT NULL,
  samples    INTEGER NOT NULL,
  credit     INTEGER NOT NULL,
  last_ms    INTEGER NOT NULL,
  recent     REAL    NOT NULL,
  recent_ms  INTEGER NOT NULL,
  shown      INTEGER NOT NULL CHECK (shown IN (0, 1)),
  PRIMARY KEY (kind, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX tally_by_rank ON tally (kind, credit DESC, samples DESC, holder) WHERE shown = 1;
-- The key of account_total.recent_key, as an expression: a backup (VACUUM INTO) does not copy a table whose key is of two
-- columns and that has a generated one.
CREATE INDEX tally_by_recent ON tally (
  kind, (CASE WHEN recent > 0 THEN log2(recent) + recent_ms / 604800000.0 END) DESC, holder) WHERE shown = 1;

CREATE TABLE tally_run (
  kind    INTEGER NOT NULL CHECK (kind IN (1, 2)),
  run     INTEGER NOT NULL REFERENCES run (number),
  holder  INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  credit  INTEGER NOT NULL,
  shown   INTEGER NOT NULL CHECK (shown IN (0, 1)),
  PRIMARY KEY (kind, run, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX tally_run_by_rank ON tally_run (kind, run, credit DESC, samples DESC, holder) WHERE shown = 1;

CREATE TABLE tally_window (
  kind    INTEGER NOT NULL CHECK (kind IN (1, 2)),
  days    INTEGER NOT NULL REFERENCES standing_window (days),
  holder  INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  credit  INTEGER NOT NULL,
  shown   INTEGER NOT NULL CHECK (shown IN (0, 1)),
  PRIMARY KEY (kind, days, holder)
) STRICT, WITHOUT ROWID;
CREATE INDEX tally_window_by_rank ON tally_window (kind, days, credit DESC, samples DESC, holder) WHERE shown = 1;
CREATE INDEX tally_window_spent ON tally_window (days) WHERE credit = 0 AND samples = 0;

-- What volunteers (kind 0) and teams (kind 1) earned on each day since 1970 UTC.
CREATE TABLE tally_day (
  kind    INTEGER NOT NULL CHECK (kind IN (0, 1)),
  holder  INTEGER NOT NULL,
  day     INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  credit  INTEGER NOT NULL,
  PRIMARY KEY (kind, holder, day)
) STRICT, WITHOUT ROWID;

-- What each volunteer has earned for a team.
CREATE TABLE team_volunteer (
  team_id    INTEGER NOT NULL REFERENCES team (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  samples    INTEGER NOT NULL,
  credit     INTEGER NOT NULL,
  PRIMARY KEY (team_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_volunteer_by_rank ON team_volunteer (team_id, credit DESC, account_id);

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

-- Tallies follow the ledger by way of this view, so that the lines of before can go the same way as new ones. As with
-- account_total, a reversal leaves the recent average to whoever adds it.
CREATE VIEW tallied_line AS
  SELECT run, host, account_id, team_id, samples, credit, at_ms, reverses FROM contribution;
CREATE TRIGGER line_is_tallied INSTEAD OF INSERT ON tallied_line
BEGIN
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
  SELECT 1, NEW.run, NEW.team_id, NEW.samples, NEW.credit, 1 WHERE NEW.team_id IS NOT NULL
  UNION ALL
  SELECT 2, NEW.run, NEW.host, NEW.samples, NEW.credit, shows_computers FROM account WHERE id = NEW.account_id
  ON CONFLICT (kind, run, holder) DO UPDATE SET
    samples = samples + excluded.samples,
    credit = credit + excluded.credit;
  INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown)
  SELECT 1, id, 0, 0, 0, 0, created_ms, 1 FROM team WHERE id = NEW.team_id
  UNION ALL
  SELECT 2, host.id, 0, 0, 0, 0, host.created_ms, account.shows_computers
  FROM host JOIN account ON account.id = host.account_id WHERE host.id = NEW.host
  ON CONFLICT DO NOTHING;
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
  WHERE kind IN (1, 2) AND holder IN (NEW.team_id, NEW.host) -- for the index
    AND holder = CASE kind WHEN 1 THEN NEW.team_id ELSE NEW.host END;
END;

CREATE TRIGGER contribution_is_tallied AFTER INSERT ON contribution
BEGIN
  INSERT INTO tallied_line VALUES (
    NEW.run, NEW.host, NEW.account_id, NEW.team_id, NEW.samples, NEW.credit, NEW.at_ms, NEW.reverses);
END;

-- The lines of before, but those that were taken back.
INSERT INTO tallied_line
  SELECT run, host, account_id, team_id, samples, credit, at_ms, reverses FROM contribution AS line
  WHERE reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id)
  ORDER BY id;
INSERT INTO tally_window (kind, days, holder, samples, credit, shown)
  SELECT 2, days, line.host, sum(line.samples), sum(line.credit), account.shows_computers
  FROM standing_window JOIN contribution AS line ON line.id > tail AND line.id <= head
  JOIN account ON account.id = line.account_id
  WHERE reverses IS NULL AND NOT EXISTS (SELECT 1 FROM contribution AS r WHERE r.reverses = line.id)
  GROUP BY days, line.host;
