-- What lets an operator go back, and tells afterwards who did what. See ../README.md.

-- The run went on in round `round` + 1 with the state that `to_round` began with: the results of the rounds from
-- `to_round` on are given up, and `round` itself, which was in work, was never decided.
CREATE TABLE rollback (
  run_id       TEXT    NOT NULL REFERENCES run (run_id),
  round        INTEGER NOT NULL CHECK (round >= 1),
  to_round     INTEGER NOT NULL CHECK (to_round BETWEEN 0 AND round - 1),
  state_digest BLOB    NOT NULL CHECK (length(state_digest) = 32),
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (run_id, round)
) STRICT, WITHOUT ROWID;

-- Each line's digest covers the line and the digest before it. Lines from before are given theirs with the next line.
ALTER TABLE audit ADD COLUMN digest BLOB CHECK (length(digest) = 32);
DROP TRIGGER audit_is_never_changed;
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
WHEN OLD.digest IS NOT NULL OR NEW.digest IS NULL OR NEW.id <> OLD.id OR NEW.at_ms <> OLD.at_ms OR NEW.who <> OLD.who
  OR NEW.action <> OLD.action OR NEW.subject <> OLD.subject OR NEW.note <> OLD.note
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only: a line may not be changed');
END;

ALTER TABLE operator ADD COLUMN role TEXT NOT NULL DEFAULT 'operator'
  CHECK (role IN ('operator', 'run-manager', 'moderator', 'viewer'));
