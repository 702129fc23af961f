-- Volunteers are holders like teams and computers: their sums stand in the same tables, as kind 0. See ../../README.md.

ALTER TABLE tally DROP CONSTRAINT tally_kind_check, ADD CONSTRAINT tally_kind_check CHECK (kind IN (0, 1, 2));
ALTER TABLE tally_run DROP CONSTRAINT tally_run_kind_check, ADD CONSTRAINT tally_run_kind_check CHECK (kind IN (0, 1, 2));
ALTER TABLE tally_window
  DROP CONSTRAINT tally_window_kind_check, ADD CONSTRAINT tally_window_kind_check CHECK (kind IN (0, 1, 2));

INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown)
  SELECT 0, account_id, samples, credit, last_ms, recent, recent_ms, 1 FROM account_total;
INSERT INTO tally_run (kind, run, holder, samples, credit, shown)
  SELECT 0, run.number, total.account_id, total.samples, total.credit, 1
  FROM volunteer_total AS total JOIN run ON run.run_id = total.run_id;
INSERT INTO tally_window (kind, days, holder, samples, credit, shown)
  SELECT 0, days, account_id, samples, credit, 1 FROM window_total;
DROP TABLE account_total;
DROP TABLE volunteer_total;
DROP TABLE window_total;

-- Totals follow the ledger here and nowhere else, so whatever adds a line keeps them true. A line that was there already
-- (ON CONFLICT DO NOTHING) fires nothing. A reversal leaves the recent averages to whoever adds it: the holders' lines must
-- be replayed (db/stores/tallies.cpp).
CREATE OR REPLACE FUNCTION count_contribution() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE run SET
    samples = samples + NEW.samples,
    credit = credit + NEW.credit,
    volunteers = volunteers + CASE WHEN EXISTS (
      SELECT 1 FROM tally_run WHERE kind = 0 AND run = NEW.run AND holder = NEW.account_id) THEN 0 ELSE 1 END
  WHERE number = NEW.run;
  INSERT INTO tally_day AS total (kind, holder, day, samples, credit)
  SELECT 0, NEW.account_id, NEW.at_ms / 86400000, NEW.samples, NEW.credit
  UNION ALL
  SELECT 1, NEW.team_id, NEW.at_ms / 86400000, NEW.samples, NEW.credit WHERE NEW.team_id IS NOT NULL
  ON CONFLICT (kind, holder, day) DO UPDATE SET
    samples = total.samples + excluded.samples,
    credit = total.credit + excluded.credit;
  INSERT INTO team_volunteer AS total (team_id, account_id, samples, credit)
  SELECT NEW.team_id, NEW.account_id, NEW.samples, NEW.credit WHERE NEW.team_id IS NOT NULL
  ON CONFLICT (team_id, account_id) DO UPDATE SET
    samples = total.samples + excluded.samples,
    credit = total.credit + excluded.credit;
  INSERT INTO tally_run AS total (kind, run, holder, samples, credit, shown)
  SELECT 0, NEW.run, NEW.account_id, NEW.samples, NEW.credit, 1
  UNION ALL
  SELECT 1, NEW.run, NEW.team_id, NEW.samples, NEW.credit, 1 WHERE NEW.team_id IS NOT NULL
  UNION ALL
  SELECT 2, NEW.run, NEW.host, NEW.samples, NEW.credit, shows_computers FROM account WHERE id = NEW.account_id
  ON CONFLICT (kind, run, holder) DO UPDATE SET
    samples = total.samples + excluded.samples,
    credit = total.credit + excluded.credit;
  INSERT INTO tally (kind, holder, samples, credit, last_ms, recent, recent_ms, shown)
  SELECT 0, id, 0, 0, 0, 0, created_ms, 1 FROM account WHERE id = NEW.account_id
  UNION ALL
  SELECT 1, id, 0, 0, 0, 0, created_ms, 1 FROM team WHERE id = NEW.team_id
  UNION ALL
  SELECT 2, host.id, 0, 0, 0, 0, host.created_ms, account.shows_computers
  FROM host JOIN account ON account.id = host.account_id WHERE host.id = NEW.host
  ON CONFLICT DO NOTHING;
  UPDATE tally SET
    samples = samples + NEW.samples,
    credit = credit + NEW.credit,
    last_ms = greatest(last_ms, NEW.at_ms),
    recent = CASE WHEN NEW.reverses IS NULL THEN granted(recent, recent_ms, NEW.credit, NEW.at_ms) ELSE recent END,
    recent_ms = CASE WHEN NEW.reverses IS NULL THEN greatest(recent_ms, NEW.at_ms) ELSE recent_ms END
  WHERE (kind = 0 AND holder = NEW.account_id) OR (kind = 1 AND holder = NEW.team_id) OR (kind = 2 AND holder = NEW.host);
  RETURN NULL;
END $$;
