-- The look of names in capitals: letters that look alike only there, such as a Cyrillic and a Latin M, tell no two names
-- apart. NULL until the program has seen the row, like the columns beside it. See ../../README.md.

ALTER TABLE account ADD COLUMN name_capitals text COLLATE "C";
CREATE UNIQUE INDEX account_by_capitals ON account (name_capitals, name_twin);
ALTER TABLE team ADD COLUMN name_capitals text COLLATE "C";
CREATE UNIQUE INDEX team_by_capitals ON team (name_capitals, name_twin);
ALTER TABLE operator ADD COLUMN name_capitals text COLLATE "C";
CREATE UNIQUE INDEX operator_by_capitals ON operator (name_capitals, name_twin);
