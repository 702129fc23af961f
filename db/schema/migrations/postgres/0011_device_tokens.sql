-- What a computer must know besides its key to get a certificate, by its hash. See ../../README.md.

ALTER TABLE host ADD COLUMN token_hash bytea CHECK (length(token_hash) = 32);
