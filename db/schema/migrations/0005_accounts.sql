-- How people get at their accounts: passwords, browsers, links that work once. See ../README.md.

ALTER TABLE account ADD COLUMN state TEXT NOT NULL DEFAULT 'active'
  CHECK (state IN ('active', 'waiting', 'deleted', 'anonymous'));
ALTER TABLE account ADD COLUMN deleted_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN shows_computers INTEGER NOT NULL DEFAULT 0 CHECK (shows_computers IN (0, 1));
CREATE INDEX account_by_state ON account (state, id) WHERE state <> 'active';

-- What the owner calls the computer; nobody else sees it.
ALTER TABLE host ADD COLUMN label TEXT NOT NULL DEFAULT '' CHECK (length(label) <= 64);

-- An address that nobody has proved to be theirs may stand at several accounts, so that signing up tells nobody
-- whether it is known; once proved it belongs to one.
CREATE TABLE login (
  account_id  INTEGER PRIMARY KEY REFERENCES account (id),
  email       TEXT    NOT NULL CHECK (length(email) <= 254),
  verified_ms INTEGER NOT NULL DEFAULT 0,
  password    TEXT    NOT NULL
) STRICT;
CREATE INDEX login_by_email ON login (email);
CREATE UNIQUE INDEX login_by_verified_email ON login (email) WHERE verified_ms > 0;

CREATE TABLE web_session (
  token_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
  account_id INTEGER NOT NULL REFERENCES account (id),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX web_session_by_account ON web_session (account_id);

-- Links and codes that work once. `email` is what a 'verify' link proves.
CREATE TABLE ticket (
  token_hash BLOB    NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
  purpose    TEXT    NOT NULL CHECK (purpose IN ('verify', 'password', 'computer')),
  account_id INTEGER NOT NULL REFERENCES account (id),
  email      TEXT    NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_by_account ON ticket (account_id);

-- What the coordinator must remember of itself.
CREATE TABLE setting (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Teams may be kept out as well.
ALTER TABLE ban RENAME TO old_ban;
CREATE TABLE ban (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT    NOT NULL CHECK (kind IN ('user', 'host', 'address', 'team')),
  subject    TEXT    NOT NULL,
  reason     TEXT    NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  UNIQUE (kind, subject)
) STRICT;
INSERT INTO ban SELECT id, kind, subject, reason, created_ms, expires_ms FROM old_ban;
DROP TABLE old_ban;
