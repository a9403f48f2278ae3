-- Limits that were hit, so that a restart does not run into them again.

-- name: put_block
-- A limit holds until then; an equal row stays untouched.
INSERT INTO rate_limit_blocks (account, bucket, blocked_until)
VALUES (:account, :bucket, :blocked_until)
ON CONFLICT (account, bucket) DO UPDATE SET blocked_until = excluded.blocked_until
WHERE rate_limit_blocks.blocked_until <> excluded.blocked_until;

-- name: list_blocks
-- The limits that still hold.
SELECT account, bucket, blocked_until FROM rate_limit_blocks
WHERE blocked_until > :now ORDER BY account, bucket;

-- name: remove_ended_blocks
-- The limits that hold no more.
DELETE FROM rate_limit_blocks WHERE blocked_until <= :now;

-- name: remove_blocks
-- All limits that are kept under one name.
DELETE FROM rate_limit_blocks WHERE account = :account;
