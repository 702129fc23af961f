-- What operators do over the years: runs that are over for good, who did what, and who may use the operator's page.

-- 0: in use. A retired run is on no list and takes nobody in; its ledger stays.
ALTER TABLE run ADD COLUMN retired_ms INTEGER NOT NULL DEFAULT 0;

-- Lines are added and nothing else. `who` is an operator's name, or the system's user who gave a command.
CREATE TABLE audit (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms   INTEGER NOT NULL,
  who     TEXT    NOT NULL CHECK (length(who) BETWEEN 1 AND 80),
  action  TEXT    NOT NULL CHECK (length(action) BETWEEN 1 AND 40),
  subject TEXT    NOT NULL CHECK (length(subject) <= 200),
  note    TEXT    NOT NULL CHECK (length(note) <= 1000)
) STRICT;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only: a line may not be changed');
END;

CREATE TRIGGER audit_is_never_removed BEFORE DELETE ON audit
BEGIN
  SELECT RAISE(ABORT, 'the audit log is append-only: a line may not be removed');
END;

-- Not volunteers: these log in on the operator's own listener only.
CREATE TABLE operator (
  name       TEXT    NOT NULL COLLATE NOCASE PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 40),
  password   TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_session (
  token_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
  name       TEXT    NOT NULL COLLATE NOCASE REFERENCES operator (name) ON DELETE CASCADE,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
