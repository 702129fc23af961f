-- What an account may do beyond contributing, and who took a computer out. See ../README.md.

-- Rounds of the account that another account confirmed, counted up to 10: from then on it votes. `vouched`: the operator
-- answers for it before that. `hosts_max`: the most computers it may have, where that is not the project's usual number.
ALTER TABLE account ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0 CHECK (confirmed BETWEEN 0 AND 10);
ALTER TABLE account ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0 CHECK (vouched IN (0, 1));
ALTER TABLE account ADD COLUMN hosts_max INTEGER CHECK (hosts_max >= 1);
-- What was credited so far counts as confirmed. Everybody without a name is one account, which anybody can be part of.
UPDATE account SET confirmed = (
  SELECT count(*) FROM (
    SELECT DISTINCT run, round FROM contribution
    WHERE account_id = account.id AND reverses IS NULL LIMIT 10) AS rounds)
WHERE state <> 'anonymous';
CREATE INDEX account_established ON account (id) WHERE confirmed = 10 OR vouched = 1;

-- Only the project lets a computer in again that the project took out.
ALTER TABLE host ADD COLUMN revoked_by_project INTEGER NOT NULL DEFAULT 0 CHECK (revoked_by_project IN (0, 1));
UPDATE host SET revoked_by_project = 1
WHERE revoked = 1 AND lower(hex(peer_id)) IN (SELECT subject FROM audit WHERE action = 'hosts revoke');

-- Whether the account of that seat voted in the round when the group was dealt.
ALTER TABLE seat ADD COLUMN voice INTEGER NOT NULL DEFAULT 1 CHECK (voice IN (0, 1));
