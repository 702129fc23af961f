-- How much of the held-out data was predicted right. See ../../README.md.

ALTER TABLE evaluation ADD COLUMN accuracy double precision CHECK (accuracy BETWEEN 0 AND 1);
