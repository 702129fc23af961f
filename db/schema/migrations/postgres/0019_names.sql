-- Names are unique by how they read, whatever their case, width or script: see db/stores/name_keys.h. The program fills
-- the columns, since the rules are Unicode's. See ../../README.md.

ALTER TABLE account ALTER COLUMN display_name TYPE text;
ALTER TABLE account ADD COLUMN name_fold text COLLATE "C";
ALTER TABLE account ADD COLUMN name_look text COLLATE "C";
ALTER TABLE account ADD COLUMN name_twin bigint NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX account_by_fold ON account (name_fold, name_twin);
CREATE UNIQUE INDEX account_by_look ON account (name_look, name_twin);

ALTER TABLE team ALTER COLUMN name TYPE text;
ALTER TABLE team ADD COLUMN name_fold text COLLATE "C";
ALTER TABLE team ADD COLUMN name_look text COLLATE "C";
ALTER TABLE team ADD COLUMN name_twin bigint NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX team_by_fold ON team (name_fold, name_twin);
CREATE UNIQUE INDEX team_by_look ON team (name_look, name_twin);

UPDATE operator_session AS s SET name = o.name FROM operator AS o WHERE o.name = s.name;
ALTER TABLE operator_session DROP CONSTRAINT operator_session_name_fkey;
ALTER TABLE operator DROP CONSTRAINT operator_name_check;
ALTER TABLE operator ALTER COLUMN name TYPE text;
ALTER TABLE operator_session ALTER COLUMN name TYPE text;
ALTER TABLE operator ADD CONSTRAINT operator_name_check CHECK (length(name) BETWEEN 1 AND 64);
ALTER TABLE operator_session ADD CONSTRAINT operator_session_name_fkey
  FOREIGN KEY (name) REFERENCES operator (name) ON DELETE CASCADE;
ALTER TABLE operator ADD COLUMN name_fold text COLLATE "C";
ALTER TABLE operator ADD COLUMN name_look text COLLATE "C";
ALTER TABLE operator ADD COLUMN name_twin bigint NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX operator_by_fold ON operator (name_fold, name_twin);
CREATE UNIQUE INDEX operator_by_look ON operator (name_look, name_twin);
