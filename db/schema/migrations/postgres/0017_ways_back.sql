-- What lets an operator go back, and tells afterwards who did what. See ../../README.md.

CREATE TABLE rollback (
  run_id       text   NOT NULL REFERENCES run (run_id),
  round        bigint NOT NULL CHECK (round >= 1),
  to_round     bigint NOT NULL CHECK (to_round BETWEEN 0 AND round - 1),
  state_digest bytea  NOT NULL CHECK (length(state_digest) = 32),
  at_ms        bigint NOT NULL,
  PRIMARY KEY (run_id, round)
);

ALTER TABLE audit ADD COLUMN digest bytea CHECK (length(digest) = 32);
DROP TRIGGER audit_is_never_changed ON audit;
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit FOR EACH ROW
  WHEN (OLD.digest IS NOT NULL OR NEW.digest IS NULL OR NEW.id <> OLD.id OR NEW.at_ms <> OLD.at_ms
    OR NEW.who <> OLD.who OR NEW.action <> OLD.action OR NEW.subject <> OLD.subject OR NEW.note <> OLD.note)
  EXECUTE FUNCTION refuse_change('the audit log');
CREATE TRIGGER audit_is_never_removed BEFORE DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit log');

ALTER TABLE operator ADD COLUMN role text NOT NULL DEFAULT 'operator'
  CHECK (role IN ('operator', 'run-manager', 'moderator', 'viewer'));
