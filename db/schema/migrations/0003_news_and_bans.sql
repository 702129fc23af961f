-- What an operator tells volunteers, and whom an operator keeps out.

CREATE TABLE news (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  title TEXT    NOT NULL CHECK (length(title) BETWEEN 1 AND 120),
  body  TEXT    NOT NULL CHECK (length(body) <= 4000)
) STRICT;

-- `subject` is an account's number, a computer's digest in hex, or a range of addresses such as 192.0.2.0/24.
CREATE TABLE ban (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind       TEXT    NOT NULL CHECK (kind IN ('user', 'host', 'address')),
  subject    TEXT    NOT NULL,
  reason     TEXT    NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  UNIQUE (kind, subject)
) STRICT;
