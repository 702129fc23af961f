-- Names are unique by how they read, whatever their case, width or script: see db/stores/name_keys.h. The program fills
-- the columns, since the rules are Unicode's. See ../README.md.

-- Lower-case form, and look, of the name; NULL until the program has seen the row. `name_twin` is 0, or numbers the names
-- that were too like an earlier one when the rules came, and were kept.
ALTER TABLE account ADD COLUMN name_fold TEXT;
ALTER TABLE account ADD COLUMN name_look TEXT;
ALTER TABLE account ADD COLUMN name_twin INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX account_by_fold ON account (name_fold, name_twin);
CREATE UNIQUE INDEX account_by_look ON account (name_look, name_twin);

ALTER TABLE team ADD COLUMN name_fold TEXT;
ALTER TABLE team ADD COLUMN name_look TEXT;
ALTER TABLE team ADD COLUMN name_twin INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX team_by_fold ON team (name_fold, name_twin);
CREATE UNIQUE INDEX team_by_look ON team (name_look, name_twin);

CREATE TABLE operator_by_name (
  name       TEXT    NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),
  password   TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,
  role       TEXT    NOT NULL DEFAULT 'operator' CHECK (role IN ('operator', 'run-manager', 'moderator', 'viewer')),
  name_fold  TEXT,
  name_look  TEXT,
  name_twin  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO operator_by_name (name, password, created_ms, role) SELECT name, password, created_ms, role FROM operator;
CREATE TABLE session_by_name (
  token_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
  name       TEXT    NOT NULL REFERENCES operator_by_name (name) ON DELETE CASCADE,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO session_by_name (token_hash, name, expires_ms)
  SELECT s.token_hash, o.name, s.expires_ms FROM operator_session AS s JOIN operator AS o ON o.name = s.name;
DROP TABLE operator_session;
DROP TABLE operator;
ALTER TABLE operator_by_name RENAME TO operator;
ALTER TABLE session_by_name RENAME TO operator_session;
CREATE UNIQUE INDEX operator_by_fold ON operator (name_fold, name_twin);
CREATE UNIQUE INDEX operator_by_look ON operator (name_look, name_twin);
