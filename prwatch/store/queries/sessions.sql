-- Runs of work on a task, and what they have checked out.

-- name: list_sessions
-- Of the tasks of a workspace; ended ones too.
SELECT sessions.* FROM sessions
JOIN tasks ON tasks.id = sessions.task_id
WHERE tasks.workspace_id = :workspace_id
    AND (tasks.archived_at IS NULL OR CAST(:include_archived AS BOOLEAN))
ORDER BY sessions.id;

-- name: put_session
-- Insert or replace by the task and the name; the id stays, equal rows stay untouched.
INSERT INTO sessions (id, task_id, external_id, state, started_at, ended_at)
VALUES (:id, :task_id, :external_id, :state, :started_at, :ended_at)
ON CONFLICT (task_id, external_id) DO UPDATE SET
    state = excluded.state,
    started_at = excluded.started_at,
    ended_at = excluded.ended_at
WHERE (sessions.state, sessions.started_at, sessions.ended_at)
    IS DISTINCT FROM (excluded.state, excluded.started_at, excluded.ended_at);

-- name: end_session
-- From running to ended.
UPDATE sessions SET state = 'ended', ended_at = :now
WHERE id = :id AND ended_at IS NULL;

-- name: list_checkouts
-- Of the sessions of the tasks of a workspace.
SELECT checkouts.* FROM checkouts
JOIN sessions ON sessions.id = checkouts.session_id
JOIN tasks ON tasks.id = sessions.task_id
WHERE tasks.workspace_id = :workspace_id
    AND (tasks.archived_at IS NULL OR CAST(:include_archived AS BOOLEAN))
ORDER BY checkouts.session_id, checkouts.repository_id, checkouts.worktree_path;

-- name: put_checkout
-- Insert or replace; an equal row stays untouched.
INSERT INTO checkouts
    (session_id, repository_id, worktree_path, branch, head_repository, written_as)
VALUES
    (
        :session_id, :repository_id, :worktree_path, :branch, :head_repository,
        :written_as
    )
ON CONFLICT (session_id, repository_id, worktree_path) DO UPDATE SET
    branch = excluded.branch,
    head_repository = excluded.head_repository,
    written_as = excluded.written_as
WHERE (checkouts.branch, checkouts.head_repository, checkouts.written_as)
    IS DISTINCT FROM (excluded.branch, excluded.head_repository, excluded.written_as);

-- name: remove_checkout
-- The session has left that place.
DELETE FROM checkouts
WHERE session_id = :session_id AND repository_id = :repository_id
    AND worktree_path = :worktree_path;

-- name: find_current_session
-- The newest unended session of the task that has that branch checked out there.
SELECT sessions.external_id FROM sessions
JOIN checkouts ON checkouts.session_id = sessions.id
WHERE sessions.task_id = :task_id AND sessions.ended_at IS NULL
    AND checkouts.repository_id = :repository_id AND checkouts.branch = :branch
ORDER BY sessions.started_at DESC, sessions.id DESC
LIMIT 1;
