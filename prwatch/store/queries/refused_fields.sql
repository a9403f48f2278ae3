-- What connections cannot read, so that it is found once and not at every start.

-- name: list_refused
-- What a connection cannot read as it is now; an older one's is left behind.
SELECT field, repository, reason, version, learnt_at FROM refused_fields
WHERE connection_id = :connection_id AND fingerprint = :fingerprint
ORDER BY field, repository;

-- name: put_refused
-- What a connection cannot read; an equal row stays untouched.
INSERT INTO refused_fields
    (connection_id, field, repository, reason, version, fingerprint, learnt_at)
VALUES
    (:connection_id, :field, :repository, :reason, :version, :fingerprint, :learnt_at)
ON CONFLICT (connection_id, field, repository) DO UPDATE SET
    reason = excluded.reason,
    version = excluded.version,
    fingerprint = excluded.fingerprint,
    learnt_at = excluded.learnt_at
WHERE (
    refused_fields.reason, refused_fields.version,
    refused_fields.fingerprint, refused_fields.learnt_at
) IS DISTINCT FROM (
    excluded.reason, excluded.version, excluded.fingerprint, excluded.learnt_at
);

-- name: remove_refused
-- One field can be read again.
DELETE FROM refused_fields
WHERE connection_id = :connection_id AND field = :field AND repository = :repository;

-- name: remove_outdated
-- What was learnt of the connection as it was before.
DELETE FROM refused_fields
WHERE connection_id = :connection_id AND fingerprint <> :fingerprint;
