-- What an account may do beyond contributing, and who took a computer out. See ../../README.md.

ALTER TABLE account ADD COLUMN confirmed bigint NOT NULL DEFAULT 0 CHECK (confirmed BETWEEN 0 AND 10);
ALTER TABLE account ADD COLUMN vouched bigint NOT NULL DEFAULT 0 CHECK (vouched IN (0, 1));
ALTER TABLE account ADD COLUMN hosts_max bigint CHECK (hosts_max >= 1);
UPDATE account SET confirmed = (
  SELECT count(*) FROM (
    SELECT DISTINCT run, round FROM contribution
    WHERE account_id = account.id AND reverses IS NULL LIMIT 10) AS rounds)
WHERE state <> 'anonymous';
CREATE INDEX account_established ON account (id) WHERE confirmed = 10 OR vouched = 1;

ALTER TABLE host ADD COLUMN revoked_by_project bigint NOT NULL DEFAULT 0 CHECK (revoked_by_project IN (0, 1));
UPDATE host SET revoked_by_project = 1
WHERE revoked = 1 AND encode(peer_id, 'hex') IN (SELECT subject FROM audit WHERE action = 'hosts revoke');

-- Whether the account of that seat voted in the round when the group was dealt.
ALTER TABLE seat ADD COLUMN voice bigint NOT NULL DEFAULT 1 CHECK (voice IN (0, 1));
