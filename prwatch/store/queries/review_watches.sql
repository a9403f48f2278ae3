-- Saved searches for pull requests that ask for review.

-- name: list_review_watches
-- Those of a workspace, by name.
SELECT * FROM review_watches WHERE workspace_id = :workspace_id ORDER BY name;

-- name: find_review_watch
-- By the name that people give it.
SELECT * FROM review_watches WHERE workspace_id = :workspace_id AND name = :name;

-- name: add_review_watch
-- A new one; none when the workspace has one of that name.
INSERT INTO review_watches
    (
        id, workspace_id, name, scope, repositories, organisations, query,
        target_login, interval_seconds, policy, is_enabled, origin, written_as,
        revision, last_error, incomplete_since, incomplete_reason, backlog_done_at,
        created_at
    )
VALUES
    (
        :id, :workspace_id, :name, :scope, :repositories, :organisations, :search_query,
        :target_login, :interval_seconds, :policy, :is_enabled, :origin, :written_as,
        :revision, :last_error, :incomplete_since, :incomplete_reason, :backlog_done_at,
        :created_at
    )
ON CONFLICT (workspace_id, name) DO NOTHING;

-- name: put_settings
-- What a person or an entry chooses, unless somebody else did since it was read; an
-- equal row stays untouched.
UPDATE review_watches SET
    scope = :scope,
    repositories = :repositories,
    organisations = :organisations,
    query = :search_query,
    target_login = :target_login,
    interval_seconds = :interval_seconds,
    policy = :policy,
    is_enabled = :is_enabled,
    revision = revision + 1
WHERE id = :id AND revision = :revision AND (
    scope <> :scope OR repositories <> :repositories
    OR organisations <> :organisations OR query <> :search_query
    OR target_login <> :target_login OR interval_seconds <> :interval_seconds
    OR policy <> :policy OR is_enabled <> :is_enabled
);

-- name: mend_settings
-- What an entry declares instead of a row that cannot be understood; an equal row stays
-- untouched.
UPDATE review_watches SET
    scope = :scope,
    repositories = :repositories,
    organisations = :organisations,
    query = :search_query,
    target_login = :target_login,
    interval_seconds = :interval_seconds,
    policy = :policy,
    is_enabled = :is_enabled,
    written_as = :written_as,
    revision = revision + 1
WHERE workspace_id = :workspace_id AND name = :name AND origin = :origin AND (
    scope <> :scope OR repositories <> :repositories
    OR organisations <> :organisations OR query <> :search_query
    OR target_login <> :target_login OR interval_seconds <> :interval_seconds
    OR policy <> :policy OR is_enabled <> :is_enabled
);

-- name: rename
-- Another name, unless somebody has it or edited the watch since it was read.
UPDATE review_watches SET name = :name
WHERE id = :id AND revision = :revision AND NOT EXISTS (
    SELECT 1 FROM review_watches AS other
    WHERE other.workspace_id = :workspace_id AND other.name = :name
);

-- name: put_owner
-- Whose it is; an equal row stays untouched.
UPDATE review_watches SET origin = :origin, written_as = :written_as
WHERE id = :id AND (origin <> :origin OR written_as <> :written_as);

-- name: put_finding
-- How its last search went, unless somebody edited it since; an equal row stays
-- untouched.
UPDATE review_watches SET
    last_error = :last_error, incomplete_since = :incomplete_since,
    incomplete_reason = :incomplete_reason
WHERE id = :id AND revision = :revision AND (
    last_error <> :last_error
    OR incomplete_reason <> :incomplete_reason
    OR incomplete_since IS DISTINCT FROM :incomplete_since
);

-- name: put_backlog_done
-- The first complete search was worked through, and nobody edited the watch since.
UPDATE review_watches SET backlog_done_at = :now
WHERE id = :id AND revision = :revision AND backlog_done_at IS NULL;

-- name: hold_review_watch
-- One that is to be removed, as it is now; an engine with one writer holds it already.
SELECT * FROM review_watches WHERE id = :id;

-- name: hold_review_watch (postgres)
-- The same: whoever edits it or reserves under it goes first, or waits.
SELECT * FROM review_watches WHERE id = :id FOR UPDATE;

-- name: disable_review_watch
-- It finds nothing more while what it knows is left; an equal row stays untouched.
UPDATE review_watches SET is_enabled = FALSE, revision = revision + 1
WHERE id = :id AND is_enabled;

-- name: remove_review_watch
-- What it found is left to nobody, under the policy that it has at its end.
DELETE FROM review_watches WHERE id = :id RETURNING *;
