-- Models that are cut into cells, each trained as a run of its own. See ../../README.md.

-- The run whose model the cell is a piece of. NULL: a run of its operator's.
ALTER TABLE run ADD COLUMN part_of bigint REFERENCES run (number);
